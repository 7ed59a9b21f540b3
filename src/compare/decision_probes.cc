#include "compare/decision_probes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "berth/pod.h"
#include "berth/search_trace.h"
#include "berth/views.h"

namespace berth::compare {
namespace {

// FNV-1a over several texts.
class TextHash {
 public:
  TextHash& add(std::string_view text) {
    for (const char c : text) put(static_cast<unsigned char>(c));
    put(0xff);  // "ab", "c" is not "a", "bc"
    return *this;
  }
  TextHash& add(std::int64_t number) { return add(fmt::format("{}", number)); }
  std::uint64_t value() const { return hash_; }

 private:
  void put(unsigned byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::uint64_t hash_of_node(const Node& node) {
  const Symbols& symbols = *node.symbols.table();
  TextHash hash;
  hash.add(node.name).add(node.unschedulable ? 1 : 0);
  hash.add(node.allocatable_resources.milli_cpu).add(node.allocatable_resources.memory);
  for (const ScalarAmount& scalar : node.allocatable_resources.scalars)
    hash.add(symbols.text(scalar.name)).add(scalar.amount);
  std::uint64_t labels = 0;
  for (const Label& label : node.labels)
    labels += TextHash().add(symbols.text(label.key)).add(symbols.text(label.value)).value();
  for (const Taint& taint : node.taints)
    labels += TextHash()
                  .add(symbols.text(taint.key))
                  .add(symbols.text(taint.value))
                  .add(static_cast<std::int64_t>(taint.effect))
                  .value();
  return hash.value() + labels;
}

void view_cluster(const NodeTable& nodes, const Pod& without, ProbedDecision& decision) {
  nodes.nodes().for_each([&](NodeRow row) {
    decision.cluster += hash_of_node(nodes.node(row));
    for (const Ref<const Pod>& pod : nodes.pods(row))
      if (pod->uid() != without.uid())
        decision.placements.push_back(
            TextHash().add(nodes.name_text(row)).add(pod->full_name()).value());
  });
  std::ranges::sort(decision.placements);
}

NodeView view_of(NodeRow row, const NodeTable& nodes, const SearchTrace& trace) {
  NodeView view;
  if (row == kNoRow || !nodes.has_node(row)) return view;
  view.there = true;
  if (trace.feasible.contains(row)) {
    view.verdict = NodeView::Verdict::kFits;
    for (const SearchTrace::Scores& scores : trace.scores)
      view.points[scores.name] = scores.by_row[row].weighted;
    if (!trace.totals.empty()) view.total = trace.totals[row];
    return view;
  }
  const auto rejected = std::ranges::find(trace.rejected, row, &SearchTrace::Rejected::row);
  if (rejected != trace.rejected.end()) {
    view.verdict = NodeView::Verdict::kRejected;
    view.plugin = rejected->by.plugin;
    view.reason = rejected->by.message();
  } else if (trace.pre_filter) {
    view.verdict = NodeView::Verdict::kRejected;
    view.plugin = trace.pre_filter->plugin;
    view.reason = trace.pre_filter->message();
  } else if (trace.narrowed &&
             std::ranges::find(trace.narrowed->to, row) == trace.narrowed->to.end()) {
    view.verdict = NodeView::Verdict::kRejected;
    view.plugin = fmt::format("{}", fmt::join(trace.narrowed->by, ", "));
    view.reason = "its PreFilter leaves only other nodes";
  }
  return view;
}

}  // namespace

DecisionProbes::DecisionProbes(std::vector<Probe> probes) {
  for (Probe& probe : probes) wanted_[probe.pod].ordinals[probe.ordinal] = std::move(probe.nodes);
}

bool DecisionProbes::wants_trace(const Pod& pod) const {
  const auto wanted = wanted_.find(pod.full_name());
  return wanted != wanted_.end() && wanted->second.ordinals.contains(wanted->second.decided + 1);
}

void DecisionProbes::traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) {
  const std::string name = pod.full_name();
  const Wanted& wanted = wanted_[name];
  const std::uint32_t ordinal = wanted.decided + 1;
  const auto asked = wanted.ordinals.find(ordinal);
  if (asked == wanted.ordinals.end()) return;
  ProbedDecision& decision = decisions_[{name, ordinal}];
  decision.at = loop_->now().since_start;
  if (trace.outcome.ok())
    decision.chosen = nodes.name_text(trace.chosen);
  else
    decision.message = trace.outcome.message();
  decision.nominated = pod.nominated_node_name();
  for (const std::string& node : asked->second)
    decision.nodes[node] = view_of(nodes.find(nodes.symbol_table()->find(node)), nodes, trace);
  view_cluster(nodes, pod, decision);
}

void DecisionProbes::decided(const Decision& decision) {
  const auto wanted = wanted_.find(decision.pod->full_name());
  if (wanted != wanted_.end()) ++wanted->second.decided;
}

}  // namespace berth::compare
