// How controllers of workloads make many pods: some at once, and go on when one is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/daemon_set.h"
#include "controllers/job.h"
#include "controllers/replica_set.h"
#include "controllers/stateful_set.h"

namespace berth::controllers {
namespace {

// One workload, and the pods that are made for it.
class OneWorkload final : public WorkloadWorld {
 public:
  explicit OneWorkload(PodIndex& pods) : pods_(pods) {}

  std::optional<Workload> find(ObjectKind, std::string_view, std::string_view) const override {
    return workload;
  }
  void remove(const Workload&) override {}
  void record(const Workload&, EventType type, std::string_view, const std::string&) override {
    warnings += type == EventType::kWarning ? 1 : 0;
  }
  Result<std::string> create_pod(const Workload& owner, const PodParts& parts) override {
    if (refused_nodes.contains(parts.node)) return fail(ErrorKind::kInvalid, "no");
    PodFacts pod;
    pod.namespace_name = owner.namespace_name;
    pod.name = parts.name.empty() ? parts.prefix + std::to_string(created) : parts.name;
    pod.controller_uid = owner.uid;
    pod.controller_kind = to_string(owner.kind);
    pod.controller_name = owner.name;
    pod.daemon_of = parts.node;
    std::string name = pod.name;
    pods_.put(std::move(pod));
    ++created;
    return name;
  }
  bool delete_pod(const PodFacts&) override { return false; }
  void adopt_pods(const Workload&) override {}
  std::vector<Workload> replica_sets_of(const Workload&) override { return {}; }
  Result<Workload> create_replica_set(const Workload&) override {
    return fail(ErrorKind::kInvalid, "no");
  }
  bool scale(const Workload&, const Workload&, std::int64_t, std::int64_t) override {
    return false;
  }
  void write_revision(const Workload&, const Workload&, std::int64_t) override {}
  void create_claim(const Workload&, const ClaimTemplate&, std::string_view) override {}
  std::vector<std::string> daemon_nodes(const Workload&) override { return nodes; }
  void write_status(const Workload&, const ReplicaSetStatus&) override {}
  void write_status(const Workload&, const DeploymentStatus&) override {}
  void write_status(const Workload&, const StatefulSetStatus&) override {}
  void write_status(const Workload&, const DaemonSetStatus&) override {}
  void write_status(const Workload&, const JobStatus&) override {}

  Workload workload;
  std::vector<std::string> nodes;
  std::set<std::string> refused_nodes;
  int created = 0;
  int warnings = 0;

 private:
  PodIndex& pods_;
};

template <typename C>
class PodsAtOnce : public ::testing::Test {
 protected:
  PodsAtOnce() {
    Workload& workload = world.workload;
    workload.namespace_name = "default";
    workload.name = "many";
    workload.uid = "u";
    workload.replicas = workload.job.parallelism = 601;
    workload.job.completions = 601;
    workload.stateful_set.ordered = false;
    for (int i = 0; i < 601; ++i) world.nodes.push_back("n" + std::to_string(i));
  }

  // How many pods there are after each sync.
  std::vector<int> created_by_sync() {
    std::vector<int> counts;
    controller.enqueue("default/many");
    while (counts.size() < 10 && controller.run_queued()) counts.push_back(world.created);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
  }

  VirtualLoop loop;
  PodIndex pods;
  OneWorkload world{pods};
  C controller{loop, pods, world};
};

using ReplicaSetPods = PodsAtOnce<ReplicaSetController>;
using StatefulSetPods = PodsAtOnce<StatefulSetController>;
using DaemonSetPods = PodsAtOnce<DaemonSetController>;
using JobPods = PodsAtOnce<JobController>;

TEST_F(ReplicaSetPods, FiveHundredAtOnce) {
  world.workload.kind = ObjectKind::kReplicaSet;
  EXPECT_THAT(created_by_sync(), ::testing::ElementsAre(500, 601));
}

TEST_F(StatefulSetPods, FiveHundredAtOnce) {
  world.workload.kind = ObjectKind::kStatefulSet;
  EXPECT_THAT(created_by_sync(), ::testing::ElementsAre(500, 601));
}

TEST_F(JobPods, FiveHundredAtOnce) {
  world.workload.kind = ObjectKind::kJob;
  EXPECT_THAT(created_by_sync(), ::testing::ElementsAre(500, 601));
}

TEST_F(DaemonSetPods, TwoHundredAndFiftyAtOnce) {
  world.workload.kind = ObjectKind::kDaemonSet;
  EXPECT_THAT(created_by_sync(), ::testing::ElementsAre(250, 500, 601));
}

TEST_F(DaemonSetPods, OneThatIsRefusedDoesNotStopTheOthers) {
  world.workload.kind = ObjectKind::kDaemonSet;
  world.nodes = {"n0", "n1", "n2", "n3"};
  world.refused_nodes = {"n0", "n2"};
  controller.enqueue("default/many");
  controller.run_queued();
  EXPECT_EQ(world.created, 2);
  EXPECT_EQ(world.warnings, 1) << "one event for all that were refused";
  controller.run_queued();
  world.refused_nodes.clear();
  loop.run_until(loop.now() + kRetryAfterRefusal);
  while (controller.run_queued()) {
  }
  EXPECT_EQ(world.created, 4) << "tried again later";
}

}  // namespace
}  // namespace berth::controllers
