// VolumeController: the simulator's PersistentVolume controller and provisioner in one.
//
//   a claim of an Immediate class     bound to the smallest volume that fits, else provisioned
//   of a WaitForFirstConsumer class   left alone until the scheduler has spoken: a volume with a
//                                     claimRef is bound to its claim, a claim with a selected node
//                                     gets a volume that can be used there
//   a volume whose claim goes         goes too if it was provisioned, else it is Released
//   a claim whose volume goes         is Lost
//
// Both take time, and rules can make it slow, fail (the node is given back: selected-node goes, and
// the scheduler tries again) or never answer. World thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/interner.h"
#include "api/storage.h"
#include "api/volume_index.h"
#include "base/loop.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

struct VolumeRule {
  enum class Outcome : std::uint8_t { kDone, kFail, kNever };

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

class VolumeController {
 public:
  // What is passed by reference outlives it; nothing is done any more once it is gone.
  VolumeController(Loop& loop, SimCluster& cluster, Interner& interner, VolumeRules rules);
  VolumeController(const VolumeController&) = delete;
  VolumeController& operator=(const VolumeController&) = delete;

  // From now on every claim gets what it needs, also those that were left alone.
  void forget_rules();

 private:
  using Claim = PersistentVolumeClaim;
  using Volume = PersistentVolume;
  struct ClaimKey {
    std::string namespace_name;
    std::string name;
    friend auto operator<=>(const ClaimKey&, const ClaimKey&) = default;
  };

  void changed(const Delta& delta);
  void claim_changed(const Claim& claim);
  void volume_changed(const Volume& volume);
  void make_available(const Volume& volume);
  void look_at_unbound_claims();
  void look_at(const Claim& claim);
  void look_at(const ClaimKey& key);
  void volume_gone(const Volume& volume);
  void claim_gone(const Claim& claim);

  // The claim's next step, or none: it has what it needs, or has to wait.
  enum class Step : std::uint8_t { kNone, kBind, kProvision };
  Step step_of(const Claim& claim) const;
  void take_step(const ClaimKey& key);

  Ref<const Claim> find(const ClaimKey& key) const;
  // A volume that names the claim; else, for a claim that need not wait, the smallest that fits.
  Ref<const Volume> volume_for(const Claim& claim) const;
  bool waits_for_consumer(const Claim& claim) const;
  const StorageClass* class_of(const Claim& claim) const;
  void bind(const Claim& claim, const Volume& volume);
  void provision(const Claim& claim);
  void give_back_node(const Claim& claim);
  VolumeRule* rule_for(const Claim& claim);

  Loop& loop_;
  SimCluster& cluster_;
  Interner& interner_;
  VolumeRules rules_;
  VolumeIndex volumes_;
  std::set<ClaimKey> unbound_;
  std::map<ClaimKey, std::string> under_way_;  // and the version that was looked at
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
