// Expr: an expression as the parser leaves it, macros expanded.
//
// Every expression has an id, by which the checker keeps what it finds out, costs are followed, and
// errors know their place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cel/value.h"

namespace berth::cel {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class ExprKind : std::uint8_t {
  kUnspecified,  // stands where something was wrong
  kLiteral,
  kIdent,
  kSelect,
  kCall,
  kList,
  kMap,
  kStruct,
  kFold,
};

struct Expr {
  ExprKind kind = ExprKind::kUnspecified;
  std::int64_t id = 0;

  Value literal;
  std::string name;        // of a variable, a field, a function, a message type
  ExprPtr target;          // what a field is selected from; the receiver of a call, or null
  bool test_only = false;  // has(target.name)

  // Arguments of a call; elements of a list; keys and values of a map in turns; values of a
  // message.
  std::vector<ExprPtr> args;
  std::vector<bool> optional;            // of a list's elements, a map's or message's entries
  std::vector<std::string> field_names;  // of a message
  std::vector<std::int64_t> entry_ids;   // of a map or message

  // A fold goes over args[kRange] with one variable or two; a second name is empty if there is one.
  enum FoldPart : std::uint8_t { kRange, kInit, kCondition, kStep, kResult };
  std::string variable;
  std::string second_variable;
  std::string accumulator;

  const Expr& part(FoldPart which) const { return *args[which]; }
};

namespace operators {
inline constexpr const char* kConditional = "_?_:_";
inline constexpr const char* kAnd = "_&&_";
inline constexpr const char* kOr = "_||_";
inline constexpr const char* kNot = "!_";
inline constexpr const char* kNegate = "-_";
inline constexpr const char* kEquals = "_==_";
inline constexpr const char* kNotEquals = "_!=_";
inline constexpr const char* kLess = "_<_";
inline constexpr const char* kLessEquals = "_<=_";
inline constexpr const char* kGreater = "_>_";
inline constexpr const char* kGreaterEquals = "_>=_";
inline constexpr const char* kAdd = "_+_";
inline constexpr const char* kSubtract = "_-_";
inline constexpr const char* kMultiply = "_*_";
inline constexpr const char* kDivide = "_/_";
inline constexpr const char* kModulo = "_%_";
inline constexpr const char* kIn = "@in";
inline constexpr const char* kIndex = "_[_]";
inline constexpr const char* kOptionalIndex = "_[?_]";
inline constexpr const char* kOptionalSelect = "_?._";
inline constexpr const char* kNotStrictlyFalse = "@not_strictly_false";
inline constexpr const char* kSortByKeys = "@sortByAssociatedKeys";
inline constexpr const char* kMapInsert = "cel.@mapInsert";
}  // namespace operators

}  // namespace berth::cel
