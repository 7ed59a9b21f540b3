// The client against the server over TLS: who is believed, who is not, and what is said then.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/testing/names.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/testing/loopback.h"

namespace berth::net::testing {
namespace {

// "jane system:masters,staff by clients" or "nobody".
void who(const HttpRequest& request, const std::shared_ptr<HttpResponder>& responder) {
  HttpResponse response;
  EXPECT_TRUE(request.peer.tls);
  response.headers.add("X-Host", request.headers.joined("host"));
  if (request.peer.common_name.empty()) {
    response.body = "nobody";
  } else {
    response.body = request.peer.common_name;
    for (const std::string& name : request.peer.organizations) response.body += " " + name;
    response.body += " by";
    for (const std::string& name : request.peer.verified_by) response.body += " " + name;
  }
  responder->respond(std::move(response));
}

std::unique_ptr<HttpServer> tls_server(TlsServerSettings settings = server_tls()) {
  HttpServerOptions options;
  options.tls = std::move(settings);
  return start(std::move(options), who);
}

HttpClientOptions trusting(TlsClientSettings settings) {
  HttpClientOptions options = plain_options();
  options.tls = std::move(settings);
  return options;
}

// All on one connection. A client that would rather speak HTTP/2 makes one to find out that the
// server does not, and the server may still count it for a while.
HttpClientOptions with_one_connection(TlsClientSettings settings) {
  HttpClientOptions options = trusting(std::move(settings));
  options.http2 = false;
  return options;
}

Result<HttpResponse> ask(const HttpServer& server, TlsClientSettings settings) {
  HttpClient client(trusting(std::move(settings)));
  return send(client, get(url(server, "/", "https")));
}

TEST(HttpTls, AServerWithTheRightAuthorityIsBelieved) {
  const auto server = tls_server();
  const Result<HttpResponse> answer = ask(*server, client_tls());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "nobody");
}

TEST(HttpTls, AServerOfAnotherAuthorityIsNot) {
  const auto server = tls_server();
  TlsClientSettings settings;
  settings.ca_pem = certificates().other_authority.certificate_pem;
  for (const bool by_default : {false, true}) {
    const Result<HttpResponse> answer = ask(*server, by_default ? TlsClientSettings() : settings);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
    EXPECT_EQ(answer.error().message,
              "Get \"" + url(*server, "/", "https") +
                  "\": tls: failed to verify certificate: x509: certificate signed by unknown "
                  "authority (shown by the server " +
                  server->address() + "; trusted are " +
                  (by_default ? "those of the system)" : "the authorities of the inline CA data)"));
  }
  settings.insecure = true;
  EXPECT_TRUE(ask(*server, settings));
}

TEST(HttpTls, AServerOfAnotherNameIsNotBelieved) {
  TlsServerSettings settings = server_tls();
  settings.certificate = certificates().client;  // has no names at all
  const auto server = tls_server(settings);
  const Result<HttpResponse> answer = ask(*server, client_tls());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("x509: certificate is not valid for 127.0.0.1:"));
  EXPECT_THAT(answer.error().message, HasSubstr("127.0.0.1"));
}

TEST(HttpTls, TheExpectedNameCanBeAnother) {
  const auto server = tls_server();
  TlsClientSettings settings = client_tls();
  settings.server_name = "localhost";
  const Result<HttpResponse> answer = ask(*server, settings);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->headers.find("x-host"), server->address());
  settings.server_name = "elsewhere";
  const Result<HttpResponse> wrong = ask(*server, settings);
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("'elsewhere'"));
}

TEST(HttpTls, AnExpiredCertificateIsNamedSo) {
  CertificateOrder order;
  order.key = KeyKind::kEcdsaP256;
  order.addresses = {"127.0.0.1"};
  order.not_before = testing::real_now() + -std::chrono::hours(2);
  order.not_after = testing::real_now() + -std::chrono::hours(1);
  TlsServerSettings settings;
  settings.certificate = issue_certificate(certificates().authority, order).value();
  const auto server = tls_server(settings);
  EXPECT_THAT(ask(*server, client_tls()).error().message,
              HasSubstr("x509: certificate has expired or is not yet valid"));
}

TEST(HttpTls, ClientsAreKnownByTheirCertificate) {
  TlsServerSettings settings = server_tls();
  settings.client_authorities = {{"proxies", certificates().other_authority.certificate_pem},
                                 {"clients", certificates().authority.certificate_pem},
                                 {"more", certificates().other_authority.certificate_pem +
                                              certificates().authority.certificate_pem}};
  const auto server = tls_server(settings);
  TlsClientSettings jane = client_tls();
  EXPECT_EQ(ask(*server, jane)->body, "nobody");
  jane.certificate_pem = certificates().client.certificate_pem;
  jane.key_pem = certificates().client.key_pem;
  const Result<HttpResponse> known = ask(*server, jane);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->body, "jane system:masters staff by clients more");
}

TEST(HttpTls, AClientOfAnUnknownAuthorityIsNobody) {
  TlsServerSettings settings = server_tls();
  settings.client_authorities = {{"clients", certificates().authority.certificate_pem}};
  const auto server = tls_server(settings);
  TlsClientSettings stranger = client_tls();
  stranger.certificate_pem = certificates().other_client.certificate_pem;
  stranger.key_pem = certificates().other_client.key_pem;
  const Result<HttpResponse> answer = ask(*server, stranger);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "nobody");
  // And one that is not asked for its certificate is nobody, too.
  const auto indifferent = tls_server();
  EXPECT_EQ(ask(*indifferent, stranger)->body, "nobody");
}

TEST(HttpTls, AClientsOwnMistakesAreNamed) {
  const auto server = tls_server();
  TlsClientSettings settings = client_tls();
  settings.certificate_pem = certificates().client.certificate_pem;
  settings.key_pem = certificates().server.key_pem;
  const Result<HttpResponse> wrong_key = ask(*server, settings);
  ASSERT_FALSE(wrong_key);
  EXPECT_EQ(wrong_key.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(wrong_key.error().message, HasSubstr("cannot use the inline client certificate: "));
  TlsClientSettings no_authority;
  no_authority.ca_pem = "nonsense";
  EXPECT_EQ(ask(*server, no_authority).error().kind, ErrorKind::kInvalid);
}

TEST(HttpTls, CertificatesMayComeFromFiles) {
  TlsServerSettings settings = server_tls();
  settings.client_authorities = {{"clients", certificates().authority.certificate_pem}};
  const auto server = tls_server(settings);
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "berth_net_files";
  std::filesystem::create_directories(folder);
  const auto file = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  TlsClientSettings jane;
  jane.ca_file = file("ca.crt", certificates().authority.certificate_pem);
  jane.certificate_file = file("jane.crt", certificates().client.certificate_pem);
  jane.key_file = file("jane.key", certificates().client.key_pem);
  const Result<HttpResponse> answer = ask(*server, jane);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "jane system:masters staff by clients");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(ask(*server, jane).error().kind, ErrorKind::kInvalid);
}

TEST(HttpTls, ConcurrentCertificateChangeCountsForNewConnections) {
  const auto server = tls_server();
  HttpClient before(trusting(client_tls()));
  ASSERT_TRUE(send(before, get(url(*server, "/", "https"))));
  TlsServerSettings other = server_tls();
  other.certificate =
      issue_certificate(certificates().other_authority,
                        [] {
                          CertificateOrder order;
                          order.key = KeyKind::kEcdsaP256;
                          order.addresses = {"127.0.0.1"};
                          order.not_before = testing::real_now() + -std::chrono::hours(1);
                          order.not_after = testing::real_now() + std::chrono::hours(1);
                          return order;
                        }())
          .value();
  EXPECT_TRUE(server->set_tls(other));
  EXPECT_TRUE(send(before, get(url(*server, "/", "https"))));  // the connection that there was
  EXPECT_FALSE(ask(*server, client_tls()));
  TlsClientSettings trusts_other;
  trusts_other.ca_pem = certificates().other_authority.certificate_pem;
  EXPECT_TRUE(ask(*server, trusts_other));
  // The client's side of the same.
  HttpClient changing(trusting(client_tls()));
  EXPECT_FALSE(send(changing, get(url(*server, "/", "https"))));
  changing.set_tls(trusts_other);
  EXPECT_TRUE(send(changing, get(url(*server, "/", "https"))));
  // What is no certificate changes nothing.
  other.certificate.key_pem = certificates().client.key_pem;
  EXPECT_FALSE(server->set_tls(other));
  EXPECT_TRUE(ask(*server, trusts_other));
}

TEST(HttpTls, ConcurrentRemovalOfAnAuthorityCountsForTheNextRequest) {
  TlsServerSettings settings = server_tls();
  settings.client_authorities = {{"clients", certificates().authority.certificate_pem}};
  const auto server = tls_server(settings);
  TlsClientSettings jane = client_tls();
  jane.certificate_pem = certificates().client.certificate_pem;
  jane.key_pem = certificates().client.key_pem;
  HttpClient client(with_one_connection(jane));
  const auto whoever = [&] { return send(client, get(url(*server, "/", "https")))->body; };
  EXPECT_EQ(whoever(), "jane system:masters staff by clients");
  settings.client_authorities = {{"clients", certificates().other_authority.certificate_pem}};
  ASSERT_TRUE(server->set_tls(settings));
  EXPECT_EQ(whoever(), "nobody");
  EXPECT_EQ(server->connections(), 1u) << "it was the same connection";
  settings.client_authorities = {{"more", certificates().authority.certificate_pem}};
  ASSERT_TRUE(server->set_tls(settings));
  EXPECT_EQ(whoever(), "jane system:masters staff by more");
  EXPECT_EQ(server->connections(), 1u);
}

TEST(HttpTls, AClientsCertificateExpiresDuringAConnection) {
  std::atomic<std::chrono::hours> later = std::chrono::hours(0);
  HttpServerOptions options;
  options.tls = server_tls();
  options.tls->client_authorities = {{"clients", certificates().authority.certificate_pem}};
  options.wall_clock = [&] { return testing::real_now() + later.load(); };
  const auto server = start(std::move(options), who);
  TlsClientSettings jane = client_tls();
  jane.certificate_pem = certificates().client.certificate_pem;
  jane.key_pem = certificates().client.key_pem;
  HttpClient client(with_one_connection(jane));
  const auto whoever = [&] { return send(client, get(url(*server, "/", "https")))->body; };
  EXPECT_EQ(whoever(), "jane system:masters staff by clients");
  later = std::chrono::hours(24 * 400);
  EXPECT_EQ(whoever(), "nobody");
  EXPECT_EQ(server->connections(), 1u) << "it was the same connection";
}

TEST(HttpTls, ACertificateCanBeForOneName) {
  CertificateOrder order;
  order.key = KeyKind::kEcdsaP256;
  order.dns_names = {"*.example.com"};
  order.not_before = testing::real_now() + -std::chrono::hours(1);
  order.not_after = testing::real_now() + std::chrono::hours(1);
  TlsServerSettings settings = server_tls();
  settings.named_certificates = {{issue_certificate(certificates().authority, order).value(), {}}};
  const auto server = tls_server(settings);
  TlsClientSettings asking = client_tls();
  asking.server_name = "API.example.com";
  const Result<HttpResponse> answer = ask(*server, asking);
  EXPECT_TRUE(answer) << answer.error().message;
  asking.server_name = "localhost";
  EXPECT_TRUE(ask(*server, asking));
  asking.server_name = "a.b.example.com";
  EXPECT_FALSE(ask(*server, asking));
}

TEST(HttpTls, StreamsAndLargeBodiesGoOverTlsToo) {
  constexpr std::size_t kBytes = 16 << 20;
  HttpServerOptions options;
  options.tls = server_tls();
  options.limits.waiting_bytes = 2 * kBytes;
  const auto server =
      start(options, [](const HttpRequest&, const std::shared_ptr<HttpResponder>& to) {
        to->begin(200, {});
        for (std::size_t i = 0; i < kBytes / 1024; ++i) to->write(std::string(1024, 'x'));
        to->end();
      });
  HttpClient client(trusting(client_tls()));
  StreamLog log;
  client.stream(get(url(*server, "/", "https")), log.callbacks());
  const Result<void> ended = log.ended();
  EXPECT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(log.text().size(), kBytes);
}

TEST(HttpTls, ConcurrentRequestsOverHttp2ShareAConnection) {
  constexpr int kRequests = 20;
  Mutex mutex;
  Condition changed;
  std::vector<std::shared_ptr<HttpResponder>> waiting;
  HttpServerOptions options;
  options.tls = server_tls();
  options.http2 = true;
  const auto server =
      start(options, [&](const HttpRequest& request, std::shared_ptr<HttpResponder> responder) {
        EXPECT_EQ(request.body.size(), 100'000u);
        MutexLock lock(mutex);
        waiting.push_back(std::move(responder));
        changed.notify_all();
      });
  HttpClient client(trusting(client_tls()));
  std::atomic<int> answered = 0;
  for (int i = 0; i < kRequests; ++i) {
    HttpCall call = get(url(*server, "/", "https"));
    call.method = "POST";
    call.body = std::string(100'000, 'x');
    client.send(std::move(call), [&](const Result<HttpResponse>& answer) {
      if (answer && answer->body.size() == 200'000) ++answered;
      MutexLock lock(mutex);
      changed.notify_all();
    });
  }
  MutexLock lock(mutex);
  while (waiting.size() < kRequests) changed.wait(mutex);  // all at a time
  EXPECT_EQ(server->connections(), 1u);
  for (const auto& responder : waiting) responder->respond({200, {}, std::string(200'000, 'y')});
  waiting.clear();
  while (answered < kRequests) changed.wait(mutex);
}

TEST(HttpTls, ConcurrentStopEndsHttp2StreamsInGoodOrder) {
  HttpServerOptions options;
  options.tls = server_tls();
  options.http2 = true;
  options.limits.close_timeout = std::chrono::milliseconds(100);
  std::promise<std::shared_ptr<HttpResponder>> asked;
  const auto server =
      start(options, [&](const HttpRequest&, std::shared_ptr<HttpResponder> responder) {
        responder->begin(200, {});
        responder->write("one");
        asked.set_value(std::move(responder));
      });
  HttpClient client(trusting(client_tls()));
  StreamLog log;
  client.stream(get(url(*server, "/", "https")), log.callbacks());
  EXPECT_TRUE(log.wait_for("one"));
  const auto responder = asked.get_future().get();
  server->stop(testing::kPatience);
  EXPECT_FALSE(responder->write("two"));
  EXPECT_TRUE(log.ended());
  EXPECT_EQ(log.text(), "one");
}

TEST(HttpTls, APlainRequestToATlsServerIsToldSo) {
  const auto tls = tls_server();
  const std::string answer =
      "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
  for (const std::string_view begin : {"GET /healthz HTTP/1.1\r\n\r\n", "PUT /x", "G"}) {
    testing::RawSocket plain(tls->port());
    EXPECT_EQ(plain.ask(begin), answer) << begin;
  }
  testing::RawSocket neither(tls->port());
  EXPECT_THAT(neither.ask("What is this?\r\n\r\n"), Not(HasSubstr("HTTPS server")));
}

TEST(HttpTls, APlainServerDoesNotUnderstandTls) {
  const auto plain = start({}, who);
  const Result<HttpResponse> tls_to_plain = ask(*plain, client_tls());
  ASSERT_FALSE(tls_to_plain);
  EXPECT_EQ(tls_to_plain.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(tls_to_plain.error().message,
              HasSubstr("http: server gave HTTP response to HTTPS client"));
}

TEST(HttpTls, TheLeastVersionCanBeTheNewest) {
  TlsServerSettings settings = server_tls();
  settings.min_version = "VersionTLS13";
  const auto server = tls_server(settings);
  const Result<HttpResponse> answer = ask(*server, client_tls());
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST(HttpTls, ConcurrentHandshakesAreStoppedInGoodOrder) {
  const auto server = tls_server();
  testing::RawSocket half_way(server->port());
  half_way.send("\x16\x03\x01");
  HttpClient client(trusting(client_tls()));
  EXPECT_TRUE(send(client, get(url(*server, "/", "https"))));
  server->stop(std::chrono::milliseconds(1));
  EXPECT_EQ(half_way.receive_all(), "");
  EXPECT_EQ(server->connections(), 0u);
}

}  // namespace
}  // namespace berth::net::testing
