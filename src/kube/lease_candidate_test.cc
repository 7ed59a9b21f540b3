#include "kube/lease_candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/testing/names.h"
#include "kube/testing/fake_api_client.h"

namespace berth::kube::testing {
namespace {

constexpr const char* kCollection =
    "/apis/coordination.k8s.io/v1beta1/namespaces/kube-system/leasecandidates";

std::string candidate(std::string_view version, std::string_view renewed,
                      std::string_view ping = "") {
  std::string text = R"({"metadata":{"name":"h_1","namespace":"kube-system","labels":{"l":"m"},)"
                     R"("resourceVersion":")" +
                     std::string(version) +
                     R"("},"spec":{"leaseName":"kube-scheduler","renewTime":")" +
                     std::string(renewed) + "\"";
  if (!ping.empty()) text += R"(,"pingTime":")" + std::string(ping) + "\"";
  return text + R"(,"later":"field"}})";
}

std::string event(std::string_view type, const std::string& object) {
  return R"({"type":")" + std::string(type) + R"(","object":)" + object + "}\n";
}

class LeaseCandidateTest : public ::testing::Test {
 protected:
  LeaseCandidateTest() {
    const auto output = std::make_shared<telemetry::LogOutput>(
        telemetry::LogOptions{.verbosity = 2}, [this] { return loop.wall_now(); },
        std::make_unique<telemetry::StringSink>(log));
    LeaseCandidateOptions options;
    options.name = "h_1";
    options.binary_version = "1.37.1";
    options.emulation_version = "1.37.0";
    known =
        std::make_unique<LeaseCandidate>(loop, client, Random(5), options, telemetry::Log(output));
  }
  void start(std::string_view items) {
    client.script(
        answered(R"({"metadata":{"resourceVersion":"9"},"items":[)" + std::string(items) + "]}"));
    tasks.spawn(known->run(stop.token()));
    run_for(seconds(0));
    client.stream_at(0).begin();
  }
  void run_for(Duration duration) { loop.run_until(loop.now() + duration); }
  std::vector<std::string> writes() const {
    std::vector<std::string> lines;
    for (const ApiCall& call : client.calls())
      if (call.method != "GET") lines.push_back(call.method + " " + call.path);
    return lines;
  }

  VirtualLoop loop;
  FakeApiClient client{loop};
  std::string log;
  std::unique_ptr<LeaseCandidate> known;
  CancelSource stop;
  TaskSet tasks;
};

TEST_F(LeaseCandidateTest, MakesItselfKnown) {
  EXPECT_FALSE(known->synced());
  start("");
  EXPECT_TRUE(known->synced());
  EXPECT_THAT(writes(), ElementsAre(std::string("POST ") + kCollection));
  EXPECT_EQ(client.calls().back().body,
            R"({"kind":"LeaseCandidate","apiVersion":"coordination.k8s.io/v1beta1",)"
            R"("metadata":{"name":"h_1","namespace":"kube-system"},"spec":)"
            R"({"leaseName":"kube-scheduler","renewTime":"2026-01-01T00:00:00.000000Z",)"
            R"("binaryVersion":"1.37.1","emulationVersion":"1.37.0",)"
            R"("strategy":"OldestEmulationVersion"}})");
}

TEST_F(LeaseCandidateTest, ItsOwnWritesAreNoReasonToWrite) {
  start("");
  client.answer(answered(candidate("10", "2026-01-01T00:00:00.000000Z"), 201));
  client.stream_at(0).chunk(event("ADDED", candidate("10", "2026-01-01T00:00:00.000000Z")));
  run_for(seconds(299));
  EXPECT_EQ(writes().size(), 1U);
}

TEST_F(LeaseCandidateTest, IsRenewedEveryFiveMinutesAsItIs) {
  start(candidate("8", "2025-12-31T00:00:00.000000Z"));
  client.set_responder([](const ApiCall&) { return answered("{}"); });
  ASSERT_EQ(client.waiting(), 1U);
  client.answer(answered("{}"));
  run_for(seconds(301));
  EXPECT_THAT(writes(), ElementsAre(std::string("PUT ") + kCollection + "/h_1",
                                    std::string("PUT ") + kCollection + "/h_1"));
  EXPECT_THAT(client.calls().back().body, HasSubstr(R"("labels":{"l":"m"})"));
  EXPECT_THAT(client.calls().back().body, HasSubstr(R"("later":"field")"));
  EXPECT_THAT(client.calls().back().body,
              HasSubstr(R"("renewTime":"2026-01-01T00:05:00.000000Z")"));
}

TEST_F(LeaseCandidateTest, AnswersWhenItIsAsked) {
  start(candidate("8", "2025-12-31T00:00:00.000000Z"));
  client.answer(answered("{}"));
  client.set_responder([](const ApiCall&) { return answered("{}"); });
  run_for(seconds(10));
  client.stream_at(0).chunk(event(
      "MODIFIED", candidate("11", "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:09.000000Z")));
  run_for(seconds(1));
  ASSERT_EQ(writes().size(), 2U);
  EXPECT_THAT(client.calls().back().body,
              HasSubstr(R"("renewTime":"2026-01-01T00:00:10.000000Z")"));
  // A server whose clock is ahead of ours is answered, too, and once.
  client.stream_at(0).chunk(event(
      "MODIFIED", candidate("12", "2026-01-01T00:00:10.000000Z", "2026-01-01T01:00:00.000000Z")));
  run_for(seconds(1));
  EXPECT_THAT(client.calls().back().body,
              HasSubstr(R"("renewTime":"2026-01-01T01:00:00.000001Z")"));
  client.stream_at(0).chunk(event(
      "MODIFIED", candidate("13", "2026-01-01T01:00:00.000001Z", "2026-01-01T01:00:00.000000Z")));
  run_for(seconds(1));
  EXPECT_EQ(writes().size(), 3U);
}

TEST_F(LeaseCandidateTest, WhatIsDeletedIsMadeAnew) {
  start(candidate("8", "2025-12-31T00:00:00.000000Z"));
  client.answer(answered("{}"));
  client.set_responder([](const ApiCall&) { return answered("{}"); });
  client.stream_at(0).chunk(event("DELETED", candidate("11", "2026-01-01T00:00:00.000000Z")));
  run_for(seconds(1));
  EXPECT_EQ(writes().back(), std::string("POST ") + kCollection);
}

TEST_F(LeaseCandidateTest, FailuresAreTriedAgainEverMoreSlowly) {
  client.set_responder([](const ApiCall&) { return refused(500, "InternalError", "no"); });
  start("");
  run_for(seconds(600));
  EXPECT_GE(writes().size(), 14U);
  EXPECT_LE(writes().size(), 20U);
  EXPECT_THAT(log, HasSubstr("\"Ensuring lease failed\" err=\"no\" logger=\"leasecandidate\""));
}

TEST_F(LeaseCandidateTest, StopsWhenItIsTold) {
  start("");
  stop.cancel("enough");
  run_for(seconds(0));
  EXPECT_EQ(tasks.size(), 0U);
}

}  // namespace
}  // namespace berth::kube::testing
