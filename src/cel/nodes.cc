#include "cel/nodes.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "cel/device_selector.h"
#include "cel/library/regex.h"
#include "cel/numbers.h"
#include "cel/syntax.h"

namespace berth::cel {

namespace {

// Counts the call, if its arguments are to be found.
Value observe_call(Evaluation& evaluation, const Node& node, CostRule rule, const Arguments& args,
                   Value result) {
  if (result.is_fatal()) return result;
  std::vector<Value> values;
  if (evaluation.cost.take(args.ids, values)) {
    if (std::string wrong = cannot_count(rule, values); !wrong.empty()) {
      return Value::fatal(std::move(wrong));
    }
    evaluation.cost.add(call_cost(rule, values, result));
  }
  return evaluation.cost.push(node.id(), std::move(result));
}

// The error that ends the evaluation instead of a call that would take too long, or nothing.
std::optional<Value> refuse_long_call(Evaluation& evaluation, CostRule rule,
                                      std::span<const Value> args) {
  // More than any evaluation may cost.
  constexpr std::uint64_t kMost = 2 * DeviceSelector::kCostLimit;
  CostTracker& cost = evaluation.cost;
  // Parity: there is a price for whatever looks at all of its arguments.
  const std::uint64_t steps = rule == CostRule::kOne
                                  ? text_work(args)
                                  : call_work(rule, args, std::min(cost.work_left() + 1, kMost));
  if (!cost.work(steps)) return operation_interrupted();
  if (steps >= kMost && rule != CostRule::kOne) return cost_limit_exceeded();
  return std::nullopt;
}

constexpr std::uint64_t kNewListCost = 10;
constexpr std::uint64_t kNewMap = 30;

Value observe_constructor(Evaluation& evaluation, const Node& node, std::uint64_t cost,
                          const Arguments& parts, Value result) {
  if (result.is_fatal()) return result;
  std::vector<Value> values;
  evaluation.cost.take(parts.ids, values);
  evaluation.cost.add(cost);
  return evaluation.cost.push(node.id(), std::move(result));
}

}  // namespace

Arguments::Arguments(std::vector<NodePtr> given) : nodes(std::move(given)) {
  for (const NodePtr& node : nodes) ids.push_back(node->id());
}

Value ConstantNode::evaluate(Evaluation& evaluation) const {
  return evaluation.cost.push(id(), value_);
}

Value LogicalNode::evaluate(Evaluation& evaluation) const {
  Value result = Value::boolean(!deciding_);
  Value error;
  for (const NodePtr& term : terms_) {
    Value value = term->evaluate(evaluation);
    if (value.is_fatal()) return value;
    if (value.is(Kind::kBool)) {
      if (value.as_bool() != deciding_) continue;
      error = Value();
      result = std::move(value);
      break;
    }
    if (!error.is_error()) error = error_or_no_overload(value);
  }
  for (const NodePtr& term : terms_) evaluation.cost.drop(term->id());
  return evaluation.cost.push(id(), error.is_error() ? std::move(error) : std::move(result));
}

EqualityNode::EqualityNode(std::int64_t id, bool negated, std::vector<NodePtr> args)
    : Node(id),
      negated_(negated),
      rule_(negated ? cost_rule(operators::kNotEquals, "not_equals")
                    : cost_rule(operators::kEquals, "equals")),
      args_(std::move(args)) {}

Value EqualityNode::evaluate(Evaluation& evaluation) const {
  Value sides[2];
  for (std::size_t i = 0; i < 2; ++i) {
    sides[i] = args_.nodes[i]->evaluate(evaluation);
    if (sides[i].is_fatal()) return sides[i];
  }
  const auto& [left, right] = sides;
  Value result;
  if (left.is_error()) {
    result = left;
  } else if (right.is_error()) {
    result = right;
  } else if (std::optional<Value> refused = refuse_long_call(evaluation, rule_, sides)) {
    return std::move(*refused);
  } else {
    result = equal(left, right);
    // Parity: != is true whatever else == is, an error too.
    if (negated_ && !result.is_fatal()) result = Value::boolean(!result.is_true());
  }
  return observe_call(evaluation, *this, rule_, args_, std::move(result));
}

CallNode::CallNode(std::int64_t id, const Function& function, const Overload* overload,
                   std::vector<NodePtr> args)
    : Node(id),
      function_(function),
      overload_(overload),
      rule_(cost_rule(function.name, overload != nullptr ? std::string_view(overload->id) : "")),
      stops_at_error_(
          args.size() > 2 || function.name == "format" ||
          (overload == nullptr && function.for_all == nullptr && function.overloads.size() > 1)),
      args_(std::move(args)) {}

void CallNode::use(std::shared_ptr<const Regex> regex) {
  regex_ = std::move(regex);
  stops_at_error_ = true;
}

Value CallNode::evaluate(Evaluation& evaluation) const {
  std::vector<Value> values;
  values.reserve(args_.nodes.size());
  const Value* failed = nullptr;
  for (const NodePtr& arg : args_.nodes) {
    values.push_back(arg->evaluate(evaluation));
    if (values.back().is_fatal()) return values.back();
    if (function_.non_strict || failed != nullptr || !values.back().is_error()) continue;
    failed = &values.back();
    if (stops_at_error_) break;
  }
  Value result;
  if (failed != nullptr) {
    result = *failed;
  } else if (std::optional<Value> refused = refuse_long_call(evaluation, rule_, values)) {
    return std::move(*refused);
  } else if (regex_) {
    result = call_with_regex(function_.name, *regex_, values);
  } else {
    result = call_function(function_, overload_, values);
  }
  return observe_call(evaluation, *this, rule_, args_, std::move(result));
}

Value OptionalOrNode::evaluate(Evaluation& evaluation) const {
  Value value = left_->evaluate(evaluation);
  if (value.is(Kind::kOptional)) {
    const auto inner = value.as_optional().value;
    if (!inner) {
      value = right_->evaluate(evaluation);
    } else if (unwrap_) {
      value = *inner;
    }
  } else {
    value = error_or_no_overload(value);
  }
  return evaluation.cost.push(id(), std::move(value));
}

std::shared_ptr<const Map> MembershipNode::set_of(const List& list) {
  auto set = std::make_shared<Map>();
  const Value yes = Value::boolean(true);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value& item = list[i];
    switch (item.kind()) {
      case Kind::kBool:
      case Kind::kString: break;
      case Kind::kInt:
        set->set(Value::floating(static_cast<double>(item.as_int())), yes);
        if (item.as_int() >= 0) {
          set->set(Value::unsigned_integer(static_cast<std::uint64_t>(item.as_int())), yes);
        }
        break;
      case Kind::kUint:
        set->set(Value::floating(static_cast<double>(item.as_uint())), yes);
        if (item.as_uint() >> 63 == 0) {
          set->set(Value::integer(static_cast<std::int64_t>(item.as_uint())), yes);
        }
        break;
      case Kind::kDouble:
        if (const auto whole = lossless_int(item.as_double())) {
          set->set(Value::integer(*whole), yes);
        }
        if (const auto whole = lossless_uint(item.as_double())) {
          set->set(Value::unsigned_integer(*whole), yes);
        }
        break;
      default: return nullptr;
    }
    set->set(item, yes);
  }
  return set;
}

Value MembershipNode::evaluate(Evaluation& evaluation) const {
  Value value = element_->evaluate(evaluation);
  if (value.is_fatal()) return value;
  if (!value.is_error()) {
    // Parity: the set is one by hash, and what has none ends the evaluation.
    if (std::string wrong = unhashable(value); !wrong.empty())
      return Value::fatal(std::move(wrong));
    value = Value::boolean(set_->find_same(value) != nullptr);
  }
  return evaluation.cost.push(id(), std::move(value));
}

Value ListNode::evaluate(Evaluation& evaluation) const {
  return observe_constructor(evaluation, *this, kNewListCost, elements_, build(evaluation));
}

Value ListNode::build(Evaluation& evaluation) const {
  std::vector<Value> items;
  items.reserve(elements_.nodes.size());
  for (std::size_t i = 0; i < elements_.nodes.size(); ++i) {
    Value value = elements_.nodes[i]->evaluate(evaluation);
    if (value.is_error()) return value;
    if (optional_[i]) {
      if (!value.is(Kind::kOptional)) {
        return Value::error("cannot initialize optional list element from non-optional value " +
                            value_text(value));
      }
      const auto inner = value.as_optional().value;
      if (!inner) continue;
      value = *inner;
    }
    items.push_back(std::move(value));
  }
  return Value::list(std::move(items));
}

Value MapNode::evaluate(Evaluation& evaluation) const {
  return observe_constructor(evaluation, *this, kNewMap, parts_, build(evaluation));
}

Value MapNode::build(Evaluation& evaluation) const {
  auto map = std::make_shared<Map>();
  for (std::size_t i = 0; i < parts_.nodes.size(); i += 2) {
    Value key = parts_.nodes[i]->evaluate(evaluation);
    if (key.is_error()) return key;
    Value value = parts_.nodes[i + 1]->evaluate(evaluation);
    if (value.is_error()) return value;
    if (optional_[i / 2]) {
      if (!value.is(Kind::kOptional)) {
        return Value::error("cannot initialize optional entry '" + value_text(key) +
                            "' from non-optional value " + value_text(value));
      }
      const auto inner = value.as_optional().value;
      if (!inner) {
        map->erase(key);
        continue;
      }
      value = *inner;
    }
    if (std::string wrong = unhashable(key); !wrong.empty()) return Value::fatal(std::move(wrong));
    map->set(std::move(key), std::move(value));
  }
  return Value::map(std::move(map));
}

// The variables of a fold while it runs. The accumulator is initialized when it is first read: a
// name that cel.bind() gives costs nothing where it is not used.
class FoldNode::Run final : public Scope {
 public:
  Run(const Parts& parts, Evaluation& evaluation)
      : parts_(parts), evaluation_(evaluation), outside_(evaluation.scope) {
    evaluation_.scope = this;
  }
  ~Run() { evaluation_.scope = outside_; }

  const Value& lookup(int variable) override {
    if (variable == parts_.accumulator) {
      if (!begun_) begin();
      return accumulated_;
    }
    if (!finishing_ && variable == parts_.variable) return first_;
    if (!finishing_ && variable == parts_.second_variable) return second_;
    // Lookups from here are outside of this fold.
    Scope* const inside = std::exchange(evaluation_.scope, outside_);
    const Value& found = evaluation_.lookup(variable);
    evaluation_.scope = inside;
    return found;
  }

  // False to stop.
  bool next(Value first, Value second) {
    first_ = std::move(first);
    second_ = std::move(second);
    const Value condition = parts_.condition->evaluate(evaluation_);
    if (condition.is_fatal()) {
      fatal_ = condition;
      return false;
    }
    if (condition.is_false()) return false;
    accumulated_ = parts_.step->evaluate(evaluation_);
    begun_ = true;
    if (accumulated_.is_fatal()) fatal_ = accumulated_;
    return !fatal_;
  }

  Value finish() {
    if (fatal_) return *fatal_;
    finishing_ = true;
    Value result = parts_.result->evaluate(evaluation_);
    if (result.is(Kind::kList)) result.shared_list()->growing = false;
    if (result.is(Kind::kMap)) result.shared_map()->growing = false;
    return result;
  }

 private:
  void begin() {
    begun_ = true;
    Scope* const inside = std::exchange(evaluation_.scope, outside_);
    accumulated_ = parts_.init->evaluate(evaluation_);
    evaluation_.scope = inside;
    if (accumulated_.is(Kind::kList) && accumulated_.as_list().empty()) {
      auto list = std::make_shared<List>();
      list->growing = true;
      accumulated_ = Value::list(std::move(list));
    } else if (accumulated_.is(Kind::kMap) && accumulated_.as_map().size() == 0) {
      auto map = std::make_shared<Map>();
      map->growing = true;
      accumulated_ = Value::map(std::move(map));
    }
  }

  const Parts& parts_;
  Evaluation& evaluation_;
  Scope* outside_;
  Value accumulated_;
  Value first_;
  Value second_;
  bool begun_ = false;
  bool finishing_ = false;
  std::optional<Value> fatal_;
};

Value FoldNode::evaluate(Evaluation& evaluation) const {
  Value result = fold(evaluation);
  if (result.is_fatal()) return result;
  evaluation.cost.drop(parts_.range->id());
  return evaluation.cost.push(id(), std::move(result));
}

Value FoldNode::fold(Evaluation& evaluation) const {
  const Value range = parts_.range->evaluate(evaluation);
  if (range.is_error()) return range;
  const bool two = parts_.second_variable != kNoVariable;
  Run run(parts_, evaluation);
  if (range.is(Kind::kList)) {
    const std::shared_ptr<List>& list = range.shared_list();
    const std::size_t count = list->size();
    for (std::size_t i = 0; i < count; ++i) {
      const Value index = Value::integer(static_cast<std::int64_t>(i));
      if (!(two ? run.next(index, (*list)[i]) : run.next((*list)[i], Value()))) break;
    }
  } else if (range.is(Kind::kMap)) {
    const std::shared_ptr<Map>& map = range.shared_map();
    for (std::size_t i = 0; i < map->entries().size(); ++i) {
      const Map::Entry& entry = map->entries()[i];
      if (!run.next(entry.key, entry.value)) break;
    }
  } else if (two) {
    return Value::error("unsupported comprehension range type: " + native_type_name(range));
  } else {
    return Value::error("got '" + native_type_name(range) + "', expected iterable type");
  }
  return run.finish();
}

}  // namespace berth::cel
