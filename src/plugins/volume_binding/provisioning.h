// Whether a volume can be made for a claim, and from which nodes it could be used: the class's
// provisioner and topologies, and the free space that its driver reports. For VolumeBinding.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/storage.h"
#include "berth/node.h"
#include "berth/views.h"
#include "plugins/volume_binding/volume_affinity.h"

namespace berth::plugins {

// CSIStorageCapacity objects by class, brought up to date when it is asked for.
class StorageCapacities {
 public:
  explicit StorageCapacities(const Cluster& cluster) : cluster_(cluster) {}

  class OfClass {
   public:
    // The first one, by namespace and name, that can be reached from a node with these labels and
    // has room for a volume of this size; null: there is none.
    Ref<const CSIStorageCapacity> find(std::int64_t size, const LabelSet& labels,
                                       const Symbols& symbols) const;

   private:
    friend class StorageCapacities;
    struct Reachable {
      Ref<const CSIStorageCapacity> capacity;
      Selector from;
    };
    std::vector<Reachable> capacities_;
    LabelIndex index_;
  };
  // Null: there are none.
  std::shared_ptr<const OfClass> of(Symbol storage_class);

 private:
  void refresh();

  const Cluster& cluster_;
  std::uint64_t generation_ = 0;
  std::unordered_map<Symbol, std::shared_ptr<OfClass>> classes_;
};

class Provisioning {
 public:
  Provisioning(const PersistentVolumeClaim& claim, const Cluster& cluster,
               StorageCapacities& capacities);

  enum class Verdict : std::uint8_t { kPossible, kNotHere, kNoSpace, kError };
  struct Answer {
    Verdict verdict = Verdict::kPossible;
    Ref<const CSIStorageCapacity> capacity;  // where the space is; null: not searched
  };
  Answer on(const Node& node, const Symbols& symbols) const;
  // Whether there is a provisioner; where it may make volumes is another matter.
  bool is_possible() const { return possible_; }
  // With kError: why.
  const std::string& error() const { return error_; }

 private:
  bool topology_allows(const LabelSet& labels, const Symbols& symbols) const;

  std::string error_;
  bool possible_ = false;     // there is a provisioner
  bool any_topology_ = true;  // the class does not restrict it
  std::vector<std::vector<Requirement>> topologies_;
  bool space_counts_ = false;  // the driver reports free space, and the claim has a size
  std::int64_t size_ = 0;
  std::shared_ptr<const StorageCapacities::OfClass> capacities_;
};

}  // namespace berth::plugins
