// A cluster with devices, an API server for claims, and DynamicResources between them; an Attempt
// takes one pod through the plugin, step by step, and says in one line what came of each.
//
//   DevicesFixture fixture;                        // nodes n1, n2 and the class "any"
//   fixture.add(slice("s", on("n1"), "{name: d1}"));
//   fixture.add(claim_of("c", exact("r")));
//   Attempt attempt(fixture, fixture.pod("p", {"c"}));
//   EXPECT_EQ(attempt.pre_filter(), "ok");
//   EXPECT_EQ(attempt.filter(), "n1 ok, n2 cannot allocate all claims");
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "base/change_gate.h"
#include "berth/loop.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/testing/allocator_fixture.h"
#include "plugins/dynamic_resources/testing/claim_server.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::testing {

struct ClaimParts {
  std::string metadata{};  // beside name, namespace and uid
  std::string spec{};      // of spec.devices, beside the requests
  std::string status{};    // all of it
};
// A ResourceClaim in the namespace "default" whose uid is its name.
std::string claim_of(std::string_view name, std::string_view requests,
                     const ClaimParts& parts = {});
// status.allocation of one device of the driver "drv" and the pool "pool", usable on `node` (or
// everywhere, if that is empty). `more` is added to the device's result.
std::string allocation(std::string_view device, std::string_view node, std::string_view more = "");
// status.reservedFor, by the pods' UIDs.
std::string reserved_for(std::initializer_list<std::string_view> pods);

class DevicesFixture {
 public:
  DevicesFixture();

  // Into the cluster; claims by way of the server.
  void add(std::string_view yaml);
  // A pod of that name and uid, with these claims, each an entry of the same name.
  PodBuilder pod(std::string name, std::initializer_list<std::string_view> claims = {});

  // With the gates and arguments as they are when it is first asked for.
  plugins::DynamicResources& plugin();
  plugins::ClaimTracker& tracker() { return *plugins::ClaimTracker::of(*handle_); }
  // What is taken: "d1 d2", of the driver "drv" and the pool "pool".
  std::string taken();
  // The claim as the server has it: "d1 @n1 for p q", "free", with "+f" when it has the finalizer.
  std::string stored(std::string_view claim);
  static std::string text(const ResourceClaim& claim);

  void run_for(Duration time) { loop.run_until(loop.now() + time); }

  PluginFixture base;
  World& world = base.world;
  Cluster& cluster = base.cluster;
  config::FeatureGates& gates = base.gates;
  config::PluginArgs arguments;
  ChangeGate gate;
  VirtualLoop& loop;
  ClaimServer server{loop, cluster};
  Random random{1};

 private:
  std::unique_ptr<Handle> handle_;
  std::unique_ptr<plugins::DynamicResources> plugin_;
};

class Attempt {
 public:
  Attempt(DevicesFixture& fixture, Ref<const Pod> pod);

  // Checks the obstacles, too, as filter() does.
  // "ok", "skip", the reason of an UnschedulableAndUnresolvable, or another code and the reason.
  std::string pre_filter();
  // By node: "n1 ok, n2 <reason>, n3 put off".
  std::string filter();
  std::string filter(std::string_view node);
  // What keeps the pod off a node, or as a whole (""): "Code subject: text".
  Texts obstacles(std::string_view node) const;
  std::string scores();  // after NormalizeScore: "n1 100, n2 0"
  std::string post_filter();
  std::string reserve(std::string_view node);
  void unreserve(std::string_view node);
  std::string pre_bind(std::string_view node);
  // PreBind goes on in the background; `bound` says "…" until it is over.
  void begin_pre_bind(std::string_view node);
  std::string bound() const { return bound_ ? text(*bound_) : "…"; }
  // All but the first two, on a node: through PreFilter, Filter and Reserve.
  std::string reach_reserve(std::string_view node);

  static std::string text(const Outcome& outcome);

  CancelSource cancel;
  Cycle cycle;

 private:
  std::string filter_rows(const NodeSet& asked);

  DevicesFixture& fixture_;
  internal::CycleScratch scratch_;
  std::string node_;
  std::optional<Outcome> bound_;
  TaskSet tasks_;
};

}  // namespace berth::testing
