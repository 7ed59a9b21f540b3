// The functions of the language: their overloads with signatures, for the checker, and what they
// do, for the evaluator. One table for all expressions; it never changes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cel/type.h"
#include "cel/value.h"

namespace berth::cel {

using Implementation = Value (*)(std::span<const Value> args);

// What the first argument must be able to do for an operator that works for several types at once.
enum class Trait : std::uint8_t {
  kNone,
  kAdd,
  kCompare,
  kDivide,
  kModulo,
  kMultiply,
  kNegate,
  kSubtract,
  kSize,
  kMatch,
  kList,
};
bool has_trait(const Value& value, Trait trait);

struct Overload {
  std::string id;
  bool member = false;
  std::vector<TypeRef> args;  // the receiver is the first
  TypeRef result;
  Implementation call = nullptr;  // null if the function has one for all overloads, or none
};

struct Function {
  std::string name;
  std::vector<Overload> overloads;
  Implementation for_all = nullptr;
  Trait trait = Trait::kNone;  // of the first argument, for for_all
  bool non_strict = false;     // errors are arguments like others
  bool unguarded = false;      // arguments are not looked at before the call
};

class FunctionTable {
 public:
  // `signature` is "name(int, list(T)) -> bool", or "string::name(int) -> bool" for a receiver;
  // single capitals are type variables. Overloads keep their order.
  void add(std::string_view signature, std::string_view id, Implementation call = nullptr);
  // One implementation for all overloads.
  void for_all(std::string_view name, Trait trait, Implementation call);
  Function& at(std::string_view name);

  const Function* find(std::string_view name) const;

 private:
  std::unordered_map<std::string, Function> functions_;
};

const FunctionTable& functions();

// `no such overload: name(int, string)`.
Value no_such_overload(const std::string& function, std::span<const Value> args);

// Calls the overload, or the one that fits the arguments if `overload` is null.
Value call_function(const Function& function, const Overload* overload,
                    std::span<const Value> args);

}  // namespace berth::cel
