// VolumeController: PersistentVolumes and their claims in the simulator's cluster, as the controller
// of that name (controllers/volumes.h) sees them. Rules can make its steps slow, fail (the node is
// given back: selected-node goes, and the scheduler tries again) or never end. World thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/storage.h"
#include "base/lifetime.h"
#include "berth/loop.h"
#include "controllers/volumes.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

struct VolumeRule {
  using Outcome = controllers::StepOutcome;

  std::string claims = "*";  // namespace/name or name, with * and ?
  Outcome outcome = Outcome::kDone;
  std::optional<std::int64_t> times;  // absent: every time
  std::optional<Duration> delay;      // instead of the usual one
};

struct VolumeRules {
  Duration bind{std::chrono::milliseconds(10)};  // a claim and a volume that belong together
  Duration provision{std::chrono::seconds(1)};   // a new volume
  std::vector<VolumeRule> claims;                // the first that applies decides
};

class VolumeController final : private controllers::VolumeWorld {
 public:
  // What is passed by reference outlives it; nothing is done any more once it is gone.
  VolumeController(Loop& loop, SimCluster& cluster, Interner& interner, VolumeRules rules);
  VolumeController(const VolumeController&) = delete;
  VolumeController& operator=(const VolumeController&) = delete;

  // From now on every claim gets what it needs, also those that were left alone.
  void forget_rules();

 private:
  using Claim = PersistentVolumeClaim;

  Ref<const Claim> claim(std::string_view namespace_name, std::string_view name) const override;
  Ref<const StorageClass> storage_class(std::string_view name) const override;
  Ref<const Node> node(std::string_view name) const override;
  std::optional<Duration> begin(const Claim& claim, controllers::VolumeStep step) override;
  controllers::StepOutcome finish(const Claim& claim) override;
  bool write(const PersistentVolume& wanted) override;
  bool write(const Claim& wanted, const PersistentVolume* volume) override;
  bool create(const PersistentVolume& volume, const Claim& claim) override;
  void remove(const PersistentVolume& volume) override;
  bool deletes_released(const PersistentVolume& volume) const override;

  void changed(const Delta& delta);
  VolumeRule* rule_for(const Claim& claim);

  SimCluster& cluster_;
  VolumeRules rules_;
  controllers::VolumeController controller_;
  Lifetime lifetime_;
};

}  // namespace berth::sim
