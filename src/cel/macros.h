// Macros: calls that the parser replaces by other expressions. Only the parser calls this.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/syntax.h"

namespace berth::cel {

// Makes expressions at the place of the macro that is expanded.
class ExprFactory {
 public:
  using NewId = std::function<std::int64_t()>;
  using CopyId = std::function<std::int64_t(std::int64_t)>;
  // `new_id` gives an id at the macro's place, `copy_id` one at the place of another expression.
  ExprFactory(NewId new_id, CopyId copy_id)
      : new_id_(std::move(new_id)), copy_id_(std::move(copy_id)) {}

  ExprPtr literal(Value value) const;
  ExprPtr ident(std::string name) const;
  ExprPtr accumulator() const;
  ExprPtr list(ExprPtr element = nullptr) const;
  ExprPtr map() const;
  ExprPtr call(std::string function, ExprPtr a = nullptr, ExprPtr b = nullptr,
               ExprPtr c = nullptr) const;
  ExprPtr member_call(std::string function, ExprPtr target, ExprPtr argument = nullptr) const;
  ExprPtr has(ExprPtr operand, std::string field) const;

  struct Fold {
    ExprPtr range;
    std::string variable;
    std::string second_variable;
    std::string accumulator;
    ExprPtr init;
    ExprPtr condition;
    ExprPtr step;
    ExprPtr result;
  };
  ExprPtr fold(Fold fold) const;

  // With ids of its own.
  ExprPtr copy(const Expr& expr) const;

 private:
  ExprPtr make(ExprKind kind) const;

  NewId new_id_;
  CopyId copy_id_;
};

struct Expansion {
  enum class Outcome : std::uint8_t { kNoMacro, kExpanded, kMisused };
  Outcome outcome = Outcome::kNoMacro;
  ExprPtr expr;
  std::string complaint;  // of a misuse
  std::int64_t at = 0;    // the expression that it is about
};

// `target` is null for a global call. Takes target and arguments only when it expands.
Expansion expand_macro(const ExprFactory& make, std::string_view function, ExprPtr& target,
                       std::vector<ExprPtr>& args);

}  // namespace berth::cel
