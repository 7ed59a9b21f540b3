// Program: a checked expression, planned for evaluation. Constants are computed, regular
// expressions compiled, variables numbered.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "berth/result.h"
#include "cel/checker.h"
#include "cel/cost.h"
#include "cel/value.h"

namespace berth::cel {

class Attribute;
class Evaluation;

// One step. Evaluating it also counts what it costs.
class Node {
 public:
  explicit Node(std::int64_t id) : id_(id) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  virtual ~Node() = default;

  virtual Value evaluate(Evaluation& evaluation) const = 0;
  // Under which its value is found on the cost stack.
  virtual std::int64_t id() const { return id_; }
  // Its value, if that is known beforehand.
  virtual const Value* constant() const { return nullptr; }
  // The way to its value, if it is no more than that: further steps can be added.
  virtual std::shared_ptr<Attribute> attribute() const { return nullptr; }

 private:
  std::int64_t id_;
};
using NodePtr = std::unique_ptr<Node>;

struct Program {
  NodePtr root;
};

// Errors are those of "program instantiation failed".
// The variables of the environment have the numbers of their places in it, and once more behind
// those: by the names that begin with a dot.
Result<Program> plan(const Parsed& parsed, const Checked& checked, const Environment& environment);

// Variables that a fold brings, from the inside to the outside.
class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  virtual const Value& lookup(int variable) = 0;

 protected:
  ~Scope() = default;
};

// The state of one evaluation.
class Evaluation {
 public:
  // `variables` are the environment's and outlive this.
  Evaluation(std::span<const Value> variables, std::uint64_t cost_limit, const WorkLimits& work)
      : cost(cost_limit, work), variables_(variables) {}

  const Value& lookup(int variable) {
    return scope != nullptr ? scope->lookup(variable)
                            : variables_[static_cast<std::size_t>(variable) % variables_.size()];
  }

  CostTracker cost;
  Scope* scope = nullptr;

 private:
  std::span<const Value> variables_;
};

}  // namespace berth::cel
