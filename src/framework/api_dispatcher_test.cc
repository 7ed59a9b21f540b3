#include "framework/api_dispatcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "framework/metrics_observer.h"
#include "framework/pod_status.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

PodStatusPatch unschedulable(std::string message) {
  PodStatusPatch patch;
  patch.condition.emplace();
  patch.condition->type = "PodScheduled";
  patch.condition->status = "False";
  patch.condition->reason = "Unschedulable";
  patch.condition->message = std::move(message);
  return patch;
}
PodStatusPatch nominate(std::string node) {
  PodStatusPatch patch;
  patch.nominated_node_name = std::move(node);
  return patch;
}
PodStatusPatch disruption() {
  PodStatusPatch patch = unschedulable("going");
  patch.condition->type = "DisruptionTarget";
  return patch;
}

struct ApiDispatcherTest : ::testing::Test {
  FakeWorld world;
  testing::RecordingApi api;
  telemetry::Registry registry;
  MetricsObserver metrics{world.loop, registry};
  ApiDispatcher dispatcher{world.loop, world.cluster, api, metrics};
  std::vector<std::string> answers;  // "bind: ok", in order
  TaskSet tasks;
  Ref<const Pod> pod = shown(world.pod("p").version("1"));

  ApiDispatcherTest() { api.hold(""); }
  ~ApiDispatcherTest() override { tasks.clear(); }

  // The watch shows the pod.
  Ref<const Pod> shown(Ref<const Pod> now) {
    world.cluster.see_pod(now);
    dispatcher.sync(*now);
    return now;
  }
  // The watch shows what a patch that was answered with this version has made of the pod.
  void show_patched(const PodStatusPatch& patch, std::string version) {
    pod = shown(with_status(*world.cluster.seen_pod(*pod), patch, std::move(version)));
    settle();
  }
  template <typename T>
  void ask(std::string what, Task<Result<T>> call) {
    tasks.spawn(note(std::move(what), std::move(call)));
    settle();
  }
  template <typename T>
  Task<void> note(std::string what, Task<Result<T>> call) {
    const Result<T> answer = co_await call;
    answers.push_back(what + ": " + (answer ? "ok" : answer.error().message));
  }
  void patch(PodStatusPatch change) {
    ask("patch", dispatcher.patch_status(pod, std::move(change)));
  }
  void bind(std::string node = "n1") { ask("bind", dispatcher.bind(pod, std::move(node))); }
  // The oldest call that waits is answered.
  void answer(Result<std::string> with) {
    api.answer("", std::move(with));
    settle();
  }
  void settle() { world.loop.run_until(world.loop.now()); }
  void wait(Duration time) { world.loop.run_until(world.loop.now() + time); }
  std::string metric(std::string_view name) { return shown_line(registry.text(), name); }
  static std::string shown_line(const std::string& page, std::string_view name) {
    const std::size_t at = page.find("\n" + std::string(name));
    if (at == std::string::npos) return {};
    return page.substr(at + 1, page.find('\n', at + 1) - at - 1);
  }
};

TEST_F(ApiDispatcherTest, ADecisionIsSentWithTheVersionKnownAsPrecondition) {
  patch(unschedulable("no room"));
  EXPECT_THAT(api.calls, ElementsAre("patch p no room at 1"));
  EXPECT_THAT(answers, IsEmpty());
  answer("2");
  EXPECT_THAT(answers, ElementsAre("patch: ok"));
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

TEST_F(ApiDispatcherTest, NothingIsSentWhenThePodSaysItAlready) {
  pod = shown(with_status(*pod, unschedulable("no room"), "2"));
  patch(unschedulable("no room"));
  EXPECT_THAT(api.calls, IsEmpty());
  EXPECT_THAT(answers, ElementsAre("patch: ok"));
}

TEST_F(ApiDispatcherTest, OfDecisionsThatWaitOnlyTheLastIsSent) {
  patch(unschedulable("first"));
  patch(nominate("n1"));
  patch(unschedulable("second"));
  patch(unschedulable("third"));
  EXPECT_THAT(api.calls, ElementsAre("patch p first at 1")) << "one call at a time";
  answer("2");
  EXPECT_THAT(api.calls, ElementsAre("patch p first at 1", "patch p third on \"n1\" at 2"));
  answer("3");
  EXPECT_THAT(answers, ElementsAre("patch: ok", "patch: ok", "patch: ok", "patch: ok"));
}

TEST_F(ApiDispatcherTest, WhatWasWrittenCountsBeforeTheWatchShowsIt) {
  patch(nominate("n1"));
  answer("2");
  patch(nominate(""));
  EXPECT_THAT(api.calls, ElementsAre("patch p on \"n1\" at 1", "patch p on \"\" at 2"))
      << "the pod that the watch has shown has no nomination to clear";
  answer("3");
  patch(nominate("n2"));
  show_patched(nominate("n1"), "2");  // late
  EXPECT_THAT(api.calls.back(), "patch p on \"n2\" at 3");
  answer("4");
  show_patched(nominate(""), "3");
  patch(nominate("n2"));
  EXPECT_EQ(api.calls.size(), 3u) << "stored already";
}

TEST_F(ApiDispatcherTest, ABindingDropsWhatWasNotSent) {
  patch(unschedulable("first"));
  patch(unschedulable("second"));
  bind();
  EXPECT_THAT(api.calls, ElementsAre("patch p first at 1", "bind p n1"));
  EXPECT_EQ(api.ended_early, 1) << "the status write under way is cancelled";
  EXPECT_THAT(answers, ElementsAre("patch: ok", "patch: ok"));
  answer("");
  EXPECT_THAT(answers, ElementsAre("patch: ok", "patch: ok", "bind: ok"));
  wait(10min);
  EXPECT_EQ(api.calls.size(), 2u);
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

TEST_F(ApiDispatcherTest, ABindingDropsAWriteThatWasToBeTriedAgain) {
  patch(unschedulable("no room"));
  answer(fail(ErrorKind::kTimeout, "too slow"));
  bind();
  answer("");
  wait(10min);
  EXPECT_THAT(api.calls, ElementsAre("patch p no room at 1", "bind p n1"));
}

TEST_F(ApiDispatcherTest, ABindingsFailureIsItsCallers) {
  bind();
  answer(fail(ErrorKind::kUnavailable, "not today"));
  EXPECT_THAT(answers, ElementsAre("bind: not today"));
  wait(10min);
  EXPECT_EQ(api.calls.size(), 1u) << "a binding is tried once";
}

TEST_F(ApiDispatcherTest, ADecisionWaitsForTheBindingUnderWay) {
  bind();
  patch(unschedulable("bind failed"));
  EXPECT_THAT(api.calls, ElementsAre("bind p n1"));
  answer(fail(ErrorKind::kTimeout, "no answer"));
  EXPECT_THAT(api.calls, ElementsAre("bind p n1", "patch p bind failed at 1"));
  // The binding took effect after all: the version is another one.
  answer(fail(ErrorKind::kConflict, "modified"));
  shown(bound_to(*pod, "n1", "2"));
  wait(10min);
  EXPECT_EQ(api.calls.size(), 2u) << "a bound pod's condition is not the scheduler's";
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

TEST_F(ApiDispatcherTest, OtherChangesGoInOrderAndSurviveABinding) {
  bind();
  patch(disruption());
  ask("evict", dispatcher.evict(pod));
  EXPECT_THAT(api.calls, ElementsAre("bind p n1"));
  answer("");
  answer("2");
  EXPECT_THAT(api.calls, ElementsAre("bind p n1", "patch p going", "evict p"));
  answer("");
  EXPECT_THAT(answers, ElementsAre("bind: ok", "patch: ok", "evict: ok"));
}

TEST_F(ApiDispatcherTest, PodsDoNotWaitForEachOther) {
  const Ref<const Pod> other = shown(world.pod("q").version("1"));
  patch(unschedulable("no room"));
  ask("other", dispatcher.patch_status(other, unschedulable("no room")));
  EXPECT_THAT(api.calls, ElementsAre("patch p no room at 1", "patch q no room at 1"));
}

// ---- failures

TEST_F(ApiDispatcherTest, AFailedWriteIsTriedAgainUntilItSucceeds) {
  patch(unschedulable("no room"));
  answer(fail(ErrorKind::kUnavailable, "out of order"));
  EXPECT_THAT(answers, ElementsAre("patch: out of order")) << "its caller need not wait";
  for (const Duration pause : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    const std::size_t before = api.calls.size();
    wait(pause - 1ms);
    EXPECT_EQ(api.calls.size(), before);
    wait(1ms);
    ASSERT_EQ(api.calls.size(), before + 1);
    answer(fail(ErrorKind::kUnavailable, "out of order"));
  }
  wait(1min);
  answer("2");
  wait(1h);
  EXPECT_EQ(api.calls.size(), 10u);
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

TEST_F(ApiDispatcherTest, WhatIsForbiddenIsTriedAgainMuchLater) {
  patch(unschedulable("no room"));
  answer(fail(ErrorKind::kForbidden, "Unauthorized"));
  wait(5min - 1s);
  EXPECT_EQ(api.calls.size(), 1u);
  wait(1s);
  EXPECT_EQ(api.calls.size(), 2u);
  answer("2");
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

TEST_F(ApiDispatcherTest, ANewDecisionDoesNotWaitForTheNextTry) {
  PodStatusPatch both = unschedulable("first");
  both.nominated_node_name = "n1";
  patch(std::move(both));
  answer(fail(ErrorKind::kUnavailable, "out of order"));
  patch(unschedulable("second"));
  EXPECT_THAT(api.calls.back(), "patch p second on \"n1\" at 1") << "what it does not say stays";
}

TEST_F(ApiDispatcherTest, AfterAConflictTheNextVersionShownIsWrittenOver) {
  patch(unschedulable("no room"));
  answer(fail(ErrorKind::kConflict, "modified"));
  EXPECT_THAT(answers, IsEmpty()) << "the watch is behind, that is all";
  shown(world.pod("p").label("new", "1").version("5"));
  settle();
  EXPECT_THAT(api.calls, ElementsAre("patch p no room at 1", "patch p no room at 5"));
  answer("6");
  EXPECT_THAT(answers, ElementsAre("patch: ok"));
}

TEST_F(ApiDispatcherTest, AWriteReportedAsFailedThatTookEffectIsNotRepeated) {
  patch(unschedulable("no room"));
  answer(fail(ErrorKind::kTimeout, "no answer"));
  show_patched(unschedulable("no room"), "2");
  wait(10min);
  EXPECT_EQ(api.calls.size(), 1u);
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

TEST_F(ApiDispatcherTest, AConflictWithoutANewVersionIsToldInTheEnd) {
  patch(unschedulable("no room"));
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(answers, IsEmpty());
    answer(fail(ErrorKind::kConflict, "modified"));
    wait(1min);
  }
  EXPECT_THAT(answers, ElementsAre("patch: modified"));
  EXPECT_EQ(api.calls.size(), 5u) << "and is tried on";
}

TEST_F(ApiDispatcherTest, WhatCannotSucceedIsGivenUp) {
  for (const ErrorKind kind :
       {ErrorKind::kNotFound, ErrorKind::kInvalid, ErrorKind::kGone, ErrorKind::kCancelled}) {
    const std::size_t before = api.calls.size();
    patch(unschedulable("no room"));
    answer(fail(kind, "never"));
    wait(10min);
    EXPECT_EQ(api.calls.size(), before + 1);
    EXPECT_EQ(dispatcher.busy_pods(), 0u);
  }
}

TEST_F(ApiDispatcherTest, APodThatIsGoneIsNotWritten) {
  patch(unschedulable("first"));
  patch(unschedulable("second"));
  world.cluster.remove_seen_pod(*pod);
  dispatcher.sync(*pod);
  answer(fail(ErrorKind::kUnavailable, "out of order"));
  wait(10min);
  EXPECT_EQ(api.calls.size(), 1u);
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

// ---- the end

TEST_F(ApiDispatcherTest, StopDropsWhatWaitsAndCancelsWhatIsUnderWay) {
  patch(unschedulable("first"));
  patch(unschedulable("second"));
  const Ref<const Pod> other = shown(world.pod("q").version("1"));
  ask("bind q", dispatcher.bind(other, "n1"));
  ask("evict q", dispatcher.evict(other));
  ask("update", dispatcher.update(Ref<const Object>()));
  const std::size_t before = api.calls.size();
  dispatcher.stop();
  settle();
  EXPECT_EQ(answers.size(), 5u) << "all are told";
  EXPECT_THAT(answers, ::testing::Each(HasSubstr("context canceled")));
  EXPECT_EQ(api.ended_early, 3);
  EXPECT_EQ(dispatcher.busy_pods(), 0u);

  bind();
  patch(unschedulable("third"));
  patch(disruption());
  ask("evict", dispatcher.evict(pod));
  ask("update", dispatcher.update(Ref<const Object>()));
  dispatcher.record({});
  wait(10min);
  EXPECT_EQ(answers.size(), 10u);
  EXPECT_THAT(answers, ::testing::Each(HasSubstr("context canceled")));
  EXPECT_EQ(api.calls.size(), before) << "nothing is asked any more";
  EXPECT_THAT(api.events, IsEmpty());
}

TEST_F(ApiDispatcherTest, StopCancelsACallThatHadToWaitForItsTurn) {
  patch(disruption());
  ask("evict", dispatcher.evict(pod));
  answer("2");  // now it is the eviction's turn
  EXPECT_EQ(api.calls.size(), 2u);
  dispatcher.stop();
  settle();
  EXPECT_EQ(answers.size(), 2u);
  EXPECT_THAT(answers.back(), HasSubstr("context canceled"));
  EXPECT_EQ(dispatcher.busy_pods(), 0u);
}

TEST_F(ApiDispatcherTest, CallersMayEndBeforeTheirAnswers) {
  patch(unschedulable("first"));
  bind();
  ask("evict", dispatcher.evict(pod));
  tasks.clear();
  settle();
  bind("n2");
  EXPECT_THAT(api.calls.back(), "bind p n2") << "nobody holds the pod's turn";
}

// ---- metrics

TEST_F(ApiDispatcherTest, CallsAreCountedAsUpstreamCountsThem) {
  patch(unschedulable("first"));
  patch(unschedulable("second"));
  EXPECT_EQ(metric("scheduler_pending_async_api_calls{call_type=\"pod_status_patch\"}"),
            "scheduler_pending_async_api_calls{call_type=\"pod_status_patch\"} 1");
  answer("2");
  answer(fail(ErrorKind::kForbidden, "no"));
  bind();
  answer("");
  EXPECT_EQ(metric("scheduler_pending_async_api_calls{call_type=\"pod_status_patch\"}"),
            "scheduler_pending_async_api_calls{call_type=\"pod_status_patch\"} 0");
  for (const char* series : {"call_type=\"pod_status_patch\",result=\"success\"",
                             "call_type=\"pod_status_patch\",result=\"error\"",
                             "call_type=\"pod_binding\",result=\"success\""}) {
    const std::string total = fmt::format("scheduler_async_api_call_execution_total{{{}}}", series);
    EXPECT_EQ(metric(total), total + " 1");
    const std::string count =
        fmt::format("scheduler_async_api_call_execution_duration_seconds_count{{{}}}", series);
    EXPECT_EQ(metric(count), count + " 1");
  }
}

}  // namespace
}  // namespace berth
