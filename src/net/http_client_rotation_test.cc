// One client that lives while the files it trusts and shows are replaced.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "net/http_client.h"
#include "net/testing/http2_server.h"
#include "net/testing/loopback.h"

namespace berth::net::testing {
namespace {

KeyPair issued(const KeyPair& authority, const std::string& name) {
  CertificateOrder order;
  order.key = KeyKind::kEcdsaP256;
  order.common_name = name;
  order.addresses = {"127.0.0.1"};
  order.not_before = testing::real_now() + -std::chrono::hours(1);
  order.not_after = testing::real_now() + std::chrono::hours(1);
  return issue_certificate(authority, order).value();
}

// Shows a certificate of this authority, and knows clients by the one of all these tests.
TlsServerSettings shown_by(const KeyPair& authority) {
  TlsServerSettings settings = server_tls();
  settings.certificate = issued(authority, "server");
  settings.client_authorities = {{"clients", certificates().authority.certificate_pem}};
  return settings;
}

// "jane on 1"; to "/refused" 401.
void say_who(Http2Peer& peer, const Http2Request& request) {
  if (request.path == "/watch") {
    peer.begin(request.stream, "begun ");
    return;
  }
  peer.respond(request.stream, request.path == "/refused" ? 401 : 200,
               request.peer.common_name + " on " + std::to_string(request.connection));
}

struct HttpClientRotation : ::testing::Test {
  HttpClientRotation() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    options.tls_file_interval = Duration::zero();
    options.tls.ca_file = folder / "ca.crt";
    options.tls.certificate_file = folder / "client.crt";
    options.tls.key_file = folder / "client.key";
    write("ca.crt", certificates().authority.certificate_pem);
    show(certificates().client);
  }
  ~HttpClientRotation() override { std::filesystem::remove_all(folder); }

  void write(const char* name, const std::string& text) const {
    ASSERT_TRUE(write_file(folder / name, text));
  }
  void show(const KeyPair& pair) const {
    write("client.crt", pair.certificate_pem);
    write("client.key", pair.key_pem);
  }
  static std::string ask(HttpClient& client, const std::string& url) {
    const Result<HttpResponse> answer = send(client, get(url));
    return answer ? answer->body : answer.error().message;
  }

  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("berth_rotation_") +
       ::testing::UnitTest::GetInstance()->current_test_info()->name());
  HttpClientOptions options = plain_options();
};

TEST_F(HttpClientRotation, ANewAuthorityCountsForTheNextCall) {
  Http2Server server(say_who);
  server.set_tls(shown_by(certificates().authority));
  HttpClient client(options);
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  server.set_tls(shown_by(certificates().other_authority));
  write("ca.crt", certificates().other_authority.certificate_pem);
  EXPECT_EQ(ask(client, server.url("/")), "jane on 2");
}

TEST_F(HttpClientRotation, ANewCertificateIsShownThoughTheConnectionLives) {
  Http2Server server(say_who);
  server.set_tls(shown_by(certificates().authority));
  HttpClient client(options);
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  show(issued(certificates().authority, "john"));
  EXPECT_EQ(ask(client, server.url("/")), "john on 2");
  EXPECT_EQ(ask(client, server.url("/")), "john on 2");
}

TEST_F(HttpClientRotation, AStreamOnAnOldConnectionGoesOn) {
  Http2Server server(say_who);
  server.set_tls(shown_by(certificates().authority));
  HttpClient client(options);
  StreamLog watch;
  const HttpCallId id = client.stream(get(server.url("/watch")), watch.callbacks());
  ASSERT_TRUE(watch.wait_for("begun"));
  show(issued(certificates().authority, "john"));
  EXPECT_EQ(ask(client, server.url("/")), "john on 2");
  client.cancel(id);
  EXPECT_EQ(watch.ended().error().kind, ErrorKind::kCancelled);  // it had not ended before
}

TEST_F(HttpClientRotation, FilesThatAreBeingReplacedChangeNothing) {
  Http2Server server(say_who);
  server.set_tls(shown_by(certificates().authority));
  HttpClient client(options);
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  const KeyPair john = issued(certificates().authority, "john");
  write("client.crt", john.certificate_pem);  // with jane's key
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  write("ca.crt", certificates().authority.certificate_pem.substr(0, 100));
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  std::filesystem::remove(folder / "ca.crt");
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  write("client.key", john.key_pem);
  EXPECT_EQ(ask(client, server.url("/")), "john on 2");
}

TEST_F(HttpClientRotation, FilesAreReadForANewConnectionHoweverLongTheInterval) {
  options.tls_file_interval = std::chrono::hours(24);
  Http2Server server(say_who);
  server.set_tls(shown_by(certificates().other_authority));
  HttpClient client(options);
  EXPECT_THAT(ask(client, server.url("/")),
              ::testing::HasSubstr("certificate signed by unknown authority (shown by the server"));
  write("ca.crt", certificates().other_authority.certificate_pem);
  EXPECT_EQ(ask(client, server.url("/")), "jane on 2");
  show(issued(certificates().authority, "john"));
  EXPECT_EQ(ask(client, server.url("/")), "jane on 2");
}

TEST_F(HttpClientRotation, AfterA401TheNextCallHasANewConnection) {
  options.tls_file_interval = std::chrono::hours(24);
  Http2Server server(say_who);
  server.set_tls(shown_by(certificates().authority));
  HttpClient client(options);
  EXPECT_EQ(ask(client, server.url("/")), "jane on 1");
  show(issued(certificates().authority, "john"));
  EXPECT_EQ(ask(client, server.url("/refused")), "jane on 1");
  EXPECT_EQ(ask(client, server.url("/")), "john on 2");
}

// The same in HTTP/1.1, whose connections are libcurl's.
TEST_F(HttpClientRotation, ConnectionsOfHttp1AreRetiredToo) {
  HttpServerOptions serving;
  serving.tls = shown_by(certificates().authority);
  const auto server = testing::start(
      serving, [](const HttpRequest& request, const std::shared_ptr<HttpResponder>& responder) {
        responder->respond({request.target == "/refused" ? 401 : 200,
                            {},
                            request.peer.common_name + " from " + request.peer.address});
      });
  options.http2 = false;
  HttpClient client(options);
  const std::string url = testing::url(*server, "/", "https");
  const std::string first = ask(client, url);
  EXPECT_THAT(first, ::testing::StartsWith("jane from 127"));
  EXPECT_EQ(ask(client, url), first);
  EXPECT_EQ(ask(client, url + "refused"), first);
  const std::string second = ask(client, url);
  EXPECT_NE(second, first);
  show(issued(certificates().authority, "john"));
  EXPECT_THAT(ask(client, url), ::testing::StartsWith("john from 127"));
  ASSERT_TRUE(server->set_tls(shown_by(certificates().other_authority)));
  write("ca.crt", certificates().other_authority.certificate_pem);
  EXPECT_THAT(ask(client, url), ::testing::StartsWith("john from 127"));
}

}  // namespace
}  // namespace berth::net::testing
