#include "api/manifest.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
#include "api/field_check.h"
#include "wire/json_reader.h"
#include "wire/json_tree.h"
#include "wire/yaml.h"

namespace berth {
namespace {

// Lists of lists of lists: somebody is joking.
constexpr int kMaxListDepth = 8;

// What tells an object apart, read before the rest of it.
struct ObjectHead {
  std::string api_version;
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string generate_name;
  std::optional<std::string> items;  // of a list: its JSON

  bool is_list() const { return items && kind.ends_with("List"); }
};

Result<ObjectHead> read_head(std::string_view text) {
  ObjectHead head;
  JsonReader json(text);
  json.fields([&](std::string_view name) {
    if (name == "apiVersion") {
      head.api_version = json.text();
    } else if (name == "kind") {
      head.kind = json.text();
    } else if (name == "items") {
      head.items = json.raw();
    } else if (name == "metadata") {
      json.fields([&](std::string_view field) {
        if (field == "namespace") {
          head.namespace_name = json.text();
        } else if (field == "name") {
          head.name = json.text();
        } else if (field == "generateName") {
          head.generate_name = json.text();
        }
      });
    }
  });
  if (json.error()) return fail(*json.error());
  return head;
}

std::string shown(const ManifestObject& object) {
  return object.namespace_name.empty()
             ? fmt::format("{} {}", object.kind_text, object.name)
             : fmt::format("{} {}/{}", object.kind_text, object.namespace_name, object.name);
}

std::unexpected<Error> fail_in(std::string_view where, const Error& error) {
  return fail(error.kind, fmt::format("{}: {}", where, error.message));
}

std::unexpected<Error> fail_in(const ManifestObject& object, const Error& error) {
  return fail_in(fmt::format("{}: {}", object.where, shown(object)), error);
}

class ManifestReader {
 public:
  ManifestReader(const std::string& file_name, Interner& interner)
      : file_name_(file_name), interner_(interner) {}

  Result<std::vector<ManifestObject>> read(std::string_view text) {
    const auto documents = parse_yaml(text);
    if (!documents) return fail_in(file_name_, documents.error());
    std::size_t number = 0;
    for (const YamlDocument& document : *documents) {
      const std::string where =
          fmt::format("{}: document {} (line {})", file_name_, ++number, document.line);
      if (auto read = read_object(document.json, where, {}, 0); !read) return fail(read.error());
    }
    return std::move(objects_);
  }

 private:
  // What the items of a typed list (PodList) need not say.
  struct ItemType {
    std::string api_version;
    std::string kind;
  };

  Result<void> read_object(std::string_view json, const std::string& where, const ItemType& type,
                           int depth) {
    Result<ObjectHead> head = read_head(json);
    if (!head) return fail_in(where, head.error());
    if (head->kind.empty()) head->kind = type.kind;
    if (head->api_version.empty()) head->api_version = type.api_version;
    if (head->kind.empty()) return fail(ErrorKind::kInvalid, where + ": kind: must be set");
    if (head->api_version.empty())
      return fail(ErrorKind::kInvalid, where + ": apiVersion: must be set");
    if (head->is_list()) return read_list(*head, where, depth + 1);
    return add(*std::move(head), json, where);
  }

  Result<void> read_list(const ObjectHead& head, const std::string& where, int depth) {
    if (depth > kMaxListDepth)
      return fail(ErrorKind::kInvalid, where + ": items: lists are nested too deep");
    ItemType type;
    if (head.kind != "List") {
      type.kind = head.kind.substr(0, head.kind.size() - 4);
      type.api_version = head.api_version;
    }
    JsonReader json(*head.items);
    std::size_t index = 0;
    std::optional<Error> failure;
    json.items([&] {
      if (failure) return;
      const std::string place = fmt::format("{}: items[{}]", where, index++);
      if (auto read = read_object(json.raw(), place, type, depth); !read) failure = read.error();
    });
    if (failure) return fail(*std::move(failure));
    if (json.error()) return fail_in(where + ": items", *json.error());
    return {};
  }

  Result<void> add(ObjectHead head, std::string_view json, const std::string& where) {
    ManifestObject object;
    object.kind = object_kind(head.api_version, head.kind);
    object.api_version = std::move(head.api_version);
    object.kind_text = std::move(head.kind);
    object.json = json;
    object.where = where;
    const bool elsewhere = object.kind != ObjectKind::kOther && !is_namespaced(object.kind);
    if (!elsewhere) object.namespace_name = std::move(head.namespace_name);
    if (object.namespace_name.empty() && is_namespaced(object.kind))
      object.namespace_name = "default";
    object.name = head.name;
    if (object.name.empty() && !head.generate_name.empty())
      object.name = generated_name(head.generate_name);
    if (object.name.empty()) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("{}: {}: metadata.name: must be set", where, object.kind_text));
    }

    auto decoded = decode_object(object.kind, object.json, interner_, nullptr, object.name);
    if (!decoded) return fail_in(object, decoded.error());
    object.object = *std::move(decoded);
    objects_.push_back(std::move(object));
    return {};
  }

  // Like an API server's, with five letters that follow from the file and the place in it.
  std::string generated_name(std::string_view prefix) {
    static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
    constexpr std::size_t kMaxPrefix = 58;
    prefix = prefix.substr(0, kMaxPrefix);
    for (;;) {
      const std::string seed = deterministic_uid(file_name_, prefix, fmt::format("{}", counter_++));
      std::uint64_t number = 0;
      for (const char c : seed) number = number * 31 + static_cast<unsigned char>(c);
      std::string name(prefix);
      for (int i = 0; i < 5; ++i, number /= kLetters.size())
        name.push_back(kLetters[number % kLetters.size()]);
      if (generated_.insert(name).second) return name;
    }
  }

  const std::string& file_name_;
  Interner& interner_;
  std::vector<ManifestObject> objects_;
  std::size_t counter_ = 0;
  std::set<std::string> generated_;
};

}  // namespace

Result<std::vector<ManifestObject>> read_manifest(std::string_view text,
                                                  const std::string& file_name,
                                                  Interner& interner) {
  return ManifestReader(file_name, interner).read(text);
}

std::vector<std::string> name_unknown_fields(const std::vector<ManifestObject>& objects) {
  constexpr std::size_t kMostSuggestions = 100;  // somebody mistyped; nobody did so more often
  std::vector<std::string> lines;
  for (const ManifestObject& object : objects) {
    const Result<JsonValue> tree = parse_json(object.json);
    if (!tree) continue;
    for (const FieldFault& fault : check_fields(object.api_version, object.kind_text, *tree)) {
      const std::string meant = lines.size() < kMostSuggestions ? fault.meant() : std::string();
      lines.push_back(fmt::format("{}: {}: {}", object.where, shown(object), fault.text()));
      if (!meant.empty()) lines.back() += fmt::format(", did you mean \"{}\"?", meant);
    }
  }
  return lines;
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
