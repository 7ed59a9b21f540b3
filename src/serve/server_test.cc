// The server over real sockets, with the answers of kube-scheduler.
#include "serve/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "api/testing/builders.h"
#include "base/file.h"
#include "base/testing/names.h"
#include "serve/testing/served.h"

namespace berth::serve::testing {
namespace {

using net::testing::certificates;
using net::testing::RawSocket;

constexpr const char* kText = "content-type: text/plain; charset=utf-8";
constexpr const char* kNoSniff = "x-content-type-options: nosniff";
constexpr const char* kCache = "cache-control: no-cache, private";

std::string head(int status, std::initializer_list<const char*> headers) {
  std::string text = std::to_string(status) + "; " + kCache;
  for (const char* header : headers) text += std::string("; ") + header;
  return text;
}

TEST(SchedulerServer, PathsAnswerAsUpstream) {
  Served served;
  served.start();
  const std::string text = head(200, {kText});
  const std::string quiet = head(200, {kText, kNoSniff});
  const std::string missing = head(404, {kText, kNoSniff});
  const std::string metrics =
      head(200, {"content-type: text/plain; version=0.0.4; charset=utf-8; escaping=underscores"});
  struct Row {
    const char* method;
    const char* path;
    std::string head;
    const char* body;  // null: not compared
  };
  const Row rows[] = {
      {"GET", "/healthz", quiet, "ok"},
      {"POST", "/healthz", quiet, "ok"},
      {"DELETE", "/healthz", quiet, "ok"},
      {"GET", "/livez?verbose", quiet, "[+]ping ok\nlivez check passed\n"},
      {"GET", "/readyz?verbose&exclude=shutdown", quiet,
       "[+]shutdown excluded: ok\n[+]sched-handler-sync ok\nreadyz check passed\n"},
      {"GET", "/readyz/shutdown", text, "ok"},
      {"GET", "/readyz/shutdown?verbose", text, "ok"},
      {"POST", "/healthz/ping", text, "ok"},
      {"GET", "/healthz%2Fping", text, "ok"},
      {"GET", "/readyz/nope", missing, "404 page not found\n"},
      {"GET", "/healthz/", missing, "404 page not found\n"},
      {"GET", "/healthz/ping/", missing, "404 page not found\n"},
      {"GET", "/healthzping", missing, "404 page not found\n"},
      {"GET", "/", missing, "404 page not found\n"},
      {"GET", "/nope", missing, "404 page not found\n"},
      {"GET", "//metrics", missing, "404 page not found\n"},
      {"GET", "/metrics/", missing, "404 page not found\n"},
      {"GET", "/statusz/", missing, "404 page not found\n"},
      {"GET", "/debug/", missing, "404 page not found\n"},
      {"GET", "/debug/waiting-pods", missing, "404 page not found\n"},
      {"GET", "/metrics", metrics, nullptr},
      {"POST", "/metrics", metrics, nullptr},
      {"DELETE", "/metrics", text, "metrics reset\n"},
      {"GET", "/metrics/slis", metrics, nullptr},
      {"DELETE", "/metrics/slis", text, "metrics reset\n"},
      {"GET", "/configz", head(200, {"content-type: application/json", kNoSniff}),
       "{\"componentconfig\":{\"kind\":\"KubeSchedulerConfiguration\"}}"},
      {"GET", "/statusz", text, nullptr},
      {"GET", "/flagz", text, nullptr},
      {"GET", "/debug/flags", head(200, {"content-type: text/html; charset=utf-8"}), nullptr},
      {"GET", "/debug/flags/v", head(406, {"content-type: text/plain", kNoSniff}),
       "unsupported http method\n"},
      {"GET", "/debug/pprof/", head(200, {"content-type: text/html; charset=utf-8", kNoSniff}),
       nullptr},
  };
  for (const Row& row : rows) {
    const net::HttpResponse response =
        served.ask({.path = row.path, .method = row.method, .token = "admintoken"});
    EXPECT_EQ(head_of(response), row.head) << row.method << " " << row.path;
    if (row.body) {
      EXPECT_EQ(response.body, row.body) << row.method << " " << row.path;
    }
  }
}

TEST(SchedulerServer, MetricsComeAsProtobufWhenTheyAreAskedForSo) {
  Served served;
  served.options.list_pods = [](const auto& done) { done(PodList{}); };
  served.start();
  const std::string protobuf =
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";
  const auto type = [&](const std::string& path, const std::string& accept) {
    const net::HttpResponse response =
        served.ask({.path = path, .token = "admintoken", .headers = {{"Accept", accept}}});
    EXPECT_EQ(response.body.starts_with("# HELP"),
              path != "/metrics/resources" && accept.find("protobuf") == std::string::npos)
        << accept;
    return std::string(response.headers.find("Content-Type").value_or(""));
  };
  const std::string text = "text/plain; version=0.0.4; charset=utf-8; escaping=";
  const std::string delimited =
      "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; "
      "encoding=delimited; escaping=";
  EXPECT_EQ(type("/metrics", protobuf), delimited + "underscores");
  // As Prometheus asks, with and without its histograms of another kind.
  EXPECT_EQ(type("/metrics", protobuf + ";q=0.6,application/openmetrics-text;version=1.0.0;"
                                        "escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;"
                                        "q=0.2,*/*;q=0.1"),
            delimited + "underscores");
  EXPECT_EQ(type("/metrics",
                 "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;"
                 "q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"),
            text + "allow-utf-8");
  EXPECT_EQ(type("/metrics", "*/*"), text + "underscores");
  EXPECT_EQ(type("/metrics/slis", protobuf), delimited + "underscores");
  EXPECT_EQ(type("/metrics/resources", protobuf), delimited + "underscores");
}

TEST(SchedulerServer, WithoutCredentialsThereIsOnlyHealth) {
  Served served;
  served.options.list_pods = [](const auto& done) { done(PodList{}); };
  served.start();
  for (const char* path : {"/healthz", "/livez", "/readyz", "/readyz?verbose"})
    EXPECT_EQ(served.get(path, "").status, 200) << path;
  for (const char* path :
       {"/healthz/ping", "/metrics", "/metrics/slis", "/metrics/resources", "/configz", "/flagz",
        "/statusz", "/debug/flags", "/debug/flags/v", "/debug/pprof/", "/debug/pprof/profile",
        "/debug/waiting-pods", "/", "/nope", "//healthz", "/healthz%2F", "/healthz/..%2Fmetrics"})
    EXPECT_EQ(served.get(path, "").status, 403) << path;
  EXPECT_EQ(served.ask({.path = "/debug/flags/v", .method = "PUT", .body = "9"}).status, 403);
}

TEST(SchedulerServer, ForbiddenSaysWhoAndWhat) {
  Served served;
  served.start();
  const auto ask = [&](std::string method, std::string path, std::string token) {
    return served.ask({.path = std::move(path),
                       .method = std::move(method),
                       .token = std::move(token),
                       .headers = {{"User-Agent", "curl/7.88.1"}}});
  };
  net::HttpResponse response = ask("GET", "/metrics?x=1", "plaintoken");
  EXPECT_EQ(head_of(response), head(403, {"content-type: application/json", kNoSniff}));
  EXPECT_EQ(response.body, R"({
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "forbidden: User \"plain\" cannot get path \"/metrics\"",
  "reason": "Forbidden",
  "details": {},
  "code": 403
})");
  EXPECT_THAT(ask("OPTIONS", "/nope%20a%22b", "plaintoken").body,
              HasSubstr(R"("forbidden: User \"plain\" cannot options path \"/nope a\\\"b\"")"));
  EXPECT_THAT(ask("PUT", "/debug/flags/v", "").body,
              HasSubstr(R"("forbidden: User \"system:anonymous\" cannot put path)"));
  EXPECT_EQ(ask("GET", "/metrics", "montoken").status, 200);
  EXPECT_EQ(ask("DELETE", "/metrics", "montoken").status, 403);
  EXPECT_EQ(served.metric("authorization_attempts_total{result=\"no-opinion\"}"), "4");
}

TEST(SchedulerServer, AWrongTokenIsNobody) {
  Served served;
  served.start();
  const net::HttpResponse response = served.ask(
      {.path = "/healthz", .token = "wrong", .headers = {{"User-Agent", "curl/7.88.1"}}});
  EXPECT_EQ(head_of(response), head(401, {"content-type: application/json"}));
  EXPECT_EQ(response.body, R"({
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "Unauthorized",
  "reason": "Unauthorized",
  "code": 401
})");
  EXPECT_EQ(served.metric("authentication_attempts{result=\"error\"}"), "1");
}

TEST(SchedulerServer, WhenNobodyCanSayItIsAnError) {
  Served served;
  served.options.authorization.review_access = [](const auto&, const auto& done) {
    done(fail(ErrorKind::kForbidden, "subjectaccessreviews.authorization.k8s.io is forbidden"));
    return CancelReview();
  };
  served.start();
  const net::HttpResponse response = served.get("/metrics", "");
  EXPECT_EQ(head_of(response), head(500, {kText, kNoSniff}));
  EXPECT_EQ(response.body,
            "Internal Server Error: \"/metrics\": subjectaccessreviews.authorization.k8s.io is "
            "forbidden\n");
}

TEST(SchedulerServer, PlainHttpIsToldSo) {
  Served served;
  served.start();
  net::testing::RawSocket plain(served.server->port());
  EXPECT_EQ(plain.ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
            "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
}

TEST(SchedulerServer, SlisTellOfHealth) {
  Served served;
  served.start();
  served.get("/readyz");
  served.get("/livez");
  const std::string text = served.get("/metrics/slis").body;
  EXPECT_THAT(text, HasSubstr("kubernetes_healthcheck{name=\"shutdown\",type=\"readyz\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("kubernetes_healthchecks_total{name=\"ping\",status=\"success\",type="
                              "\"livez\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("# HELP process_start_time_seconds [ALPHA] "));
}

TEST(SchedulerServer, VerbosityIsChangedFromOutside) {
  Served served;
  served.start();
  const net::HttpResponse response =
      served.ask({.path = "/debug/flags/v", .method = "PUT", .token = "admintoken", .body = "3"});
  EXPECT_EQ(response.body, "successfully set klog.logging.verbosity to 3\n");
  EXPECT_EQ(served.log.log.output().verbosity(), 3);
  served.get("/nope");
  served.server->stop();
  EXPECT_THAT(served.log.text, HasSubstr("\"HTTP\" verb=\"GET\" URI=\"/nope\" latency="));
}

TEST(SchedulerServer, WithoutProfilingThereIsNothingToDebug) {
  Served served;
  served.options.profiling = false;
  served.start();
  for (const char* path : {"/debug/flags", "/debug/flags/v", "/debug/pprof", "/debug/pprof/"})
    EXPECT_EQ(served.get(path).status, 404) << path;
}

TEST(SchedulerServer, AStandbyAnswersWithNothing) {
  RealLoop world;  // the test's own thread
  Served served;
  served.options.list_pods = [&](std::function<void(std::optional<PodList>)> done) {
    world.post([done = std::move(done)] { done(std::nullopt); });
  };
  served.start();
  net::HttpResponse answer;
  served.ask({.path = "/metrics/resources", .token = "admintoken"}, [&](net::HttpResponse given) {
    answer = std::move(given);
    world.stop();
  });
  world.run();
  EXPECT_EQ(head_of(answer), head(200, {}));
  EXPECT_EQ(answer.body, "");
}

TEST(SchedulerServer, ALeaderTellsOfItsPods) {
  berth::testing::World world;
  Served served;
  served.options.list_pods = [&](const std::function<void(std::optional<PodList>)>& done) {
    done(PodList{world.pod("a").cpu("1").on("n1").build()});
  };
  served.start();
  const net::HttpResponse response = served.get("/metrics/resources");
  EXPECT_EQ(head_of(response), head(200, {"content-type: text/plain; version=0.0.4; charset=utf-8; "
                                          "escaping=underscores"}));
  EXPECT_THAT(response.body, HasSubstr("resource=\"cpu\",scheduler=\"default-scheduler\",unit="
                                       "\"cores\"} 1\n"));
  EXPECT_EQ(
      served.ask({.path = "/metrics/resources", .method = "DELETE", .token = "admintoken"}).body,
      "metrics reset\n");
}

TEST(SchedulerServer, ThePageIsForTheAuthorised) {
  Served served;
  served.options.answer_ui = [](const net::HttpRequest&, std::string_view path,
                                const auto& respond) {
    respond({.status = 200, .headers = {}, .body = "page " + std::string(path)});
  };
  served.start();
  for (const char* path : {"/ui", "/ui/", "/ui/data/snapshot"}) {
    EXPECT_EQ(served.get(path, "plaintoken").status, 403) << path;
    EXPECT_EQ(served.get(path, "wrong").status, 401) << path;
    EXPECT_EQ(served.get(path).body, "page " + std::string(path));
  }
  EXPECT_EQ(served.get("/uix").status, 404);
}

TEST(SchedulerServer, WaitingPodsAreForTheAuthorised) {
  berth::testing::World world;
  Served served;
  WaitingPods pods(served.loop);
  const PermitHold hold{"Gate", std::chrono::minutes(1)};
  pods.hold(world.pod("a").uid("u1").build(), "n1", {&hold, 1});
  served.options.waiting_pods = &pods;
  served.start();
  EXPECT_EQ(served.get("/debug/waiting-pods", "plaintoken").status, 403);
  EXPECT_THAT(served.get("/debug/waiting-pods").body, HasSubstr("\"plugins\":[\"Gate\"]"));
  EXPECT_EQ(served.ask({.path = "/debug/waiting-pods/default/a/allow", .method = "POST"}).status,
            403);
  EXPECT_EQ(served
                .ask({.path = "/debug/waiting-pods/default/a/allow",
                      .method = "POST",
                      .token = "admintoken"})
                .status,
            200);
  served.server.reset();
}

// ---- certificates ------------------------------------------------------------------------------

net::TlsClientSettings showing(const net::KeyPair& pair) {
  net::TlsClientSettings settings;
  settings.certificate_pem = pair.certificate_pem;
  settings.key_pem = pair.key_pem;
  return settings;
}

TEST(SchedulerServer, WhomToBelieveMayChangeWhileItRuns) {
  Served served;
  served.start();
  const auto ask = [&](const net::KeyPair& pair, net::HttpHeaders headers = {}) {
    return served.ask({.path = "/configz", .headers = std::move(headers), .tls = showing(pair)});
  };
  // Nobody asks for certificates: those who have one are anonymous.
  EXPECT_EQ(ask(certificates().client).status, 403);

  ClusterTrust trust;
  trust.authorities.client_ca = certificates().authority.certificate_pem;
  served.server->set_cluster_trust(trust);
  EXPECT_EQ(ask(certificates().client).status, 200) << "jane is in system:masters";
  EXPECT_EQ(ask(certificates().other_client).status, 401);
  EXPECT_EQ(served.get("/configz", "admintoken").status, 200);

  trust.authorities.request_header_ca = certificates().other_authority.certificate_pem;
  trust.request_headers.allowed_names = {"jane"};
  trust.request_headers.username = {"X-Remote-User"};
  trust.request_headers.group = {"X-Remote-Group"};
  served.server->set_cluster_trust(trust);
  EXPECT_EQ(ask(certificates().other_client,
                {{"X-Remote-User", "bob"}, {"X-Remote-Group", "system:masters"}})
                .status,
            200);
  EXPECT_THAT(ask(certificates().other_client, {{"X-Remote-User", "bob"}}).body,
              HasSubstr(R"(User \"bob\" cannot get path \"/configz\")"));
  EXPECT_EQ(ask(certificates().other_client).status, 401);

  served.server->set_cluster_trust({});
  EXPECT_EQ(ask(certificates().client).status, 403);
}

TEST(SchedulerServer, CertificatesAreReloadedWhenTheirFilesChange) {
  std::string folder = ::testing::TempDir() + "berth-serve-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto put = [&](const net::KeyPair& pair) {
    ASSERT_TRUE(write_file(folder + "/tls.crt", pair.certificate_pem));
    ASSERT_TRUE(write_file(folder + "/tls.key", pair.key_pem));
  };
  put(certificates().server);
  Served served;
  served.options.certificates.cert_file = folder + "/tls.crt";
  served.options.certificates.key_file = folder + "/tls.key";
  served.start();
  // A client that trusts one certificate only.
  const auto believes = [&](const net::KeyPair& pair) {
    net::HttpClientOptions options;
    options.proxy = "-";
    options.tls.ca_pem =
        pair.certificate_pem.substr(0, pair.certificate_pem.find("-----END CERTIFICATE-----") + 26);
    net::HttpClient client(options);
    net::HttpCall call;
    call.url = served.url("/healthz");
    return net::testing::send(client, call).has_value();
  };
  EXPECT_TRUE(believes(certificates().server));
  put(certificates().renewed_server);
  EXPECT_TRUE(believes(certificates().server)) << "nobody has looked yet";
  served.loop.run_until(served.loop.now() + std::chrono::seconds(10));
  EXPECT_TRUE(believes(certificates().renewed_server));
  EXPECT_FALSE(believes(certificates().server));
  std::filesystem::remove_all(folder);
}

// ---- strangers and probes ----------------------------------------------------------------------

TEST(SchedulerServer, AStrangersBodyIsNotRead) {
  Served served;
  served.start();
  RawSocket stranger(served.server->port());
  stranger.start_tls();
  // All that comes is the head of a request with 3 MB.
  stranger.send("PUT /debug/flags/v HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n");
  EXPECT_THAT(stranger.receive_until("\r\n\r\n"), HasSubstr("HTTP/1.1 403 "));
  RawSocket unknown(served.server->port());
  unknown.start_tls();
  unknown.send(
      "PUT /debug/flags/v HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n"
      "Authorization: Bearer wrong\r\n\r\n");
  EXPECT_THAT(unknown.receive_until("\r\n\r\n"), HasSubstr("HTTP/1.1 401 "));
}

TEST(SchedulerServer, BodiesAndHeadsHaveTheirLimits) {
  Served served;
  served.start();
  const auto put = [&](std::size_t size) {
    return served.ask({.path = "/debug/flags/v",
                       .method = "PUT",
                       .token = "admintoken",
                       .body = std::string(size, '0')});
  };
  EXPECT_EQ(put(64 << 10).status, 200) << "0, in many digits";
  EXPECT_EQ(put((64 << 10) + 1).status, 413);
  const auto with_header = [&](std::size_t size) {
    RawSocket client(served.server->port());
    client.start_tls();
    return client.ask("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: " +
                      std::string(size, 'x') + "\r\n\r\n");
  };
  EXPECT_THAT(with_header(60 << 10), HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(with_header(64 << 10), HasSubstr("HTTP/1.1 431 "));
}

TEST(SchedulerServer, ProbesAreAnsweredWhenIdleConnectionsHaveTakenAllPlaces) {
  Served served;
  served.options.max_connections = 2;
  served.start();
  // Two, and those that clients on this machine have beside them.
  std::vector<std::unique_ptr<RawSocket>> idle;
  for (int i = 0; i < 70; ++i) {
    idle.push_back(std::make_unique<RawSocket>(served.server->port()));
    if (i % 8 == 0) idle.back()->start_tls();  // the others do not even say what they want
  }
  EXPECT_EQ(served.get("/livez", "").status, 200);
  EXPECT_EQ(idle.front()->receive_all(), "") << "the oldest had to go";
}

TEST(SchedulerServer, HttpTwoIsOfferedUnlessItIsTurnedOff) {
  const auto chosen = [](bool http2, const std::vector<std::string>& protocols) {
    Served served;
    served.options.http2 = http2;
    served.start();
    EXPECT_EQ(served.get("/livez", "").body, "ok");
    RawSocket client(served.server->port());
    return client.start_tls(protocols);
  };
  EXPECT_EQ(chosen(true, {"http/1.1", "h2"}), "h2");
  EXPECT_EQ(chosen(true, {"http/1.1"}), "http/1.1");
  EXPECT_EQ(chosen(true, {}), "");
  EXPECT_EQ(chosen(false, {"h2", "http/1.1"}), "http/1.1");
}

TEST(SchedulerServer, ConcurrentDepartureOfAClientTakesItsReviewBack) {
  std::promise<void> asked, taken_back;
  Served served;
  served.options.authentication.review_token = [&](const std::string&, auto) {
    asked.set_value();
    return [&] { taken_back.set_value(); };
  };
  served.start();
  auto client = std::make_unique<RawSocket>(served.server->port());
  client->start_tls();
  client->send("GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n");
  asked.get_future().wait();
  client.reset();
  EXPECT_EQ(taken_back.get_future().wait_for(net::testing::kPatience), std::future_status::ready);
}

TEST(SchedulerServer, ConcurrentReviewsAreLimitedAndProbesNeedNone) {
  std::promise<void> asked;
  Served served;
  served.options.authorization.most_waiting = 1;
  served.options.authorization.review_access = [&](const AccessAttributes&, auto) {
    asked.set_value();
    return CancelReview();
  };
  served.start();
  RawSocket waiting(served.server->port());
  waiting.start_tls();
  waiting.send("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  asked.get_future().wait();
  const net::HttpResponse response = served.get("/configz", "");
  EXPECT_EQ(head_of(response), head(429, {kText, "retry-after: 1", kNoSniff}));
  EXPECT_EQ(response.body, "Too many requests, please try again later.\n");
  EXPECT_EQ(served.get("/livez", "").status, 200);
  EXPECT_EQ(served.get("/readyz", "").status, 200);
}

TEST(SchedulerServer, GatesHideFlagzAndStatusz) {
  Served served;
  served.options.flagz = false;
  served.start();
  EXPECT_EQ(served.get("/flagz").status, 404);
  EXPECT_THAT(served.get("/statusz").body,
              HasSubstr("Paths= /configz /healthz /livez /metrics /readyz\n"));
  Served other;
  other.options.statusz = false;
  other.start();
  EXPECT_EQ(other.get("/flagz").status, 200);
  EXPECT_EQ(other.get("/statusz").status, 404);
}

// ---- beginning and end -------------------------------------------------------------------------

TEST(SchedulerServer, APortThatIsTakenIsToldAsUpstreamDoes) {
  Served served;
  served.start();
  ServerOptions options = served.options;
  options.port = served.server->port();
  const auto second = SchedulerServer::start(served.loop, options, served.log.log);
  ASSERT_FALSE(second);
  const std::string address = "127.0.0.1:" + std::to_string(options.port);
  EXPECT_EQ(second.error().message, "failed to listen on " + address + ": listen tcp " + address +
                                        ": bind: address already in use");
}

TEST(SchedulerServer, BadOptionsAreToldAtTheStart) {
  Served served;
  served.options.authorization.always_allow_paths = {"/a*b"};
  const auto started = SchedulerServer::start(served.loop, served.options, served.log.log);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "only trailing * allowed in \"a*b\"");
}

TEST(SchedulerServer, WhoWaitsForTheWorldIsRefusedWhenItStops) {
  std::promise<void> asked;
  std::promise<int> status;
  std::function<void(Result<TokenReview>)> answer;
  Served served;
  served.options.authentication.review_token = [&](const std::string&, auto done) {
    answer = std::move(done);
    asked.set_value();
    return CancelReview();
  };
  served.start();
  served.ask({.path = "/metrics", .token = "t"},
             [&](const net::HttpResponse& response) { status.set_value(response.status); });
  asked.get_future().wait();
  served.server->stop(std::chrono::hours(1));
  EXPECT_EQ(status.get_future().get(), 503);
  served.server.reset();
  answer(TokenReview{});  // too late, and no harm done
}

TEST(SchedulerServer, StoppingTakesBackTheReviewsThatAreOpen) {
  struct OpenReview {
    std::promise<void> asked;
    std::promise<void> taken_back;

    CancelReview ask() {
      asked.set_value();
      return [this] { taken_back.set_value(); };
    }
  };
  OpenReview token_review;
  OpenReview access_review;
  Served served;
  served.options.authentication.review_token = [&](const std::string& token, auto done) {
    if (token == "silent") return token_review.ask();
    TokenReview known;
    known.authenticated = true;
    known.user.name = "jane";
    done(std::move(known));
    return CancelReview();
  };
  served.options.authorization.review_access = [&](const AccessAttributes&, auto) {
    return access_review.ask();
  };
  served.start();
  served.ask({.path = "/metrics", .token = "silent"}, [](const net::HttpResponse&) {});
  served.ask({.path = "/metrics", .token = "jane"}, [](const net::HttpResponse&) {});
  token_review.asked.get_future().wait();
  access_review.asked.get_future().wait();
  served.server->stop(std::chrono::hours(1));
  for (OpenReview* review : {&token_review, &access_review})
    EXPECT_EQ(review->taken_back.get_future().wait_for(net::testing::kPatience),
              std::future_status::ready);
}

}  // namespace
}  // namespace berth::serve::testing
