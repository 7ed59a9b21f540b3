// For tests of Ingest: a cluster, a queue and what stands between them and the watch.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/testing/fake_plugins.h"
#include "ingest/ingest.h"
#include "queue/testing/queue_world.h"

namespace berth::testing {

inline Task<Outcome> outcome_of_wait(WaitingPods& waiting, Uid uid) {
  WaitingPods::Settled settled = waiting.settled(uid);
  Outcome outcome = co_await settled;
  co_return outcome;
}

// The plugin Spy rejects pods, hears of every event by itself, and never finds it useful: what was
// said stays to be read.
struct IngestTest : ::testing::Test {
  QueueWorld q;
  Cluster& cluster = q.cluster;
  WaitingPods waiting{q.loop};
  ChangeGate gate;
  std::vector<std::string> heard;  // "spy: NodeAdd - > n1", with what was there before and after
  std::vector<std::string> state;  // of the cluster, at each of these: "1 nodes, 0 pods"
  std::unique_ptr<Ingest> ingest;

  void SetUp() override {
    using enum EventResource;
    namespace a = action;
    for (const auto& [resource, actions] : std::vector<std::pair<EventResource, std::uint32_t>>{
             {kNode, a::kAdd},
             {kNode, a::kDelete},
             {kNode, a::kUpdateNodeAllocatable},
             {kNode, a::kUpdateNodeLabel},
             {kNode, a::kUpdateNodeTaint},
             {kNode, a::kUpdateNodeCondition},
             {kNode, a::kUpdateNodeAnnotation},
             {kAssignedPod, a::kAdd},
             {kAssignedPod, a::kDelete},
             {kAssignedPod, a::kUpdatePodLabel},
             {kAssignedPod, a::kUpdatePodScaleDown},
             {kAssignedPod, a::kUpdatePodScaleUp},
             {kUnscheduledPod, a::kAdd},
             {kUnscheduledPod, a::kUpdatePodLabel},
             {kTargetPod, a::kUpdatePodLabel},
             {kPersistentVolume, a::kAdd},
             {kPersistentVolume, a::kDelete},
             {kResourceClaim, a::kAdd},
             {kResourceClaim, a::kUpdate},
             {kResourceClaim, a::kDelete},
             {kResourceSlice, a::kUpdate}})
      spy_on({resource, actions, {}});
    q.queue();
  }
  void spy_on(const ClusterEvent& event) {
    q.registers("Spy", event,
                [this, event](const Pod& pod, const AnyObject& before,
                              const AnyObject& after) -> Result<QueueingHint> {
                  heard.push_back(std::string(pod.name()) + ": " + event.label() + " " +
                                  name_of(before) + " > " + name_of(after));
                  state.push_back(std::to_string(cluster.nodes().node_count()) + " nodes, " +
                                  std::to_string(cluster.placed_count()) + " pods");
                  return QueueingHint::kSkip;
                });
  }
  static std::string name_of(const AnyObject& object) {
    if (const auto* pod = std::get_if<Ref<const Pod>>(&object))
      return std::string((*pod)->name()) + "@" + std::string((*pod)->resource_version());
    if (const auto* other = std::get_if<Ref<const Object>>(&object)) return (*other)->name;
    return "-";
  }

  // A pod in the queue that tells what it hears.
  Ref<const Pod> spy(const std::string& name = "spy", std::int32_t priority = 0) {
    Ref<const Pod> pod = q.add(q.pod(name).priority(priority));
    if (!q.fails(q.pop(), {"Spy"})) ADD_FAILURE() << "not returned";
    q.log.take();
    return pod;
  }
  PodBuilder pod(const std::string& name, const std::string& version = "1") {
    PodBuilder builder = q.pod(name);
    builder.version(version);
    return builder;
  }

  void apply(DeltaType type, AnyObject object) {
    if (!ingest)
      ingest =
          std::make_unique<Ingest>(cluster, q.queue(), waiting, gate,
                                   std::set<Symbol>{q.world.symbol(QueueWorld::kScheduler)}, q.log);
    ingest->apply({type, std::move(object)});
  }
  Ref<const Pod> shows(const PodBuilder& builder, DeltaType type = DeltaType::kAdded) {
    Ref<const Pod> built = builder.build();
    apply(type, built);
    return built;
  }
  void updates(const PodBuilder& builder) { shows(builder, DeltaType::kUpdated); }
  void deletes(const Ref<const Pod>& gone) { apply(DeltaType::kDeleted, gone); }
  Ref<const Node> shows(const NodeBuilder& builder, DeltaType type = DeltaType::kAdded) {
    Ref<const Node> built = builder.build();
    apply(type, Ref<const Object>(built));
    return built;
  }
  NodeRow row(const char* node) { return cluster.nodes().find(q.world.symbol(node)); }
  bool has_node(const char* node) {
    return row(node) != kNoRow && cluster.nodes().has_node(row(node));
  }
  // A pod that was popped and has its place on n1.
  Ref<const Pod> assumed(const PodBuilder& builder) {
    Ref<const Pod> built = shows(builder);
    EXPECT_EQ(q.pop().pod, built);
    EXPECT_TRUE(cluster.assume(built, row("n1")).has_value());
    return built;
  }
  void holds(const Ref<const Pod>& held) {
    waiting.hold(held, "n1", std::vector<PermitHold>{{"Gang", std::chrono::minutes(1)}});
  }
  Outcome wait_of(const Ref<const Pod>& held) {
    return run_task(q.loop, outcome_of_wait(waiting, held->uid()));
  }
};

}  // namespace berth::testing
