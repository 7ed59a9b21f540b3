// What an evaluation costs, counted as upstream counts it, so that it is given up at the same
// point.
//
// Upstream follows evaluated values on a stack and finds the arguments of a call there by the ids
// of their expressions. What is not found costs nothing, and where a loop leaves values behind,
// those are found; so the stack is kept here too.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/value.h"

namespace berth::cel {

// How the cost of a call depends on its arguments.
enum class CostRule : std::uint8_t {
  kOne,
  kEquals,           // the shorter side; 1 for the types of Kubernetes
  kShorter,          // the shorter side
  kBoth,             // both sides
  kProduct,          // the one as often as the other
  kFirst,            // the first argument read once
  kSecond,           // the second argument read once
  kFirstTwice,       // ... and written once
  kResultTwice,      // the result
  kRegex,            // text and pattern
  kTraversal,        // the first argument, all levels of it
  kListSize,         // as many as the second argument has elements
  kListResult,       // a new list
  kFlatten,          // a new list, per level
  kSelfCompare,      // each element of the first argument with each
  kSelfCompareKeys,  // ... of the second
  kSets,             // each of the one with each of the other
  kSetsBothWays,
  kContainsIp,
  kContainsIpText,
  kContainsCidr,
  kContainsCidrText,
  kValidate,
  kAuthorization,
};

// `overload` is empty when several overloads are possible.
CostRule cost_rule(std::string_view function, std::string_view overload);
std::uint64_t call_cost(CostRule rule, std::span<const Value> args, const Value& result);

// Parity: upstream's counting of some calls fails for arguments that are errors, and so ends the
// evaluation. Its words, or nothing.
std::string cannot_count(CostRule rule, std::span<const Value> args);

// How many steps a call that looks at all of its arguments takes, roughly; `most` (below 2^32) if
// there are more. Upstream's cost is not always a measure of that, and is known only afterwards.
std::uint64_t call_work(CostRule rule, std::span<const Value> args, std::uint64_t most);
// ... one that looks at texts, and at lists and maps only from outside.
std::uint64_t text_work(std::span<const Value> args);

// What ends an evaluation that costs too much.
Value cost_limit_exceeded();
// What ends one that takes longer than it may.
Value operation_interrupted();

// How long an evaluation may take, apart from what it may cost.
struct WorkLimits {
  // More than that takes seconds, and upstream gives up then.
  static constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 28;
  std::uint64_t steps = kMostSteps;              // some tens of nanoseconds each
  const std::atomic<bool>* cancelled = nullptr;  // looked at in every step; null: never set
};

class CostTracker {
 public:
  CostTracker(std::uint64_t limit, const WorkLimits& work) : limit_(limit), work_(work) {}

  std::uint64_t cost() const { return cost_; }
  // Counts steps before they are taken. False: too many, or the result is not needed any more.
  bool work(std::uint64_t steps) {
    const bool cancelled =
        work_.cancelled != nullptr && work_.cancelled->load(std::memory_order_relaxed);
    interrupted_ = interrupted_ || cancelled || steps > work_left();
    if (!interrupted_) steps_ += steps;
    return !interrupted_;
  }
  std::uint64_t work_left() const { return work_.steps - steps_; }
  // Whether work() was false.
  bool interrupted() const { return interrupted_; }
  void add(std::uint64_t cost) { cost_ += cost; }
  void subtract(std::uint64_t cost) { cost_ -= cost; }

  // The value of an expression. Gives it back, or the error that ends the evaluation.
  Value push(std::int64_t id, Value value);
  // Removes the latest value of the expression and what lies above it.
  void drop(std::int64_t id);
  // Takes the latest values of these expressions, the last first; false if one is not there.
  bool take(std::span<const std::int64_t> ids, std::vector<Value>& values);

 private:
  struct Entry {
    std::int64_t id;
    std::int64_t before;  // where the same expression's value before this one is
    Value value;
  };
  static constexpr std::int64_t kNowhere = -1;

  std::int64_t latest(std::int64_t id) const {
    const auto index = static_cast<std::size_t>(id);
    return index < latest_.size() ? latest_[index] : kNowhere;
  }
  void cut(std::int64_t size);

  std::uint64_t limit_;
  std::uint64_t cost_ = 0;
  WorkLimits work_;
  std::uint64_t steps_ = 0;
  bool interrupted_ = false;
  std::vector<Entry> stack_;
  std::vector<std::int64_t> latest_;  // where the latest value of each expression is
};

}  // namespace berth::cel
