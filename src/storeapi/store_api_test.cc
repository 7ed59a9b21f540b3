#include "storeapi/store_api.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "store/cluster_store.h"
#include "store/testing/shown_deltas.h"

namespace berth {
namespace {

struct StoreApiTest : ::testing::Test {
  VirtualLoop loop;
  berth::testing::World world;
  ClusterStore cluster{loop, 10ms};
  StoreApi api{loop, cluster, {.latency = 10ms, .keeps_statuses = true, .starts_pods = true}};
  TaskSet tasks;
  std::vector<std::string> shown;

  StoreApiTest() {
    berth::testing::log_deltas(cluster, loop, shown);
    cluster.count_bindings();
  }

  // The answer to a call, once it comes.
  struct Answer {
    std::optional<Result<void>> result;  // without its value
    TimePoint when;
    std::string text() const {
      if (!result) return "none yet";
      return *result
                 ? "ok"
                 : fmt::format("{}: {}", to_string(result->error().kind), result->error().message);
    }
  };
  template <typename T>
  std::shared_ptr<Answer> ask(Task<Result<T>> call) {
    auto answer = std::make_shared<Answer>();
    tasks.spawn(wait_for(std::move(call), answer, loop));
    return answer;
  }
  template <typename T>
  static Task<void> wait_for(Task<Result<T>> call, std::shared_ptr<Answer> answer, Loop& loop) {
    const Result<T> result = co_await call;
    answer->result = result ? Result<void>() : fail(result.error());
    answer->when = loop.now();
  }
  std::shared_ptr<Answer> bind(const Ref<const Pod>& pod, const std::string& node) {
    return ask(api.bind(pod, node));
  }
  Ref<const Pod> create(const berth::testing::PodBuilder& builder) {
    const Ref<const Pod> pod = builder.build();
    EXPECT_TRUE(cluster.create_object(pod).has_value());
    return cluster.pod(pod->namespace_name(), pod->name());
  }
};

// ---- binding

TEST_F(StoreApiTest, ABindingPutsThePodOnItsNodeAndSaysSo) {
  const Ref<const Pod> pod = create(world.pod("p").nominated("n9"));
  const auto answer = bind(pod, "n1");
  EXPECT_EQ(answer->text(), "none yet");
  loop.run();
  EXPECT_EQ(answer->text(), "ok");
  EXPECT_EQ(answer->when.since_start, 10ms);
  const Ref<const Pod> bound = cluster.pod("default", "p");
  EXPECT_EQ(bound->node_name(), "n1");
  EXPECT_TRUE(bound->nominated_node().empty());
  EXPECT_TRUE(bound->scheduled_condition());
  EXPECT_EQ(cluster.bindings().at(pod->uid()), 1);
  EXPECT_EQ(shown.back(), "20ms updated p on n1");
}

TEST_F(StoreApiTest, BindingsThatCannotBeAreRefusedInTheApiServersWords) {
  const Ref<const Pod> gone = world.pod("gone");
  const Ref<const Pod> taken = create(world.pod("taken"));
  const Ref<const Pod> again = create(world.pod("again"));
  const Ref<const Pod> going = create(world.pod("going").on("n1"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "going"));
  ASSERT_TRUE(cluster.remove_object(ObjectKind::kPod, "default", "again"));
  const Ref<const Pod> successor = create(world.pod("again"));
  const auto first = bind(taken, "n1");
  const auto second = bind(taken, "n2");
  const auto unknown = bind(gone, "n1");
  const auto old = bind(again, "n1");
  const auto leaving = bind(going, "n1");
  loop.run_until(TimePoint{1s});
  EXPECT_EQ(first->text(), "ok");
  EXPECT_EQ(second->text(),
            "Conflict: Operation cannot be fulfilled on pods/binding \"taken\": pod taken is "
            "already assigned to node \"n1\"");
  EXPECT_EQ(unknown->text(), "NotFound: pods \"gone\" not found");
  EXPECT_EQ(old->text(),
            fmt::format("Conflict: Operation cannot be fulfilled on pods/binding \"again\": "
                        "Precondition failed: UID in precondition: {}, UID in object meta: {}",
                        again->uid_text(), successor->uid_text()));
  EXPECT_EQ(leaving->text(),
            "Conflict: Operation cannot be fulfilled on pods/binding \"going\": pod going is "
            "being deleted, cannot be assigned to a host");
  EXPECT_EQ(cluster.bindings().at(taken->uid()), 1);
}

// ---- faults

struct FaultCase {
  const char* behaviour;
  CallFate fate;
  const char* answer;
  Duration answered;
  const char* node;
};

TEST_F(StoreApiTest, CallsGoWrongAsTheirFateSays) {
  const Error timeout{ErrorKind::kTimeout, "no answer"};
  const FaultCase cases[] = {
      {"well", {}, "ok", 10ms, "n1"},
      {"it fails", {.takes_effect = false, .error = timeout}, "Timeout: no answer", 10ms, ""},
      {"it works and says otherwise", {.error = timeout}, "Timeout: no answer", 10ms, "n1"},
      {"it arrives late", {.extra_delay = 5s}, "ok", 5010ms, "n1"},
      {"the answer is late", {.answer_delay = 5s}, "ok", 5010ms, "n1"},
      {"it arrives twice", {.takes_effect_twice = true}, "ok", 10ms, "n1"},
      {"it fails, and arrives later all the same",
       {.takes_effect = false, .takes_effect_twice = true, .error = timeout},
       "Timeout: no answer",
       10ms,
       "n1"},
      {"it is lost and nobody says so", {.takes_effect = false}, "ok", 10ms, ""},
  };
  int number = 0;
  for (const FaultCase& c : cases) {
    api.set_fates([&](ApiCall, const Pod&) { return c.fate; });
    const Ref<const Pod> pod = create(world.pod(fmt::format("p{}", ++number)));
    const TimePoint asked = loop.now();
    const auto answer = bind(pod, "n1");
    loop.run();
    EXPECT_EQ(answer->text(), c.answer) << c.behaviour;
    EXPECT_EQ(answer->when - asked, c.answered) << c.behaviour;
    EXPECT_EQ(cluster.pod("default", pod->name())->node_name(), c.node) << c.behaviour;
    EXPECT_LE(cluster.bindings().contains(pod->uid()) ? cluster.bindings().at(pod->uid()) : 0, 1)
        << c.behaviour;
  }
}

TEST_F(StoreApiTest, AnAnswerThatIsLateComesAfterTheWatch) {
  api.set_fates([](ApiCall, const Pod&) { return CallFate{.answer_delay = 1s}; });
  const Ref<const Pod> pod = create(world.pod("p"));
  const auto answer = bind(pod, "n1");
  loop.run_until(TimePoint{500ms});
  EXPECT_EQ(answer->text(), "none yet");
  EXPECT_EQ(shown.back(), "20ms updated p on n1");
}

TEST_F(StoreApiTest, AFateIsAskedForEachCallAndPod) {
  std::vector<std::string> asked;
  api.set_fates([&](ApiCall call, const Pod& about) {
    asked.push_back(fmt::format("{} {}", to_string(call), about.name()));
    return CallFate{};
  });
  const Ref<const Pod> pod = create(world.pod("p"));
  bind(pod, "n1");
  ask(api.patch_status(pod, {}));
  ask(api.evict(pod));
  EXPECT_THAT(asked, ElementsAre("bind p", "patchStatus p", "evict p"));
}

TEST_F(StoreApiTest, ATaskThatEndsEarlyTakesItsCallWithIt) {
  const Ref<const Pod> pod = create(world.pod("p"));
  bind(pod, "n1");
  tasks.clear();
  loop.run();
  EXPECT_TRUE(cluster.pod("default", "p")->node().empty());
}

// ---- status and eviction

TEST_F(StoreApiTest, AStatusPatchSetsConditionAndNomination) {
  const Ref<const Pod> pod = create(world.pod("p"));
  PodStatusPatch patch;
  patch.condition.emplace();
  patch.condition->type = "PodScheduled";
  patch.condition->status = "False";
  patch.condition->reason = "Unschedulable";
  patch.nominated_node_name = "n1";
  const auto answer = ask(api.patch_status(pod, patch));
  loop.run();
  EXPECT_EQ(answer->text(), "ok");
  Ref<const Pod> patched = cluster.pod("default", "p");
  ASSERT_NE(patched->condition("PodScheduled"), nullptr);
  EXPECT_EQ(patched->condition("PodScheduled")->reason, "Unschedulable");
  EXPECT_EQ(patched->nominated_node_name(), "n1");

  patch.condition.reset();
  patch.nominated_node_name = "";
  ask(api.patch_status(pod, patch));
  bind(pod, "n1");
  loop.run();
  patched = cluster.pod("default", "p");
  EXPECT_TRUE(patched->nominated_node().empty());
  EXPECT_TRUE(patched->scheduled_condition()) << "of two conditions of a type the last one counts";
}

TEST_F(StoreApiTest, APatchOfAnotherVersionThanTheStoredOneIsAConflict) {
  const Ref<const Pod> pod = create(world.pod("p"));
  PodStatusPatch patch;
  patch.nominated_node_name = "n1";
  patch.version = pod->resource_version();
  const auto first = ask(api.patch_status(pod, patch));
  loop.run();
  patch.nominated_node_name = "n2";
  const auto second = ask(api.patch_status(pod, patch));
  loop.run();
  EXPECT_EQ(first->text(), "ok");
  EXPECT_THAT(second->text(), StartsWith("Conflict: "));
  EXPECT_EQ(cluster.pod("default", "p")->nominated_node_name(), "n1");
}

TEST_F(StoreApiTest, ACallThatHasLeftTakesEffectWithoutItsTask) {
  api.set_fates([](ApiCall, const Pod&) { return CallFate{.has_left = true}; });
  const Ref<const Pod> pod = create(world.pod("p"));
  bind(pod, "n1");
  tasks.clear();
  loop.run();
  EXPECT_EQ(cluster.pod("default", "p")->node_name(), "n1");
}

TEST_F(StoreApiTest, ThePatchOfAPodThatIsGoneIsNotFound) {
  const auto answer = ask(api.patch_status(world.pod("p").build(), {}));
  loop.run();
  EXPECT_EQ(answer->text(), "NotFound: pods \"p\" not found");
}

TEST_F(StoreApiTest, EvictionGivesTheGracePeriod) {
  const Ref<const Pod> pod = create(world.pod("p").on("n1"));
  const auto answer = ask(api.evict(pod));
  loop.run_until(TimePoint{1s});
  EXPECT_EQ(answer->text(), "ok");
  EXPECT_TRUE(cluster.pod("default", "p")->terminating());
  loop.run();
  EXPECT_FALSE(cluster.pod("default", "p"));
}

// ---- volumes and claims

struct StoreApiClaims : StoreApiTest {
  // As the scheduler has it: made through the API and shown.
  AnyObject claim() {
    ResourceClaim wanted{SymbolHold(world.interner.symbols())};
    wanted.generate_name = "gpu-";
    wanted.finalizers = {"keep"};
    return answer_of(api.create(Ref<const Object>(make_ref<ResourceClaim>(wanted)))).value();
  }
  template <typename T>
  Result<T> answer_of(Task<Result<T>> call) {
    std::optional<Result<T>> answer;
    tasks.spawn(keep(std::move(call), answer));
    loop.run();
    return std::move(*answer);
  }
  template <typename T>
  static Task<void> keep(Task<Result<T>> call, std::optional<Result<T>>& answer) {
    answer.emplace(co_await call);
  }
  static const ResourceClaim& in(const AnyObject& object) {
    return static_cast<const ResourceClaim&>(*std::get<Ref<const Object>>(object));
  }
  static Ref<ResourceClaim> copy(const AnyObject& object) {
    return make_ref<ResourceClaim>(in(object));
  }
};

TEST_F(StoreApiClaims, AWriteAnswersWithWhatIsStoredNow) {
  const AnyObject made = claim();
  const Ref<ResourceClaim> wanted = copy(made);
  wanted->finalizers = {"keep", "mine"};
  wanted->status.reserved_for = {{{}, {}, "p", "u"}};
  const Result<AnyObject> written = answer_of(api.update(Ref<const Object>(wanted)));
  ASSERT_TRUE(written.has_value());
  EXPECT_THAT(in(*written).finalizers, ElementsAre("keep", "mine"));
  EXPECT_TRUE(in(*written).status.reserved_for.empty()) << "the status is written apart";
  EXPECT_NE(in(*written).resource_version, in(made).resource_version);
  const Result<AnyObject> stored =
      answer_of(api.get(ObjectKind::kResourceClaim, "", in(made).name));
  EXPECT_EQ(stored.value(), *written);
}

TEST_F(StoreApiClaims, AWriteToAnotherVersionIsAConflict) {
  const AnyObject made = claim();
  ASSERT_TRUE(answer_of(api.update(made)).has_value());
  const Result<AnyObject> late = answer_of(api.update_status(made));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().kind, ErrorKind::kConflict);
  EXPECT_THAT(late.error().message,
              StartsWith("Operation cannot be fulfilled on resourceclaims.resource.k8s.io"));
}

TEST_F(StoreApiClaims, AConsumerIsTakenOutWhateverTheVersionIs) {
  const AnyObject made = claim();
  const Ref<ResourceClaim> wanted = copy(made);
  wanted->status.reserved_for = {{{}, {}, "p", "u"}, {{}, {}, "q", "v"}};
  ASSERT_TRUE(answer_of(api.update_status(Ref<const Object>(wanted))).has_value());
  ASSERT_TRUE(answer_of(api.unreserve_claim(std::get<Ref<const Object>>(made), "u")).has_value());
  const AnyObject now = answer_of(api.get(ObjectKind::kResourceClaim, "", in(made).name)).value();
  ASSERT_EQ(in(now).status.reserved_for.size(), 1u);
  EXPECT_EQ(in(now).status.reserved_for[0].uid, "v");
  ASSERT_TRUE(answer_of(api.unreserve_claim(std::get<Ref<const Object>>(made), "u")).has_value());
  EXPECT_EQ(answer_of(api.get(ObjectKind::kResourceClaim, "", in(made).name)).value(), now)
      << "nothing to take out is nothing to write";
}

TEST_F(StoreApiClaims, OnlyWhatTheSchedulerOwnsIsWrittenCreatedAndRemoved) {
  const AnyObject node = Ref<const Object>(world.node("n1").build());
  EXPECT_EQ(answer_of(api.update(node)).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(answer_of(api.create(node)).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(answer_of(api.remove(node)).error().kind, ErrorKind::kInvalid);
  const AnyObject pod = Ref<const Pod>(world.pod("p"));
  EXPECT_EQ(answer_of(api.update(pod)).error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(answer_of(api.remove(pod)).error().kind, ErrorKind::kInvalid);
  AnyObject made = claim();
  ASSERT_TRUE(cluster.remove_at_once(ObjectKind::kResourceClaim, "", in(made).name));
  EXPECT_EQ(answer_of(api.update(made)).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(answer_of(api.remove(made)).error().kind, ErrorKind::kNotFound);
}

TEST_F(StoreApiClaims, CallsAboutObjectsHaveFatesOfTheirOwn) {
  const AnyObject made = claim();
  std::vector<std::string> asked;
  api.set_object_fates([&](ApiCall call, ObjectKind kind, const std::string& name) {
    asked.push_back(fmt::format("{} {} {}", to_string(call), to_string(kind), name));
    return CallFate{.takes_effect = false};
  });
  const Result<AnyObject> written = answer_of(api.update(made));
  EXPECT_EQ(written.error().kind, ErrorKind::kUnavailable) << "there is no object to answer with";
  EXPECT_TRUE(answer_of(api.remove(made)).has_value()) << "said to be done";
  EXPECT_TRUE(cluster.object(ObjectKind::kResourceClaim, "", in(made).name));
  EXPECT_THAT(asked, ElementsAre("update ResourceClaim gpu-1", "delete ResourceClaim gpu-1"));
}

// ---- without latency and fates

TEST_F(StoreApiTest, ACallAtOnceTakesEffectWhenItIsAwaited) {
  StoreApi immediate{loop, cluster};
  const Ref<const Pod> pod = create(world.pod("p"));
  Task<Result<void>> call = immediate.bind(pod, "n1");
  EXPECT_TRUE(cluster.pod("default", "p")->node().empty());
  const auto answer = ask(std::move(call));
  EXPECT_EQ(answer->text(), "ok") << "without a turn of the loop";
  EXPECT_EQ(cluster.pod("default", "p")->node_name(), "n1");
  EXPECT_FALSE(cluster.pod("default", "p")->start_time()) << "no kubelet";
}

TEST_F(StoreApiTest, StatusesThatNobodyReadsAreNotKept) {
  StoreApi careless{loop, cluster, {.keeps_statuses = false}};
  const Ref<const Pod> pod = create(world.pod("p"));
  PodStatusPatch patch;
  patch.nominated_node_name = "n1";
  EXPECT_EQ(ask(careless.patch_status(pod, patch))->text(), "ok");
  EXPECT_EQ(cluster.pod("default", "p"), pod);
}

}  // namespace
}  // namespace berth
