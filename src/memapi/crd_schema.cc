#include "memapi/crd_schema.h"

#include <utility>

#include "cel/library/regex.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

class Re2Pattern final : public CrdPattern {
 public:
  explicit Re2Pattern(std::shared_ptr<const cel::Regex> compiled)
      : compiled_(std::move(compiled)) {}
  bool matches(std::string_view text) const override { return compiled_->matches(text); }

 private:
  std::shared_ptr<const cel::Regex> compiled_;
};

std::optional<std::string> number_of(const JsonValue& schema, std::string_view name) {
  const JsonValue* found = at(schema, name);
  if (found == nullptr || found->kind != JsonValue::Kind::kNumber) return std::nullopt;
  return found->text;
}

std::vector<std::string> strings_of(const JsonValue& schema, std::string_view name) {
  std::vector<std::string> texts;
  for (const JsonValue& item : items_at(schema, name)) texts.push_back(item.text);
  return texts;
}

std::unique_ptr<CrdSchema> read_node(const JsonValue& schema);

std::vector<std::unique_ptr<CrdSchema>> read_list(const JsonValue& schema, std::string_view name) {
  std::vector<std::unique_ptr<CrdSchema>> list;
  for (const JsonValue& one : items_at(schema, name)) list.push_back(read_node(one));
  return list;
}

void read_extensions(const JsonValue& schema, CrdSchema& node) {
  node.int_or_string = true_at(schema, "x-kubernetes-int-or-string");
  node.preserves_unknown = true_at(schema, "x-kubernetes-preserve-unknown-fields");
  node.embedded = true_at(schema, "x-kubernetes-embedded-resource");
  node.list_type = text_at(schema, "x-kubernetes-list-type");
  node.list_keys = strings_of(schema, "x-kubernetes-list-map-keys");
  node.atomic_map = text_at(schema, "x-kubernetes-map-type") == "atomic";
}

void read_limits(const JsonValue& schema, CrdSchema& node) {
  node.required = strings_of(schema, "required");
  if (const JsonValue* values = at(schema, "enum"); is_array(values)) {
    node.has_enumeration = true;
    node.enumeration = values->items;
  }
  node.pattern_text = text_at(schema, "pattern");
  if (!node.pattern_text.empty()) {
    if (auto compiled = compile_pattern(node.pattern_text)) node.pattern = std::move(*compiled);
  }
  node.min_length = int_at(schema, "minLength");
  node.max_length = int_at(schema, "maxLength");
  node.min_items = int_at(schema, "minItems");
  node.max_items = int_at(schema, "maxItems");
  node.min_properties = int_at(schema, "minProperties");
  node.max_properties = int_at(schema, "maxProperties");
  node.minimum = number_of(schema, "minimum");
  node.maximum = number_of(schema, "maximum");
  node.multiple_of = number_of(schema, "multipleOf");
  node.exclusive_minimum = true_at(schema, "exclusiveMinimum");
  node.exclusive_maximum = true_at(schema, "exclusiveMaximum");
  node.unique_items = true_at(schema, "uniqueItems");
}

std::unique_ptr<CrdSchema> read_node(const JsonValue& schema) {
  auto node = std::make_unique<CrdSchema>();
  node->type = text_at(schema, "type");
  node->format = text_at(schema, "format");
  node->nullable = true_at(schema, "nullable");
  if (const JsonValue* value = at(schema, "default"); value != nullptr && !value->is_null())
    node->default_value = *value;
  read_extensions(schema, *node);
  read_limits(schema, *node);
  if (const JsonValue* properties = at(schema, "properties"); is_object(properties)) {
    for (const JsonMember& member : properties->members)
      node->properties.insert_or_assign(member.name, read_node(member.value));
  }
  if (const JsonValue* items = at(schema, "items"); is_object(items))
    node->items = read_node(*items);
  const JsonValue* additional = at(schema, "additionalProperties");
  if (is_object(additional)) {
    node->additional = read_node(*additional);
  } else {
    node->any_additional = true_at(schema, "additionalProperties");
  }
  node->all_of = read_list(schema, "allOf");
  node->any_of = read_list(schema, "anyOf");
  node->one_of = read_list(schema, "oneOf");
  if (const JsonValue* none = at(schema, "not"); is_object(none)) node->none_of = read_node(*none);
  return node;
}

// When all that a rule sees has been read. Whether there is one.
bool read_rules(const JsonValue& schema, CrdSchema& node, bool root) {
  bool any = false;
  if (const JsonValue* rules = at(schema, "x-kubernetes-validations"); is_array(rules)) {
    node.rules = CrdRules::read(*rules, node, root);
    any = true;
  }
  if (const JsonValue* properties = at(schema, "properties"); is_object(properties)) {
    for (const JsonMember& member : properties->members)
      if (const auto found = node.properties.find(member.name); found != node.properties.end())
        any = read_rules(member.value, *found->second, false) || any;
  }
  if (const JsonValue* items = at(schema, "items"); node.items)
    any = read_rules(*items, *node.items, false) || any;
  if (const JsonValue* additional = at(schema, "additionalProperties"); node.additional)
    any = read_rules(*additional, *node.additional, false) || any;
  return any;
}

}  // namespace

CrdSchema::CrdSchema() = default;
CrdSchema::~CrdSchema() = default;

const CrdSchema* CrdSchema::member(std::string_view name) const {
  if (const auto found = properties.find(name); found != properties.end())
    return found->second.get();
  return additional.get();
}

Result<std::unique_ptr<CrdPattern>> compile_pattern(const std::string& pattern) {
  auto compiled = cel::Regex::compile(pattern);
  if (!compiled) return fail(std::move(compiled.error()));
  return std::make_unique<Re2Pattern>(std::move(*compiled));
}

std::unique_ptr<CrdSchema> read_schema(const JsonValue& schema, bool root) {
  auto node = read_node(schema);
  node->rules_inside = read_rules(schema, *node, root);
  return node;
}

}  // namespace berth::memapi
