// ReservationRun: pods with volumes and devices, and a few minutes in which everything goes wrong
// that can: writes that fail, or succeed and are reported as failed; a provisioner that is slow,
// fails or never answers; somebody else who writes the same claims; claims, volumes, slices and
// nodes that go; pods that go at every step; a scheduler that dies and begins anew. All drawn from
// one seed. Then everybody behaves, and the cluster comes to rest.
//
// What must be true:
//
//   at any time   a device is allocated to one claim at most; a volume is one claim's; a claim's
//                 volume is its own; no pod is bound twice
//   at rest       nothing is assumed or in flight; reservedFor is who is on a node and uses the
//                 claim, neither more nor less (but for what a dead scheduler left behind); who is
//                 on a node has its claims allocated there and its volumes bound; and nothing has
//                 leaked: as many new pods as there are devices find one each
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/devices.h"
#include "api/storage.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/random.h"
#include "engine/engine.h"
#include "plugins/dynamic_resources/claim_tracker.h"
#include "sim/pod_watch.h"
#include "sim/resource_claim_controller.h"
#include "sim/sim_cluster.h"
#include "sim/timeline.h"
#include "sim/volume_controller.h"

namespace berth::simulation {

struct ReservationReport {
  std::vector<std::string> violations;
  std::map<std::string, int> happened;
};

// Bugs to plant, for the test of the test.
struct PlantedReservationBug {
  bool loses_unreserve = false;      // calls to unreserve_claim do nothing
  bool gives_devices_twice = false;  // somebody writes the allocation of one claim into another
};

class ReservationRun {
 public:
  explicit ReservationRun(std::uint64_t seed, PlantedReservationBug bug = {});
  ~ReservationRun();

  void print_timeline() { prints_ = true; }
  ReservationReport run();

 private:
  void start_scheduler();
  void build_cluster();
  void put(const std::string& json);  // an object from its manifest; there already: replaced
  void put_all(const std::vector<std::string>& manifests);
  void add_node(const std::string& name);
  void add_slice(const std::string& node, std::int64_t generation);
  void add_pod();
  void note(std::string_view what, std::string_view about);

  // ---- what can happen
  void something_happens();
  void delete_pod();
  void finish_pod();
  void delete_claim();
  void delete_volume_claim();
  void delete_volume();
  void remove_slice();
  void replace_slice();
  void remove_node();
  void bring_node_back();
  void write_behind_the_back();
  void preempt();
  void lag_watch();
  void scheduler_dies();

  CallFate fate_of(ApiCall call);

  // ---- what must be true
  bool look(bool at_rest);
  void look_at_devices();
  void look_at_volumes();
  void look_at_reservations();
  bool may_be_left(const ResourceClaim& claim,
                   const ResourceClaimConsumerReference& consumer) const;
  void look_at_bound_pods();
  void look_for_leaks();
  void violated(std::string text);

  Ref<const Pod> some_pod(bool bound);
  Ref<const Object> some_object(ObjectKind kind);
  bool happens(double probability) { return !lifted_ && random_.chance(probability); }
  Duration delay(Duration longest);

  const PlantedReservationBug bug_;
  VirtualLoop loop_;
  Random random_;
  Interner interner_;
  ReservationReport report_;
  sim::Timeline timeline_;
  sim::SimCluster cluster_;
  std::unique_ptr<ClusterApi> buggy_api_;
  std::unique_ptr<sim::PodWatch> pods_;
  std::unique_ptr<sim::VolumeController> volumes_;
  std::unique_ptr<sim::ResourceClaimController> claims_;
  PluginTable plugins_;
  std::shared_ptr<plugins::ClaimTracker> tracker_;  // of the scheduler that runs now
  PodsInPreBind* in_pre_bind_ = nullptr;
  std::unique_ptr<Engine> engine_;
  std::map<std::string, std::int64_t> nodes_;  // that there were, and their slice's generation
  std::set<std::string> orphaned_;  // UIDs of pods whose scheduler died while it was binding them
  std::set<std::string> refused_;   // claims of which a write was refused, or seemed to be
  int made_ = 0;
  bool lifted_ = false;
  bool prints_ = false;
};

}  // namespace berth::simulation
