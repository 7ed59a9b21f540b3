#include "api/manifest.h"

#include <fmt/format.h>

#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
#include "api/field_check.h"
#include "api/manifest_walk.h"
#include "wire/json_tree.h"

namespace berth {
namespace {

// Objects as they were written.
class WrittenObjects : public ManifestWalk {
 public:
  explicit WrittenObjects(Interner& interner) : interner_(interner) {}

  std::vector<ManifestObject> take() { return std::move(objects_); }

 private:
  Result<void> decode(ManifestObject& object, std::string_view json) override {
    object.json = json;
    Result<AnyObject> decoded = decode_object(object.kind, json, interner_, nullptr, object.name);
    if (!decoded) return fail(std::move(decoded).error());
    object.object = *std::move(decoded);
    return {};
  }

  Interner& interner_;
};

}  // namespace

Result<std::vector<ManifestObject>> read_manifest(std::string_view text,
                                                  const std::string& file_name,
                                                  Interner& interner) {
  WrittenObjects objects(interner);
  if (Result<void> read = objects.walk(text, file_name); !read) return fail(read.error());
  return objects.take();
}

std::vector<std::string> name_unknown_fields(const std::vector<ManifestObject>& objects) {
  std::vector<std::string> lines;
  for (const ManifestObject& object : objects) name_unknown_fields(object, object.json, lines);
  return lines;
}

void name_unknown_fields(const ManifestObject& object, std::string_view json,
                         std::vector<std::string>& lines) {
  constexpr std::size_t kMostSuggestions = 100;  // somebody mistyped; nobody did so more often
  const Result<JsonValue> tree = parse_json(json);
  if (!tree) return;
  for (const FieldFault& fault : check_fields(object.api_version, object.kind_text, *tree)) {
    const std::string meant = lines.size() < kMostSuggestions ? fault.meant() : std::string();
    lines.push_back(fmt::format("{}: {}: {}", object.where, shown(object), fault.text()));
    if (!meant.empty()) lines.back() += fmt::format(", did you mean \"{}\"?", meant);
  }
}

Result<void> admit_all(std::vector<ManifestObject>& objects, Interner& interner, WallTime now) {
  Admission admission;
  admission.now = now;
  return admit_all(objects, interner, admission);
}

Result<void> admit_all(std::vector<ManifestObject>& objects, Interner& interner,
                       Admission& admission) {
  for (const ManifestObject& object : objects) {
    if (object.kind != ObjectKind::kPriorityClass) continue;
    const auto& decoded = std::get<Ref<const Object>>(object.object);
    admission.priority_classes[object.name] =
        Ref<const PriorityClass>(static_cast<const PriorityClass*>(decoded.get()));
  }
  for (ManifestObject& object : objects) {
    auto admitted = decode_object(object.kind, object.json, interner, &admission, object.name);
    if (!admitted) return fail_in(object, admitted.error());
    object.object = *std::move(admitted);
    ++admission.resource_version;
  }
  return {};
}

}  // namespace berth
