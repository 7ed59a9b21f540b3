// Type: what the checker knows about an expression, and what type(x) gives.
//
// Types are immutable and shared. A kParam is a type variable, free or of an overload's signature;
// kDyn stands for "known only at run time", as attributes' values and dyn(x) are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace berth::cel {

enum class TypeKind : std::uint8_t {
  kError,
  kDyn,
  kNull,
  kBool,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kDuration,
  kTimestamp,
  kList,
  kMap,
  kType,
  kObject,  // by name, with fields or without
  kOpaque,  // by name, with parameters
  kParam,
};

class Type;
using TypeRef = std::shared_ptr<const Type>;

class Type {
 public:
  Type(TypeKind kind, std::string name, std::vector<TypeRef> parameters = {});

  TypeKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  const std::vector<TypeRef>& parameters() const { return parameters_; }
  bool is_dynamic() const { return kind_ == TypeKind::kDyn; }
  bool is_optional() const;
  // A type variable is in it.
  bool is_open() const { return open_; }
  // How many types it is made of, itself included, counted as a tree; at most kMaxWeight.
  std::uint32_t weight() const { return weight_; }
  static constexpr std::uint32_t kMaxWeight = 100'000;

 private:
  TypeKind kind_;
  bool open_;
  std::uint32_t weight_;
  std::string name_;  // at run time: "google.protobuf.Duration", "list"
  std::vector<TypeRef> parameters_;
};

// The types there are.
namespace types {
const TypeRef& error();
const TypeRef& dyn();
const TypeRef& null();
const TypeRef& boolean();
const TypeRef& integer();
const TypeRef& unsigned_integer();
const TypeRef& floating();
const TypeRef& string();
const TypeRef& bytes();
const TypeRef& duration();
const TypeRef& timestamp();
const TypeRef& type();
const TypeRef& list_of_dyn();
const TypeRef& map_of_dyn();
const TypeRef& optional_of_dyn();
const TypeRef& quantity();
const TypeRef& semver();
const TypeRef& url();
const TypeRef& ip();
const TypeRef& cidr();
const TypeRef& format();
const TypeRef& device();
TypeRef list(TypeRef element);
TypeRef map(TypeRef key, TypeRef value);
TypeRef optional(TypeRef value);
TypeRef type_of(TypeRef type);
TypeRef object(std::string name);
TypeRef param(std::string name);
}  // namespace types

// The same type; type variables by name.
bool same_type(const Type& a, const Type& b);
// The same type, whatever the type variables are called.
bool equivalent_type(const Type& a, const Type& b);

// As errors of the check print it: "map(string, dyn)".
std::string type_text(const Type& type);
// As the complaint about an expression's result prints it: "null_type", "list(int)".
std::string declared_text(const Type& type);
// "(int, string)", or "string.(int)" for a receiver.
std::string signature_text(const std::vector<TypeRef>& arguments, bool receiver);

}  // namespace berth::cel
