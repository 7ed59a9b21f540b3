#include "kube/http_api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "base/testing/names.h"
#include "kube/testing/http_api_fixture.h"

namespace berth::kube::testing {
namespace {

using net::HttpRequest;
using net::HttpResponder;
using net::testing::certificates;
using net::testing::server_tls;
using net::testing::StreamLog;

// ---- what is sent -------------------------------------------------------------------------------

TEST_F(HttpApiClientTest, RequestsLookLikeClientGos) {
  Server server;
  server.answer({{201, {{"Content-Type", "application/json"}}, "made"}});
  options.config.server = server.url() + "/prefix";
  ApiCall bind = at("/api/v1/namespaces/ns/pods/a/binding?x=%20");
  bind.method = "POST";
  bind.body = "k8s";
  const ApiResult result = call(bind);
  ASSERT_TRUE(result) << result.error().error.message;
  EXPECT_EQ(result->code, 201);
  EXPECT_EQ(result->content_type, "application/json");
  EXPECT_EQ(result->body, "made");
  EXPECT_EQ(server.last().method, "POST");
  EXPECT_EQ(server.last().target, "/prefix/api/v1/namespaces/ns/pods/a/binding?x=%20");
  EXPECT_EQ(server.last().body, "k8s");
  EXPECT_EQ(server.last("user-agent"), options.user_agent);
  EXPECT_EQ(server.last("accept"), "application/vnd.kubernetes.protobuf, */*");
  EXPECT_EQ(server.last("content-type"), "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(server.last("accept-encoding"), "");
  EXPECT_EQ(server.last("authorization"), "");
}

TEST_F(HttpApiClientTest, ACallMayAskForOtherEncodings) {
  Server server;
  server.answer({status(200)});
  options.config.server = server.url();
  ApiCall patch = at("/x");
  patch.method = "PATCH";
  patch.body = "{}";
  patch.content_type = "application/strategic-merge-patch+json";
  patch.accept = "application/json";
  EXPECT_TRUE(call(patch));
  EXPECT_EQ(server.last("content-type"), patch.content_type);
  EXPECT_EQ(server.last("accept"), "application/json");
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(server.last("content-type"), "");
}

TEST_F(HttpApiClientTest, EncodingsAreAsConfigured) {
  struct {
    std::string content_type, accept_content_types, accept;
    BodyFormat format;
  } cases[] = {
      {"application/json", "", "application/json, */*", BodyFormat::kJson},
      {"application/vnd.kubernetes.protobuf", "a/b,c/d", "a/b,c/d", BodyFormat::kProtobuf},
      {"", "", "application/vnd.kubernetes.protobuf,application/json", BodyFormat::kProtobuf},
      {"", "application/json", "application/json", BodyFormat::kJson},
  };
  Server server;
  server.answer({status(200)});
  options.config.server = server.url();
  for (const auto& c : cases) {
    options.content_type = c.content_type;
    options.accept_content_types = c.accept_content_types;
    made.reset();
    EXPECT_TRUE(get("/x"));
    EXPECT_EQ(server.last("accept"), c.accept);
    EXPECT_EQ(client().format(), c.format);
  }
}

TEST_F(HttpApiClientTest, ImpersonationIsHeaders) {
  Server server;
  server.answer({status(200)});
  options.config.server = server.url();
  options.config.impersonate = {"jane", "42", {"a", "b"}, {{"example.com/x y", {"1", "2"}}}};
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(server.last("impersonate-user"), "jane");
  EXPECT_EQ(server.last("impersonate-uid"), "42");
  EXPECT_EQ(server.last("impersonate-group"), "a, b");
  EXPECT_EQ(server.last("impersonate-extra-example.com%2fx%20y"), "1, 2");
}

TEST_F(HttpApiClientTest, PasswordsAndTokensGoOverTlsOnly) {
  Server secure(server_tls());
  secure.answer({status(200)});
  trust(secure);
  options.config.username = "jane";
  options.config.password = "secret";
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(secure.last("authorization"), "Basic amFuZTpzZWNyZXQ=");
  options.config.username = options.config.password = "";
  options.config.token = "token";
  made.reset();
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(secure.last("authorization"), "Bearer token");

  Server plain;
  plain.answer({status(200)});
  options.config.server = plain.url();
  options.config.username = "jane";
  made.reset();
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(plain.last("authorization"), "");
}

// ---- errors -------------------------------------------------------------------------------------

TEST_F(HttpApiClientTest, NobodyThere) {
  Server server;
  options.config.server = server.url();
  const std::string host = server.host();
  server.stop();
  EXPECT_EQ(complaint("/api/v1/pods?limit=1"), "Get \"http://" + host +
                                                   "/api/v1/pods?limit=1\": dial tcp " + host +
                                                   ": connect: connection refused");
  EXPECT_EQ(metrics.requests.counter({"<error>", "GET", host}).value(), 1u);
}

TEST_F(HttpApiClientTest, AServerOfAnotherAuthority) {
  Server server(server_tls());
  trust(server);
  options.config.ca_data = certificates().other_authority.certificate_pem;
  EXPECT_THAT(complaint(), HasSubstr("x509: certificate signed by unknown authority"));
}

TEST_F(HttpApiClientTest, ACallThatTakesTooLong) {
  Server server;
  options.config.server = server.url();
  std::promise<std::shared_ptr<HttpResponder>> asked;
  const auto silent =
      net::testing::start({}, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
        asked.set_value(std::move(responder));
      });
  options.config.server = net::testing::url(*silent, "");
  options.timeout = std::chrono::milliseconds(30);
  const ApiResult result = get("/x");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error.kind, ErrorKind::kTimeout);
  EXPECT_THAT(result.error().error.message, EndsWith("/x\": context deadline exceeded"));
}

TEST_F(HttpApiClientTest, WhatTheServerSaysIsPassedOn) {
  Server server;
  server.answer({{403,
                  {{"Content-Type", "application/json"}},
                  R"({"kind":"Status","status":"Failure","message":"pods is forbidden",)"
                  R"("reason":"Forbidden","code":403})"}});
  options.config.server = server.url();
  const ApiResult result = get("/x");
  EXPECT_EQ(result.error().error, (Error{ErrorKind::kForbidden, "pods is forbidden"}));
  EXPECT_EQ(result.error().status.reason, "Forbidden");
}

TEST_F(HttpApiClientTest, WarningsAreLogged) {
  Server server;
  server.answer({status(200, {{"Warning", R"(299 - "v1 Old is \"deprecated\"")"},
                              {"Warning", "199 - \"something else\""}})});
  options.config.server = server.url();
  EXPECT_TRUE(get("/x"));
  EXPECT_THAT(log_text, AllOf(HasSubstr(R"("Warning: v1 Old is \"deprecated\"")"),
                              Not(HasSubstr("something else"))));
}

// ---- streams ------------------------------------------------------------------------------------

TEST_F(HttpApiClientTest, StreamsTakeNoTurn) {
  Server server;
  server.answer({{200, {{"Content-Type", "application/json"}}, "event"}});
  options.config.server = server.url();
  options.qps = 0.001F;
  options.burst = 1;
  for (int i = 0; i < 3; ++i) {
    StreamLog log;
    client().stream(at("/watch"), log.callbacks());
    EXPECT_TRUE(log.ended());
    EXPECT_EQ(log.status(), 200);
    EXPECT_EQ(log.text(), "event");
    EXPECT_EQ(log.headers().find("content-type"), "application/json");
  }
  EXPECT_EQ(server.last("accept"), "application/vnd.kubernetes.protobuf, */*");
  EXPECT_EQ(count("200", "GET", server), 3u);
}

TEST_F(HttpApiClientTest, StreamsEndWhenCancelledAndWithTheClient) {
  std::latch begun(2);
  Mutex mutex;
  std::vector<std::shared_ptr<HttpResponder>> kept;
  const auto server =
      net::testing::start({}, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
        responder->begin(200, {});
        const MutexLock lock(mutex);
        kept.push_back(std::move(responder));
        begun.count_down();
      });
  options.config.server = net::testing::url(*server, "");
  StreamLog cancelled;
  StreamLog closed;
  const net::HttpCallId id = client().stream(at("/1"), cancelled.callbacks());
  client().stream(at("/2"), closed.callbacks());
  begun.wait();
  client().cancel(id);
  EXPECT_EQ(cancelled.ended().error().kind, ErrorKind::kCancelled);
  client().cancel(id);  // a no-op
  client().cancel(4711);
  made.reset();
  EXPECT_EQ(closed.ended().error().kind, ErrorKind::kCancelled);
  const MutexLock lock(mutex);
  kept.clear();
}

TEST_F(HttpApiClientTest, ARefusedStreamIsTold) {
  Server server(server_tls());
  server.answer({{401, {}, "no"}, status(200)});
  trust(server);
  options.config.token = "wrong";
  StreamLog log;
  client().stream(at("/watch"), log.callbacks());
  EXPECT_TRUE(log.ended());
  EXPECT_EQ(log.status(), 401);
  EXPECT_EQ(log.text(), "no");
}

TEST_F(HttpApiClientTest, AStreamToNobodyEnds) {
  options.config.server = "http://127.0.0.1:1";
  StreamLog log;
  client().stream(at("/watch"), log.callbacks());
  EXPECT_EQ(log.ended().error().message,
            "Get \"http://127.0.0.1:1/watch\": dial tcp 127.0.0.1:1: connect: connection refused");
}

}  // namespace
}  // namespace berth::kube::testing
