#include "plugins/pod_group_placements/pod_group_placements.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace berth::plugins {
namespace {

// The domain of the pods that are on nodes already; empty if there are none.
Result<std::string> required_domain(const GroupState* state, Symbol key, const Cluster& cluster) {
  std::string domain;
  if (!state) return domain;
  const NodeTable& nodes = cluster.nodes();
  const auto failed = [](const std::string& why) {
    return fail(ErrorKind::kInternal, "cannot determine domain for already scheduled pods: " + why);
  };
  for (const auto& [uid, member] : state->members) {
    if (member.stage == GroupState::Stage::kUnscheduled) continue;
    const NodeRow row = cluster.row_of(uid);
    if (row == kNoRow || !nodes.has_node(row))
      return failed(fmt::format("getting node for pod {}: nodeinfo not found for node name \"{}\"",
                                member.pod->full_name(), member.pod->node_name()));
    const Symbol* value = nodes.node(row).labels.find(key);
    if (!value)
      return failed(fmt::format("no topology domain found for pod {}", member.pod->full_name()));
    const std::string_view text = cluster.symbols().text(*value);
    if (!domain.empty() && domain != text)
      return failed(fmt::format("more than 1 domain found for pod group: {}, {}", domain, text));
    domain = text;
  }
  return domain;
}

}  // namespace

Result<std::unique_ptr<Plugin>> TopologyPlacementGenerator::create(const config::PluginArgs&,
                                                                   const Handle&) {
  return std::make_unique<TopologyPlacementGenerator>();
}

PlacementGeneratePlugin::Generated TopologyPlacementGenerator::generate(
    const PodGroup& group, const GroupState* scheduled, const Cluster& cluster) const {
  const NodeTable& nodes = cluster.nodes();
  if (group.topology.empty()) return {Outcome::success(), {{"", nodes.nodes()}}};
  const Symbol key = group.topology.front().key;
  const Result<std::string> required = required_domain(scheduled, key, cluster);
  if (!required) return {Outcome::failure(required.error().message), {}};
  std::map<std::string_view, NodeSet> domains;
  nodes.nodes().for_each([&](NodeRow row) {
    const Symbol* value = nodes.node(row).labels.find(key);
    if (!value) return;
    const std::string_view text = cluster.symbols().text(*value);
    if (!required->empty() && text != *required) return;
    domains.try_emplace(text, NodeSet(nodes.rows())).first->second.insert(row);
  });
  Generated generated;
  for (auto& [name, rows] : domains)
    generated.placements.push_back({std::string(name), std::move(rows)});
  return generated;
}

Result<std::unique_ptr<Plugin>> PodGroupPodsCount::create(const config::PluginArgs&,
                                                          const Handle&) {
  return std::make_unique<PodGroupPodsCount>();
}

Score PodGroupPodsCount::score_placement(const TriedPlacement& placement, const Cluster&) const {
  return static_cast<Score>(placement.scheduled);
}

void PodGroupPodsCount::normalize_placements(std::span<Score> scores) const {
  const Score most = scores.empty() ? 0 : *std::ranges::max_element(scores);
  if (most <= 0) return;
  for (Score& score : scores) score = score * kMaxScore / most;
}

}  // namespace berth::plugins
