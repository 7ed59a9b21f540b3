#include "kube/http_api_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <latch>

#include "base/file.h"
#include "base/testing/names.h"
#include "kube/testing/http_api_fixture.h"

namespace berth::kube::testing {
namespace {

using net::HttpRequest;
using net::testing::certificates;
using net::testing::server_tls;
using net::testing::StreamLog;

// ---- who we are ---------------------------------------------------------------------------------

TEST_F(HttpApiClientTest, ATokenThatIsRefusedIsLookedForAgain) {
  const std::string path = ::testing::TempDir() + "berth_http_api_client_token";
  ASSERT_TRUE(write_file(path, "old"));
  Server server(server_tls());
  server.answer({status(401), status(200)});
  trust(server);
  options.config.token_file = path;
  EXPECT_EQ(complaint(),
            "the server has asked for the client to provide credentials (get pods) (the token in " +
                path + " was not accepted)");
  EXPECT_EQ(server.last("authorization"), "Bearer old");
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(server.last("authorization"), "Bearer new");
  std::filesystem::remove(path);
}

TEST_F(HttpApiClientTest, NoTokenNoRequest) {
  Server server(server_tls());
  trust(server);
  options.config.token_file = "/nowhere/token";
  EXPECT_THAT(complaint(), AllOf(StartsWith("Get \"" + server.url() +
                                            "/api/v1/pods\": failed to "
                                            "read token file"),
                                 HasSubstr("/nowhere/token")));
  StreamLog log;
  client().stream(at("/watch"), log.callbacks());
  EXPECT_THAT(log.ended().error().message, HasSubstr("failed to read token file"));
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(HttpApiClientTest, AClientCertificateThatExpiredIsNamedWhenTheServerRefusesIt) {
  const std::string path = ::testing::TempDir() + "berth_http_api_client_cert.crt";
  net::CertificateOrder order;
  order.key = net::KeyKind::kEcdsaP256;
  order.common_name = "late";
  order.not_before = loop.wall_now() + -std::chrono::hours(2);
  order.not_after = loop.wall_now() + -std::chrono::hours(1);
  const net::KeyPair pair = net::issue_certificate(certificates().authority, order).value();
  ASSERT_TRUE(write_file(path, pair.certificate_pem));
  Server server(server_tls());
  server.answer({status(401)});
  trust(server);
  options.config.cert_file = path;
  options.config.key_data = pair.key_pem;
  EXPECT_THAT(complaint(), HasSubstr(" (the client certificate in " + path + " expired at 20"));
  std::filesystem::remove(path);
}

struct ProgramTest : HttpApiClientTest {
  Mutex mutex;
  int runs GUARDED_BY(mutex) = 0;
  std::string printed GUARDED_BY(mutex);
  std::latch may_print{1};

  ProgramTest() {
    options.config.exec.emplace();
    options.config.exec->command = "login";
    options.config.exec->api_version = "client.authentication.k8s.io/v1";
    run = [this](const auto&, const auto&, const auto&) -> Result<ProcessResult> {
      may_print.wait();
      const MutexLock lock(mutex);
      ++runs;
      return ProcessResult{0, printed};
    };
  }
  void print(const std::string& fields) {
    const MutexLock lock(mutex);
    printed =
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)" +
        fields + "}";
  }
};

TEST_F(HttpApiClientTest, AProgramThatNeverEndsEndsWithTheClient) {
  Server server(server_tls());
  trust(server);
  options.config.exec.emplace();
  options.config.exec->command = "sleep";
  options.config.exec->args = {"100000"};
  options.config.exec->api_version = "client.authentication.k8s.io/v1";
  run = {};
  StreamLog log;
  client().stream(at("/1"), log.callbacks());
  made.reset();
  EXPECT_FALSE(log.ended());
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(ProgramTest, ConcurrentCallsWaitForTheProgramAndTheWorldGoesOn) {
  Server server(server_tls());
  server.answer({status(200)});
  trust(server);
  print(R"({"token":"one"})");
  std::optional<ApiResult> first;
  std::optional<ApiResult> second;
  tasks.spawn(keep(client().call(at("/1")), first));
  tasks.spawn(keep(client().call(at("/2")), second));
  StreamLog log;
  client().stream(at("/3"), log.callbacks());
  EXPECT_FALSE(first || second);
  may_print.count_down();
  loop.run_until([&] { return first && second; });
  EXPECT_TRUE(*first);
  EXPECT_TRUE(*second);
  EXPECT_TRUE(log.ended());
  for (const HttpRequest& request : server.requests())
    EXPECT_EQ(request.headers.joined("authorization"), "Bearer one");
  {
    const MutexLock lock(mutex);
    EXPECT_EQ(runs, 1);
  }
  EXPECT_EQ(metrics.exec_plugin_call.counter({"0", "no_error"}).value(), 1u);
}

TEST_F(ProgramTest, ARefusedTokenMakesItRunAgain) {
  may_print.count_down();
  Server server(server_tls());
  server.answer({status(401), status(200)});
  trust(server);
  print(R"({"token":"one"})");
  EXPECT_FALSE(get("/x"));
  print(R"({"token":"two"})");
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(server.last("authorization"), "Bearer two");
}

TEST_F(ProgramTest, ItsCertificateIsShown) {
  may_print.count_down();
  net::TlsServerSettings tls = server_tls();
  tls.client_authorities = {{"clients", certificates().authority.certificate_pem}};
  Server server(tls);
  server.answer({status(200)});
  trust(server);
  const auto in_quotes = [](std::string text) {
    std::string json = "\"";
    for (const char c : text) json += c == '\n' ? "\\n" : std::string(1, c);
    return json + "\"";
  };
  print(R"({"clientCertificateData":)" + in_quotes(certificates().client.certificate_pem) +
        R"(,"clientKeyData":)" + in_quotes(certificates().client.key_pem) + "}");
  EXPECT_TRUE(get("/x"));
  EXPECT_EQ(server.last().peer.common_name, "jane");
  EXPECT_GT(metrics.exec_plugin_ttl.gauge().value(), 3600);
}

TEST_F(ProgramTest, ConcurrentCancellationDoesNotWaitForTheProgram) {
  Server server(server_tls());
  trust(server);
  print(R"({"token":"one"})");
  CancelSource source;
  std::optional<ApiResult> result;
  tasks.spawn(keep(client().call(at("/1"), source.token()), result));
  StreamLog log;
  const net::HttpCallId stream = client().stream(at("/2"), log.callbacks());
  client().cancel(stream);
  source.cancel("enough");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->error().error.kind, ErrorKind::kCancelled);
  may_print.count_down();
  EXPECT_EQ(log.ended().error().kind, ErrorKind::kCancelled);
  made.reset();
  EXPECT_THAT(server.requests(), IsEmpty());
}

TEST_F(ProgramTest, AProgramThatIsMissingIsNamed) {
  Server server(server_tls());
  trust(server);
  run = [](const auto&, const auto&, const auto&) -> Result<ProcessResult> {
    return fail(ErrorKind::kNotFound, "no such file");
  };
  EXPECT_EQ(complaint(),
            "Get \"" + server.url() +
                "/api/v1/pods\": getting credentials: exec: executable login not found");
  EXPECT_EQ(metrics.exec_plugin_call.counter({"1", "plugin_not_found_error"}).value(), 1u);
}

}  // namespace
}  // namespace berth::kube::testing
