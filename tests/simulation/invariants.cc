#include "invariants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace berth::simulation {
namespace {

class Check {
 public:
  Check(const History& history, const State& state, Moment moment)
      : history_(history), state_(state), at_rest_(moment == Moment::kAtRest) {}

  std::vector<Violation> run() {
    if (at_rest_) no_task_left();  // one line that says more than the many that follow from it
    bound_once();
    nodes_fit();
    columns_agree();
    one_place();
    queue_sizes();
    nothing_assumed();
    reserve_balanced();
    waits_settled();
    if (at_rest_) {
      seen_is_stored();
      placed_is_stored();
      status_is_decided();
    }
    return std::move(violations_);
  }

 private:
  template <typename... Args>
  void violated(Invariant invariant, fmt::format_string<Args...> format, Args&&... args) {
    violations_.push_back({invariant, fmt::format(format, std::forward<Args>(args)...)});
  }

  void bound_once() {
    for (const auto& [pod, times] : history_.bindings)
      if (times > 1) violated(Invariant::kBoundOnce, "{} was bound {} times", pod, times);
  }

  static void add(Amounts& sum, const Amounts& more) {
    for (const auto& [resource, amount] : more) sum[resource] += amount;
  }

  void fits(std::string_view whose, const std::string& node, const Amounts& requested,
            const Amounts& allocatable) {
    for (const auto& [resource, amount] : requested) {
      const auto found = allocatable.find(resource);
      const std::int64_t available = found == allocatable.end() ? 0 : found->second;
      if (amount > available)
        violated(Invariant::kNodesFit, "{}: node {} has {} {}, its pods ask for {}", whose, node,
                 available, resource, amount);
    }
  }

  // Pods that came behind the scheduler's back do not count: without them it must fit.
  void nodes_fit() {
    std::map<std::string, Amounts> stored, placed;
    for (const auto& [key, pod] : state_.stored)
      if (!pod.node.empty() && !pod.finished && !history_.placed_unasked.contains(key))
        add(stored[pod.node], pod.requests);
    for (const auto& [key, pod] : state_.placed)
      if (!history_.placed_unasked.contains(key)) add(placed[pod.node], pod.requests);
    for (const auto& [node, requested] : stored)
      if (const auto found = state_.nodes.find(node); found != state_.nodes.end())
        fits("API server", node, requested, found->second);
    for (const auto& [node, requested] : placed)
      if (const auto row = state_.rows.find(node); row != state_.rows.end() && row->second.has_node)
        fits("scheduler", node, requested, row->second.allocatable);
  }

  void columns_agree() {
    std::map<std::string, Amounts> sums;
    for (const auto& [key, pod] : state_.placed) add(sums[pod.node], pod.requests);
    for (const auto& [node, row] : state_.rows) {
      Amounts sum = sums[node];
      for (const auto& [resource, amount] : row.requested) sum.try_emplace(resource, 0);
      if (sum != row.requested)
        violated(Invariant::kColumnsAgree, "node {}: columns say {}, its pods sum up to {}", node,
                 row.requested, sum);
    }
    for (const auto& [node, sum] : sums)
      if (!state_.rows.contains(node))
        violated(Invariant::kColumnsAgree, "node {} has pods and no row", node);
  }

  bool is_assumed(const PodKey& key) const {
    const auto found = state_.placed.find(key);
    return found != state_.placed.end() && found->second.assumed;
  }

  void one_place() {
    for (const auto& [key, pod] : state_.seen) {
      // A pod that is being deleted is skipped and then waits for its end, nowhere.
      if (!pod.ours || !pod.node.empty() || pod.terminating) continue;
      std::vector<std::string> places;
      if (const auto found = state_.queued.find(key); found != state_.queued.end())
        places = found->second;
      if (state_.in_flight.contains(key) || is_assumed(key)) places.emplace_back("an attempt");
      if (places.size() != 1 || places.front() == "nowhere")
        violated(Invariant::kOnePlace, "{} is in [{}]", key, fmt::join(places, ", "));
    }
    for (const auto& [key, places] : state_.queued) {
      const auto found = state_.seen.find(key);
      if (found == state_.seen.end())
        violated(Invariant::kOnePlace, "{} is queued, but gone", key);
      else if (!found->second.node.empty())
        violated(Invariant::kOnePlace, "{} is queued, but on node {}", key, found->second.node);
    }
    if (at_rest_ && state_.in_flight_count != 0)
      violated(Invariant::kOnePlace, "{} pods are still in flight", state_.in_flight_count);
  }

  // What the queue counts is what it has.
  void queue_sizes() {
    std::map<std::string, std::size_t> counted;
    for (const auto& [key, places] : state_.queued)
      for (const std::string& place : places) ++counted[place];
    for (const auto& [place, size] : state_.queue_sizes)
      if (counted[place] != size)
        violated(Invariant::kOnePlace, "the queue says that {} pods are {}, it has {}", size, place,
                 counted[place]);
  }

  void nothing_assumed() {
    for (const auto& [key, pod] : state_.placed) {
      if (!pod.assumed) continue;
      const auto seen = state_.seen.find(key);
      if (at_rest_)
        violated(Invariant::kNothingAssumed, "{} is still assumed on {}", key, pod.node);
      else if (seen != state_.seen.end() && !seen->second.node.empty())
        violated(Invariant::kNothingAssumed, "{} is assumed on {}, but the watch has shown it", key,
                 pod.node);
    }
  }

  void reserve_balanced() {
    std::map<std::pair<std::string, PodKey>, bool> held;
    std::set<PodKey> bound;
    for (const ReserveStep& step : history_.reserve_steps) {
      if (step.kind == ReserveStep::Kind::kBound) {
        bound.insert(step.pod);
        continue;
      }
      bool& holds = held[{step.plugin, step.pod}];
      const bool reserves = step.kind == ReserveStep::Kind::kReserved;
      if (reserves && holds)
        violated(Invariant::kReserveBalanced, "{} reserved {} twice", step.plugin, step.pod);
      if (!reserves && bound.contains(step.pod))
        violated(Invariant::kReserveBalanced, "{} unreserved {}, which is bound", step.plugin,
                 step.pod);
      holds = reserves;
    }
    if (!at_rest_) return;
    for (const auto& [who, holds] : held) {
      const auto& [plugin, pod] = who;
      if (holds && !history_.bindings.contains(pod))
        violated(Invariant::kReserveBalanced, "{} holds a reservation of {}, which is not bound",
                 plugin, pod);
    }
  }

  void waits_settled() {
    for (const auto& [pod, wait] : history_.waits) {
      const int open = wait.started - wait.ended;
      if (open < 0 || open > (at_rest_ ? 0 : 1))
        violated(Invariant::kWaitsSettled, "{} began {} waits and ended {}", pod, wait.started,
                 wait.ended);
    }
    if (!at_rest_) return;
    for (const PodKey& pod : state_.waiting)
      violated(Invariant::kWaitsSettled, "{} still waits", pod);
  }

  void no_task_left() {
    if (state_.tasks != 0) violated(Invariant::kNoTaskLeft, "{} tasks are left", state_.tasks);
  }

  void seen_is_stored() {
    for (const auto& [key, pod] : state_.stored) {
      if (pod.finished) continue;
      const auto seen = state_.seen.find(key);
      if (seen == state_.seen.end())
        violated(Invariant::kSeenIsStored, "{} is stored and not seen", key);
      else if (seen->second.version != pod.version)
        violated(Invariant::kSeenIsStored, "{} is stored in version {}, seen in version {}", key,
                 pod.version, seen->second.version);
    }
    for (const auto& [key, pod] : state_.seen) {
      const auto stored = state_.stored.find(key);
      if (stored == state_.stored.end() || stored->second.finished)
        violated(Invariant::kSeenIsStored, "{} is seen and not stored", key);
    }
    for (const auto& [node, row] : state_.rows)
      if (row.has_node != state_.nodes.contains(node))
        violated(Invariant::kSeenIsStored, "node {}: stored {}, seen {}", node,
                 state_.nodes.contains(node), row.has_node);
    for (const auto& [node, allocatable] : state_.nodes)
      if (!state_.rows.contains(node))
        violated(Invariant::kSeenIsStored, "node {} is stored and not seen", node);
  }

  void placed_is_stored() {
    for (const auto& [key, pod] : state_.stored) {
      if (pod.finished || pod.node.empty()) continue;
      const auto placed = state_.placed.find(key);
      if (placed == state_.placed.end() || placed->second.node != pod.node)
        violated(Invariant::kColumnsAgree, "{} is stored on node {}, placed on {}", key, pod.node,
                 placed == state_.placed.end() ? "none" : placed->second.node);
    }
    for (const auto& [key, pod] : state_.placed) {
      const auto stored = state_.stored.find(key);
      if (!pod.assumed && (stored == state_.stored.end() || stored->second.finished ||
                           stored->second.node != pod.node))
        violated(Invariant::kColumnsAgree, "{} is placed on node {}, and not stored there", key,
                 pod.node);
    }
  }

  void status_is_decided() {
    static const DecidedStatus kNothing;
    for (const auto& [key, pod] : state_.stored) {
      if (pod.finished) continue;
      if (!pod.node.empty()) {
        if (pod.scheduled != "True" || !pod.nominated.empty())
          violated(Invariant::kStatusIsDecided,
                   "{} is on node {}, and has PodScheduled \"{}\" ({}), nominated node \"{}\"", key,
                   pod.node, pod.scheduled, pod.message, pod.nominated);
        continue;
      }
      const auto found = history_.decided.find(key);
      const DecidedStatus& decided = found == history_.decided.end() ? kNothing : found->second;
      if (pod.nominated != decided.nominated)
        violated(Invariant::kStatusIsDecided, "{} is nominated to \"{}\", decided was \"{}\"", key,
                 pod.nominated, decided.nominated);
      const auto [reason, message] =
          decided.condition.value_or(std::pair<std::string, std::string>());
      if (pod.scheduled != (decided.condition ? "False" : "") || pod.reason != reason ||
          pod.message != message)
        violated(Invariant::kStatusIsDecided,
                 "{} has PodScheduled \"{}\" {}: {}, decided was {}: {}", key, pod.scheduled,
                 pod.reason, pod.message, reason, message);
    }
  }

  const History& history_;
  const State& state_;
  const bool at_rest_;
  std::vector<Violation> violations_;
};

}  // namespace

std::string_view to_string(Invariant invariant) {
  switch (invariant) {
    case Invariant::kBoundOnce: return "no pod is bound twice";
    case Invariant::kNodesFit: return "no node is over its allocatable";
    case Invariant::kColumnsAgree: return "the columns agree with the pods";
    case Invariant::kOnePlace: return "every unbound pod is in exactly one place";
    case Invariant::kNothingAssumed: return "nothing is assumed forever";
    case Invariant::kReserveBalanced: return "reserve and unreserve are balanced";
    case Invariant::kWaitsSettled: return "every wait is settled once";
    case Invariant::kNoTaskLeft: return "no task is leaked";
    case Invariant::kSeenIsStored: return "what is seen is what is stored";
    case Invariant::kStatusIsDecided: return "conditions and nominations are the last decision's";
  }
  return "";
}

std::vector<Violation> check(const History& history, const State& state, Moment moment) {
  return Check(history, state, moment).run();
}

}  // namespace berth::simulation
