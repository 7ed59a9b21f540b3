#include "kube/event_recorder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "base/testing/names.h"
#include "kube/testing/event_recorder_fixture.h"

namespace berth::kube::testing {
namespace {

// ---- which API ----------------------------------------------------------------------------------

TEST_F(EventRecorderTest, EventsWaitUntilItIsKnownWhereTheyGo) {
  start();
  EXPECT_THAT(client.requests(), ElementsAre(kProbe));
  EXPECT_EQ(client.calls()[0].urgency, Urgency::kLow);
  recorder->record(failed());
  pass(minutes(1));
  EXPECT_EQ(client.calls().size(), 1u);
  client.answer(answered());
  arrive();
  EXPECT_THAT(client.requests(), ElementsAre(kProbe, kPost));
}

TEST_F(EventRecorderTest, AServerWithoutTheApiGetsCoreEvents) {
  for (const ApiResult& answer :
       {refused(404, "NotFound", "x"), refused(403, "Forbidden", "x"), refused(406, "", "x")}) {
    FakeApiClient old(loop);
    EventRecorder fallback(loop, old, Random(1), {.hostname = "vm", .component = "", .log = log()});
    fallback.record(failed());
    old.answer(answer);
    arrive();
    EXPECT_THAT(old.requests(), ElementsAre(kProbe, kCorePost));
  }
}

TEST_F(EventRecorderTest, AServerThatIsNotThereYetIsAskedAgain) {
  for (const ApiResult& answer :
       {no_answer("connection refused"), refused(503, "ServiceUnavailable", "starting"),
        refused(401, "Unauthorized", "who?"), refused(429, "TooManyRequests", "later")})
    client.script(answer);
  start();
  recorder->record(failed());
  pass(minutes(2));
  EXPECT_THAT(client.requests(), ElementsAre(kProbe, kProbe, kProbe, kProbe, kProbe));
  EXPECT_EQ(client.waiting(), 1u);
  client.answer(answered());
  arrive();
  EXPECT_EQ(client.requests().back(), kPost);
  EXPECT_THAT(log_text, HasSubstr("Unable to find out which events API there is"));
}

// ---- events.k8s.io/v1 ---------------------------------------------------------------------------

// As kube-scheduler was seen to send it.
TEST_F(EventRecorderTest, AnEventIsWhatUpstreamSends) {
  start_with_events_api();
  recorder->record(failed());
  arrive();
  const ApiCall& call = client.calls().at(1);
  EXPECT_EQ(call.content_type, "application/json");
  EXPECT_EQ(call.urgency, Urgency::kLow);
  EXPECT_EQ(
      call.body,
      fmt::format(R"({{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{{"name":"{}",)"
                  R"("namespace":"default"}},"eventTime":"2026-01-01T00:00:00.000000Z",)"
                  R"("reportingController":"default-scheduler",)"
                  R"("reportingInstance":"default-scheduler-vm","action":"Scheduling",)"
                  R"("reason":"FailedScheduling","regarding":{{"kind":"Pod","namespace":"default",)"
                  R"("name":"big","uid":"6f85a682-c49b-49fb-89f8-887aeb255be1","apiVersion":"v1",)"
                  R"("resourceVersion":"253"}},"note":"0/1 nodes are available: 1 Insufficient )"
                  R"(cpu.","type":"Warning","deprecatedSource":{{}},)"
                  R"("deprecatedFirstTimestamp":null,"deprecatedLastTimestamp":null}})",
                  kFirstName));
}

TEST_F(EventRecorderTest, InProtobufItIsTheSame) {
  start_with_events_api();
  recorder->record(failed());
  FakeApiClient protobuf_client(loop, BodyFormat::kProtobuf);
  protobuf_client.script(answered());
  EventRecorder other(loop, protobuf_client, Random(1),
                      {.hostname = "vm", .component = "", .log = log()});
  other.record(failed());
  arrive();
  EXPECT_EQ(protobuf_client.calls().at(1).content_type, kProtoContentType);
  EXPECT_EQ(envelope_to_json(protobuf_client.calls().at(1).body), body(1));
}

TEST_F(EventRecorderTest, APreemptedPodNamesItsPreemptor) {
  start_with_events_api();
  PodEvent event = failed();
  event.related = world.pod("hi").uid("65325ac5-ad22-466d-b0c1-3a7bb1bdc63b").version("299");
  recorder->record(std::move(event));
  arrive();
  EXPECT_THAT(body(1),
              HasSubstr(R"("related":{"kind":"Pod","namespace":"default","name":"hi",)"
                        R"("uid":"65325ac5-ad22-466d-b0c1-3a7bb1bdc63b","apiVersion":"v1",)"
                        R"("resourceVersion":"299"})"));
}

TEST_F(EventRecorderTest, NamesAreDifferentAndValid) {
  start_with_events_api();
  recorder->record(failed("x", "1"));
  recorder->record(failed("x", "2"));
  recorder->record(failed("x", "1", std::string(240, 'p')));
  recorder->record(failed("x", "1", "Odd_Name"));
  arrive();
  const auto name = [&](std::size_t call) {
    const std::string& text = body(call);
    const std::size_t begin = text.find(R"("name":")") + 8;
    return text.substr(begin, text.find('"', begin) - begin);
  };
  EXPECT_EQ(name(1), kFirstName);
  EXPECT_EQ(name(2), "big.18867251edfa0001");
  EXPECT_THAT(name(3),
              ::testing::MatchesRegex("[0-9a-f]+-[0-9a-f]+-4[0-9a-f]+-[89ab][0-9a-f]+-[0-9a-f]+"));
  EXPECT_EQ(name(3).size(), 36u);
  EXPECT_EQ(name(4).size(), 36u);
  EXPECT_NE(name(3), name(4));
}

TEST_F(EventRecorderTest, LongNotesAreCut) {
  start_with_events_api();
  recorder->record(failed(std::string(1024, 'x'), "1"));
  recorder->record(failed(std::string(1025, 'x'), "2"));
  recorder->record(failed(std::string(1019, 'x') + "üüü", "3"));
  arrive();
  EXPECT_THAT(body(1), HasSubstr("\"" + std::string(1024, 'x') + "\""));
  EXPECT_THAT(body(2), HasSubstr("\"" + std::string(1020, 'x') + " ...\""));
  EXPECT_THAT(body(3), HasSubstr("\"" + std::string(1019, 'x') + " ...\""));
}

TEST_F(EventRecorderTest, TheSameAgainIsASeries) {
  start_with_events_api();
  answer_all();
  recorder->record(failed());
  pass(seconds(3));
  recorder->record(failed("another note does not matter"));
  pass(seconds(1));
  recorder->record(failed());
  pass(seconds(1));
  EXPECT_THAT(client.requests(),
              ElementsAre(kProbe, kPost,
                          fmt::format("PATCH /apis/events.k8s.io/v1/namespaces/default/events/{}",
                                      kFirstName)));
  EXPECT_EQ(client.calls()[2].content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(body(2), R"({"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:03.000000Z"}})");
}

TEST_F(EventRecorderTest, ADifferenceInAnythingElseIsNoSeries) {
  start_with_events_api();
  answer_all();
  recorder->record(failed());
  recorder->record(failed("x", "254"));
  recorder->record(failed("x", "253", "other"));
  PodEvent event = failed();
  event.type = EventType::kNormal;
  recorder->record(event);
  event = failed();
  event.reason = "Other";
  recorder->record(event);
  event = failed();
  event.action = "Other";
  recorder->record(event);
  event = failed();
  event.reporting_controller = "other-scheduler";
  recorder->record(event);
  event = failed();
  event.related = world.pod("hi");
  recorder->record(event);
  pass(seconds(1));
  EXPECT_EQ(client.calls().size(), 9u);
  for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(client.requests()[i], kPost);
}

TEST_F(EventRecorderTest, ASeriesWhoseEventIsGoneBeginsAnew) {
  start_with_events_api();
  client.script(answered());
  recorder->record(failed());
  arrive();
  client.script(refused(404, "NotFound", "gone"));
  client.script(answered());
  recorder->record(failed());
  pass(minutes(1));
  ASSERT_EQ(client.calls().size(), 4u);
  EXPECT_EQ(client.requests()[3], kPost);
  EXPECT_THAT(body(3), HasSubstr(fmt::format(R"("name":"{}")", kFirstName)));
  EXPECT_THAT(body(3), HasSubstr(R"("series":{"count":2,"lastObservedTime":)"));
  EXPECT_EQ(log_text, "");
}

TEST_F(EventRecorderTest, TheSecondMayOvertakeTheFirst) {
  start_with_events_api();
  recorder->record(failed());
  recorder->record(failed());
  arrive();
  ASSERT_EQ(client.waiting(), 2u);
  client.answer(refused(404, "NotFound", "not yet"), 1);
  arrive();
  client.answer(refused(409, "AlreadyExists", "there by now"), 1);
  arrive();
  client.answer(answered());
  EXPECT_EQ(client.calls().size(), 4u);
  answer_all();
  pass(seconds(13));
  ASSERT_EQ(client.calls().size(), 5u);
  EXPECT_THAT(client.requests()[4], StartsWith("PATCH "));
}

TEST_F(EventRecorderTest, SeriesAreWrittenAgainWhileTheyGoOnAndWhenTheyEnd) {
  start_with_events_api();
  answer_all();
  std::vector<Duration> patched;
  client.set_responder([&](const ApiCall& call) {
    if (call.method == "PATCH") patched.push_back(loop.now().since_start);
    return std::optional(answered());
  });
  // Every five minutes, for half an hour: never idle for six.
  for (int i = 0; i < 7; ++i) {
    recorder->record(failed());
    pass(minutes(5));
  }
  pass(minutes(25));
  ASSERT_THAT(patched, ElementsAre(minutes(5), minutes(30), minutes(42)));
  EXPECT_EQ(client.calls().at(3).body,
            R"({"series":{"count":6,"lastObservedTime":"2026-01-01T00:25:00.000000Z"}})");
  EXPECT_EQ(client.calls().at(4).body,
            R"({"series":{"count":7,"lastObservedTime":"2026-01-01T00:30:00.000000Z"}})");
  // It is forgotten: the next is a new one.
  recorder->record(failed());
  pass(seconds(1));
  EXPECT_EQ(client.requests().back(), kPost);
}

TEST_F(EventRecorderTest, ASingleEventIsForgottenAfterAWhile) {
  start_with_events_api();
  answer_all();
  pass(minutes(1));
  recorder->record(failed());
  pass(minutes(12));  // looked at after 6 (too young) and 12 minutes
  recorder->record(failed());
  pass(minutes(1));
  EXPECT_THAT(client.requests(), ElementsAre(kProbe, kPost, kPost));
}

}  // namespace
}  // namespace berth::kube::testing
