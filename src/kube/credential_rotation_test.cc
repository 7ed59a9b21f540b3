// One HttpApiClient that lives while everything by which it knows the API server, and by which the
// server knows it, is replaced: CA, client certificate and key, token file, a plugin's credentials.

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "kube/testing/http_api_fixture.h"
#include "net/testing/http2_server.h"

namespace berth::kube {
namespace {

using net::testing::certificates;
using net::testing::Http2Peer;
using net::testing::Http2Request;
using net::testing::Http2Server;

net::KeyPair issued(const net::KeyPair& authority, const std::string& name) {
  net::CertificateOrder order;
  order.key = net::KeyKind::kEcdsaP256;
  order.common_name = name;
  order.addresses = {"127.0.0.1"};
  order.not_before = net::testing::real_now() + -std::chrono::hours(1);
  order.not_after = net::testing::real_now() + std::chrono::hours(1);
  return net::issue_certificate(authority, order).value();
}

net::TlsServerSettings shown_by(const net::KeyPair& authority) {
  net::TlsServerSettings settings;
  settings.certificate = issued(authority, "server");
  settings.client_authorities = {{"clients", certificates().authority.certificate_pem}};
  return settings;
}

struct CredentialRotation : testing::HttpApiClientTest {
  Mutex mutex;
  std::string expected GUARDED_BY(mutex);  // whoever is somebody else gets a 401
  Http2Server server{
      [this](Http2Peer& peer, const Http2Request& request) { answer(peer, request); }};
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("berth_credentials_") +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());

  CredentialRotation() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    server.set_tls(shown_by(certificates().authority));
    options.config.server = server.url("");
    options.config.ca_file = folder / "ca.crt";
    options.tls_file_interval = Duration::zero();
    write("ca.crt", certificates().authority.certificate_pem);
  }
  ~CredentialRotation() override {
    made.reset();
    std::filesystem::remove_all(folder);
  }

  void answer(Http2Peer& peer, const Http2Request& request) {
    const std::string who =
        request.peer.common_name + " " + request.headers.joined("authorization");
    const MutexLock lock(mutex);
    peer.respond(request.stream, who == expected ? 200 : 401,
                 who + " on " + std::to_string(request.connection));
  }
  void expect(const std::string& who) {
    const MutexLock lock(mutex);
    expected = who;
  }
  void write(const char* name, const std::string& text) const {
    ASSERT_TRUE(write_file(folder / name, text));
  }
  std::string ask() {
    const ApiResult result = get("/api/v1/pods");
    return result ? result->body : std::to_string(result.error().status.code);
  }
};

TEST_F(CredentialRotation, OneClientLivesThroughNewFilesOfAllKinds) {
  options.config.cert_file = folder / "client.crt";
  options.config.key_file = folder / "client.key";
  options.config.token_file = folder / "token";
  write("client.crt", certificates().client.certificate_pem);
  write("client.key", certificates().client.key_pem);
  write("token", "one");
  expect("jane Bearer one");
  EXPECT_EQ(ask(), "jane Bearer one on 1");
  EXPECT_EQ(ask(), "jane Bearer one on 1");

  server.set_tls(shown_by(certificates().other_authority));
  write("ca.crt", certificates().other_authority.certificate_pem);
  EXPECT_EQ(ask(), "jane Bearer one on 2");

  const net::KeyPair john = issued(certificates().authority, "john");
  write("client.crt", john.certificate_pem);
  write("client.key", john.key_pem);
  expect("john Bearer one");
  EXPECT_EQ(ask(), "john Bearer one on 3");

  write("token", "two");
  expect("john Bearer two");
  EXPECT_EQ(ask(), "401");  // a token is good for some time, unless it is refused
  EXPECT_EQ(ask(), "john Bearer two on 4");
  EXPECT_EQ(ask(), "john Bearer two on 4");
}

TEST_F(CredentialRotation, OneClientLivesThroughNewCredentialsOfAPlugin) {
  const auto in_quotes = [](const std::string& text) {
    std::string json = "\"";
    for (const char c : text) json += c == '\n' ? "\\n" : std::string(1, c);
    return json + "\"";
  };
  const auto print = [&](const net::KeyPair& pair, const std::string& token) {
    write("printed",
          R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{)"
          R"("token":")" +
              token + R"(","clientCertificateData":)" + in_quotes(pair.certificate_pem) +
              R"(,"clientKeyData":)" + in_quotes(pair.key_pem) + "}}");
  };
  options.config.exec.emplace();
  options.config.exec->command = "cat";
  options.config.exec->args = {folder / "printed"};
  options.config.exec->api_version = "client.authentication.k8s.io/v1";
  run = {};
  print(certificates().client, "one");
  expect("jane Bearer one");
  EXPECT_EQ(ask(), "jane Bearer one on 1");

  print(issued(certificates().authority, "john"), "two");
  EXPECT_EQ(ask(), "jane Bearer one on 1");  // it never expires
  expect("john Bearer two");
  EXPECT_EQ(ask(), "401");
  EXPECT_EQ(ask(), "john Bearer two on 2");

  server.set_tls(shown_by(certificates().other_authority));
  write("ca.crt", certificates().other_authority.certificate_pem);
  EXPECT_EQ(ask(), "john Bearer two on 3");
}

TEST_F(CredentialRotation, APluginThatHangsIsKilledAndNamed) {
  options.config.exec.emplace();
  options.config.exec->command = "sleep";
  options.config.exec->args = {"100000"};
  options.config.exec->api_version = "client.authentication.k8s.io/v1";
  options.config.exec->timeout = std::chrono::milliseconds(1);
  run = {};
  EXPECT_EQ(complaint(), "Get \"" + server.url("/api/v1/pods") +
                             "\": getting credentials: exec: executable sleep did not end within "
                             "1ms and was killed");
  EXPECT_EQ(metrics.exec_plugin_call.counter({"1", "plugin_execution_error"}).value(), 1u);
}

}  // namespace
}  // namespace berth::kube
