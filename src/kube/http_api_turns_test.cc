#include "kube/http_api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/testing/names.h"
#include "kube/testing/http_api_fixture.h"

namespace berth::kube::testing {
namespace {

using net::HttpRequest;
using net::HttpResponder;
using net::HttpResponse;

// ---- tries --------------------------------------------------------------------------------------

TEST_F(HttpApiClientTest, WhatTheServerPutsOffIsTriedAgainWhenItSays) {
  Server server;
  server.answer({status(429, {{"Retry-After", "3"}, {"X-Kubernetes-PF-FlowSchema-UID", "u1"}}),
                 status(503, {{"Retry-After", "2"}}), status(201)});
  options.config.server = server.url();
  const TimePoint begun = loop.now();
  ApiCall post = at("/x");
  post.method = "POST";
  post.body = "twice";
  EXPECT_TRUE(call(post));
  EXPECT_EQ(loop.now() - begun, std::chrono::seconds(5));
  EXPECT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(server.last().body, "twice");
  EXPECT_EQ(count("429", "POST", server), 1u);
  EXPECT_EQ(count("201", "POST", server), 1u);
  EXPECT_EQ(metrics.request_retries.counter({"503", "POST", server.host()}).value(), 1u);
  EXPECT_EQ(metrics.request_retries.counter({"201", "POST", server.host()}).value(), 1u);
  EXPECT_THAT(log_text, HasSubstr("\"Got a Retry-After response\" delay=\"3s\" attempt=1 url="));
}

// ---- writes without the lease -------------------------------------------------------------------

struct GatedClientTest : HttpApiClientTest {
  std::atomic<WritePermit> permit = WritePermit::kSend;
  WriteGate gate{loop, [this] { return permit.load(); }, std::chrono::seconds(5)};
  Server server;

  GatedClientTest() {
    options.config.server = server.url();
    options.write_gate = &gate;
  }
  static Task<void> keep_settled(Task<bool> asking, std::optional<bool>& settled) {
    const bool got = co_await asking;
    settled = got;
  }
  // As it is, without waiting.
  bool settled() {
    std::optional<bool> settled;
    tasks.spawn(keep_settled(gate.settle(Duration::zero()), settled));
    return settled.value();
  }
  static ApiCall post() {
    ApiCall call = at("/x");
    call.method = "POST";
    call.body = "b";
    return call;
  }
};

TEST_F(GatedClientTest, AWriteWithoutTheLeaseIsNotSent) {
  permit = WritePermit::kDrop;
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    ApiCall write = post();
    write.method = method;
    const ApiResult result = call(write);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().error.kind, ErrorKind::kCancelled);
    EXPECT_EQ(result.error().status.code, 0);
    EXPECT_THAT(result.error().error.message,
                EndsWith("/x\": not sent, because the lease is no longer held"));
  }
  EXPECT_EQ(server.requests().size(), 0u);
  EXPECT_TRUE(get("/x")) << "reading is free";
}

TEST_F(GatedClientTest, WritesThatWaitForTheirTurnAreJudgedWhenItComes) {
  options.qps = 0.01F;
  options.burst = 1;
  EXPECT_TRUE(call(post()));
  std::vector<std::optional<ApiResult>> results(2);
  for (std::optional<ApiResult>& result : results)
    tasks.spawn(keep(client().call(post(), {}), result));
  permit = WritePermit::kDrop;
  loop.run_until([&] { return results[1].has_value(); });
  EXPECT_FALSE(*results[0]);
  EXPECT_FALSE(*results[1]);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(GatedClientTest, AWriteIsNotTriedAgainWithoutTheLease) {
  server.answer({status(429, {{"Retry-After", "3"}}), status(201)});
  std::optional<ApiResult> result;
  tasks.spawn(keep(client().call(post(), {}), result));
  loop.run_until([&] { return server.requests().size() == 1; });
  permit = WritePermit::kDrop;
  loop.run_until([&] { return result.has_value(); });
  EXPECT_FALSE(*result);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(GatedClientTest, AWriteWaitsWhileARenewalIsLate) {
  permit = WritePermit::kWait;
  std::optional<ApiResult> result;
  tasks.spawn(keep(client().call(post(), {}), result));
  const TimePoint later = loop.now() + std::chrono::seconds(1);
  loop.run_until([&] { return loop.now() >= later; });
  EXPECT_EQ(server.requests().size(), 0u);
  permit = WritePermit::kSend;
  loop.run_until([&] { return result.has_value(); });
  EXPECT_TRUE(*result);
}

TEST_F(GatedClientTest, ConcurrentLossOfTheLeaseEndsWhatHasNotLeft) {
  constexpr std::size_t kWrites = 100;
  std::vector<std::optional<ApiResult>> results(kWrites);
  for (std::optional<ApiResult>& result : results)
    tasks.spawn(keep(client().call(post(), {}), result));
  Thread elector("elector", [&] {
    while (server.requests().empty()) {
    }
    permit = WritePermit::kDrop;
  });
  std::size_t sent = 0;
  for (std::optional<ApiResult>& result : results) {
    loop.run_until([&] { return result.has_value(); });
    sent += result->has_value() ? 1 : 0;
  }
  elector.join();
  EXPECT_EQ(server.requests().size(), sent);
  EXPECT_FALSE(call(post()));
}

TEST_F(GatedClientTest, TheGateKnowsWhatIsUnanswered) {
  EXPECT_TRUE(call(post()));
  EXPECT_TRUE(settled());
  server.stop();
  EXPECT_FALSE(call(post()));
  EXPECT_FALSE(settled());
}

// ---- deadlines ----------------------------------------------------------------------------------

TEST_F(HttpApiClientTest, ALongPauseThatTheServerAsksForIsCutShort) {
  Server server;
  server.answer({status(429, {{"Retry-After", "2147483647"}}), status(201)});
  options.config.server = server.url();
  const TimePoint begun = loop.now();
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(loop.now() - begun, std::chrono::seconds(30));
}

TEST_F(HttpApiClientTest, EveryCallHasADeadline) {
  const HttpApiClientOptions given;
  EXPECT_EQ(given.timeout, std::chrono::seconds(65)) << "a little more than an API server's own";
}

TEST_F(HttpApiClientTest, NotForEver) {
  Server server;
  server.answer({status(503, {{"Retry-After", "1"}})});
  options.config.server = server.url();
  const ApiResult result = get("/api/v1/pods");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status.code, 503);
  EXPECT_EQ(result.error().status.retry_after_seconds, 1);
  EXPECT_EQ(result.error().error.message,
            "the server is currently unable to handle the request (get pods)");
  EXPECT_EQ(server.requests().size(), 11u);
}

TEST_F(HttpApiClientTest, OtherFailuresStand) {
  Server server;
  options.config.server = server.url();
  for (const HttpResponse& answer :
       {status(500), status(404, {{"Retry-After", "1"}}), status(503, {{"Retry-After", "soon"}})}) {
    server.answer({answer});
    const std::size_t before = server.requests().size();
    EXPECT_EQ(get("/x").error().status.code, answer.status);
    EXPECT_EQ(server.requests().size(), before + 1);
  }
}

TEST_F(HttpApiClientTest, ALostConnectionIsTriedAgainOnlyForGet) {
  // Answers by closing the connection, the first two times.
  std::atomic<int> asked = 0;
  const auto server =
      net::testing::start({}, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
        if (++asked > 2) return responder->respond({200, {}, "at last"});
        responder->begin(200, {});
        responder.reset();
      });
  options.config.server = net::testing::url(*server, "");
  const ApiResult result = get("/x");
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(result->body, "at last");
  EXPECT_EQ(asked, 3);
  asked = 0;
  made.reset();  // a kept connection would be no proof of anything
  ApiCall post = at("/x");
  post.method = "POST";
  const ApiResult lost = call(post);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().error.kind, ErrorKind::kUnavailable);
  EXPECT_EQ(lost.error().status.code, 0);
  EXPECT_THAT(lost.error().error.message, EndsWith("EOF"));
  EXPECT_EQ(asked, 1);
}

TEST_F(HttpApiClientTest, ACancelledWaitForAnotherTryEnds) {
  Server server;
  server.answer({status(429, {{"Retry-After", "1000"}})});
  options.config.server = server.url();
  CancelSource source;
  std::optional<ApiResult> result;
  tasks.spawn(keep(client().call(at("/x"), source.token()), result));
  loop.after(std::chrono::seconds(10), [&] { source.cancel("enough"); });
  loop.run_until([&] { return result.has_value(); });
  EXPECT_EQ(result->error().error,
            (Error{ErrorKind::kCancelled, "Get \"" + server.url() + "/x\": context canceled"}));
  EXPECT_EQ(loop.now(), TimePoint{std::chrono::seconds(10)});
}

// ---- turns --------------------------------------------------------------------------------------

TEST_F(HttpApiClientTest, RequestsWaitForTheirTurnTheMostUrgentLeast) {
  Server server;
  server.answer({status(200)});
  options.config.server = server.url();
  options.qps = 0.5;
  options.burst = 1;
  std::vector<std::optional<ApiResult>> results(4);
  const Urgency urgencies[] = {Urgency::kNormal, Urgency::kLow, Urgency::kNormal, Urgency::kHigh};
  for (std::size_t i = 0; i < 4; ++i) {
    ApiCall what = at("/" + std::to_string(i));
    what.urgency = urgencies[i];
    tasks.spawn(keep(client().call(std::move(what)), results[i]));
  }
  loop.run_until([&] { return results[1].has_value(); });
  EXPECT_EQ(loop.now(), TimePoint{std::chrono::seconds(6)});
  telemetry::Histogram& waits = metrics.rate_limiter_duration.histogram({"GET", server.host()});
  EXPECT_EQ(waits.count(), 4u);
  EXPECT_EQ(waits.sum(), 2 + 4 + 6);
  for (const auto& [delay, path] : {std::pair("2s", "/3"), {"4s", "/2"}, {"6s", "/1"}})
    EXPECT_THAT(log_text,
                HasSubstr(std::string("\"Waited before sending request\" delay=\"") + delay +
                          "\" reason=\"client-side throttling, not priority and "
                          "fairness\" verb=\"GET\" URL=\"" +
                          server.url() + path + "\"\n"));
}

TEST_F(HttpApiClientTest, WhoCannotWaitForHisTurnMayLeave) {
  Server server;
  server.answer({status(200)});
  options.config.server = server.url();
  options.qps = 0.001F;
  options.burst = 1;
  EXPECT_TRUE(get("/x"));
  CancelSource source;
  std::optional<ApiResult> result;
  tasks.spawn(keep(client().call(at("/x"), source.token()), result));
  source.cancel("enough");
  EXPECT_EQ(result->error().error,
            (Error{ErrorKind::kCancelled,
                   "client rate limiter Wait returned an error: context canceled"}));
}

TEST_F(HttpApiClientTest, SizesAndTimesAreMeasured) {
  Server server;
  server.answer({{200, {}, "12345"}});
  options.config.server = server.url();
  ApiCall put = at("/x");
  put.method = "PUT";
  put.body = "123";
  EXPECT_TRUE(call(put));
  EXPECT_EQ(metrics.request_size.histogram({"PUT", server.host()}).sum(), 3);
  EXPECT_EQ(metrics.response_size.histogram({"PUT", server.host()}).sum(), 5);
  EXPECT_EQ(metrics.request_duration.histogram({"PUT", server.host()}).count(), 1u);
  EXPECT_EQ(metrics.transport_cache_entries.gauge().value(), 1);
  made.reset();
  EXPECT_EQ(metrics.transport_cache_entries.gauge().value(), 0);
}

}  // namespace
}  // namespace berth::kube::testing
