// Gangs by the plugin Coscheduling, in a whole scheduler and in virtual time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "base/testing/names.h"
#include "config/load.h"
#include "engine/engine.h"
#include "plugins/table.h"
#include "store/cluster_store.h"
#include "storeapi/store_api.h"

namespace berth {
namespace {

constexpr std::string_view kConfiguration = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {enabled: [{name: Coscheduling}]}
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
)";

// Remembers what became of each attempt.
class Attempts final : public Observer {
 public:
  void failed(const Pod& pod, const Outcome& outcome) override {
    messages[std::string(pod.name())] = outcome.message();
  }
  std::map<std::string, std::string> messages;  // the last of each pod
};

struct Gangs : ::testing::Test {
  VirtualLoop loop;
  Interner interner;
  ClusterStore store{loop, 1ms};
  StoreApi api{loop, store, {.latency = 1ms, .starts_pods = true}};
  Attempts attempts;
  const PluginTable plugins = plugins::make_plugin_table();
  std::unique_ptr<Engine> engine;

  Gangs() {
    EngineOptions options;
    options.configuration =
        config::parse_configuration(kConfiguration, options.gates, interner).value();
    options.seed = 7;
    engine = Engine::make(loop, interner, plugins, api, attempts, std::move(options)).value();
    store.on_delta([this](const Delta& delta) { engine->apply(delta); });
    engine->start();
  }
  ~Gangs() override { engine.reset(); }

  void create(const std::string& manifests) {
    auto objects = read_manifest(manifests, "manifest", interner).value();
    Admission admission = store.admission();
    ASSERT_TRUE(admit_all(objects, interner, admission));
    for (ManifestObject& object : objects) ASSERT_TRUE(store.create_object(object.object));
  }
  void node(const std::string& name, int cpu) {
    create(
        fmt::format("{{apiVersion: v1, kind: Node, metadata: {{name: {}}}, status: {{capacity: "
                    "{{cpu: '{}', memory: 64Gi, pods: '110'}}}}}}",
                    name, cpu));
  }
  void group(const std::string& name, int min_member, const std::string& more = "") {
    create(
        fmt::format("{{apiVersion: scheduling.x-k8s.io/v1alpha1, kind: PodGroup, metadata: "
                    "{{name: {}}}, spec: {{minMember: {}{}}}}}",
                    name, min_member, more));
  }
  void pod(const std::string& name, const std::string& of, int priority = 0) {
    create(fmt::format(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {}, labels: "
        "{{scheduling.x-k8s.io/pod-group: {}}}}}, spec: {{priority: {}, "
        "terminationGracePeriodSeconds: 0, containers: [{{name: c, image: c, resources: "
        "{{requests: {{cpu: '1'}}}}}}]}}}}",
        name, of, priority));
  }
  void pods(const std::string& of, int count) {
    for (int i = 0; i < count; ++i) pod(fmt::format("{}{}", of, i), of);
  }
  void remove(const std::string& pod_name) {
    EXPECT_TRUE(store.remove_at_once(ObjectKind::kPod, "default", pod_name));
  }
  void pass(Duration time) { loop.run_until(loop.now() + time); }

  // How many pods whose names begin with `prefix` have a node, at the API server.
  int bound(const std::string& prefix) const {
    return static_cast<int>(std::ranges::count_if(store.pods(), [&](const Ref<const Pod>& pod) {
      return pod->name().starts_with(prefix) && !pod->node().empty();
    }));
  }
  std::string message(const std::string& pod_name) { return attempts.messages[pod_name]; }
  // Goes on for `time`, in small steps; the numbers of bound pods that are seen on the way.
  std::vector<int> seen_bound(const std::string& prefix, Duration time, Duration step = 100ms) {
    std::vector<int> seen{bound(prefix)};
    for (Duration passed{0}; passed < time; passed += step) {
      pass(step);
      if (bound(prefix) != seen.back()) seen.push_back(bound(prefix));
    }
    return seen;
  }
};

TEST_F(Gangs, StartWhenAllHaveAPlace) {
  node("n1", 4);
  group("g", 3);
  pods("g", 3);
  pass(1s);
  EXPECT_EQ(bound("g"), 3);
}

TEST_F(Gangs, SayInUpstreamsWordsThatPodsAreMissingAndStartWhenTheyCome) {
  node("n1", 4);
  node("n2", 4);
  group("g", 3);
  pods("g", 1);
  pass(5s);
  EXPECT_EQ(message("g0"),
            "0/2 nodes are available: pre-filter pod g0 cannot find enough sibling pods, current "
            "pods number: 1, minMember of group: 3. preemption: 0/2 "
            "nodes are available: 2 Preemption is not helpful for scheduling., PodGroup default/g "
            "gets rejected due to Pod g0 is unschedulable even after PostFilter");
  pod("g1", "g");
  pass(5s);
  EXPECT_EQ(bound("g"), 0);
  pod("g2", "g");
  EXPECT_THAT(seen_bound("g", 5s, 1s), ElementsAre(0, 3));
}

TEST_F(Gangs, ThatDoNotFitHaveNoPlaceAndStartWhenThereIsRoom) {
  node("n1", 2);
  group("g", 3);
  pods("g", 3);
  EXPECT_THAT(seen_bound("g", 3min, 1s), ElementsAre(0));
  EXPECT_THAT(message("g0"),
              HasSubstr("0/1 nodes are available: 1 optimistic rejection in PostFilter."));
  EXPECT_EQ(engine->waiting_pods().size(), 0U);
  // Nobody else is kept from what they do not use.
  create(
      "{apiVersion: v1, kind: Pod, metadata: {name: plain}, spec: {containers: [{name: c, image: "
      "c, resources: {requests: {cpu: '2'}}}]}}");
  pass(1s);
  EXPECT_EQ(bound("plain"), 1);
  node("n2", 4);
  pass(30s);
  EXPECT_EQ(bound("g"), 3);
}

TEST_F(Gangs, WaitForAFewMissingPodsUntilTheirTimeIsUp) {
  node("n1", 9);
  group("g", 10, ", scheduleTimeoutSeconds: 10");
  pods("g", 10);
  pass(9s);
  EXPECT_EQ(engine->waiting_pods().size(), 9U);
  EXPECT_EQ(bound("g"), 0);
  pass(2s);
  std::vector<std::string> reasons;
  for (int i = 0; i < 10; ++i) reasons.push_back(message(fmt::format("g{}", i)));
  EXPECT_THAT(
      reasons,
      Contains(HasSubstr("1 rejected due to timeout after waiting 10s at plugin Coscheduling.")));
  EXPECT_THAT(reasons, Contains(HasSubstr("1 rejection in Unreserve.")));
  EXPECT_EQ(bound("g"), 0);
  node("n2", 1);
  pass(1min);
  EXPECT_EQ(bound("g"), 10);
}

TEST_F(Gangs, AreCompletedWhenABindingFails) {
  int failures = 4;
  api.set_fates([&](ApiCall call, const Pod& pod) {
    CallFate fate;
    if (call != ApiCall::kBind || pod.name() != "g1" || failures == 0) return fate;
    --failures;
    fate.takes_effect = false;
    fate.error = Error{ErrorKind::kForbidden, "not now"};
    return fate;
  });
  node("n1", 3);
  group("g", 3);
  pods("g", 3);
  pass(1min);
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(bound("g"), 3);
}

TEST_F(Gangs, DoNotStartShortWhenAMemberIsDeletedWhileItWaits) {
  node("n1", 9);
  group("g", 10, ", scheduleTimeoutSeconds: 30");
  pods("g", 10);
  pass(5s);
  EXPECT_EQ(engine->waiting_pods().size(), 9U);
  remove("g3");
  node("n2", 4);
  EXPECT_THAT(seen_bound("g", 2min, 1s), ElementsAre(0));
  pod("again", "g");
  pass(2min);
  EXPECT_EQ(bound("g") + bound("again"), 10);
}

TEST_F(Gangs, GoOneAfterTheOther) {
  node("n1", 3);
  group("a", 3);
  group("b", 3);
  for (int i = 0; i < 3; ++i)
    for (const char* name : {"b", "a"}) pod(fmt::format("{}{}", name, i), name);
  pass(10s);
  EXPECT_EQ(bound("a") + bound("b"), 3);
  const std::string first = bound("a") == 3 ? "a" : "b";
  EXPECT_EQ(bound(first), 3) << "one of them is complete, the other one empty";
  for (int i = 0; i < 3; ++i) remove(fmt::format("{}{}", first, i));
  pass(1min);
  EXPECT_EQ(bound("a") + bound("b"), 3);
}

// Nine of ten each: by the percentage that is tolerated they wait for the last one, and hold what the
// other group needs.
TEST_F(Gangs, ThatHoldWhatTheOtherNeedsDoNotDoSoForEver) {
  node("n1", 18);
  group("a", 10, ", scheduleTimeoutSeconds: 10");
  group("b", 10, ", scheduleTimeoutSeconds: 10");
  for (int i = 0; i < 10; ++i) {
    pod(fmt::format("a{}", i), "a", i == 9 ? 0 : 10);
    pod(fmt::format("b{}", i), "b", i == 9 ? 0 : 9);
  }
  pass(5s);
  EXPECT_EQ(engine->waiting_pods().size(), 18U);
  EXPECT_EQ(bound("a") + bound("b"), 0);
  pass(10min);
  EXPECT_EQ(std::max(bound("a"), bound("b")), 10);
  EXPECT_EQ(std::min(bound("a"), bound("b")), 0);
}

TEST_F(Gangs, WaitForTheirPodGroup) {
  node("n1", 4);
  pods("g", 2);
  pass(5s);
  EXPECT_EQ(bound("g"), 0);
  EXPECT_THAT(message("g0"), HasSubstr("PodGroup not found"));
  group("g", 2);
  pass(30s);
  EXPECT_EQ(bound("g"), 2);
}

TEST_F(Gangs, AreNotTriedUntilMinResourcesAreThere) {
  node("n1", 2);
  group("g", 3, ", minResources: {cpu: 3}");
  pods("g", 3);
  pass(5s);
  EXPECT_THAT(message("g0"), HasSubstr("resource gap: map[cpu:{{1000 -3} {<nil>}  DecimalSI}]"));
  node("n2", 2);
  // Nothing that Coscheduling registers for has happened: the flush after five minutes brings it back.
  pass(6min);
  EXPECT_EQ(bound("g"), 3);
}

}  // namespace
}  // namespace berth
