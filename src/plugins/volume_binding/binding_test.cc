// VolumeBinding: Reserve, Unreserve and PreBind (volumes-dra-gang.md §3.6 to 3.8).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "base/testing/names.h"
#include "berth/measurements.h"
#include "berth/task.h"
#include "plugins/volume_binding/testing/volume_fixture.h"

namespace berth::plugins {
namespace {

struct VolumeBindingBind : ::testing::Test, VolumeFixture {
  VolumeBindingBind() {
    add_zoned_nodes({"a", "b"});
    put(storage_class("local").static_only());
    put(storage_class("csi"));
  }

  VolumeBinding& binding() {
    if (!binding_) {
      const Handle common = handle();
      const Handle own{.profile_name = common.profile_name,
                       .loop = common.loop,
                       .random = common.random,
                       .cluster = common.cluster,
                       .waiting_pods = common.waiting_pods,
                       .pods_in_pre_bind = common.pods_in_pre_bind,
                       .nominator = common.nominator,
                       .activator = common.activator,
                       .api = volume_api,
                       .gates = common.gates};
      Result<std::unique_ptr<Plugin>> made = VolumeBinding::create(args, own);
      binding_.reset(dynamic_cast<VolumeBinding*>(made->release()));
    }
    return *binding_;
  }
  VirtualLoop& loop() { return static_cast<VirtualLoop&>(handle().loop); }

  // A cycle up to and including Reserve on the node.
  Cycle& reserved(const std::vector<std::string>& claims, const std::string& node = "a",
                  const std::string& name = "p") {
    PodBuilder pod = world.pod(name);
    for (const std::string& claim : claims) with_claim(pod, claim);
    const Ref<const Pod> built = pod;
    cluster.see_pod(built);
    cycles_.push_back(std::make_unique<Cycle>(built, cluster));
    Cycle& cycle = *cycles_.back();
    const Outcome filtered = binding().pre_filter(cycle).outcome;
    EXPECT_TRUE(filtered.ok() || filtered.code == Code::kSkip) << filtered.message();
    outcome_of_reserve = binding().reserve(cycle, node);
    return cycle;
  }

  Task<void> run(Cycle& cycle, std::string node) {
    Task<Outcome> task = binding().pre_bind(cycle, node, cancel.token());
    bound = co_await task;
  }
  void begin(Cycle& cycle, const std::string& node = "a") {
    bound.reset();
    tasks.spawn(run(cycle, node));
  }
  // What the API server has stored comes by the watch.
  void show_writes() {
    for (const Ref<const Object>& object : volume_api.written) cluster.put(object);
    loop().run_until(loop().now());
  }
  void show(Ref<const Object> object) {
    cluster.put(std::move(object));
    loop().run_until(loop().now());
  }
  std::string end() {
    if (!bound) return "waits";
    return bound->ok() ? "bound" : bound->message();
  }

  config::VolumeBindingArgs args;
  RecordingApi volume_api;  // what is written is shown when the test says so
  Outcome outcome_of_reserve;
  CancelSource cancel;
  std::optional<Outcome> bound;
  TaskSet tasks;

 private:
  std::unique_ptr<VolumeBinding> binding_;
  std::vector<std::unique_ptr<Cycle>> cycles_;
};

// ---- Reserve ------------------------------------------------------------------------------------

TEST_F(VolumeBindingBind, BoundClaimsNeedNothing) {
  put(volume("pv"));
  put(claim("c").bound_to("pv"));
  for (const std::vector<std::string>& claims : {std::vector<std::string>{}, {"c"}}) {
    Cycle& cycle = reserved(claims);
    EXPECT_TRUE(outcome_of_reserve.ok());
    const PreBindPreFlight flight = binding().pre_bind_pre_flight(cycle, "a");
    EXPECT_EQ(flight.outcome.code, Code::kSkip);
    EXPECT_TRUE(flight.allow_parallel);
    begin(cycle);
    EXPECT_EQ(end(), "bound");
    binding().unreserve(cycle, "a");
  }
  EXPECT_THAT(volume_api.written, IsEmpty());
}

TEST_F(VolumeBindingBind, AnAssumedVolumeIsNotGivenTwice) {
  put(volume("small").of("local").size("2Gi"));
  put(volume("large").of("local").size("5Gi"));
  put(claim("c").of("local"));
  put(claim("d").of("local"));
  put(claim("e").of("local"));
  Cycle& first = reserved({"c"});
  EXPECT_TRUE(outcome_of_reserve.ok());
  EXPECT_TRUE(binding().pre_bind_pre_flight(first, "a").outcome.ok());
  Cycle& second = reserved({"d"}, "b", "q");
  EXPECT_EQ(binding().assumed_count(), 2U);
  const auto names = [&](Cycle& cycle) {
    volume_api.written.clear();
    begin(cycle);
    return volume_api.written.at(0)->name;
  };
  // Nothing is left for a third.
  EXPECT_THAT(PluginFixture::filter(binding(), pod_with({"e"})).at("b").reasons,
              ElementsAre(kBindConflictReason));
  binding().unreserve(second, "b");
  EXPECT_EQ(binding().assumed_count(), 1U);
  EXPECT_TRUE(PluginFixture::filter(binding(), pod_with({"e"})).at("b").reasons.empty());
  EXPECT_EQ(names(first), "small") << "the smallest that fits";
}

TEST_F(VolumeBindingBind, AnAssumedClaimStaysOnItsNode) {
  put(claim("c").of("csi"));
  Cycle& cycle = reserved({"c"}, "b");
  EXPECT_THAT(PluginFixture::filter(binding(), pod_with({"c"})).at("a").reasons,
              ElementsAre(kBindConflictReason));
  EXPECT_TRUE(PluginFixture::filter(binding(), pod_with({"c"})).at("b").reasons.empty());
  binding().unreserve(cycle, "b");
  binding().unreserve(cycle, "b");  // once more does no harm
  EXPECT_TRUE(PluginFixture::filter(binding(), pod_with({"c"})).at("a").reasons.empty());
  EXPECT_EQ(binding().assumed_count(), 0U);
}

TEST_F(VolumeBindingBind, AReserveThatFailsTakesBackWhatItHasDone) {
  put(volume("pv").of("local"));
  put(claim("c").of("local"));
  put(claim("d").of("csi"));
  PodBuilder builder = world.pod("p");
  with_claim(builder, "c");
  with_claim(builder, "d");
  Cycle cycle(builder, cluster);
  ASSERT_TRUE(binding().pre_filter(cycle).outcome.ok());
  put(claim("d").of("csi").version("2"));  // somebody has changed it since
  const Outcome outcome = binding().reserve(cycle, "a");
  EXPECT_EQ(outcome.code, Code::kError);
  EXPECT_EQ(outcome.message(), R"("default/d" is out of sync (stored: 2, assume: 1))");
  EXPECT_EQ(binding().assumed_count(), 0U);
}

// ---- what is written ----------------------------------------------------------------------------

TEST_F(VolumeBindingBind, AVolumeIsWrittenWithItsClaim) {
  put(volume("pv").of("local").version("7"));
  put(claim("c").of("local").version("5"));
  begin(reserved({"c"}));
  ASSERT_EQ(volume_api.written.size(), 1U);
  const auto& written = static_cast<const PersistentVolume&>(*volume_api.written[0]);
  ASSERT_TRUE(written.claim_ref);
  EXPECT_EQ(written.symbols.text(written.claim_ref->namespace_name), "default");
  EXPECT_EQ(written.claim_ref->name, "c");
  EXPECT_EQ(written.claim_ref->uid, "uid-of-c");
  EXPECT_EQ(written.claim_ref->resource_version, "5");
  EXPECT_TRUE(written.bound_by_controller);
}

TEST_F(VolumeBindingBind, APrebindingOfTheUserStaysTheUsers) {
  put(volume("by-name").of("local").claimed_by("default", "c"));
  put(volume("by-uid").of("local").claimed_by("default", "d", "uid-of-d"));
  put(claim("c").of("local"));
  put(claim("d").of("local"));
  Cycle& cycle = reserved({"c", "d"});
  EXPECT_EQ(binding().assumed_count(), 1U) << "what needs no change is not assumed";
  begin(cycle);
  ASSERT_EQ(volume_api.written.size(), 2U) << "but written all the same";
  for (const Ref<const Object>& object : volume_api.written) {
    const auto& written = static_cast<const PersistentVolume&>(*object);
    EXPECT_FALSE(written.claim_ref->uid.empty());
    EXPECT_FALSE(written.bound_by_controller);
  }
}

TEST_F(VolumeBindingBind, AClaimIsWrittenWithItsNode) {
  put(claim("c").of("csi"));
  begin(reserved({"c"}, "b"), "b");
  ASSERT_EQ(volume_api.written.size(), 1U);
  const auto& written = static_cast<const PersistentVolumeClaim&>(*volume_api.written[0]);
  EXPECT_EQ(written.symbols.text(written.selected_node.value()), "b");
}

TEST_F(VolumeBindingBind, TheFirstRefusalEndsTheWriting) {
  put(volume("pv").of("local"));
  put(claim("c").of("local"));
  put(claim("d").of("csi"));
  put(claim("e").of("csi"));
  volume_api.fails("update d", {ErrorKind::kConflict, "the object has been modified"});
  Cycle& cycle = reserved({"c", "d", "e"});
  EXPECT_EQ(binding().assumed_count(), 3U);
  begin(cycle);
  EXPECT_EQ(end(), "the object has been modified");
  EXPECT_EQ(volume_api.written.size(), 1U);
  EXPECT_EQ(binding().assumed_count(), 1U) << "what was not written is not assumed any more";
  binding().unreserve(cycle, "a");
  EXPECT_EQ(binding().assumed_count(), 1U) << "the volume was written";
  show_writes();
  EXPECT_EQ(binding().assumed_count(), 0U);
}

TEST_F(VolumeBindingBind, AWrittenClaimIsLetGoOfAtOnce) {
  put(claim("c").of("csi"));
  Cycle& cycle = reserved({"c"});
  begin(cycle);
  cancel.cancel("some other PreBind operation failed");
  loop().run_until(loop().now());
  EXPECT_EQ(end(), "binding volumes: context canceled");
  binding().unreserve(cycle, "a");
  EXPECT_EQ(binding().assumed_count(), 0U);
}

// ---- the wait -----------------------------------------------------------------------------------

TEST_F(VolumeBindingBind, AStaticBindingIsDoneWhenTheClaimIsBound) {
  put(volume("pv").of("local"));
  put(claim("c").of("local"));
  begin(reserved({"c"}));
  EXPECT_EQ(end(), "waits");
  show_writes();
  EXPECT_EQ(end(), "waits");
  show(claim("c").of("local").volume("pv").version("120").build());
  EXPECT_EQ(end(), "waits") << "half bound";
  show(claim("c").of("local").bound_to("pv").version("121").build());
  EXPECT_EQ(end(), "bound");
}

TEST_F(VolumeBindingBind, AClaimThatIsBoundBeforeTheVolumeIsSeenWaitsForIt) {
  put(volume("pv").of("local"));
  put(claim("c").of("local"));
  begin(reserved({"c"}));
  show(claim("c").of("local").bound_to("pv").version("121").build());
  EXPECT_EQ(end(), "waits");
  show_writes();
  EXPECT_EQ(end(), "bound");
}

TEST_F(VolumeBindingBind, AProvisionedVolumeIsDoneWhenTheClaimIsBound) {
  put(claim("c").of("csi"));
  begin(reserved({"c"}));
  show_writes();
  EXPECT_EQ(end(), "waits");
  const auto done = [&] {
    return claim("c").of("csi").selected_node("a").bound_to("made").version("130").build();
  };
  show(done());
  EXPECT_EQ(end(), "waits") << "the volume is not seen yet";
  show(volume("made").of("csi").build());
  EXPECT_EQ(end(), "bound");
}

TEST_F(VolumeBindingBind, NobodyWaitsForEver) {
  args.bind_timeout_seconds = 30;
  put(claim("c").of("csi"));
  begin(reserved({"c"}));
  loop().run_until(TimePoint{} + 29s);
  EXPECT_EQ(end(), "waits");
  loop().run_until(TimePoint{} + 30s);
  EXPECT_EQ(end(), "binding volumes: context deadline exceeded");
}

TEST_F(VolumeBindingBind, WithoutTimeNothingIsBound) {
  args.bind_timeout_seconds = 0;
  put(claim("c").of("csi"));
  begin(reserved({"c"}));
  EXPECT_EQ(end(), "binding volumes: context deadline exceeded");
}

TEST_F(VolumeBindingBind, WhatEndsTheWait) {
  struct Row {
    std::string what;
    std::function<void()> happens;
    std::string told;
  };
  const auto static_claim = [&] { return claim("c").of("local"); };
  const std::vector<Row> rows = {
      {"the pod goes", [&] { cluster.remove_seen_pod(*cluster.seen_pod("default", "p")); },
       R"(pod does not exist any more: pod "p" not found)"},
      {"the node goes", [&] { ASSERT_TRUE(cluster.remove_node(world.symbol("a"))); },
       R"(failed to get node "a": node "a" not found)"},
      {"the volume goes", [&] { cluster.remove(ObjectKind::kPersistentVolume, "", "pv"); },
       R"(failed to check binding: persistentvolumes "pv" not found)"},
      {"the claim goes",
       [&] { cluster.remove(ObjectKind::kPersistentVolumeClaim, "default", "c"); },
       R"(failed to check binding: persistentvolumeclaims "default/c" not found)"},
      {"the volume is unbound", [&] { put(volume("pv").of("local").version("200")); },
       R"(ClaimRef got reset for pv "pv")"},
      {"the volume is for anybody of that name",
       [&] { put(volume("pv").of("local").claimed_by("default", "c").version("200")); },
       R"(ClaimRef got reset for pv "pv")"},
      {"the volume moves",
       [&] {
         put(volume("pv")
                 .of("local")
                 .claimed_by("default", "c", "x")
                 .version("200")
                 .only_from({{"zone", "b"}}));
       },
       R"(pv "pv" node affinity doesn't match node "a": no matching NodeSelectorTerms)"},
      {"the provisioner gives up",
       [&] { put(ClaimBuilder(world, "d").of("csi").selected_node("b").version("200")); },
       R"(provisioning failed for PVC "d")"},
      {"the annotations go", [&] { put(claim("d").of("csi").version("200")); },
       R"(selectedNode annotation reset for PVC "d")"},
      {"the other claim goes",
       [&] { cluster.remove(ObjectKind::kPersistentVolumeClaim, "default", "d"); },
       R"(failed to check provisioning pvc: persistentvolumeclaims "default/d" not found)"},
      {"it is made elsewhere",
       [&] {
         put(volume("made").of("csi").only_from({{"zone", "b"}}));
         put(claim("d").of("csi").selected_node("a").bound_to("made").version("200"));
       },
       R"(pv "made" node affinity doesn't match node "a": no matching NodeSelectorTerms)"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    if (cluster.nodes().node_count() < 2)
      add_node(world.node("a").label("zone", "a").label("kubernetes.io/hostname", "a"));
    cluster.remove(ObjectKind::kPersistentVolume, "", "made");
    put(volume("pv").of("local"));
    put(static_claim());
    put(claim("d").of("csi"));
    volume_api.written.clear();
    Cycle& cycle = reserved({"c", "d"});
    ASSERT_TRUE(outcome_of_reserve.ok()) << outcome_of_reserve.message();
    begin(cycle);
    show_writes();
    // The first claim is bound, so that the second counts.
    if (row.told.find("\"d\"") != std::string::npos || row.told.find("/d\"") != std::string::npos ||
        row.told.find("made") != std::string::npos)
      show(static_claim().bound_to("pv").version("199").build());
    ASSERT_EQ(end(), "waits");
    row.happens();
    loop().run_until(loop().now());
    EXPECT_EQ(end(), "binding volumes: " + row.told);
    binding().unreserve(cycle, "a");
  }
}

TEST_F(VolumeBindingBind, OtherChangesDoNotWakeIt) {
  put(claim("c").of("csi"));
  begin(reserved({"c"}));
  show_writes();
  show(claim("other").of("csi").build());
  EXPECT_EQ(end(), "waits");
  EXPECT_FALSE(loop().has_posted());
}

TEST_F(VolumeBindingBind, EndingInTheMiddleOfAWaitLeavesNothingBehind) {
  put(claim("c").of("csi"));
  begin(reserved({"c"}));
  EXPECT_EQ(tasks.size(), 1U);
  tasks.clear();
  show(claim("c").of("csi").version("300").build());
  EXPECT_EQ(end(), "waits");
}

}  // namespace
}  // namespace berth::plugins
