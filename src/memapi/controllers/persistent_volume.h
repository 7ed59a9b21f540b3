// PersistentVolumeController: binds claims to volumes, and plays the provisioner of every class
// that has one.
//
//   a claim of an Immediate class     bound to the smallest volume that fits, else provisioned
//   of a WaitForFirstConsumer class   left alone until the scheduler has spoken: a volume with a
//                                     claimRef is bound to its claim, a claim with a selected node
//                                     gets a volume that can be used there
//   a volume whose claim goes         deleted or Released, as its reclaim policy says
//   a claim whose volume goes         is Lost
//
// Annotations of a claim, or of its StorageClass, change how provisioning goes:
// "berth/provision-after: 10s" makes it slow, "berth/provision-failures: 2" makes the first two
// tries fail (the node is given back, and the scheduler decides anew), "berth/provision: never"
// leaves the claim alone. World thread only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/interner.h"
#include "api/storage.h"
#include "api/volume_index.h"
#include "memapi/controllers/controller.h"

namespace berth::memapi {

class PersistentVolumeController final : public Controller {
 public:
  explicit PersistentVolumeController(LocalClient& api);

 private:
  using Claim = PersistentVolumeClaim;

  // Keys: "claim/NAMESPACE/NAME" and "volume/NAME".
  void sync(const std::string& key) override;
  void sync_claim(const std::string& key);
  void sync_volume(const std::string& name);
  void claim_changed(const Change& change);
  void volume_changed(const Change& change);
  void enqueue_unbound();

  struct Class {
    bool exists = false;
    bool waits = false;       // for the first consumer
    std::string provisioner;  // empty: nobody makes volumes of it
    std::string reclaim_policy;
    std::map<std::string, std::string, std::less<>> annotations;
  };
  Class class_of(const Claim& claim) const;
  Ref<const PersistentVolume> volume_for(const Claim& claim, bool waits) const;
  void bind(const Claim& claim, const PersistentVolume& volume);
  void provision(const StoredObject& stored, const Claim& claim, const Class& storage_class);
  bool make_volume(const StoredObject& stored, const Claim& claim, const Class& storage_class);
  void give_back_node(const Claim& claim);
  void lose(const Claim& claim);

  Interner interner_;
  VolumeIndex volumes_;
  std::set<std::string> unbound_;                 // claims, by key
  std::map<std::string, WallTime> due_;           // when a claim's volume is ready, by UID
  std::map<std::string, std::int64_t> failures_;  // of provisioning, by the claim's UID
};

}  // namespace berth::memapi
