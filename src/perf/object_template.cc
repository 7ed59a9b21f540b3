#include "perf/object_template.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/defaulting.h"
#include "api/json_tree.h"
#include "api/yaml.h"

namespace berth::perf {
namespace {

// What stands between the braces.
Result<std::int64_t> value_of(std::string_view expression, std::int64_t index,
                              const std::string& where) {
  std::vector<std::string> words;
  std::istringstream in{std::string(expression)};
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() == 1 && words[0] == ".Index") return index;
  if (words.size() == 3 && words[1] == ".Index") {
    std::int64_t by = 0;
    std::from_chars(words[2].data(), words[2].data() + words[2].size(), by);
    if (by != 0 && words[0] == "Mod") return index % by;
    if (by != 0 && words[0] == "DivideInt") return index / by;
  }
  return fail(ErrorKind::kInvalid,
              fmt::format("{}: \"{{{{{}}}}}\" is none of .Index, Mod .Index N, DivideInt .Index N",
                          where, expression));
}

JsonValue& member(JsonValue& object, std::string_view name) {
  for (JsonMember& one : object.members)
    if (one.name == name) return one.value;
  object.members.push_back({std::string(name), JsonValue::object()});
  return object.members.back().value;
}

void set_text(JsonValue& object, std::string_view name, std::string_view text) {
  member(object, name) = JsonValue::of_text(text);
}

std::string text_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kString ? value->text : std::string();
}

}  // namespace

ObjectTemplate::ObjectTemplate(std::string text, std::string where)
    : text_(std::move(text)), where_(std::move(where)), indexed_(text_.contains("{{")) {
  // What kind it is shows in any of its objects.
  const Result<std::string> filled = filled_in(0);
  const Result<std::vector<YamlDocument>> documents =
      filled ? parse_yaml(*filled) : fail(filled.error());
  if (!documents || documents->empty()) return;
  if (const Result<JsonValue> tree = parse_json(documents->front().json))
    kind_ = object_kind(text_in(*tree, "apiVersion"), text_in(*tree, "kind"));
}

Result<std::string> ObjectTemplate::filled_in(std::int64_t index) const {
  if (!indexed_) return text_;
  std::string filled;
  std::size_t at = 0;
  for (;;) {
    const std::size_t open = text_.find("{{", at);
    filled.append(text_, at, open - at);
    if (open == std::string::npos) return filled;
    const std::size_t close = text_.find("}}", open);
    if (close == std::string::npos)
      return fail(ErrorKind::kInvalid, fmt::format("{}: \"{{{{\" without \"}}}}\"", where_));
    const Result<std::int64_t> value =
        value_of(std::string_view(text_).substr(open + 2, close - open - 2), index, where_);
    if (!value) return fail(value.error());
    filled += std::to_string(*value);
    at = close + 2;
  }
}

Result<AnyObject> ObjectTemplate::decode(std::int64_t index, const std::string& name,
                                         std::string_view namespace_name,
                                         Interner& interner) const {
  const Result<std::string> filled = filled_in(index);
  if (!filled) return fail(filled.error());
  const Result<std::vector<YamlDocument>> documents = parse_yaml(*filled);
  if (!documents) return fail(ErrorKind::kInvalid, where_ + ": " + documents.error().message);
  if (documents->size() != 1) return fail(ErrorKind::kInvalid, where_ + ": expected one object");
  Result<JsonValue> tree = parse_json(documents->front().json);
  if (!tree || tree->kind != JsonValue::Kind::kObject)
    return fail(ErrorKind::kInvalid, where_ + ": expected an object");
  JsonValue& metadata = member(*tree, "metadata");
  const std::string generated = text_in(metadata, "generateName");
  if (text_in(metadata, "name").empty())
    set_text(metadata, "name", (generated.empty() ? "object-" : generated) + name);
  if (is_namespaced(kind_)) set_text(metadata, "namespace", namespace_name);
  Admission admission;
  Result<AnyObject> object = decode_object(to_json(*tree), interner, &admission);
  if (!object) return fail(ErrorKind::kInvalid, where_ + ": " + object.error().message);
  return object;
}

Result<AnyObject> ObjectTemplate::make(std::int64_t index, std::uint64_t serial,
                                       std::string_view namespace_name, Interner& interner) {
  const std::string name = std::to_string(serial);
  if (kind_ != ObjectKind::kPod || indexed_) return decode(index, name, namespace_name, interner);
  auto known = pods_.find(namespace_name);
  if (known == pods_.end()) {
    Result<AnyObject> first = decode(index, name, namespace_name, interner);
    if (!first) return first;
    known = pods_.emplace(namespace_name, std::get<Ref<const Pod>>(*first)).first;
  }
  PodDraft draft = draft_of(*known->second);
  draft.name = fmt::format("pod-{}", serial);
  draft.uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", 0xbe47, serial);
  draft.resource_version = "1";
  return AnyObject(make_pod(std::move(draft)));
}

}  // namespace berth::perf
