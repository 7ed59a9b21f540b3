// CrdSchema: the structural schema of one version of a CustomResourceDefinition, read once from its
// JSON, with patterns and rules compiled. What is done by it: pruning and defaults (crd_values.h),
// validation (crd_validation.h), server-side apply (apply_shape.h) and OpenAPI (crd_openapi.h).
// Immutable after it was read; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memapi/api_error.h"
#include "memapi/crd_rules.h"
#include "wire/json_tree.h"

namespace berth::memapi {

class CrdPattern;

struct CrdSchema {
  CrdSchema();
  ~CrdSchema();
  CrdSchema(const CrdSchema&) = delete;
  CrdSchema& operator=(const CrdSchema&) = delete;

  std::string type;  // empty: any
  std::string format;
  bool nullable = false;
  bool int_or_string = false;
  bool preserves_unknown = false;
  bool embedded = false;  // a whole object, with kind, apiVersion and metadata
  std::optional<JsonValue> default_value;

  std::map<std::string, std::unique_ptr<CrdSchema>, std::less<>> properties;
  std::unique_ptr<CrdSchema> items;
  std::unique_ptr<CrdSchema> additional;  // of additionalProperties
  bool any_additional = false;            // additionalProperties: true

  std::string list_type;  // "atomic", "set", "map"
  std::vector<std::string> list_keys;
  bool atomic_map = false;

  std::vector<std::string> required;
  std::vector<JsonValue> enumeration;
  bool has_enumeration = false;
  std::string pattern_text;
  std::unique_ptr<CrdPattern> pattern;
  std::optional<std::int64_t> min_length, max_length;
  std::optional<std::int64_t> min_items, max_items;
  std::optional<std::int64_t> min_properties, max_properties;
  // As they were written, for messages.
  std::optional<std::string> minimum, maximum, multiple_of;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  bool unique_items = false;
  std::vector<std::unique_ptr<CrdSchema>> all_of, any_of, one_of;
  std::unique_ptr<CrdSchema> none_of;  // "not"

  CrdRules rules;
  bool rules_inside = false;  // of the root: somewhere in it there are rules

  // The schema of a member: its property, or what all additional ones have. Null: unknown.
  const CrdSchema* member(std::string_view name) const;
  bool is_object() const { return type == "object" || embedded; }
};

// A regular expression as Go has them.
class CrdPattern {
 public:
  virtual ~CrdPattern() = default;
  virtual bool matches(std::string_view text) const = 0;
};
// The error is what Go says of the pattern.
Result<std::unique_ptr<CrdPattern>> compile_pattern(const std::string& pattern);

// Reads a schema that has been checked (crd_structure.h): what makes no sense in it is left out.
// `root`: of a whole object, whose rules see apiVersion, kind and metadata.
std::unique_ptr<CrdSchema> read_schema(const JsonValue& schema, bool root);

}  // namespace berth::memapi
