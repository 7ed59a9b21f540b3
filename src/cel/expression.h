// Expression: a CEL expression compiled once for an Environment and evaluated often. It never
// changes and may be evaluated from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "berth/result.h"
#include "cel/environment.h"
#include "cel/program.h"
#include "cel/value.h"

namespace berth::cel {

class Expression {
 public:
  // What is wrong with an expression of this type; empty: nothing.
  using Accept = std::function<std::string(const Type& type)>;

  // The error's message begins "compilation failed: " or "program instantiation failed: ", or is
  // what `accept` said.
  static Result<std::shared_ptr<const Expression>> compile(std::string_view text,
                                                           const Environment& environment,
                                                           const Accept& accept);

  // Whether a variable of the environment is named in it.
  bool uses(std::string_view variable) const { return variables_.contains(variable); }

  struct Outcome {
    Value value;
    std::uint64_t cost = 0;
    bool interrupted = false;  // by a work limit
  };
  // `variables` in the order of the environment.
  Outcome evaluate(std::span<const Value> variables, std::uint64_t cost_limit,
                   const WorkLimits& work) const;

 private:
  Expression(Program program, std::set<std::string, std::less<>> variables)
      : program_(std::move(program)), variables_(std::move(variables)) {}

  Program program_;
  std::set<std::string, std::less<>> variables_;
};

}  // namespace berth::cel
