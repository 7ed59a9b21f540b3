#include "search/objections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "berth/handle.h"
#include "framework/what_if.h"

namespace berth {
namespace {

using Objection = SearchTrace::Objection;

// As PreFilter fails in a search.
Outcome with_plugin(Outcome outcome, std::string_view plugin) {
  if (outcome.rejected()) return std::move(outcome).by(plugin);
  return wrap_failure(fmt::format("running PreFilter plugin \"{}\": ", plugin), outcome, plugin);
}

class Objectors {
 public:
  Objectors(const Ref<const Pod>& pod, Cluster& cluster, const Framework& framework)
      : cycle_(pod, cluster), cluster_(cluster), framework_(framework) {
    scratch_.reset(cluster.nodes().rows());
    cycle_.lend(&scratch_);
    by_row_.resize(cluster.nodes().rows());
  }

  std::vector<SearchTrace::Objections> find() {
    for (const Placed<PreFilterPlugin>& placed : framework_.plugins().pre_filter)
      pre_filter(placed);
    const internal::PluginMask done = done_;
    for (const Placed<FilterPlugin>& placed : framework_.plugins().filter)
      if (!done.test(placed.index)) filter(placed);
    std::vector<SearchTrace::Objections> all;
    for (const NodeRow row : cluster_.nodes().order())
      if (cluster_.nodes().has_node(row) && !by_row_[row].empty())
        all.push_back({row, std::move(by_row_[row])});
    return all;
  }

 private:
  void pre_filter(const Placed<PreFilterPlugin>& placed) {
    PreFilterResult result = framework_.ask_pre_filter(placed, cycle_);
    if (result.outcome.code == Code::kSkip) return done_.set(placed.index);
    if (!result.outcome.ok()) {
      done_.set(placed.index);
      Objection objection{with_plugin(std::move(result.outcome), placed->name()), true, {}};
      objection.obstacles = obstacles(*placed.plugin, objection.outcome, kNoRow);
      cluster_.nodes().nodes().for_each([&](NodeRow row) { by_row_[row].push_back(objection); });
      return;
    }
    if (!result.nodes) return;
    NodeSet others = cluster_.nodes().nodes();
    for (const Symbol name : *result.nodes)
      if (const NodeRow row = cluster_.nodes().find(name); row != kNoRow) others.erase(row);
    const Outcome outcome =
        Outcome::of(Code::kUnschedulableAndUnresolvable,
                    fmt::format("node(s) didn't satisfy plugin(s) [{}]", placed->name()))
            .by(placed->name());
    others.for_each([&](NodeRow row) {
      narrowed_.push_back({placed.index, row});
      by_row_[row].push_back({outcome, true, obstacles(*placed.plugin, outcome, row)});
    });
  }

  // All other plugins sit out, so that nominated pods are shown to this one only, too.
  void filter(const Placed<FilterPlugin>& placed) {
    for (const Placed<FilterPlugin>& other : framework_.plugins().filter)
      cycle_.skip_filter.set(other.index);
    for (const Placed<PreFilterPlugin>& other : framework_.plugins().pre_filter)
      cycle_.skip_filter.set(other.index);
    cycle_.skip_filter.unset(placed.index);
    scratch_.verdicts.assign(scratch_.verdicts.size(), Status{});
    NodeSet feasible = cluster_.nodes().nodes();
    for (const auto& [plugin, row] : narrowed_)
      if (plugin == placed.index) feasible.erase(row);
    NodeSet rejected = feasible;
    if (const Outcome failed = framework_.run_filters_with_nominated(cycle_, cluster_, feasible);
        !failed.ok()) {
      rejected.for_each([&](NodeRow row) { by_row_[row].push_back({failed, false, {}}); });
      return;
    }
    rejected -= feasible;
    if (any_error(rejected)) rejected |= ask_one_by_one(feasible);
    rejected.for_each([&](NodeRow row) {
      Objection objection{framework_.explain(cycle_, scratch_.verdicts[row]), false, {}};
      objection.obstacles = obstacles(*placed.plugin, objection.outcome, row, /*filtering=*/true);
      by_row_[row].push_back(std::move(objection));
    });
  }

  bool any_error(const NodeSet& rows) const {
    bool any = false;
    rows.for_each([&](NodeRow row) { any = any || scratch_.verdicts[row].code == Code::kError; });
    return any;
  }

  // The rows that are rejected after all. An error ends an attempt, so that a plugin may stop at its
  // first one and leave the other rows as they are.
  NodeSet ask_one_by_one(const NodeSet& rows) {
    NodeSet rejected(cluster_.nodes().rows());
    rows.for_each([&](NodeRow row) {
      const Result<Status> status = framework_.filter_row_with_nominated(cycle_, cluster_, row);
      if (status && !status->ok()) rejected.insert(row);
    });
    return rejected;
  }

  // What the plugin says about the sentences of its verdict; a sentence about which it says nothing
  // stands for itself.
  std::vector<Obstacle> obstacles(const Plugin& plugin, const Outcome& outcome, NodeRow row,
                                  bool filtering = false) {
    const std::vector<std::string> reasons = outcome.all_reasons();
    std::vector<Obstacle> all;
    const auto* const says = dynamic_cast<const ObstaclePlugin*>(&plugin);
    if (says && outcome.rejected()) all = says->obstacles(cycle_, row);
    // With the pods that are nominated to the row the verdict may be another than without them.
    std::erase_if(all, [&](const Obstacle& obstacle) {
      return std::ranges::find(reasons, obstacle.reason) == reasons.end();
    });
    if (says && outcome.rejected() && filtering) add_nominated(*says, reasons, row, all);
    for (const std::string& reason : reasons)
      if (std::ranges::find(all, reason, &Obstacle::reason) == all.end())
        all.push_back({.code = outcome.rejected() ? "Rejected" : "Error",
                       .reason = reason,
                       .subject = {},
                       .text = reason,
                       .facts = {}});
    return all;
  }

  // For sentences that only the pods which are nominated to the row account for: what stands in the way
  // beside these pods.
  void add_nominated(const ObstaclePlugin& says, const std::vector<std::string>& reasons,
                     NodeRow row, std::vector<Obstacle>& all) {
    std::vector<std::string> unsaid;
    for (const std::string& reason : reasons)
      if (std::ranges::find(all, reason, &Obstacle::reason) == all.end()) unsaid.push_back(reason);
    if (unsaid.empty()) return;
    WhatIf beside(framework_, cycle_, cluster_);
    std::vector<std::string> names;
    for (const Ref<const Pod>& other :
         framework_.nominator().nominated_pods(cluster_.nodes().name(row))) {
      if (other->priority() < cycle_.pod().priority() || other->uid() == cycle_.pod().uid())
        continue;
      if (!beside.add(other, row).ok()) return;
      names.push_back(other->full_name());
    }
    if (names.empty()) return;
    std::ranges::sort(names);
    for (Obstacle& obstacle : says.obstacles(cycle_, row)) {
      if (std::ranges::find(unsaid, obstacle.reason) == unsaid.end()) continue;
      obstacle.code = "NominatedPods";
      obstacle.text =
          fmt::format("only beside {}, nominated to the node: {}", several(names), obstacle.text);
      obstacle.facts["nominated"] = fmt::format("{}", fmt::join(names, " "));
      all.push_back(std::move(obstacle));
    }
  }

  static std::string several(const std::vector<std::string>& names) {
    constexpr std::size_t kNamed = 3;
    if (names.size() <= kNamed) return fmt::format("{}", fmt::join(names, ", "));
    const std::vector<std::string> first(names.begin(), names.begin() + kNamed);
    return fmt::format("{} and {} more", fmt::join(first, ", "), names.size() - kNamed);
  }

  struct Narrowed {
    std::uint16_t plugin;
    NodeRow row;
  };

  Cycle cycle_;
  Cluster& cluster_;
  const Framework& framework_;
  internal::CycleScratch scratch_;
  internal::PluginMask done_;  // have nothing (more) to say at Filter
  std::vector<Narrowed> narrowed_;
  std::vector<std::vector<Objection>> by_row_;
};

}  // namespace

std::vector<SearchTrace::Objections> find_objections(const Ref<const Pod>& pod, Cluster& cluster,
                                                     const Framework& framework) {
  return Objectors(pod, cluster, framework).find();
}

}  // namespace berth
