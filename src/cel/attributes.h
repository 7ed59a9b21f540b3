// Attribute: a variable or a computed value, and the way from there through fields, keys and
// indexes. It is resolved in one go, so that an optional step anywhere makes the result optional.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cel/program.h"

namespace berth::cel {

class Attribute;

// One step of the way: a key known beforehand, or one that an attribute gives.
struct Qualifier {
  std::int64_t id = 0;
  bool optional = false;
  bool test_only = false;  // has(): only whether there is something
  Value key;
  std::shared_ptr<const Attribute> computed;
};

class Attribute {
 public:
  static std::shared_ptr<Attribute> variable(std::int64_t id, int number);
  static std::shared_ptr<Attribute> of(std::int64_t id, NodePtr operand);
  static std::shared_ptr<Attribute> choice(std::int64_t id, NodePtr condition,
                                           std::shared_ptr<Attribute> yes,
                                           std::shared_ptr<Attribute> no);

  void add(const std::shared_ptr<const Qualifier>& qualifier);

  // The last step's, or its own.
  std::int64_t id() const;
  bool is_choice() const { return yes_ != nullptr; }
  Value resolve(Evaluation& evaluation) const;
  // Removes from the cost stack what resolving left there.
  void drop_from(CostTracker& cost) const;

 private:
  Value follow(Evaluation& evaluation, Value from) const;

  std::int64_t id_ = 0;
  int variable_ = -1;
  NodePtr operand_;  // or the condition of a choice
  std::shared_ptr<Attribute> yes_;
  std::shared_ptr<Attribute> no_;
  std::vector<std::shared_ptr<const Qualifier>> qualifiers_;
};

// What stands for a key that is none; empty if it is one.
std::string not_a_key(const Value& key);

class AttributeNode final : public Node {
 public:
  AttributeNode(std::int64_t id, std::shared_ptr<Attribute> attribute, bool test_only = false)
      : Node(id), attribute_(std::move(attribute)), test_only_(test_only) {}

  Value evaluate(Evaluation& evaluation) const override;
  std::int64_t id() const override { return test_only_ ? Node::id() : attribute_->id(); }
  std::shared_ptr<Attribute> attribute() const override { return attribute_; }

 private:
  std::shared_ptr<Attribute> attribute_;
  bool test_only_;
};

}  // namespace berth::cel
