// Fields that an object does not have, and fields that stand twice in it, by the schema. For
// manifests that people wrote, and for servers that are asked to say so (fieldValidation). Any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema.h"
#include "wire/json_tree.h"

namespace berth {

class JsonScanner;

struct FieldFault {
  enum class Kind : std::uint8_t { kUnknown, kDuplicate };

  Kind kind = Kind::kUnknown;
  std::string path;               // "spec.containers[1].imag"
  std::string name;               // "imag"
  schema::MessageId message = 0;  // in which it stands

  // In upstream's words: `unknown field "spec.foo"`, `duplicate field "spec.bar"`.
  std::string text() const;
  // Of an unknown one: the field of its message that is spelt nearly so; empty: there is none.
  std::string meant() const;
};

// In the order in which they stand. Of a kind that the schema does not have: nothing.
std::vector<FieldFault> check_fields(std::string_view api_version, std::string_view kind,
                                     const JsonValue& object);
// The same for a patch, in which nulls and directives are no fields.
std::vector<FieldFault> check_patch_fields(std::string_view api_version, std::string_view kind,
                                           const JsonValue& patch);

// Whether objects have only fields that their kind has: the answer of check_fields(), mostly, in a
// fraction of its time. Names are hashed when a message is first met, so that one is used for many
// objects.
class KnownFields {
 public:
  KnownFields();
  ~KnownFields();
  KnownFields(const KnownFields&) = delete;
  KnownFields& operator=(const KnownFields&) = delete;

  // Of `json`, which is JSON in which no key stands twice in a map. False when in doubt.
  bool cover(std::string_view api_version, std::string_view kind, std::string_view json);

 private:
  struct Names;

  const Names& names_of(schema::MessageId message);
  bool object(JsonScanner& json, schema::MessageId message);
  bool value(JsonScanner& json, const schema::Field& field, bool one);

  static constexpr int kMostDepth = 100;
  std::vector<std::unique_ptr<Names>> names_;  // by message
  int depth_ = 0;
};

}  // namespace berth
