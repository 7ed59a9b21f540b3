#include "perf/object_template.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/defaulting.h"
#include "wire/yaml.h"

namespace berth::perf {
namespace {

std::optional<std::int64_t> operand(std::string_view word, const Numbered& number) {
  if (word == ".Index") return number.index;
  if (word == ".Count") return number.count;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> computed(std::string_view function, std::int64_t a, std::int64_t b) {
  if (function == "AddInt") return a + b;
  if (function == "SubtractInt") return a - b;
  if (function == "MultiplyInt") return a * b;
  if (b == 0) return std::nullopt;
  if (function == "DivideInt") return a / b;
  if (function == "Mod") return a % b;
  return std::nullopt;
}

// What stands between the braces.
Result<std::int64_t> value_of(std::string_view expression, const Numbered& number,
                              const std::string& where) {
  std::vector<std::string> words;
  std::istringstream in{std::string(expression)};
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() == 1)
    if (const auto value = operand(words[0], number)) return *value;
  if (words.size() == 3) {
    const auto a = operand(words[1], number), b = operand(words[2], number);
    if (a && b)
      if (const auto value = computed(words[0], *a, *b)) return *value;
  }
  return fail(ErrorKind::kUnavailable,
              fmt::format("{}: \"{{{{{}}}}}\" cannot be computed", where, expression));
}

std::string text_in(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kString ? value->text : std::string();
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
    : text_(std::move(text)), where_(std::move(where)), indexed_(text_.contains("{{")) {
  // What kind it is shows in any of its objects.
  const Result<std::string> filled = filled_in({});
  const Result<std::vector<YamlDocument>> documents =
      filled ? parse_yaml(*filled) : fail(filled.error());
  if (!documents || documents->empty()) return;
  if (const Result<JsonValue> tree = parse_json(documents->front().json))
    kind_ = object_kind(text_in(*tree, "apiVersion"), text_in(*tree, "kind"));
}

Result<std::string> ObjectTemplate::filled_in(const Numbered& number) const {
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
        value_of(std::string_view(text_).substr(open + 2, close - open - 2), number, where_);
    if (!value) return fail(value.error());
    filled += std::to_string(*value);
    at = close + 2;
  }
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
  JsonValue& metadata = member(*tree, "metadata");
  const std::string generated = text_in(metadata, "generateName");
  if (text_in(metadata, "name").empty())
    set_text(metadata, "name",
             fmt::format("{}{}", generated.empty() ? "object-" : generated, number.serial));
  if (is_namespaced(kind_)) set_text(metadata, "namespace", namespace_name);
  if (change) change(*tree);
  Admission admission;
  Result<AnyObject> object = decode_object(to_json(*tree), interner, &admission);
  if (!object) return fail(ErrorKind::kInvalid, where_ + ": " + object.error().message);
  return object;
}

Result<AnyObject> ObjectTemplate::make(const Numbered& number, std::string_view namespace_name,
                                       Interner& interner, const Change& change) {
  if (kind_ != ObjectKind::kPod || indexed_ || change)
    return decode(number, namespace_name, interner, change);
  auto known = pods_.find(namespace_name);
  if (known == pods_.end()) {
    Result<AnyObject> first = decode(number, namespace_name, interner, change);
    if (!first) return first;
    known = pods_.emplace(namespace_name, std::get<Ref<const Pod>>(*first)).first;
  }
  PodDraft draft = draft_of(*known->second);
  draft.name = fmt::format("pod-{}", number.serial);
  draft.uid = fmt::format("{:08x}-0000-4000-8000-{:012x}", 0xbe47, number.serial);
  draft.resource_version = "1";
  return AnyObject(make_pod(std::move(draft)));
}

}  // namespace berth::perf
