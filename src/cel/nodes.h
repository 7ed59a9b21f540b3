// The steps of a program, attributes aside. Only the planner makes them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cel/functions.h"
#include "cel/program.h"

namespace berth::cel {

class Regex;

class ConstantNode final : public Node {
 public:
  ConstantNode(std::int64_t id, Value value) : Node(id), value_(std::move(value)) {}
  Value evaluate(Evaluation& evaluation) const override;
  const Value* constant() const override { return &value_; }

 private:
  Value value_;
};

// && and ||: an error on one side does not matter when the other decides.
class LogicalNode final : public Node {
 public:
  LogicalNode(std::int64_t id, bool deciding, std::vector<NodePtr> terms)
      : Node(id), deciding_(deciding), terms_(std::move(terms)) {}
  Value evaluate(Evaluation& evaluation) const override;

 private:
  bool deciding_;  // the value that needs no other: true for ||
  std::vector<NodePtr> terms_;
};

// The arguments of a call or constructor and their ids.
struct Arguments {
  explicit Arguments(std::vector<NodePtr> nodes);
  std::vector<NodePtr> nodes;
  std::vector<std::int64_t> ids;
};

class EqualityNode final : public Node {
 public:
  EqualityNode(std::int64_t id, bool negated, std::vector<NodePtr> args);
  Value evaluate(Evaluation& evaluation) const override;

 private:
  bool negated_;
  CostRule rule_;
  Arguments args_;
};

class CallNode final : public Node {
 public:
  // `overload` is null if several are possible.
  CallNode(std::int64_t id, const Function& function, const Overload* overload,
           std::vector<NodePtr> args);
  Value evaluate(Evaluation& evaluation) const override;

  // With the pattern compiled, for matches, find and findAll.
  void use(std::shared_ptr<const Regex> regex);

 private:
  const Function& function_;
  const Overload* overload_;
  CostRule rule_;
  bool stops_at_error_;  // the arguments after one that failed are not evaluated
  Arguments args_;
  std::shared_ptr<const Regex> regex_;
};

// or() and orValue(): the second side only if it is needed.
class OptionalOrNode final : public Node {
 public:
  OptionalOrNode(std::int64_t id, bool unwrap, NodePtr left, NodePtr right)
      : Node(id), unwrap_(unwrap), left_(std::move(left)), right_(std::move(right)) {}
  Value evaluate(Evaluation& evaluation) const override;

 private:
  bool unwrap_;
  NodePtr left_;
  NodePtr right_;
};

// `x in [constants]`.
class MembershipNode final : public Node {
 public:
  MembershipNode(std::int64_t id, NodePtr element, std::shared_ptr<const Map> set)
      : Node(id), element_(std::move(element)), set_(std::move(set)) {}
  Value evaluate(Evaluation& evaluation) const override;

  // The set of these values, with their equals among the other numbers; null if one of them is no
  // bool, number or string.
  static std::shared_ptr<const Map> set_of(const List& list);

 private:
  NodePtr element_;
  std::shared_ptr<const Map> set_;
};

class ListNode final : public Node {
 public:
  ListNode(std::int64_t id, std::vector<NodePtr> elements, std::vector<bool> optional)
      : Node(id), elements_(std::move(elements)), optional_(std::move(optional)) {}
  Value evaluate(Evaluation& evaluation) const override;

 private:
  Value build(Evaluation& evaluation) const;
  Arguments elements_;
  std::vector<bool> optional_;
};

class MapNode final : public Node {
 public:
  MapNode(std::int64_t id, std::vector<NodePtr> keys_and_values, std::vector<bool> optional)
      : Node(id), parts_(std::move(keys_and_values)), optional_(std::move(optional)) {}
  Value evaluate(Evaluation& evaluation) const override;

 private:
  Value build(Evaluation& evaluation) const;
  Arguments parts_;
  std::vector<bool> optional_;
};

class FoldNode final : public Node {
 public:
  static constexpr int kNoVariable = -1;
  struct Parts {
    int variable = kNoVariable;
    int second_variable = kNoVariable;
    int accumulator = kNoVariable;
    NodePtr range;
    NodePtr init;
    NodePtr condition;
    NodePtr step;
    NodePtr result;
  };
  FoldNode(std::int64_t id, Parts parts) : Node(id), parts_(std::move(parts)) {}
  Value evaluate(Evaluation& evaluation) const override;

 private:
  class Run;
  Value fold(Evaluation& evaluation) const;
  Parts parts_;
};

}  // namespace berth::cel
