#include "cel/attributes.h"

#include <optional>
#include <utility>

#include "cel/numbers.h"

namespace berth::cel {

namespace {

// What a step found: a value, nothing, or an error.
struct Found {
  Value value;
  bool present = false;
};

Found index_list(const List& list, const Value& key, bool may_be_absent) {
  std::optional<std::int64_t> index;
  switch (key.kind()) {
    case Kind::kInt: index = key.as_int(); break;
    case Kind::kUint:
      if (key.as_uint() >> 63 == 0) index = static_cast<std::int64_t>(key.as_uint());
      break;
    case Kind::kDouble: index = lossless_int(key.as_double()); break;
    default: return {Value::error("unsupported index type '" + type_name(key) + "' in list")};
  }
  if (!index) return {Value::error("unsupported index value " + value_text(key) + " in list")};
  if (*index >= 0 && static_cast<std::uint64_t>(*index) < list.size()) {
    return {list[static_cast<std::size_t>(*index)], true};
  }
  if (may_be_absent) return {};
  return {Value::error("index out of bounds: " + value_text(key))};
}

Found step(const Value& object, const Value& key, bool may_be_absent) {
  if (object.is(Kind::kList)) return index_list(object.as_list(), key, may_be_absent);
  if (object.is(Kind::kMap)) {
    const Value* found = object.as_map().find_or_default(key);
    if (found != nullptr) return {*found, true};
  }
  if (may_be_absent) return {};
  return {Value::error("no such key: " + value_text(key))};
}

}  // namespace

std::string not_a_key(const Value& key) {
  switch (key.kind()) {
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kString: return {};
    default: return "invalid qualifier type: " + native_type_name(key);
  }
}

std::shared_ptr<Attribute> Attribute::variable(std::int64_t id, int number) {
  auto attribute = std::make_shared<Attribute>();
  attribute->id_ = id;
  attribute->variable_ = number;
  return attribute;
}

std::shared_ptr<Attribute> Attribute::of(std::int64_t id, NodePtr operand) {
  auto attribute = std::make_shared<Attribute>();
  attribute->id_ = id;
  attribute->operand_ = std::move(operand);
  return attribute;
}

std::shared_ptr<Attribute> Attribute::choice(std::int64_t id, NodePtr condition,
                                             std::shared_ptr<Attribute> yes,
                                             std::shared_ptr<Attribute> no) {
  auto attribute = std::make_shared<Attribute>();
  attribute->id_ = id;
  attribute->operand_ = std::move(condition);
  attribute->yes_ = std::move(yes);
  attribute->no_ = std::move(no);
  return attribute;
}

void Attribute::add(const std::shared_ptr<const Qualifier>& qualifier) {
  if (is_choice()) {
    yes_->add(qualifier);
    no_->add(qualifier);
  } else {
    qualifiers_.push_back(qualifier);
  }
}

std::int64_t Attribute::id() const {
  // The sides of a choice agree when a step follows it.
  if (is_choice()) return yes_->id() == no_->id() ? yes_->id() : id_;
  return qualifiers_.empty() ? id_ : qualifiers_.back()->id;
}

Value Attribute::resolve(Evaluation& evaluation) const {
  if (is_choice()) {
    const Value condition = operand_->evaluate(evaluation);
    if (condition.is_true()) return yes_->resolve(evaluation);
    if (condition.is_false()) return no_->resolve(evaluation);
    return error_or_no_overload(condition);
  }
  Value from = operand_ ? operand_->evaluate(evaluation) : evaluation.lookup(variable_);
  if (from.is_error()) return from;
  return follow(evaluation, std::move(from));
}

Value Attribute::follow(Evaluation& evaluation, Value from) const {
  bool optional = false;
  if (from.is(Kind::kOptional)) {
    const auto inner = from.as_optional().value;
    if (!inner) return from;
    from = *inner;
    optional = true;
  }
  for (const auto& qualifier : qualifiers_) {
    optional = optional || qualifier->optional;
    Value key = qualifier->key;
    Found found;
    if (qualifier->computed) {
      key = qualifier->computed->resolve(evaluation);
      if (key.is_fatal()) return key;
    }
    if (key.is_error()) {
      found.value = key;
    } else if (std::string wrong = not_a_key(key); !wrong.empty()) {
      found.value = Value::error(std::move(wrong));
    } else {
      found = step(from, key, optional || qualifier->test_only);
    }
    const bool failed = found.value.is_error();
    if (qualifier->test_only && !optional && !failed) {
      found = {Value::boolean(found.present), true};
    }
    if (!optional || found.present) {
      evaluation.cost.add(1);
      found.value = evaluation.cost.push(qualifier->id, std::move(found.value));
      if (found.value.is_fatal()) return found.value;
    }
    if (failed) return found.value;
    if (!found.present) return Value::none();
    from = std::move(found.value);
  }
  return optional ? Value::some(std::move(from)) : from;
}

void Attribute::drop_from(CostTracker& cost) const {
  if (!is_choice()) return cost.drop(id());
  cost.drop(no_->id());
  cost.drop(yes_->id());
  cost.drop(operand_->id());
}

Value AttributeNode::evaluate(Evaluation& evaluation) const {
  Value value = attribute_->resolve(evaluation);
  if (value.is_fatal()) return value;
  if (test_only_ && value.is(Kind::kOptional)) {
    value = Value::boolean(value.as_optional().value != nullptr);
  }
  attribute_->drop_from(evaluation.cost);
  if (!attribute_->is_choice()) evaluation.cost.add(1);
  if (test_only_) evaluation.cost.subtract(1);
  return evaluation.cost.push(id(), std::move(value));
}

}  // namespace berth::cel
