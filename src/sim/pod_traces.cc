#include "sim/pod_traces.h"

#include <algorithm>
#include <ranges>
#include <string_view>

#include "sim/scenario.h"

namespace berth::sim {
namespace {

bool is_named(std::string_view full_name, std::string_view pattern) {
  return glob_matches(pattern, full_name) ||
         glob_matches(pattern, full_name.substr(full_name.find('/') + 1));
}

}  // namespace

bool PodTraces::wants_trace(const Pod& pod) const {
  return std::ranges::any_of(names_, [name = pod.full_name()](const std::string& wanted) {
    return is_named(name, wanted);
  });
}

std::vector<std::string> PodTraces::unused_names() const {
  std::vector<std::string> unused;
  std::ranges::copy_if(names_, std::back_inserter(unused), [this](const std::string& wanted) {
    return std::ranges::none_of(
        traces_, [&](const PodTrace& trace) { return is_named(trace.decision.pod, wanted); });
  });
  return unused;
}

void PodTraces::traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) {
  traces_.push_back({loop_.now(), attempt_, explain::decision_of(pod, nodes, trace)});
}

// Victims go after the search that chose them.
void PodTraces::preempted(const Pod& victim, const Pod& preemptor, std::string_view node) {
  const std::string name = preemptor.full_name();
  for (PodTrace& trace : std::views::reverse(traces_)) {
    if (trace.decision.pod != name) continue;
    if (trace.decision.preempt && trace.decision.preempt->node == node) {
      std::vector<std::string>& victims = trace.decision.preempt->victims;
      victims.insert(std::ranges::upper_bound(victims, victim.full_name()), victim.full_name());
    }
    return;
  }
}

}  // namespace berth::sim
