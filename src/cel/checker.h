// The type check: what type every expression has, which overloads a call may mean, and what cannot
// be.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cel/environment.h"
#include "cel/functions.h"
#include "cel/parser.h"
#include "cel/source.h"
#include "cel/type.h"

namespace berth::cel {

// What the check found out, by the ids of expressions.
struct Checked {
  struct Reference {
    std::string name;  // of a variable, or of a type that is named
    bool is_type = false;
    TypeRef type;  // the type that is named
    const Function* function = nullptr;
    std::vector<const Overload*> overloads;
  };

  std::unordered_map<std::int64_t, TypeRef> types;
  std::unordered_map<std::int64_t, Reference> references;

  const TypeRef& type(const Expr& expr) const;
  const Reference* reference(const Expr& expr) const;
};

// Names in `parsed` that turn out to be qualified (`optional.of`, `google.protobuf.Duration`) are
// put together. With anything in `issues` afterwards the result is not to be used.
Checked check(Parsed& parsed, const Environment& environment, Issues& issues);

// Further complaints about a checked expression: literals of times and regular expressions that are
// none, lists of mixed types, formats that do not suit their arguments.
void validate(const Parsed& parsed, const Checked& checked, Issues& issues);

}  // namespace berth::cel
