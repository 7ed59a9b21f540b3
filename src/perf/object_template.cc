#include "perf/object_template.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/defaulting.h"
#include "wire/yaml.h"

namespace berth::perf {
namespace {

std::string text_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kString ? value->text : std::string();
}

// An API server reads these versions as the same objects; v1beta2 has the fields of v1.
void use_stored_version(JsonValue& manifest) {
  if (text_in(manifest, "apiVersion") == "resource.k8s.io/v1beta2")
    set_text(manifest, "apiVersion", "resource.k8s.io/v1");
}

}  // namespace

JsonValue& member(JsonValue& object, std::string_view name) {
  for (JsonMember& one : object.members)
    if (one.name == name) return one.value;
  object.members.push_back({std::string(name), JsonValue::object()});
  return object.members.back().value;
}

void set_text(JsonValue& object, std::string_view name, std::string_view text) {
  member(object, name) = JsonValue::of_text(text);
}

ObjectTemplate::ObjectTemplate(std::string text, std::string where)
    : text_(std::move(text)), where_(std::move(where)) {
  if (text_.contains("{{")) template_ = GoTemplate::parse(text_);
}

Result<std::string> ObjectTemplate::filled_in(const Numbered& number) const {
  if (!template_) return text_;
  JsonValue data = number.params ? *number.params : JsonValue::object();
  data.add("Index", JsonValue::of_int(number.index));
  data.add("Count", JsonValue::of_int(number.count));
  const Result<std::string> filled =
      *template_ ? (*template_)->execute(data) : fail(template_->error());
  if (!filled)
    return fail(filled.error().kind, fmt::format("{}: {}", where_, filled.error().message));
  return filled;
}

Result<AnyObject> ObjectTemplate::decode(const Numbered& number, std::string_view namespace_name,
                                         Interner& interner, const Change& change) const {
  const Result<std::string> filled = filled_in(number);
  if (!filled) return fail(filled.error());
  const Result<std::vector<YamlDocument>> documents = parse_yaml(*filled);
  if (!documents) return fail(ErrorKind::kInvalid, where_ + ": " + documents.error().message);
  if (documents->size() != 1) return fail(ErrorKind::kInvalid, where_ + ": expected one object");
  Result<JsonValue> tree = parse_json(documents->front().json);
  if (!tree || tree->kind != JsonValue::Kind::kObject)
    return fail(ErrorKind::kInvalid, where_ + ": expected an object");
  use_stored_version(*tree);
  const ObjectKind kind = object_kind(text_in(*tree, "apiVersion"), text_in(*tree, "kind"));
  JsonValue& metadata = member(*tree, "metadata");
  const std::string generated = text_in(metadata, "generateName");
  if (text_in(metadata, "name").empty())
    set_text(metadata, "name",
             fmt::format("{}{}", generated.empty() ? "object-" : generated, number.serial));
  if (is_namespaced(kind)) set_text(metadata, "namespace", namespace_name);
  if (change) change(*tree);
  Admission admission;
  Result<AnyObject> object = decode_object(to_json(*tree), interner, &admission);
  if (!object) return fail(ErrorKind::kInvalid, where_ + ": " + object.error().message);
  return object;
}

Result<AnyObject> ObjectTemplate::make(const Numbered& number, std::string_view namespace_name,
                                       Interner& interner, const Change& change) {
  auto known = template_ || change ? pods_.end() : pods_.find(namespace_name);
  if (known == pods_.end()) {
    Result<AnyObject> first = decode(number, namespace_name, interner, change);
    if (!first || template_ || change) return first;
    const auto* pod = std::get_if<Ref<const Pod>>(&*first);
    if (!pod) return first;
    known = pods_.emplace(namespace_name, *pod).first;
  }
  PodDraft draft = draft_of(*known->second);
  draft.name = fmt::format("pod-{}", number.serial);
  draft.uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", 0xbe47, number.serial);
  draft.resource_version = "1";
  return AnyObject(make_pod(std::move(draft)));
}

}  // namespace berth::perf
