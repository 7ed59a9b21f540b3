// VolumeController: binds claims to volumes, and plays the provisioner of every class that has one.
//
//   a claim of an Immediate class     bound to the smallest volume that fits, else provisioned
//   of a WaitForFirstConsumer class   left alone until the scheduler has spoken: a volume with a
//                                     claimRef is bound to its claim, a claim with a selected node
//                                     gets a volume that can be used there
//   a volume whose claim goes         is deleted or Released
//   a claim whose volume goes         is Lost
//
// Both steps take time; a provisioner that fails gives the node back (selected-node goes), and the
// scheduler decides anew. World thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/storage.h"
#include "api/volume_index.h"
#include "berth/interner.h"
#include "berth/node.h"
#include "controllers/controller.h"

namespace berth::controllers {

enum class VolumeStep : std::uint8_t { kNone, kWait, kBind, kProvision };
// How a step ends; after kNever the claim is left alone.
enum class StepOutcome : std::uint8_t { kDone, kFail, kNever };

// The cluster as the VolumeController sees it.
class VolumeWorld {
 public:
  virtual ~VolumeWorld() = default;

  // Null when there is none.
  virtual Ref<const PersistentVolumeClaim> claim(std::string_view namespace_name,
                                                 std::string_view name) const = 0;
  virtual Ref<const StorageClass> storage_class(std::string_view name) const = 0;
  virtual Ref<const Node> node(std::string_view name) const = 0;

  // How long the step takes; nullopt: it never ends. With kWait: the claim waits for a consumer.
  virtual std::optional<Duration> begin(const PersistentVolumeClaim& claim, VolumeStep step) = 0;
  // Asked when the step's time is over.
  virtual StepOutcome finish(const PersistentVolumeClaim& claim) = 0;

  // Writes claimRef, bound-by-controller and phase. False: refused.
  virtual bool write(const PersistentVolume& wanted) = 0;
  // Writes volumeName, the annotations about binding and the phase; `volume` is what the claim is
  // bound to, if it is.
  virtual bool write(const PersistentVolumeClaim& wanted, const PersistentVolume* volume) = 0;
  virtual bool create(const PersistentVolume& volume, const PersistentVolumeClaim& claim) = 0;
  virtual void remove(const PersistentVolume& volume) = 0;
  // Whether a volume whose claim has gone goes too.
  virtual bool deletes_released(const PersistentVolume& volume) const = 0;
};

class VolumeController final : public Controller {
 public:
  VolumeController(Loop& loop, Interner& interner, VolumeWorld& world)
      : Controller(loop), interner_(interner), world_(world) {}

  // What has changed. `gone`: this was its last state.
  void claim_changed(const PersistentVolumeClaim& claim, bool gone);
  void volume_changed(const Ref<const PersistentVolume>& volume, bool gone);
  void class_changed() { enqueue_unbound(); }

  // Looks at all claims anew, also at those whose step never ends.
  void start_over();

 private:
  using Claim = PersistentVolumeClaim;

  // Keys: "claim/NAMESPACE/NAME" and "volume/NAME".
  void sync(const std::string& key) override;
  void sync_claim(const std::string& key);
  void sync_volume(const std::string& name);
  void enqueue_unbound();

  Ref<const Claim> find(const std::string& key) const;
  Ref<const StorageClass> class_of(const Claim& claim) const;
  // A volume that names the claim; else, for a claim that need not wait, the smallest that fits.
  Ref<const PersistentVolume> volume_for(const Claim& claim, bool waits) const;
  VolumeStep step_of(const Claim& claim) const;
  void take_step(const std::string& key);
  void bind(const Claim& claim, const PersistentVolume& volume);
  void provision(const Claim& claim);
  void give_back_node(const Claim& claim);

  Interner& interner_;
  VolumeWorld& world_;
  VolumeIndex volumes_;
  std::set<std::string> unbound_;                 // claims, by key
  std::map<std::string, std::string> under_way_;  // the claim's version, by key
};

}  // namespace berth::controllers
