#include "plugins/volume_binding/volume_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

const Quantity& requested_storage(const PersistentVolumeClaim& claim) {
  static const Quantity kNone;
  return claim.request ? *claim.request : kNone;
}

// Everything that has to be so even for a volume that is bound to this very claim.
bool may_hold(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return volume.capacity >= requested_storage(claim) && volume.block == claim.block &&
         volume.attributes_class == claim.attributes_class && !volume.terminating;
}

}  // namespace

bool is_bound_to(const PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  return volume.claim_ref && volume.claim_ref->name == claim.name &&
         volume.claim_ref->namespace_name == claim.namespace_name &&
         (volume.claim_ref->uid.empty() || volume.claim_ref->uid == claim.uid);
}

// ---- CSINodes -----------------------------------------------------------------------------------

const CSINode* CSINodes::of(const Node& node) {
  if (generation_ != cluster_.generation(ObjectKind::kCSINode)) {
    generation_ = cluster_.generation(ObjectKind::kCSINode);
    by_node_.clear();
    SymbolHold names(cluster_.symbol_table());
    for (const Ref<const Object>& object : cluster_.list(ObjectKind::kCSINode))
      by_node_.emplace(names.intern(object->name),
                       Ref<const CSINode>(static_cast<const CSINode*>(object.get())));
    names_ = std::move(names);
  }
  const auto found = by_node_.find(node.symbol);
  return found == by_node_.end() ? nullptr : found->second.get();
}

// ---- MatchingVolumes ----------------------------------------------------------------------------

MatchingVolumes::MatchingVolumes(const PersistentVolumeClaim& claim, const AssumedVolumes& volumes,
                                 const Symbols& symbols) {
  std::optional<Selector> selector;
  if (claim.selector) {
    Result<Selector> compiled = Selector::compile(claim.selector, symbols);
    if (!compiled) {
      error_ = fmt::format("error creating internal label selector for claim: {}/{}: {}",
                           claim.symbols.text(claim.namespace_name), claim.name,
                           compiled.error().message);
      return;
    }
    selector = *std::move(compiled);
  }
  volumes.for_each(
      claim.symbols.text(claim.storage_class), [&](Ref<const PersistentVolume> volume) {
        const bool prebound = is_bound_to(*volume, claim);
        if ((volume->claim_ref && !prebound) || !may_hold(*volume, claim)) return;
        const bool fits = volume->phase == PersistentVolume::Phase::kAvailable &&
                          volume->access_modes.contains_all(claim.access_modes) &&
                          (!selector || selector->matches(volume->labels, symbols));
        if (!prebound && !fits) return;
        VolumeAffinity affinity(volume->node_affinity, symbols);
        (prebound ? prebound_ : candidates_).push_back({std::move(volume), std::move(affinity)});
      });

  // Ties go to the first by name, which is how they came.
  std::vector<std::pair<const Quantity*, std::uint32_t>> order;
  for (const Candidate& candidate : candidates_)
    order.emplace_back(&candidate.volume->capacity, static_cast<std::uint32_t>(order.size()));
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    if (const auto sizes = *a.first <=> *b.first; sizes != 0) return sizes < 0;
    return a.second < b.second;
  });
  std::vector<Candidate> sorted;
  sorted.reserve(order.size());
  for (const auto& [capacity, place] : order) {
    index_.add(candidates_[place].affinity, static_cast<LabelIndex::Entry>(sorted.size()));
    sorted.push_back(std::move(candidates_[place]));
  }
  candidates_ = std::move(sorted);
  index_.finish();
}

Ref<const PersistentVolume> MatchingVolumes::find(const LabelSet& labels,
                                                  const std::vector<StaticBinding>& taken,
                                                  const Symbols& symbols) const {
  const auto is_taken = [&](const Candidate& candidate) {
    return std::ranges::find(taken, candidate.volume, &StaticBinding::volume) != taken.end();
  };
  for (const Candidate& candidate : prebound_)
    if (!is_taken(candidate))
      return candidate.affinity.matches(labels, symbols) ? candidate.volume : nullptr;

  Ref<const PersistentVolume> found;
  index_.any(labels, [&](LabelIndex::Entry entry) {
    const Candidate& candidate = candidates_[entry];
    if (is_taken(candidate) || !candidate.affinity.matches(labels, symbols)) return false;
    found = candidate.volume;
    return true;
  });
  return found;
}

// ---- VolumeSearch -------------------------------------------------------------------------------

VolumeSearch::VolumeSearch(const PodClaims& claims, const Cluster& cluster,
                           const AssumedVolumes& volumes, CSINodes& csi_nodes,
                           StorageCapacities& capacities)
    : cluster_(cluster), csi_nodes_(csi_nodes) {
  for (const Ref<const PersistentVolumeClaim>& claim : claims.bound) {
    add_bound(*claim, volumes);
    if (!bound_.empty() && !bound_.back().volume) break;
  }
  for (const Ref<const PersistentVolumeClaim>& claim : claims.delayed) {
    if (!claim->selected_node) by_size_.push_back(static_cast<std::uint32_t>(unbound_.size()));
    unbound_.push_back({claim,
                        claim->selected_node
                            ? nullptr
                            : std::make_unique<MatchingVolumes>(*claim, volumes, cluster.symbols()),
                        Provisioning(*claim, cluster, capacities)});
  }
  std::ranges::sort(by_size_, [&](std::uint32_t a, std::uint32_t b) {
    const auto sizes =
        requested_storage(*unbound_[a].claim) <=> requested_storage(*unbound_[b].claim);
    return sizes != 0 ? sizes < 0 : a < b;
  });
}

void VolumeSearch::add_bound(const PersistentVolumeClaim& claim, const AssumedVolumes& volumes) {
  const Symbols& symbols = cluster_.symbols();
  Result<Ref<const PersistentVolume>> volume = volumes.get({}, claim.volume_name);
  if (!volume) {
    bound_.emplace_back();
    return;
  }
  Bound bound{*volume, VolumeAffinity((*volume)->node_affinity, symbols), nullptr};
  const InTreeVolumeType* type = in_tree_type(bound.volume->source.source);
  if (type != nullptr && type->migrated) {
    auto migrated = std::make_unique<Bound::Migrated>();
    migrated->type = type;
    migrated->symbols = SymbolHold(cluster_.symbol_table());
    auto terms = csi_node_affinity(*bound.volume, migrated->symbols);
    if (terms) {
      migrated->terms = *std::move(terms);
      migrated->affinity = VolumeAffinity(migrated->terms, symbols);
    } else {
      migrated->error = fmt::format("could not translate pv: {}", terms.error().message);
    }
    if (!migrated->error.empty() || migrated->terms != bound.volume->node_affinity)
      bound.migrated = std::move(migrated);
  }
  if (bound.migrated || !bound.affinity.is_every_node()) bound_.push_back(std::move(bound));
}

VolumeSearch::Answer VolumeSearch::find(const Node& node, NodeVolumes& found) const {
  found.bindings.clear();
  found.provisions.clear();
  Answer answer;
  check_bound(node, answer);
  if (answer.error.empty() && !unbound_.empty()) find_unbound(node, found, answer);
  return answer;
}

Result<bool> VolumeSearch::matches(const Bound& bound, const Node& node) const {
  const Symbols& symbols = cluster_.symbols();
  const bool as_written = bound.affinity.matches(node.labels, symbols);
  if (!bound.migrated) return as_written;
  const Bound::Migrated& migrated = *bound.migrated;
  // Whose volume it is on this node matters only if that makes a difference.
  if (migrated.error.empty() && migrated.affinity.matches(node.labels, symbols) == as_written)
    return as_written;
  if (!migrated.type->is_migrated_on(csi_nodes_.of(node))) return as_written;
  if (!migrated.error.empty()) return fail(ErrorKind::kInvalid, migrated.error);
  return !as_written;
}

// Only the first conflict counts, and nothing after it is looked at.
void VolumeSearch::check_bound(const Node& node, Answer& answer) const {
  for (const Bound& bound : bound_) {
    if (!bound.volume) {
      answer.conflicts |= kVolumeMissing;
      return;
    }
    const Result<bool> matched = matches(bound, node);
    if (!matched) {
      answer.error = matched.error().message;
      return;
    }
    if (!*matched) {
      answer.conflicts |= kNodeConflict;
      return;
    }
  }
}

std::vector<Ref<const PersistentVolume>> VolumeSearch::unusable_on(const Node& node) const {
  std::vector<Ref<const PersistentVolume>> unusable;
  for (const Bound& bound : bound_) {
    if (!bound.volume) {
      if (unusable.empty()) unusable.emplace_back();
      break;
    }
    const Result<bool> matched = matches(bound, node);
    if (!matched) break;
    if (!*matched) unusable.push_back(bound.volume);
  }
  return unusable;
}

void VolumeSearch::find_unbound(const Node& node, NodeVolumes& found, Answer& answer) const {
  for (const Unbound& unbound : unbound_)
    if (unbound.claim->selected_node && *unbound.claim->selected_node != node.symbol) {
      answer.conflicts |= kBindConflict;
      answer.claim = unbound.claim.get();
      return;
    }
  // Claims without a volume are provisioned after those whose node was chosen before, so their
  // matches have to be known first. A claim is rarely one of many.
  std::vector<const Unbound*> unmatched;
  for (const std::uint32_t place : by_size_) {
    const Unbound& unbound = unbound_[place];
    if (!unbound.matching->error().empty()) {
      answer.error = unbound.matching->error();
      return;
    }
    Ref<const PersistentVolume> volume =
        unbound.matching->find(node.labels, found.bindings, cluster_.symbols());
    if (volume) {
      found.bindings.push_back({unbound.claim, std::move(volume)});
    } else {
      unmatched.push_back(&unbound);
    }
  }
  for (const Unbound& unbound : unbound_)
    if (!unbound.matching && !provision(unbound, node, found, answer)) return;
  for (const Unbound* unbound : unmatched)
    if (!provision(*unbound, node, found, answer)) return;
}

bool VolumeSearch::provision(const Unbound& unbound, const Node& node, NodeVolumes& found,
                             Answer& answer) const {
  Provisioning::Answer provisioned = unbound.provisioning.on(node, cluster_.symbols());
  switch (provisioned.verdict) {
    case Provisioning::Verdict::kPossible:
      found.provisions.push_back({unbound.claim, std::move(provisioned.capacity)});
      return true;
    case Provisioning::Verdict::kNotHere: answer.conflicts |= kBindConflict; break;
    case Provisioning::Verdict::kNoSpace: answer.conflicts |= kNotEnoughSpace; break;
    case Provisioning::Verdict::kError: answer.error = unbound.provisioning.error(); break;
  }
  answer.claim = unbound.claim.get();
  answer.provisions = unbound.provisioning.is_possible();
  return false;
}

}  // namespace berth::plugins
