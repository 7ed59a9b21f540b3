// VolumeBinding: which claim keeps a pod off a node, and which volume.
#include "plugins/obstacles.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <utility>

#include "plugins/storage_objects.h"
#include "plugins/volume_binding/memory.h"

namespace berth::plugins {
namespace {

std::string full_name_of(const PersistentVolumeClaim& claim) {
  return fmt::format("{}/{}", claim.symbols.text(claim.namespace_name), claim.name);
}

Obstacle obstacle_about(std::string code, const PersistentVolumeClaim& claim,
                        std::string_view reason, std::string_view what) {
  const std::string name = full_name_of(claim);
  return {.code = std::move(code),
          .reason = std::string(reason),
          .subject = name,
          .text = fmt::format("claim {} {}", name, what),
          .facts = {{"claim", name},
                    {"storageClass", std::string(claim.symbols.text(claim.storage_class))}}};
}

// Why a claim will not do at all, in the order of check_claim().
Obstacle claim_not_usable(const Cluster& cluster, const Pod& pod, const Volume& volume,
                          std::string reason) {
  const std::string name = claim_name(pod, volume);
  const Result<Ref<const PersistentVolumeClaim>> found =
      find_claim(cluster, pod.namespace_name(), name);
  if (!found && volume.source == VolumeSource::kEphemeral) {
    Obstacle obstacle = missing_claim(pod, name, std::move(reason));
    obstacle.code = "ClaimNotCreated";
    obstacle.text =
        fmt::format("claim {} of an ephemeral volume has not been created yet", obstacle.subject);
    return obstacle;
  }
  if (!found) return missing_claim(pod, name, std::move(reason));
  const PersistentVolumeClaim& claim = **found;
  if (claim.phase == PersistentVolumeClaim::Phase::kLost)
    return obstacle_about("ClaimLost", claim, reason,
                          fmt::format("has lost its volume {}", claim.volume_name));
  if (claim.terminating)
    return obstacle_about("ClaimTerminating", claim, reason, "is being deleted");
  return obstacle_about("ClaimOfAnotherPod", claim, reason, "was not created for this pod");
}

// Of a node that does not match.
Obstacle node_conflict(const PersistentVolumeClaim* claim, const PersistentVolume& volume,
                       const Node& node, std::string_view reason, const Symbols& symbols) {
  Obstacle obstacle{.code = "VolumeNodeConflict",
                    .reason = std::string(reason),
                    .subject = volume.name,
                    .text = {},
                    .facts = {{"persistentVolume", volume.name}}};
  std::string which = "volume " + volume.name;
  if (claim) {
    obstacle.subject = obstacle.facts["claim"] = full_name_of(*claim);
    which += " of claim " + obstacle.subject;
  }
  const auto matches = [&](const NodeSelectorTerm& term) {
    const std::optional<std::vector<NodeSelectorTerm>> terms({term});
    return VolumeAffinity(terms, symbols).matches(node.labels, symbols);
  };
  if (!volume.node_affinity || std::ranges::any_of(*volume.node_affinity, matches)) {
    obstacle.text = which + " can be used in other zones or regions, by its CSI driver";
    return obstacle;
  }
  const TermMismatch mismatch = mismatch_of(*volume.node_affinity, node, symbols, matches);
  obstacle.text = fmt::format("{} {}", which, mismatch.text);
  obstacle.facts["requirements"] = fmt::format("{}", fmt::join(mismatch.requirements, "; "));
  return obstacle;
}

// What of a class's allowedTopologies a node does not match.
std::string topology_text(const StorageClass& storage_class, const Node& node,
                          const Symbols& symbols) {
  std::vector<NodeSelectorTerm> terms;
  for (const std::vector<TopologyRequirement>& written : storage_class.allowed_topologies) {
    NodeSelectorTerm& term = terms.emplace_back();
    for (const TopologyRequirement& requirement : written)
      term.match_expressions.push_back(
          {requirement.key, SelectorOperator::kIn, {}, requirement.values});
  }
  return mismatch_of(terms, node, symbols,
                     [&](const NodeSelectorTerm& term) {
                       return CompiledNodeTerm(term, symbols, {}).matches(node, symbols);
                     })
      .text;
}

// Nothing to bind to the claim, and nothing that could be made for it on this node.
Obstacle nothing_to_bind(const VolumeSearch::Answer& answer, const Node& node,
                         const Cluster& cluster, std::string_view reason) {
  const PersistentVolumeClaim& claim = *answer.claim;
  const std::string_view class_name = claim.symbols.text(claim.storage_class);
  if (claim.selected_node && *claim.selected_node != node.symbol) {
    const std::string selected(claim.symbols.text(*claim.selected_node));
    Obstacle obstacle = obstacle_about("ClaimForAnotherNode", claim, reason,
                                       fmt::format("is being provisioned for node {}", selected));
    obstacle.facts["selectedNode"] = selected;
    return obstacle;
  }
  if (!answer.provisions)
    return obstacle_about(
        "NoVolumeToBind", claim, reason,
        fmt::format("finds no volume that can be used here, and class {} makes none", class_name));
  Obstacle obstacle =
      obstacle_about("TopologyNotAllowed", claim, reason,
                     fmt::format("gets no volume here, class {} makes them elsewhere", class_name));
  if (const auto found = find_storage_class(cluster, class_name))
    obstacle.text += ": " + topology_text(**found, node, cluster.symbols());
  return obstacle;
}

Obstacle no_space(const VolumeSearch::Answer& answer, std::string_view reason) {
  const PersistentVolumeClaim& claim = *answer.claim;
  const std::string size = claim.request ? claim.request->to_string() : "0";
  Obstacle obstacle = obstacle_about(
      "InsufficientStorage", claim, reason,
      fmt::format("needs {}, and no storage of class {} within reach has as much free", size,
                  claim.symbols.text(claim.storage_class)));
  obstacle.facts["requested"] = size;
  return obstacle;
}

// The claim that is bound to this volume; null: none is.
const PersistentVolumeClaim* claim_bound_to(const std::string& volume, const PodClaims& claims) {
  const auto found = std::ranges::find_if(
      claims.bound, [&](const auto& claim) { return claim->volume_name == volume; });
  return found == claims.bound.end() ? nullptr : found->get();
}

}  // namespace

// Of a pod that PreFilter rejects.
std::vector<Obstacle> VolumeBinding::obstacles_of_pod(const Pod& pod) const {
  for (const Volume& volume : pod.spec().volumes)
    if (has_claim(volume))
      if (Result<void> checked = check_claim(pod, volume); !checked)
        return {claim_not_usable(cluster_, pod, volume, std::move(checked).error().message)};
  PodClaims claims;
  std::vector<Obstacle> all;
  if (!sort_claims(pod, claims)) return all;
  for (const Ref<const PersistentVolumeClaim>& claim : claims.late) {
    if (all.size() == kMostObstacles) break;
    all.push_back(obstacle_about("ClaimUnbound", *claim, kUnboundImmediate,
                                 "is not bound, which is to happen before scheduling"));
  }
  return all;
}

std::vector<Obstacle> VolumeBinding::obstacles(const Cycle& cycle, NodeRow row) const {
  if (row == kNoRow) return obstacles_of_pod(cycle.pod());
  const Search* kept = cycle.find<Search>(*this);
  std::vector<Obstacle> all;
  if (!kept || kept->volumes->suits_everywhere()) return all;
  const Node& node = cycle.nodes().node(row);
  NodeVolumes found;
  const VolumeSearch::Answer answer = kept->volumes->find(node, found);
  if (!answer.error.empty() || answer.conflicts == 0) return all;
  const auto reason = [&](Conflict conflict) {
    return reasons()[static_cast<std::size_t>(std::countr_zero(std::uint8_t{conflict}))];
  };
  if ((answer.conflicts & (kNodeConflict | kVolumeMissing)) != 0) {
    PodClaims claims;
    if (!sort_claims(cycle.pod(), claims)) return all;
    for (const Ref<const PersistentVolume>& volume : kept->volumes->unusable_on(node)) {
      if (volume) {
        all.push_back(node_conflict(claim_bound_to(volume->name, claims), *volume, node,
                                    reason(kNodeConflict), cycle.symbols()));
        continue;
      }
      for (const Ref<const PersistentVolumeClaim>& claim : claims.bound)
        if (!memory_->volumes.get({}, claim->volume_name))
          all.push_back(obstacle_about(
              "VolumeNotFound", *claim, reason(kVolumeMissing),
              fmt::format("is bound to volume {}, which does not exist", claim->volume_name)));
    }
  }
  if ((answer.conflicts & kBindConflict) != 0)
    all.push_back(nothing_to_bind(answer, node, cluster_, reason(kBindConflict)));
  if ((answer.conflicts & kNotEnoughSpace) != 0)
    all.push_back(no_space(answer, reason(kNotEnoughSpace)));
  return all;
}

}  // namespace berth::plugins
