#include "net/testing/loopback.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <future>

namespace berth::net::testing {

WallTime real_now() { return RealLoop().wall_now(); }

const Certificates& certificates() {
  static const Certificates kMade = [] {
    CertificateOrder order;
    order.key = KeyKind::kEcdsaP256;
    order.not_before = real_now() + -std::chrono::hours(1);
    order.not_after = real_now() + std::chrono::hours(24);
    Certificates made;
    order.common_name = "test-ca";
    made.authority = make_authority(order).value();
    order.common_name = "other-ca";
    made.other_authority = make_authority(order).value();
    order.common_name = "test-server";
    order.dns_names = {"localhost"};
    order.addresses = {"127.0.0.1"};
    made.server = issue_certificate(made.authority, order).value();
    order.common_name = "renewed-server";
    made.renewed_server = issue_certificate(made.authority, order).value();
    order.dns_names.clear();
    order.addresses.clear();
    order.common_name = "jane";
    order.organizations = {"system:masters", "staff"};
    made.client = issue_certificate(made.authority, order).value();
    made.other_client = issue_certificate(made.other_authority, order).value();
    return made;
  }();
  return kMade;
}

TlsServerSettings server_tls() {
  TlsServerSettings settings;
  settings.certificate = certificates().server;
  return settings;
}

TlsClientSettings client_tls() {
  TlsClientSettings settings;
  settings.ca_pem = certificates().authority.certificate_pem;
  return settings;
}

Result<HttpResponse> send(HttpClient& client, HttpCall call) {
  auto answered = std::make_shared<std::promise<Result<HttpResponse>>>();
  std::future<Result<HttpResponse>> answer = answered->get_future();
  client.send(std::move(call),
              [answered](Result<HttpResponse> result) { answered->set_value(std::move(result)); });
  if (answer.wait_for(kPatience) != std::future_status::ready)
    return fail(ErrorKind::kInternal, "the client never called back");
  return answer.get();
}

HttpCall get(const std::string& url) {
  HttpCall call;
  call.url = url;
  return call;
}

HttpClientOptions plain_options() {
  HttpClientOptions options;
  options.proxy = "-";
  return options;
}

std::unique_ptr<HttpServer> start(HttpServerOptions options, HttpHandler handler) {
  Result<std::unique_ptr<HttpServer>> server =
      HttpServer::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server.has_value()) << server.error().message;
  return std::move(server.value());
}

std::string url(const HttpServer& server, std::string_view path, std::string_view scheme) {
  return std::string(scheme) + "://" + server.address() + std::string(path);
}

HttpStreamCallbacks StreamLog::callbacks() {
  HttpStreamCallbacks callbacks;
  callbacks.begin = [this](int status, HttpHeaders headers) {
    MutexLock lock(mutex_);
    status_ = status;
    headers_ = std::move(headers);
    changed_.notify_all();
  };
  callbacks.chunk = [this](std::string_view chunk) {
    MutexLock lock(mutex_);
    text_ += chunk;
    changed_.notify_all();
  };
  callbacks.end = [this](Result<void> result) {
    MutexLock lock(mutex_);
    ended_ = std::move(result);
    changed_.notify_all();
  };
  return callbacks;
}

template <typename Ready>
bool StreamLog::wait_until(Ready ready) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  MutexLock lock(mutex_);
  while (!ready()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    changed_.wait_until(mutex_, deadline);
  }
  return true;
}

int StreamLog::status() {
  wait_until([this]() REQUIRES(mutex_) { return status_ != 0 || ended_; });
  MutexLock lock(mutex_);
  return status_;
}

bool StreamLog::wait_for(std::string_view text) {
  return wait_until([this, text]()
                        REQUIRES(mutex_) { return text_.find(text) != std::string::npos; });
}

bool StreamLog::wait_for_bytes(std::size_t size) {
  return wait_until([this, size]() REQUIRES(mutex_) { return text_.size() >= size; });
}

Result<void> StreamLog::ended() {
  if (!wait_until([this]() REQUIRES(mutex_) { return ended_.has_value(); }))
    return fail(ErrorKind::kInternal, "the stream never ended");
  MutexLock lock(mutex_);
  return *ended_;
}

std::string StreamLog::text() {
  MutexLock lock(mutex_);
  return text_;
}

HttpHeaders StreamLog::headers() {
  MutexLock lock(mutex_);
  return headers_;
}

RawSocket::RawSocket(std::uint16_t port, int receive_buffer)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  if (receive_buffer > 0)
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  const timeval patience{kPatience.count(), 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

std::unique_ptr<RawSocket> RawSocket::of(int socket) {
  std::unique_ptr<RawSocket> taken(new RawSocket());
  taken->socket_ = socket;
  return taken;
}

RawSocket::~RawSocket() { ::close(socket_); }

void RawSocket::FreeTls::operator()(ssl_st* tls) const { SSL_free(tls); }

std::string RawSocket::start_tls(const std::vector<std::string>& protocols) {
  std::signal(SIGPIPE, SIG_IGN);  // which OpenSSL's writes may cause
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  tls_.reset(SSL_new(context));
  SSL_CTX_free(context);
  std::string names;
  for (const std::string& name : protocols) names += static_cast<char>(name.size()) + name;
  SSL_set_alpn_protos(tls_.get(), reinterpret_cast<const unsigned char*>(names.data()),
                      static_cast<unsigned>(names.size()));
  SSL_set_fd(tls_.get(), socket_);
  if (SSL_connect(tls_.get()) != 1) return {};
  const unsigned char* chosen = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(tls_.get(), &chosen, &size);
  return {reinterpret_cast<const char*>(chosen), size};
}

bool RawSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = tls_ ? SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                              : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void RawSocket::finish_sending() { ::shutdown(socket_, SHUT_WR); }

bool RawSocket::receive_more() {
  std::array<char, 65536> buffer;
  const ssize_t size = tls_ ? SSL_read(tls_.get(), buffer.data(), static_cast<int>(buffer.size()))
                            : ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (size <= 0) return false;
  received_.append(buffer.data(), static_cast<std::size_t>(size));
  return true;
}

std::string RawSocket::receive_until(std::string_view end) {
  for (;;) {
    const std::size_t found = received_.find(end);
    if (found != std::string::npos) {
      std::string result = received_.substr(0, found + end.size());
      received_.erase(0, found + end.size());
      return result;
    }
    if (!receive_more()) return std::exchange(received_, {});
  }
}

std::string RawSocket::receive_all() {
  while (receive_more()) {
  }
  return std::exchange(received_, {});
}

RawListener::RawListener() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
}

RawListener::~RawListener() { ::close(listener_); }

std::string RawListener::url() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  return "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
}

std::unique_ptr<RawSocket> RawListener::accept() {
  return RawSocket::of(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
}

}  // namespace berth::net::testing
