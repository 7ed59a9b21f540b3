#include "net/testing/http2_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <string_view>

#include "net/freed.h"
#include "net/testing/loopback.h"
#include "net/tls_context.h"

namespace berth::net::testing {
namespace {

using Ssl = std::unique_ptr<SSL, Freed<SSL_free>>;
using Session = std::unique_ptr<nghttp2_session, Freed<nghttp2_session_del>>;

std::string text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

int choose_http2(SSL*, const unsigned char** chosen, unsigned char* size,
                 const unsigned char* offered, unsigned offered_size, void*) {
  // Outlives the call: what is chosen points into it.
  static constexpr std::array<unsigned char, 3> kHttp2 = {2, 'h', '2'};
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, kHttp2.data(), kHttp2.size(), offered, offered_size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

class Http2Server::Connection final : public Http2Peer {
 public:
  Connection(int socket, int number, TlsServerSettings tls, const Http2Server& server)
      : server_(server),
        socket_(socket),
        number_(number),
        tls_(std::move(tls)),
        thread_("http2", [this] { run(); }) {}
  ~Connection() override {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  void respond(std::int32_t stream, int status, const std::string& body) override {
    start(stream, status);
    write(stream, body, true);
  }
  void begin(std::int32_t stream, const std::string& piece) override {
    start(stream, 200);
    write(stream, piece, false);
  }
  void write(std::int32_t stream, const std::string& piece, bool last) override {
    answers_[stream].body += piece;
    answers_[stream].last = last;
    nghttp2_session_resume_data(session_.get(), stream);
  }
  void inform(std::int32_t stream, int status) override {
    const std::string code = std::to_string(status);
    const nghttp2_nv field = pair(":status", code);
    nghttp2_submit_headers(session_.get(), NGHTTP2_FLAG_NONE, stream, nullptr, &field, 1, nullptr);
  }
  void reset(std::int32_t stream, std::uint32_t code) override {
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, stream, code);
  }
  void goodbye(std::int32_t last_stream, std::uint32_t code) override {
    nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE, last_stream, code, nullptr, 0);
  }
  void say(const std::string& bytes) override { raw_ += bytes; }
  void close() override { closing_ = true; }

 private:
  struct Answer {
    std::string body;
    std::size_t sent = 0;
    bool last = false;
  };

  static nghttp2_nv pair(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view from) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(from.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  void start(std::int32_t stream, int status) {
    const std::string code = std::to_string(status);
    const std::string number = std::to_string(number_);
    const std::array<nghttp2_nv, 3> fields = {
        pair(":status", code), pair("content-type", "text/plain"), pair("x-connection", number)};
    nghttp2_data_provider body{};
    body.source.ptr = this;
    body.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size,
                            std::uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
      Answer& answer = static_cast<Connection*>(source->ptr)->answers_[id];
      const std::size_t now = std::min(size, answer.body.size() - answer.sent);
      std::memcpy(into, answer.body.data() + answer.sent, now);
      answer.sent += now;
      if (answer.sent == answer.body.size() && answer.last)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
      else if (now == 0)
        return NGHTTP2_ERR_DEFERRED;
      return static_cast<ssize_t>(now);
    };
    nghttp2_submit_response(session_.get(), stream, fields.data(), fields.size(), &body);
  }

  void make_session() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                      std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                      std::uint8_t, void* user) {
          Http2Request& request = static_cast<Connection*>(user)->requests_[frame->hd.stream_id];
          const std::string key = text(name, name_size);
          if (key == ":method") request.method = text(value, value_size);
          if (key == ":path") request.path = text(value, value_size);
          if (key == ":authority") request.authority = text(value, value_size);
          request.headers.add(key, text(value, value_size));
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                      std::size_t size, void* user) {
          static_cast<Connection*>(user)->requests_[id].body += text(data, size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
          if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA)
            static_cast<Connection*>(user)->complete_.push_back(frame->hd.stream_id);
          return 0;
        });
    nghttp2_session* made = nullptr;
    nghttp2_session_server_new(&made, callbacks, this);
    session_.reset(made);
    nghttp2_session_callbacks_del(callbacks);
    const std::array<nghttp2_settings_entry, 2> settings = {
        {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, server_.most_streams_},
         {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}}};
    nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  }

  bool send_all() {
    for (;;) {
      const std::uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
      if (size < 0) return false;
      if (size == 0) break;
      if (SSL_write(ssl_.get(), data, static_cast<int>(size)) <= 0) return false;
    }
    if (raw_.empty()) return true;
    const bool sent = SSL_write(ssl_.get(), raw_.data(), static_cast<int>(raw_.size())) > 0;
    raw_.clear();
    return sent;
  }

  void serve() {
    make_session();
    std::array<unsigned char, 16384> buffer{};
    while (!closing_ && send_all()) {
      const int got = SSL_read(ssl_.get(), buffer.data(), static_cast<int>(buffer.size()));
      if (got <= 0) return;
      if (nghttp2_session_mem_recv(session_.get(), buffer.data(), static_cast<std::size_t>(got)) <
          0)
        return;
      for (const std::int32_t stream : std::exchange(complete_, {})) {
        Http2Request& request = requests_[stream];
        request.stream = stream;
        request.connection = number_;
        request.peer = peer_;
        server_.handler_(*this, request);
      }
    }
  }

  void run() {
    // A client that has gone is an error of the write, and no reason to die.
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
    const auto context = TlsServerContext::make(tls_).value();
    ssl_.reset(context->new_connection());
    SSL_CTX_set_alpn_select_cb(SSL_get_SSL_CTX(ssl_.get()), &choose_http2, nullptr);
    SSL_set_fd(ssl_.get(), socket_);
    if (SSL_accept(ssl_.get()) == 1) {
      context->identify(*ssl_, std::nullopt, peer_);
      serve();
    }
    ::shutdown(socket_, SHUT_RDWR);
  }

  const Http2Server& server_;
  const int socket_;
  const int number_;
  const TlsServerSettings tls_;
  HttpPeer peer_;
  Ssl ssl_;
  Session session_;
  std::map<std::int32_t, Http2Request> requests_;
  std::map<std::int32_t, Answer> answers_;
  std::vector<std::int32_t> complete_;
  std::string raw_;
  bool closing_ = false;
  Thread thread_;  // last: it uses all of the above
};

Http2Server::Http2Server(Handler handler, std::uint32_t most_streams)
    : handler_(std::move(handler)), most_streams_(most_streams), tls_(server_tls()) {
  listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = Thread("http2-accept", [this] { accept_all(); });
}

Http2Server::~Http2Server() {
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  ::close(listener_);
}

void Http2Server::accept_all() {
  for (;;) {
    const int socket = ::accept(listener_, nullptr, nullptr);
    if (socket < 0) return;
    MutexLock lock(mutex_);
    const int number = static_cast<int>(connections_.size()) + 1;
    connections_.push_back(std::make_unique<Connection>(socket, number, tls_, *this));
  }
}

void Http2Server::set_tls(TlsServerSettings settings) {
  MutexLock lock(mutex_);
  tls_ = std::move(settings);
}

std::string Http2Server::url(const std::string& path) const {
  return "https://127.0.0.1:" + std::to_string(port_) + path;
}

int Http2Server::connections() const {
  MutexLock lock(mutex_);
  return static_cast<int>(connections_.size());
}

}  // namespace berth::net::testing
