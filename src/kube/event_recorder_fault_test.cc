#include "kube/event_recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/testing/names.h"
#include "kube/testing/event_recorder_fixture.h"

namespace berth::kube::testing {
namespace {

// ---- when it does not work ----------------------------------------------------------------------

TEST_F(EventRecorderTest, AServerThatCannotBeReachedIsTriedTwelveTimes) {
  start_with_events_api();
  std::vector<Duration> times;
  client.set_responder([&](const ApiCall&) {
    times.push_back(loop.now().since_start);
    return std::optional(no_answer("connection refused"));
  });
  recorder->record(failed());
  pass(minutes(5));
  ASSERT_EQ(times.size(), 12u);
  bool jittered = false;
  for (std::size_t i = 1; i < times.size(); ++i) {
    EXPECT_THAT(times[i] - times[i - 1], AllOf(Ge(seconds(10)), Le(milliseconds(12500))));
    jittered |= times[i] - times[i - 1] > seconds(11);
  }
  EXPECT_TRUE(jittered);
  EXPECT_THAT(log_text, HasSubstr("\"Unable to write event (may retry after sleeping)\""));
  EXPECT_THAT(log_text, HasSubstr("\"Unable to write event (retry limit exceeded!)\""));
}

TEST_F(EventRecorderTest, WhatTheServerRejectsIsDropped) {
  for (const ApiResult& answer :
       {refused(422, "Invalid", "bad note"), refused(403, "Forbidden", "no"),
        refused(500, "InternalError", "etcd"), refused(404, "NotFound", "no such namespace")}) {
    SCOPED_TRACE(answer.error().status.reason);
    recorder.reset();
    log_text.clear();
    start_with_events_api();
    const std::size_t before = client.calls().size();
    client.script(answer);
    recorder->record(failed());
    pass(minutes(1));
    EXPECT_EQ(client.calls().size(), before + 1);
    EXPECT_THAT(log_text,
                HasSubstr(fmt::format(
                    "\"Server rejected event (will not retry!)\" err=\"{}\" event=\"default/big.",
                    answer.error().error.message)));
  }
}

TEST_F(EventRecorderTest, DuringAnOutageNoMoreSeriesWaitThanMay) {
  constexpr std::size_t kSeries = 300;
  most_series_waiting = 100;
  start_with_events_api();
  answer_all();
  for (int times = 0; times < 2; ++times) {
    for (std::size_t i = 0; i < kSeries; ++i)
      recorder->record(failed("no", "1", "pod-" + std::to_string(i)));
    pass(seconds(1));
  }
  answer_all(no_answer("connection refused"));
  pass(minutes(13));  // the series have ended
  std::size_t written = 0;
  client.set_responder([&](const ApiCall&) {
    ++written;
    return std::optional(answered());
  });
  pass(minutes(1));
  EXPECT_GE(written, 100u);
  EXPECT_LE(written, 100u + 32u);
  EXPECT_GE(recorder->dropped(), kSeries - 100 - 32);
  EXPECT_THAT(log_text, HasSubstr("too many queued events, dropped event"));
}

TEST_F(EventRecorderTest, WithoutTheLeaseThereIsNoNewsOfPods) {
  start_with_events_api();
  answer_all();
  recorder->record(failed());
  recorder->ignore_pods();
  recorder->record(failed("no", "1", "other"));
  ObjectReference lease;
  lease.kind = "Lease";
  lease.name = "kube-scheduler";
  recorder->record_lease_event(lease, "a stopped leading");
  pass(seconds(1));
  EXPECT_EQ(client.calls().size(), 3u) << "the probe, the first event, the lease";
}

TEST_F(EventRecorderTest, OneThatIsThereAlreadyIsNoNews) {
  start_with_events_api();
  client.script(refused(409, "AlreadyExists", "there"));
  recorder->record(failed());
  pass(minutes(1));
  EXPECT_EQ(client.calls().size(), 2u);
  EXPECT_EQ(log_text, "");
}

TEST_F(EventRecorderTest, WhenTooManyWaitTheNewOnesAreDropped) {
  start();  // nobody answers
  for (int i = 0; i < 1000; ++i) recorder->record(failed("x", std::to_string(i)));
  EXPECT_EQ(recorder->dropped(), 0u);
  EXPECT_EQ(log_text, "");
  for (int i = 0; i < 7; ++i) recorder->record(failed());
  EXPECT_EQ(recorder->dropped(), 7u);
  EXPECT_THAT(log_text, HasSubstr("too many queued events, dropped event\" dropped=1 queued=1000"));
  log_text.clear();
  pass(minutes(1));
  recorder->record(failed());
  EXPECT_EQ(recorder->dropped(), 8u);
  EXPECT_THAT(log_text, HasSubstr("dropped=7"));  // those since it was said last
  // All that waited goes out, a few at a time.
  client.answer(answered());
  arrive();
  EXPECT_EQ(client.waiting(), 32u);
  answer_all();
  while (client.waiting() > 0) client.answer(answered());
  arrive();
  EXPECT_EQ(client.calls().size(), 1001u);
  recorder->record(failed("x", "new"));
  arrive();
  EXPECT_EQ(client.calls().size(), 1002u);
}

// ---- core/v1 ------------------------------------------------------------------------------------

TEST_F(EventRecorderTest, ACoreEvent) {
  start_with_core_api();
  answer_all();
  recorder->record(failed());
  pass(seconds(2));
  EXPECT_EQ(body(1),
            fmt::format(
                R"({{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{}",)"
                R"("namespace":"default"}},"involvedObject":{{"kind":"Pod","namespace":"default",)"
                R"("name":"big","uid":"6f85a682-c49b-49fb-89f8-887aeb255be1","apiVersion":"v1",)"
                R"("resourceVersion":"253"}},"reason":"FailedScheduling","message":"0/1 nodes are )"
                R"(available: 1 Insufficient cpu.","source":{{"component":"default-scheduler"}},)"
                R"("firstTimestamp":"2026-01-01T00:00:00Z",)"
                R"("lastTimestamp":"2026-01-01T00:00:00Z","count":1,"type":"Warning",)"
                R"("eventTime":null,"reportingComponent":"default-scheduler",)"
                R"("reportingInstance":""}})",
                kFirstName));
  recorder->record(failed());
  pass(seconds(1));
  EXPECT_THAT(client.requests(),
              ElementsAre(kProbe, kCorePost,
                          fmt::format("PATCH /api/v1/namespaces/default/events/{}", kFirstName)));
  EXPECT_EQ(body(2), R"({"count":2,"lastTimestamp":"2026-01-01T00:00:02Z","message":"0/1 nodes )"
                     R"(are available: 1 Insufficient cpu."})");
}

TEST_F(EventRecorderTest, ACoreEventThatIsGoneIsMadeAnew) {
  start_with_core_api();
  client.script(answered());
  client.script(refused(404, "NotFound", "gone"));
  client.script(answered());
  recorder->record(failed());
  recorder->record(failed());
  pass(seconds(1));
  EXPECT_EQ(client.requests().back(), kCorePost);
  EXPECT_THAT(client.calls().back().body, HasSubstr(R"("count":2)"));
}

TEST_F(EventRecorderTest, TooManyCoreEventsAboutAPodAreHeldBack) {
  start_with_core_api();
  answer_all();
  for (int i = 0; i < 40; ++i) {
    recorder->record(failed());
    pass(seconds(1));
  }
  EXPECT_EQ(client.calls().size(), 26u);  // the probe, and 25
}

// As kube-scheduler was seen to send it.
TEST_F(EventRecorderTest, AnEventAboutALease) {
  start();  // whatever the server has
  ObjectReference lease;
  lease.kind = "Lease";
  lease.namespace_name = "kube-system";
  lease.name = "kube-scheduler";
  lease.uid = "ac615d35-6a19-4821-a9aa-2cf4c17e9a1f";
  lease.api_version = "coordination.k8s.io/v1";
  lease.resource_version = "232";
  recorder->record_lease_event(lease, "vm_1 became leader");
  EXPECT_EQ(client.requests().back(), "POST /api/v1/namespaces/kube-system/events");
  EXPECT_EQ(client.calls().back().body,
            R"({"kind":"Event","apiVersion":"v1","metadata":{)"
            R"("name":"kube-scheduler.18867251edfa0000","namespace":"kube-system"},)"
            R"("involvedObject":{"kind":"Lease","namespace":"kube-system",)"
            R"("name":"kube-scheduler","uid":"ac615d35-6a19-4821-a9aa-2cf4c17e9a1f",)"
            R"("apiVersion":"coordination.k8s.io/v1","resourceVersion":"232"},)"
            R"("reason":"LeaderElection","message":"vm_1 became leader",)"
            R"("source":{"component":"default-scheduler"},)"
            R"("firstTimestamp":"2026-01-01T00:00:00Z","lastTimestamp":"2026-01-01T00:00:00Z",)"
            R"("count":1,"type":"Normal","eventTime":null,)"
            R"("reportingComponent":"default-scheduler","reportingInstance":""})");
}

// ---- the end ------------------------------------------------------------------------------------

Task<void> flush(EventRecorder& recorder, Loop& loop, std::optional<TimePoint>& done) {
  Task<void> flushing = recorder.flush(seconds(5));
  co_await flushing;
  done = loop.now();
}

TEST_F(EventRecorderTest, FlushWaitsForAllThatWasRecorded) {
  start_with_events_api();
  std::optional<TimePoint> done;
  TaskSet tasks;
  tasks.spawn(flush(*recorder, loop, done));
  EXPECT_TRUE(done);  // there was nothing
  done.reset();
  recorder->record(failed());
  tasks.spawn(flush(*recorder, loop, done));
  tasks.spawn(flush(*recorder, loop, done));
  pass(seconds(2));
  EXPECT_FALSE(done);
  client.answer(answered());
  pass(seconds(2));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->since_start, seconds(2));
  EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(EventRecorderTest, GatheredEventsLeaveTogetherAndAtOnceWhenAllIsFlushed) {
  gather = std::chrono::milliseconds(10);
  start_with_events_api();
  for (int i = 0; i < 3; ++i) client.script(answered());
  pass(seconds(1));
  recorder->record(failed("a", "1"));
  pass(std::chrono::milliseconds(9));
  recorder->record(failed("b", "2"));
  EXPECT_THAT(client.requests(), ElementsAre(kProbe));
  pass(std::chrono::milliseconds(1));
  EXPECT_THAT(client.requests(), ElementsAre(kProbe, kPost, kPost));
  pass(seconds(1));
  recorder->record(failed("c", "3"));
  std::optional<TimePoint> done;
  TaskSet tasks;
  tasks.spawn(flush(*recorder, loop, done));
  EXPECT_EQ(client.requests().size(), 4u);
  pass(seconds(1));
  EXPECT_TRUE(done);
}

TEST_F(EventRecorderTest, FlushHasALimit) {
  start();
  recorder->record(failed());
  std::optional<TimePoint> done;
  TaskSet tasks;
  tasks.spawn(flush(*recorder, loop, done));
  pass(minutes(1));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->since_start, seconds(5));
}

Task<void> flush_and_end(std::optional<EventRecorder>& recorder) {
  Task<void> flushing = recorder->flush(seconds(5));
  co_await flushing;
  recorder.reset();
}

TEST_F(EventRecorderTest, WhoFlushedMayEndTheRecorder) {
  start_with_events_api();
  recorder->record(failed());
  TaskSet tasks;
  tasks.spawn(flush_and_end(recorder));
  arrive();
  client.answer(answered());
  pass(minutes(40));
  EXPECT_FALSE(recorder);
  EXPECT_EQ(tasks.size(), 0u);
}

TEST_F(EventRecorderTest, WhatIsUnderWayAtTheEndIsGivenUp) {
  start_with_events_api();
  recorder->record(failed());
  arrive();
  recorder->record(failed("x", "2"));
  recorder.reset();
  EXPECT_EQ(client.given_up(), 1u);
  pass(minutes(40));
  EXPECT_EQ(client.calls().size(), 2u);
}

}  // namespace
}  // namespace berth::kube::testing
