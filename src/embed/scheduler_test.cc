// The library as an embedder meets it: nothing but the public header.
#include "berth/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "embed/testing/scheduler_fixture.h"

namespace berth {
namespace {

// ---- the plain way

TEST_F(SchedulerTest, ManifestsGoInAndPodsGetTheirNodes) {
  start();
  apply(node("n1") + pod("a") + pod("b", "100"));
  EXPECT_EQ(scheduler->pending(), 2u);
  scheduler->run_until(1s);
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(where("b"), "");
  EXPECT_EQ(scheduler->pending(), 1u);
  EXPECT_THAT(
      diary.lines,
      ElementsAre("a on n1", StartsWith("b: 0/1 nodes are available: 1 Insufficient cpu.")));
}

TEST_F(SchedulerTest, APodIsScheduledWhenItIsAskedFor) {
  ASSERT_EQ(make(), "");
  apply(node("n1") + pod("a") + pod("b"));
  EXPECT_TRUE(scheduler->run_one());
  EXPECT_THAT(diary.lines, ElementsAre("a on n1"));
  EXPECT_TRUE(scheduler->run_one());
  EXPECT_FALSE(scheduler->run_one());
  EXPECT_EQ(where("a"), "") << "the watch has its turn in the loop";
  EXPECT_EQ(scheduler->pending(), 2u);
  scheduler->run_until(0s);
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(scheduler->pending(), 0u);
}

TEST_F(SchedulerTest, TimeIsWhatItIsToldToBe) {
  use(entry("Hold", [](const Handle&) { return std::make_unique<Hold>(); }));
  start();
  apply(node("n1") + pod("a"));
  scheduler->run_until(59s);
  EXPECT_EQ(scheduler->loop().now().since_start, 59s);
  EXPECT_EQ(scheduler->waiting_pods().size(), 1u);
  EXPECT_EQ(scheduler->pending(), 1u);
  scheduler->run_until(61s);
  EXPECT_THAT(diary.lines,
              Contains("a: 0/1 nodes are available: 1 rejected due to timeout after waiting 1m0s at"
                       " plugin Hold."));
}

TEST_F(SchedulerTest, AfterStopNobodyBegins) {
  start();
  apply(node("n1") + pod("a"));
  scheduler->run_until(1s);
  scheduler->stop();
  apply(pod("b"));
  scheduler->run_until(1h);
  EXPECT_EQ(where("b"), "");
  scheduler->start();
  scheduler->run_until(2h);
  EXPECT_EQ(where("b"), "n1");
}

// ---- objects that change

TEST_F(SchedulerTest, AManifestAppliedAgainReplacesWhatWasThere) {
  start();
  apply(node("n1") + pod("a", "1", "schedulingGates: [{name: wait}],"));
  scheduler->run_until(1s);
  EXPECT_EQ(where("a"), "");
  apply(pod("a"));
  scheduler->run_until(2s);
  EXPECT_EQ(where("a"), "n1");
}

TEST_F(SchedulerTest, APodKeepsItsNodeWhenItIsAppliedAgain) {
  start();
  apply(node("n1", "1") + pod("a"));
  scheduler->run_until(1s);
  ASSERT_EQ(where("a"), "n1");
  apply(pod("a") + pod("b"));
  scheduler->run_until(2s);
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(where("b"), "") << "the room is taken";
  EXPECT_THAT(diary.internal_errors, IsEmpty());
}

// ---- objects instead of manifests

Ref<Node> node_object(Interner& interner, const std::string& name, std::int64_t milli_cpu) {
  auto made = make_ref<Node>(interner.hold());
  made->name = name;
  made->symbol = made->symbols.intern(name);
  made->capacity.set(made->symbols.intern("cpu"), Quantity::of_milli(milli_cpu));
  made->capacity.set(made->symbols.intern("pods"), Quantity::of_milli(10'000));
  return made;
}

Ref<const Pod> pod_object(Interner& interner, const std::string& name,
                          const std::string& priority_class = "") {
  PodMeta meta(interner.hold());
  meta.namespace_name = meta.symbols.intern("default");
  PodSpec spec(interner.hold());
  spec.priority_class_name = spec.symbols.intern(priority_class);
  Container& container = spec.containers.emplace_back();
  container.name = spec.symbols.intern("main");
  container.limits.set(spec.symbols.intern("cpu"), Quantity::of_milli(1000));
  PodDraft draft;
  draft.name = name;
  draft.meta = interner.share(std::move(meta));
  draft.spec = interner.share(std::move(spec));
  return make_pod(std::move(draft));
}

TEST_F(SchedulerTest, ObjectsAreAdmittedLikeManifests) {
  start();
  Interner& interner = scheduler->interner();
  ASSERT_TRUE(scheduler->apply(AnyObject(Ref<const Object>(node_object(interner, "n1", 1500)))));
  ASSERT_TRUE(scheduler->apply(AnyObject(pod_object(interner, "a"))));
  ASSERT_TRUE(scheduler->apply(AnyObject(pod_object(interner, "b"))));
  scheduler->run_until(1s);
  EXPECT_EQ(where("a"), "n1") << "allocatable follows from capacity, schedulerName is filled in";
  EXPECT_EQ(where("b"), "") << "requests follow from limits";
}

TEST_F(SchedulerTest, APodKeepsItsNodeWhenItIsAppliedAgainAsAnObject) {
  start();
  Interner& interner = scheduler->interner();
  apply(node("n1", "1"));
  ASSERT_TRUE(scheduler->apply(AnyObject(pod_object(interner, "a"))));
  scheduler->run_until(1s);
  ASSERT_EQ(where("a"), "n1");
  ASSERT_TRUE(scheduler->apply(AnyObject(pod_object(interner, "a"))));
  apply(pod("b"));
  scheduler->run_until(2s);
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(where("b"), "") << "the room is taken";
  EXPECT_THAT(diary.internal_errors, IsEmpty());
}

TEST_F(SchedulerTest, AnObjectThatIsNotAdmittedIsAnErrorAndNothingIsApplied) {
  start();
  const Result<void> applied =
      scheduler->apply(AnyObject(pod_object(scheduler->interner(), "a", "gold")));
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().kind, ErrorKind::kForbidden);
  EXPECT_EQ(applied.error().message, "Pod default/a: no PriorityClass with name gold was found");
  EXPECT_EQ(scheduler->apply(AnyObject()).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(scheduler->pending(), 0u);
}

TEST_F(SchedulerTest, APriorityClassMayHaveComeEarlier) {
  start();
  apply(
      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 7\n");
  apply(node("n1", "1") + pod("low") + pod("high", "1", "priorityClassName: high,"));
  scheduler->run_until(1s);
  EXPECT_EQ(where("high"), "n1");
}

TEST_F(SchedulerTest, ABadManifestNamesThePlaceAndNothingOfItIsApplied) {
  start();
  const Result<void> applied =
      scheduler->apply(node("n1") + pod("a") + "---\nkind: Pod\n" +
                       "apiVersion: v1\nmetadata: {name: b}\n" + "spec: {priority: high}\n");
  ASSERT_FALSE(applied.has_value());
  EXPECT_THAT(applied.error().message, StartsWith("manifest: document 3 (line "));
  EXPECT_THAT(applied.error().message, HasSubstr("Pod default/b: spec.priority: "));
  scheduler->run_until(1s);
  EXPECT_THAT(diary.lines, IsEmpty());
  EXPECT_EQ(scheduler->pending(), 0u);
}

TEST_F(SchedulerTest, KindsThatAreNotReadAreTold) {
  start();
  apply(node("n1") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n");
  EXPECT_THAT(diary.internal_errors,
              ElementsAre(HasSubstr("ConfigMap settings is not read by scheduling")));
}

TEST_F(SchedulerTest, WhatIsRemovedIsGone) {
  start();
  apply(node("n1", "1") + pod("a") + pod("b") +
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {}\n");
  scheduler->run_until(1s);
  ASSERT_EQ(where("b"), "");
  EXPECT_TRUE(scheduler->remove(ObjectKind::kPod, "default", "a").has_value());
  EXPECT_TRUE(scheduler->remove(ObjectKind::kService, "default", "web").has_value());
  scheduler->run_until(1min);
  EXPECT_EQ(where("b"), "n1") << "there is room now";
  EXPECT_TRUE(scheduler->remove(ObjectKind::kNode, "", "n1").has_value());
  for (const auto& [kind, name] : {std::pair{ObjectKind::kPod, "a"},
                                   {ObjectKind::kService, "web"},
                                   {ObjectKind::kNode, "n1"}}) {
    const Result<void> again = scheduler->remove(kind, "default", name);
    ASSERT_FALSE(again.has_value()) << name;
    EXPECT_EQ(again.error().kind, ErrorKind::kNotFound);
    EXPECT_THAT(again.error().message, HasSubstr(name));
  }
}

TEST_F(SchedulerTest, APodRemovedBeforeItsBindingIsShownStaysAway) {
  ASSERT_EQ(make(), "");
  apply(node("n1", "1") + pod("a"));
  ASSERT_TRUE(scheduler->run_one());
  ASSERT_TRUE(scheduler->remove(ObjectKind::kPod, "default", "a").has_value());
  scheduler->start();
  scheduler->run_until(1s);
  EXPECT_EQ(where("a"), "");
  apply(pod("b"));
  scheduler->run_until(2s);
  EXPECT_EQ(where("b"), "n1") << "nobody is in its way";
  EXPECT_EQ(scheduler->pending(), 0u);
}

TEST_F(SchedulerTest, AWaitingPodThatIsRemovedGivesItsPlaceBack) {
  use(entry("Hold", [](const Handle&) { return std::make_unique<Hold>(); }));
  start();
  apply(node("n1", "1") + pod("a"));
  scheduler->run_until(1s);
  ASSERT_TRUE(scheduler->remove(ObjectKind::kPod, "default", "a").has_value());
  scheduler->run_until(2s);
  EXPECT_EQ(scheduler->waiting_pods().size(), 0u);
  EXPECT_EQ(scheduler->pending(), 0u);
}

// ---- volumes and claims, where nobody stands behind the door

TEST_F(SchedulerTest, AVolumeThatIsChosenIsShownAsChosen) {
  start();
  apply(node("n1") + R"(
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {storageClassName: local, capacity: {storage: 2Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}
status: {phase: Available}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: db}
spec:
  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: c, image: i}]
)");
  scheduler->run_until(5s);
  EXPECT_EQ(where("db"), "") << "it waits for whoever binds volumes";
  apply(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {storageClassName: local, volumeName: disk, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
)");
  scheduler->run_until(10s);
  EXPECT_EQ(where("db"), "n1");
}

TEST_F(SchedulerTest, ADeviceIsAllocatedAndReserved) {
  start();
  apply(node("n1") + R"(
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: [{name: dev-0}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: mine}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: second}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {resourceClaims: [{name: d, resourceClaimName: mine}], containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b}
spec: {resourceClaims: [{name: d, resourceClaimName: second}], containers: [{name: c, image: i}]}
)");
  scheduler->run_until(5s);
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(where("b"), "");
  EXPECT_EQ(scheduler->pending(), 1u);
}

// Nine requests, of which the last two want devices of the same id, where each has its own: all
// ways to give devices to the others are tried first.
std::string pod_with_an_endless_claim(const std::string& name) {
  std::string requests;
  for (int i = 0; i < 9; ++i)
    requests += "{name: r" + std::to_string(i) + ", exactly: {deviceClassName: gpu}},";
  return "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name +
         "}\nspec: {devices: {requests: [" + requests +
         "], constraints: [{requests: [r7, r8], matchAttribute: gpu.example.com/id}]}}\n"
         "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " +
         name + "}\nspec: {resourceClaims: [{name: d, resourceClaimName: " + name +
         "}], containers: [{name: c, image: i}]}\n";
}

TEST_F(SchedulerTest, ALongSearchForDevicesLeavesTheLoopItsTurns) {
  VirtualLoop loop;
  options.loop = &loop;
  options.configuration =
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles: [{pluginConfig: [{name: DynamicResources, args: {filterTimeout: 20ms}}]}]\n";
  start();
  std::string devices;
  for (int i = 0; i < 24; ++i)
    devices +=
        "{name: d" + std::to_string(i) + ", attributes: {id: {int: " + std::to_string(i) + "}}},";
  apply(node("n1") +
        "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n"
        "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\n"
        "spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, "
        "resourceSliceCount: 1}, devices: [" +
        devices + "]}\n" + pod_with_an_endless_claim("a") + pod_with_an_endless_claim("b"));
  int turns = 0;
  while (diary.lines.size() < 2 && loop.step()) ++turns;
  EXPECT_THAT(diary.lines, ElementsAre("a: running \"DynamicResources\" filter plugin: node n1: "
                                       "timed out trying to allocate devices",
                                       "b: running \"DynamicResources\" filter plugin: node n1: "
                                       "timed out trying to allocate devices"));
  EXPECT_GE(turns, 8) << "twenty milliseconds each, in turns of five";
  EXPECT_EQ(loop.now(), TimePoint{}) << "virtual time does not pass with work";
  scheduler.reset();
}

// ---- a door of the embedder's own

// Fails the first binding and shows the others by itself.
class OwnApi final : public ClusterApi {
 public:
  Scheduler* scheduler = nullptr;
  std::vector<std::string> calls;

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override {
    calls.push_back("bind " + std::string(pod->name()) + " " + node_name);
    if (calls.size() == 1) co_return fail(ErrorKind::kUnavailable, "not today");
    PodDraft draft = draft_of(*pod);
    draft.node_name = node_name;
    draft.resource_version = "bound";
    scheduler->apply(make_pod(std::move(draft)));
    co_return Result<void>();
  }
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override {
    if (patch.condition)
      calls.push_back("patch " + std::string(pod->name()) + " " + patch.condition->reason);
    co_return std::string();
  }
  Task<Result<void>> evict(Ref<const Pod>) override { co_return Result<void>(); }
  Task<Result<AnyObject>> update(AnyObject object) override { co_return object; }
  void record(PodEvent event) override { calls.push_back("event " + event.reason); }
};

// Keeps pods away until there is a crane that says so.
class Harbour final : public PerNodeFilter {
 public:
  static constexpr std::string_view kCranes = "cranes.v1.example.com";

  explicit Harbour(const Handle& handle) : cluster_(handle.cluster) {}
  std::string_view name() const override { return "Harbour"; }
  Outcome filter_node(const Cycle&, NodeRow) const override {
    const Ref<const OtherObject> crane = cluster_.find_other(kCranes, "default", "big");
    const bool works = crane && crane->json.find("\"works\":true") != std::string::npos;
    return works ? Outcome::success() : Outcome::unschedulable("no crane works");
  }
  std::optional<std::vector<EventRegistration>> events_to_register() const override {
    return {{{{EventResource::kOther, action::kAdd | action::kUpdate, {}, kCranes}, {}}}};
  }

 private:
  const Cluster& cluster_;
};

TEST_F(SchedulerTest, APluginMayWaitForAnyResource) {
  use(entry("Harbour", [](const Handle& handle) { return std::make_unique<Harbour>(handle); }));
  start();
  const auto crane = [](const char* spec) {
    return std::string(
               "apiVersion: example.com/v1\nkind: Crane\nmetadata: {name: big, namespace: "
               "default}\nspec: ") +
           spec + "\n";
  };
  apply(node("n1") + pod("p"));
  ASSERT_TRUE(scheduler->run_until(1s));
  EXPECT_EQ(where("p"), "");
  apply(crane("{works: false}"));
  ASSERT_TRUE(scheduler->run_until(20s));
  EXPECT_EQ(where("p"), "");
  apply(crane("{works: true}"));
  ASSERT_TRUE(scheduler->run_until(40s));
  EXPECT_EQ(where("p"), "n1");
  EXPECT_THAT(diary.internal_errors, IsEmpty());

  EXPECT_TRUE(scheduler->remove_other(Harbour::kCranes, "default", "big"));
  EXPECT_FALSE(scheduler->remove_other(Harbour::kCranes, "default", "big"));
  apply(pod("q"));
  ASSERT_TRUE(scheduler->run_until(60s));
  EXPECT_EQ(where("q"), "");
}

TEST_F(SchedulerTest, DecisionsGoOutThroughTheEmbeddersDoor) {
  OwnApi api;
  options.api = &api;
  start();
  api.scheduler = scheduler.get();
  apply(node("n1") + pod("a"));
  scheduler->run_until(1min);
  EXPECT_THAT(api.calls, ElementsAre("bind a n1", "event FailedScheduling",
                                     "patch a SchedulerError", "bind a n1", "event Scheduled"));
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(scheduler->pending(), 0u);
}

}  // namespace
}  // namespace berth
