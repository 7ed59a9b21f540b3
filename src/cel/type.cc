#include "cel/type.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::cel {

namespace {

std::uint32_t weigh(const std::vector<TypeRef>& parameters) {
  std::uint64_t weight = 1;
  for (const TypeRef& parameter : parameters) weight += parameter->weight();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(weight, Type::kMaxWeight));
}

TypeRef make(TypeKind kind, std::string name, std::vector<TypeRef> parameters = {}) {
  return std::make_shared<const Type>(kind, std::move(name), std::move(parameters));
}

bool agree(const Type& a, const Type& b, bool by_param_name) {
  if (&a == &b) return true;
  if (a.kind() != b.kind() || a.parameters().size() != b.parameters().size()) return false;
  if ((by_param_name || a.kind() != TypeKind::kParam) && a.name() != b.name()) return false;
  for (std::size_t i = 0; i < a.parameters().size(); ++i) {
    if (!agree(*a.parameters()[i], *b.parameters()[i], by_param_name)) return false;
  }
  return true;
}

std::string with_parameters(const Type& type, std::string_view name,
                            std::string (*text)(const Type&)) {
  std::string result(name);
  if (type.parameters().empty()) return result;
  result += '(';
  for (std::size_t i = 0; i < type.parameters().size(); ++i) {
    if (i > 0) result += ", ";
    result += text(*type.parameters()[i]);
  }
  return result + ')';
}

}  // namespace

Type::Type(TypeKind kind, std::string name, std::vector<TypeRef> parameters)
    : kind_(kind),
      open_(kind == TypeKind::kParam ||
            std::any_of(parameters.begin(), parameters.end(),
                        [](const TypeRef& each) { return each->is_open(); })),
      weight_(weigh(parameters)),
      name_(std::move(name)),
      parameters_(std::move(parameters)) {}

bool Type::is_optional() const { return kind_ == TypeKind::kOpaque && name_ == "optional_type"; }

namespace types {

#define BERTH_CEL_TYPE(function, kind, name)      \
  const TypeRef& function() {                     \
    static const TypeRef only = make(kind, name); \
    return only;                                  \
  }
BERTH_CEL_TYPE(error, TypeKind::kError, "error")
BERTH_CEL_TYPE(dyn, TypeKind::kDyn, "dyn")
BERTH_CEL_TYPE(null, TypeKind::kNull, "null_type")
BERTH_CEL_TYPE(boolean, TypeKind::kBool, "bool")
BERTH_CEL_TYPE(integer, TypeKind::kInt, "int")
BERTH_CEL_TYPE(unsigned_integer, TypeKind::kUint, "uint")
BERTH_CEL_TYPE(floating, TypeKind::kDouble, "double")
BERTH_CEL_TYPE(string, TypeKind::kString, "string")
BERTH_CEL_TYPE(bytes, TypeKind::kBytes, "bytes")
BERTH_CEL_TYPE(duration, TypeKind::kDuration, "google.protobuf.Duration")
BERTH_CEL_TYPE(timestamp, TypeKind::kTimestamp, "google.protobuf.Timestamp")
BERTH_CEL_TYPE(type, TypeKind::kType, "type")
BERTH_CEL_TYPE(quantity, TypeKind::kObject, "kubernetes.Quantity")
BERTH_CEL_TYPE(semver, TypeKind::kObject, "kubernetes.Semver")
BERTH_CEL_TYPE(url, TypeKind::kObject, "kubernetes.URL")
BERTH_CEL_TYPE(ip, TypeKind::kOpaque, "net.IP")
BERTH_CEL_TYPE(cidr, TypeKind::kOpaque, "net.CIDR")
BERTH_CEL_TYPE(format, TypeKind::kObject, "kubernetes.NamedFormat")
BERTH_CEL_TYPE(device, TypeKind::kObject, "kubernetes.DRADevice")
#undef BERTH_CEL_TYPE

const TypeRef& list_of_dyn() {
  static const TypeRef only = list(dyn());
  return only;
}
const TypeRef& map_of_dyn() {
  static const TypeRef only = map(dyn(), dyn());
  return only;
}
const TypeRef& optional_of_dyn() {
  static const TypeRef only = optional(dyn());
  return only;
}

TypeRef list(TypeRef element) { return make(TypeKind::kList, "list", {std::move(element)}); }
TypeRef map(TypeRef key, TypeRef value) {
  return make(TypeKind::kMap, "map", {std::move(key), std::move(value)});
}
TypeRef optional(TypeRef value) {
  return make(TypeKind::kOpaque, "optional_type", {std::move(value)});
}
TypeRef type_of(TypeRef of) { return make(TypeKind::kType, "type", {std::move(of)}); }
TypeRef object(std::string name) { return make(TypeKind::kObject, std::move(name)); }
TypeRef param(std::string name) { return make(TypeKind::kParam, std::move(name)); }

}  // namespace types

bool same_type(const Type& a, const Type& b) { return agree(a, b, true); }
bool equivalent_type(const Type& a, const Type& b) { return agree(a, b, false); }

std::string type_text(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kDuration: return "duration";
    case TypeKind::kError: return "!error!";
    case TypeKind::kNull: return "null";
    case TypeKind::kTimestamp: return "timestamp";
    default: return with_parameters(type, type.name(), type_text);
  }
}

std::string declared_text(const Type& type) {
  if (type.kind() == TypeKind::kParam) return "<" + type.name() + ">";
  return with_parameters(type, type.name(), declared_text);
}

std::string signature_text(const std::vector<TypeRef>& arguments, bool receiver) {
  std::string result;
  std::size_t first = 0;
  if (receiver) {
    result += type_text(*arguments[0]) + ".";
    first = 1;
  }
  result += '(';
  for (std::size_t i = first; i < arguments.size(); ++i) {
    if (i > first) result += ", ";
    result += type_text(*arguments[i]);
  }
  return result + ')';
}

}  // namespace berth::cel
