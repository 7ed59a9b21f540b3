// The library as an embedder meets it: nothing but the public header.
#include "berth/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/thread.h"

namespace berth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using namespace std::chrono_literals;

std::string node(const std::string& name, const std::string& cpu = "4") {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         "}\nstatus: {capacity: {cpu: '" + cpu + "', memory: 8Gi, pods: '10'}}\n";
}

std::string pod(const std::string& name, const std::string& cpu = "1",
                const std::string& more_spec = "") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + "}\nspec: {" + more_spec +
         " containers: [{name: main, image: app, resources: {requests: {cpu: '" + cpu + "'}}}]}\n";
}

std::string profile_with(const std::string& plugin) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
         "profiles: [{plugins: {multiPoint: {enabled: [{name: " +
         plugin + "}]}}}]\n";
}

// Writes down what it is told.
class Diary final : public Observer {
 public:
  void wait_started(const Pod& pod, std::span<const PermitHold>) override {
    lines.push_back(std::string(pod.name()) + " waits");
  }
  void bound(const Pod& pod, std::string_view where, std::int32_t) override {
    lines.push_back(std::string(pod.name()) + " on " + std::string(where));
    if (on_bound) on_bound();
  }
  void failed(const Pod& pod, const Outcome& outcome) override {
    lines.push_back(std::string(pod.name()) + ": " + outcome.message());
  }
  void trouble(std::string_view message) override { troubles.emplace_back(message); }

  std::vector<std::string> lines;
  std::vector<std::string> troubles;
  std::function<void()> on_bound;
};

PluginEntry entry(std::string name, std::function<std::unique_ptr<Plugin>(const Handle&)> make) {
  PluginEntry result;
  result.name = std::move(name);
  result.create = [make](const config::PluginArgs&,
                         const Handle& handle) -> Result<std::unique_ptr<Plugin>> {
    return make(handle);
  };
  return result;
}

// Holds every pod for a minute.
class Hold final : public PermitPlugin {
 public:
  std::string_view name() const override { return "Hold"; }
  PermitResult permit(Cycle&, std::string_view) const override { return PermitResult::wait(1min); }
};

// Throws for the pod named "bad", at one of its points.
class Moody final : public PreEnqueuePlugin,
                    public PreFilterPlugin,
                    public PerNodeFilter,
                    public PreScorePlugin,
                    public PerNodeScore,
                    public ReservePlugin,
                    public PermitPlugin,
                    public PreBindPlugin,
                    public BindPlugin,
                    public PostBindPlugin {
 public:
  Moody(std::string point, bool an_exception)
      : point_(std::move(point)), an_exception_(an_exception) {}
  std::string_view name() const override { return "Moody"; }
  Outcome pre_enqueue(const Pod& pod) const override { return at("PreEnqueue", pod); }
  PreFilterResult pre_filter(Cycle& cycle) const override { return at("PreFilter", cycle.pod()); }
  Outcome filter_node(const Cycle& cycle, NodeRow) const override {
    return at("Filter", cycle.pod());
  }
  Outcome pre_score(Cycle& cycle, const NodeSet&) const override {
    return at("PreScore", cycle.pod());
  }
  Score score_node(const Cycle& cycle, NodeRow) const override {
    at("Score", cycle.pod());
    return 0;
  }
  Outcome reserve(Cycle& cycle, std::string_view) const override {
    return at("Reserve", cycle.pod());
  }
  void unreserve(Cycle& cycle, std::string_view) const override { at("Unreserve", cycle.pod()); }
  PermitResult permit(Cycle& cycle, std::string_view) const override {
    return {at("Permit", cycle.pod()), {}};
  }
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view, CancelToken) const override {
    co_return at("PreBind", cycle.pod());
  }
  Task<Outcome> bind(Cycle& cycle, std::string_view) const override {
    at("Bind", cycle.pod());
    co_return Outcome::skip();
  }
  void post_bind(Cycle& cycle, std::string_view) const override { at("PostBind", cycle.pod()); }

 private:
  Outcome at(std::string_view point, const Pod& pod) const {
    if (point != point_ || pod.name() != "bad") return {};
    if (an_exception_) throw std::runtime_error("a bad mood");
    throw 7;
  }
  std::string point_;
  bool an_exception_;
};

struct SchedulerTest : ::testing::Test {
  Scheduler::Options options;
  Diary diary;
  std::unique_ptr<Scheduler> scheduler;

  SchedulerTest() {
    options.plugins = Scheduler::built_in_plugins();
    options.observer = &diary;
  }
  void use(PluginEntry plugin) {
    options.configuration = profile_with(plugin.name);
    ASSERT_TRUE(options.plugins.add(std::move(plugin)).has_value());
  }
  std::string make() {
    Result<std::unique_ptr<Scheduler>> made = Scheduler::make(std::move(options));
    if (!made) return made.error().message;
    scheduler = std::move(*made);
    return {};
  }
  void start() {
    ASSERT_EQ(make(), "");
    scheduler->start();
  }
  void apply(const std::string& manifest) {
    const Result<void> applied = scheduler->apply(manifest);
    EXPECT_TRUE(applied.has_value()) << applied.error().message;
  }
  std::string where(const std::string& name) { return scheduler->node_of("default", name); }
};

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
  EXPECT_THAT(diary.troubles, IsEmpty());
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
  EXPECT_THAT(diary.troubles,
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
  Task<Result<void>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override {
    if (patch.condition)
      calls.push_back("patch " + std::string(pod->name()) + " " + patch.condition->reason);
    co_return Result<void>();
  }
  Task<Result<void>> evict(Ref<const Pod>) override { co_return Result<void>(); }
  Task<Result<AnyObject>> update(AnyObject object) override { co_return object; }
  void record(PodEvent event) override { calls.push_back("event " + event.reason); }
};

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

// ---- a loop of the embedder's own

TEST_F(SchedulerTest, ARealLoopRunsIt) {
  RealLoop loop;
  options.loop = &loop;
  start();
  loop.post([this] { apply(node("n1") + pod("a") + pod("b")); });
  diary.on_bound = [&] {
    if (diary.lines.size() == 2) loop.post([&loop] { loop.stop(); });
  };
  loop.run();
  EXPECT_EQ(where("a"), "n1");
  EXPECT_EQ(where("b"), "n1");
  EXPECT_EQ(&scheduler->loop(), &loop);
}

TEST_F(SchedulerTest, ALoopThatLivesLongerFindsNothingOfIt) {
  VirtualLoop loop;
  options.loop = &loop;
  use(entry("Hold", [](const Handle&) { return std::make_unique<Hold>(); }));
  start();
  apply(node("n1") + pod("waits"));
  loop.run_until(TimePoint{1s});
  apply(pod("queued"));
  scheduler->waiting_pods().allow(scheduler->waiting_pods().list().front().pod->uid(), "Hold");
  scheduler.reset();  // with a turn, a wait's end and timers still in the loop
  diary.lines.clear();
  loop.run();
  EXPECT_THAT(diary.lines, IsEmpty());
}

TEST_F(SchedulerTest, ABindingThatIsStillToBeShownEndsWithIt) {
  VirtualLoop loop;
  options.loop = &loop;
  start();
  apply(node("n1") + pod("a"));
  ASSERT_TRUE(scheduler->run_one());
  scheduler.reset();
  loop.run();
  EXPECT_THAT(diary.lines, ElementsAre("a on n1"));
}

TEST_F(SchedulerTest, TwoOfThemDoNotKnowOfEachOther) {
  start();
  SchedulerTest::apply(node("here") + pod("a"));
  Scheduler::Options others;
  others.plugins = Scheduler::built_in_plugins();
  Result<std::unique_ptr<Scheduler>> other = Scheduler::make(std::move(others));
  ASSERT_TRUE(other.has_value());
  (*other)->start();
  ASSERT_TRUE((*other)->apply(node("there") + pod("a")).has_value());
  scheduler->run_until(1s);
  (*other)->run_until(1s);
  EXPECT_EQ(where("a"), "here");
  EXPECT_EQ((*other)->node_of("default", "a"), "there");
}

// ---- plugins that throw

TEST(ForeignPlugins, APluginThatThrowsFailsItsPodOnly) {
  struct Case {
    const char* point;
    bool bound;  // the bad pod, in spite of it
    const char* message;
  };
  const Case cases[] = {
      {"PreFilter", false, "running PreFilter plugin \"Moody\": Moody threw an exception"},
      {"Filter", false, "running \"Moody\" filter plugin: Moody threw an exception"},
      {"PreScore", false, "running PreScore plugin \"Moody\": Moody threw an exception"},
      {"Score", false,
       "running Score plugins: plugin \"Moody\" failed with: Moody threw an exception"},
      {"Reserve", false, "running Reserve plugin \"Moody\": Moody threw an exception"},
      {"Permit", false, "running Permit plugin \"Moody\": Moody threw an exception"},
      {"PreBind", false, "running PreBind plugin \"Moody\": Moody threw an exception"},
      {"Bind", false, "running Bind plugin \"Moody\": Moody threw an exception"},
      {"PostBind", true, nullptr},
      {"PreEnqueue", false, nullptr},  // it never gets into the queue
  };
  for (const Case& c : cases)
    for (const bool an_exception : {true, false}) {
      SCOPED_TRACE(std::string(c.point) + (an_exception ? ", std" : ", else"));
      struct OneCase : SchedulerTest {
        void TestBody() override {}
      } test;
      test.use(entry(
          "Moody", [&](const Handle&) { return std::make_unique<Moody>(c.point, an_exception); }));
      // Before DefaultBinder, so that it is asked at all.
      test.options.configuration =
          "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
          "profiles: [{plugins: {multiPoint: {enabled: [{name: Moody}]}, bind: {enabled: [{name: "
          "Moody}]}}}]\n";
      test.start();
      test.apply(node("n1") + node("n2") + pod("bad") + pod("good"));
      test.scheduler->run_until(500ms);
      EXPECT_NE(test.where("good"), "");
      EXPECT_EQ(test.where("bad") != "", c.bound);
      if (c.message) {
        EXPECT_THAT(test.diary.lines, Contains("bad: " + std::string(c.message) +
                                               (an_exception ? ": a bad mood" : "")));
      }
    }
}

// Says Skip in PreFilter, and has work after Reserve all the same.
class Ticket final : public PreFilterPlugin,
                     public ReservePlugin,
                     public PreBindPlugin,
                     public PostBindPlugin {
 public:
  Ticket(std::vector<std::string>& seen, bool binds) : seen_(seen), binds_(binds) {}
  std::string_view name() const override { return "Ticket"; }
  PreFilterResult pre_filter(Cycle& cycle) const override {
    cycle.put(*this, Early{1});
    return PreFilterResult::skip();
  }
  Outcome reserve(Cycle& cycle, std::string_view node) const override {
    cycle.find<Early>(*this)->number += 1;
    cycle.put(*this, Number{"ticket for " + std::string(node)});
    return {};
  }
  void unreserve(Cycle& cycle, std::string_view) const override { note("Unreserve", cycle); }
  Task<Outcome> pre_bind(Cycle& cycle, std::string_view, CancelToken) const override {
    note("PreBind", cycle);
    co_return binds_ ? Outcome::success() : Outcome::failure("not today");
  }
  void post_bind(Cycle& cycle, std::string_view) const override { note("PostBind", cycle); }

 private:
  struct Early {
    int number;
  };
  struct Number {
    std::string text;
  };
  void note(const std::string& point, const Cycle& cycle) const {
    const Number* number = cycle.find<Number>(*this);
    const Early* early = cycle.find<Early>(*this);
    seen_.push_back(point + ": " + (number ? number->text : "nothing") + ", " +
                    std::to_string(early ? early->number : 0));
  }

  std::vector<std::string>& seen_;
  const bool binds_;
};

TEST(ForeignPlugins, WhatReserveLeavesIsThereToTheEndAlsoAfterASkip) {
  struct Case {
    bool binds;
    std::vector<std::string> seen;
  };
  for (const Case& c :
       {Case{true, {"PreBind: ticket for n1, 2", "PostBind: ticket for n1, 2"}},
        Case{false, {"PreBind: ticket for n1, 2", "Unreserve: ticket for n1, 2"}}}) {
    std::vector<std::string> seen;
    Scheduler::Options options;
    options.plugins = Scheduler::built_in_plugins();
    options.plugins.add(
        entry("Ticket", [&](const Handle&) { return std::make_unique<Ticket>(seen, c.binds); }));
    options.configuration = profile_with("Ticket");
    auto scheduler = Scheduler::make(std::move(options));
    ASSERT_TRUE(scheduler) << scheduler.error().message;
    (*scheduler)->start();
    ASSERT_TRUE((*scheduler)->apply(node("n1") + pod("web")));
    (*scheduler)->run_until(500ms);
    EXPECT_EQ(seen, c.seen);
  }
}

// ---- configurations

TEST_F(SchedulerTest, ABadConfigurationIsAnErrorInUpstreamsWords) {
  struct Case {
    const char* behaviour;
    std::string configuration, gates, message;
  };
  const Case cases[] = {
      {"not even YAML", "{", "", ""},
      {"an unknown field",
       "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nfoo: 1\n", "",
       "unknown field \"foo\""},
      {"an unknown plugin", profile_with("Foo"), "",
       "initializing profiles: creating profile for scheduler name default-scheduler:"
       " PreFilterPlugin \"Foo\" does not exist"},
      {"an unknown gate", "", "Foo=true", "unrecognized feature gate: Foo"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    options = {};
    options.plugins = Scheduler::built_in_plugins();
    options.configuration = c.configuration;
    options.feature_gates = c.gates;
    const std::string message = make();
    EXPECT_NE(message, "");
    EXPECT_THAT(message, HasSubstr(c.message));
  }
}

TEST_F(SchedulerTest, ThePlainDefaultsNeedNoConfiguration) {
  options.observer = nullptr;
  start();
  apply(node("n1") + pod("a"));
  scheduler->run_until(1s);
  EXPECT_EQ(where("a"), "n1");
}

TEST_F(SchedulerTest, ExtendersInTheConfigurationAreNotAskedAndThatIsSaid) {
  options.configuration =
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "extenders: [{urlPrefix: 'http://localhost:1', filterVerb: filter}]\n";
  ASSERT_EQ(make(), "");
  EXPECT_THAT(diary.troubles, ElementsAre(HasSubstr("1 extender(s)")));
}

// ---- other threads

TEST(ConcurrentScheduler, WaitingPodsAreLetGoFromAnotherThread) {
  constexpr std::size_t kPods = 40;
  RealLoop loop;
  Diary diary;
  Scheduler::Options options;
  options.plugins = Scheduler::built_in_plugins();
  ASSERT_TRUE(
      options.plugins.add(entry("Hold", [](const Handle&) { return std::make_unique<Hold>(); }))
          .has_value());
  options.configuration = profile_with("Hold");
  options.loop = &loop;
  options.observer = &diary;
  Result<std::unique_ptr<Scheduler>> made = Scheduler::make(std::move(options));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  Scheduler& scheduler = **made;
  scheduler.start();
  std::size_t bound = 0;
  diary.on_bound = [&] {
    if (++bound == kPods) loop.stop();
  };

  WaitingPods& waiting = scheduler.waiting_pods();
  std::atomic<bool> over = false;
  Thread feeder("feeder", [&] {
    for (std::size_t i = 0; i < kPods; ++i)
      loop.post([&scheduler, i] {
        const Result<void> applied = scheduler.apply(pod("p" + std::to_string(i), "100m"));
        EXPECT_TRUE(applied.has_value());
      });
  });
  Thread friendly("friendly", [&] {
    while (!over.load()) {
      waiting.for_each([&](const WaitingPod& held) { waiting.allow(held.pod->uid(), "Hold"); });
      std::this_thread::yield();
    }
  });
  loop.post([&scheduler] {
    EXPECT_TRUE(scheduler
                    .apply(node("n1", "64") + node("n2", "64") + node("n3", "64") +
                           node("n4", "64") + node("n5", "64"))
                    .has_value());
  });
  loop.run();
  over = true;
  friendly.join();
  feeder.join();
  EXPECT_EQ(bound, kPods);
  EXPECT_EQ(waiting.size(), 0u);
}

}  // namespace
}  // namespace berth
