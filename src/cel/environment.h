// Environment: the variables that an expression may name, and the fields of the object types among
// their types. The functions are the same for all expressions (functions.h).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/type.h"

namespace berth::cel {

struct Environment {
  using Fields = std::vector<std::pair<std::string, TypeRef>>;

  // Their numbers are their places.
  std::vector<std::pair<std::string, TypeRef>> variables;
  // Of object types, by the type's name. A type that is not here has no fields to select.
  std::map<std::string, Fields, std::less<>> objects;

  // Null when the type has no such field.
  const TypeRef* field(std::string_view type, std::string_view name) const;
};

// Of device selectors: the variable `device`.
const Environment& device_environment();

}  // namespace berth::cel
