// VolumeSearch: what a pod's claims mean for nodes. Made once per attempt from the claims, then
// asked about node after node: can the volumes that are bound be used there, and which volumes
// would the other claims get? For VolumeBinding.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/storage.h"
#include "berth/node.h"
#include "cluster/assumed_objects.h"
#include "plugins/csi_translation.h"
#include "plugins/volume_binding/provisioning.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

using AssumedVolumes = PassiveAssumeCache<PersistentVolume>;
using AssumedClaims = PassiveAssumeCache<PersistentVolumeClaim>;

// The claims of a pod, in the order of its volumes.
struct PodClaims {
  std::vector<Ref<const PersistentVolumeClaim>> bound;
  // Unbound, of a class that waits for the first consumer.
  std::vector<Ref<const PersistentVolumeClaim>> delayed;
  // Unbound, although they should be bound by now.
  std::vector<Ref<const PersistentVolumeClaim>> late;
};

struct StaticBinding {
  Ref<const PersistentVolumeClaim> claim;
  Ref<const PersistentVolume> volume;
};

struct DynamicProvision {
  Ref<const PersistentVolumeClaim> claim;
  Ref<const CSIStorageCapacity> capacity;  // null: space was not searched
};

// Whether the volume's claimRef means this claim.
bool is_bound_to(const PersistentVolume& volume, const PersistentVolumeClaim& claim);

// What the unbound claims would get on one node.
struct NodeVolumes {
  std::vector<StaticBinding> bindings;
  std::vector<DynamicProvision> provisions;
};

// Why a node does not do, in the order of the reasons.
enum Conflict : std::uint8_t {
  kNodeConflict = 1,    // the affinity of a bound volume
  kBindConflict = 2,    // nothing to bind
  kNotEnoughSpace = 4,  // nor to provision
  kVolumeMissing = 8,   // a claim is bound to a volume that is not there
};
inline constexpr std::size_t kConflictSets = 16;

// CSINode objects by node, brought up to date when they are asked for.
class CSINodes {
 public:
  explicit CSINodes(const Cluster& cluster) : cluster_(cluster), names_(cluster.symbol_table()) {}
  // Null: it has none.
  const CSINode* of(const Node& node);

 private:
  const Cluster& cluster_;
  std::uint64_t generation_ = 0;
  SymbolHold names_;
  std::unordered_map<Symbol, Ref<const CSINode>> by_node_;
};

// The volumes that would do for one claim, without a look at nodes (§3.4).
class MatchingVolumes {
 public:
  MatchingVolumes(const PersistentVolumeClaim& claim, const AssumedVolumes& volumes,
                  const Symbols& symbols);

  // The best one for a node with these labels that is in none of `taken`; null: there is none.
  Ref<const PersistentVolume> find(const LabelSet& labels, const std::vector<StaticBinding>& taken,
                                   const Symbols& symbols) const;
  // What is wrong with the claim's selector, if anything: then there is nothing to ask.
  const std::string& error() const { return error_; }

 private:
  struct Candidate {
    Ref<const PersistentVolume> volume;
    VolumeAffinity affinity;
  };

  std::string error_;
  std::vector<Candidate> prebound_;    // to this very claim: such a one or none
  std::vector<Candidate> candidates_;  // the smallest first
  LabelIndex index_;                   // of candidates_
};

class VolumeSearch {
 public:
  VolumeSearch(const PodClaims& claims, const Cluster& cluster, const AssumedVolumes& volumes,
               CSINodes& csi_nodes, StorageCapacities& capacities);

  // Whether every claim is bound: nothing is to be done on any node.
  bool all_bound() const { return unbound_.empty(); }
  // Whether the answer is yes for every node.
  bool suits_everywhere() const { return all_bound() && bound_.empty(); }

  struct Answer {
    std::uint8_t conflicts = 0;  // Conflict bits
    std::string error;           // not empty: it could not be decided
    // With kBindConflict or kNotEnoughSpace: for which claim there is nothing.
    const PersistentVolumeClaim* claim = nullptr;
    bool provisions = false;  // volumes are made for such a claim, but not one for this node
  };
  // `found` is cleared first; it counts if there are neither conflicts nor an error.
  Answer find(const Node& node, NodeVolumes& found) const;

  // The bound volumes that cannot be used from the node; if the first of these is not there, only a
  // null one.
  std::vector<Ref<const PersistentVolume>> unusable_on(const Node& node) const;

 private:
  struct Bound {
    Ref<const PersistentVolume> volume;  // null: it is not there
    VolumeAffinity affinity;
    // Of a type that a CSI driver may have taken over: how the driver has it, on nodes where it
    // has.
    struct Migrated {
      const InTreeVolumeType* type;
      std::optional<std::vector<NodeSelectorTerm>> terms;
      SymbolHold symbols;
      VolumeAffinity affinity;
      std::string error;
    };
    std::unique_ptr<Migrated> migrated;
  };
  struct Unbound {
    Ref<const PersistentVolumeClaim> claim;
    std::unique_ptr<MatchingVolumes> matching;  // null: it is to be provisioned, on a given node
    Provisioning provisioning;
  };

  void add_bound(const PersistentVolumeClaim& claim, const AssumedVolumes& volumes);
  Result<bool> matches(const Bound& bound, const Node& node) const;
  void check_bound(const Node& node, Answer& answer) const;
  void find_unbound(const Node& node, NodeVolumes& found, Answer& answer) const;
  bool provision(const Unbound& unbound, const Node& node, NodeVolumes& found,
                 Answer& answer) const;

  const Cluster& cluster_;
  CSINodes& csi_nodes_;
  std::vector<Bound> bound_;  // up to the first that is not there; without those that suit all
  std::vector<Unbound> unbound_;
  std::vector<std::uint32_t> by_size_;  // those of unbound_ to match, the smallest request first
};

}  // namespace berth::plugins
