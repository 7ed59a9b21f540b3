// Selection: which objects of a list or a watch are meant: labelSelector and fieldSelector as they
// stand in a query.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memapi/api_error.h"
#include "wire/json_tree.h"

namespace berth::memapi {

struct Resource;

using LabelPairs = std::vector<std::pair<std::string, std::string>>;  // by key

struct LabelRequirement {
  enum class Op : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  std::string key;
  Op op = Op::kIn;
  std::vector<std::string> values;

  bool matches(const LabelPairs& labels) const;
};

// "a=b,c in (d,e),!f". Errors are upstream's sentences.
Answer<std::vector<LabelRequirement>> parse_label_selector(std::string_view text);
// A LabelSelector as objects have it ({matchLabels, matchExpressions}). Nothing for one that means
// nothing or makes no sense.
std::optional<std::vector<LabelRequirement>> label_selector_of(const JsonValue& selector);

// What a fieldSelector may ask about objects of a resource, beyond name and namespace.
struct SelectableField {
  std::string_view label;
  std::string_view path;
  std::string_view otherwise;  // when the object does not say
};
std::span<const SelectableField> selectable_fields(const Resource& resource);
// Their values in an object, in that order.
std::vector<std::string> field_values(const Resource& resource, const JsonValue& object);

struct FieldRequirement {
  std::size_t field = 0;  // index into selectable_fields, or one of the three below
  bool equals = true;
  std::string value;
  std::string path;  // of kCustomField
};
inline constexpr std::size_t kNameField = 1000;
inline constexpr std::size_t kNamespaceField = 1001;
inline constexpr std::size_t kCustomField = 1002;  // found in the object itself

// What is known of an object without reading it.
struct Selectable {
  std::string_view namespace_name;
  std::string_view name;
  const LabelPairs& labels;
  const std::vector<std::string>& fields;
  const std::string& json;
};

class Selection {
 public:
  Selection() = default;
  static Answer<Selection> parse(const Resource& resource, std::string_view label_selector,
                                 std::string_view field_selector);

  bool matches(const Selectable& object) const;
  bool empty() const { return labels_.empty() && fields_.empty(); }

 private:
  std::vector<LabelRequirement> labels_;
  std::vector<FieldRequirement> fields_;
};

LabelPairs labels_of(const JsonValue& object);

}  // namespace berth::memapi
