#include "net/http_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "net/http_protocol.h"

namespace berth::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

// A deadline that can be moved; what was set before no longer counts.
class Deadline {
 public:
  explicit Deadline(asio::io_context& context) : timer_(context) {}

  template <typename Action>
  void set(Duration delay, Action action) {
    const std::uint64_t turn = ++turn_;
    timer_.expires_after(delay);
    timer_.async_wait([this, turn, action = std::move(action)](const ErrorCode& error) {
      if (!error && turn == turn_) action();
    });
  }
  void clear() {
    ++turn_;
    timer_.cancel();
  }

 private:
  asio::steady_timer timer_;
  std::uint64_t turn_ = 0;
};

// How much is read from a client that is refused, so that the answer reaches it: to close with
// input unread would make the system take back what was sent last.
constexpr std::size_t kLingerBytes = 1 << 20;

class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::io_context& context, tcp::socket socket, ConnectionSlots::Id slot,
             HttpServerState& state, std::shared_ptr<const TlsServerContext> tls, Closed closed)
      : context_(context),
        state_(state),
        limits_(state.options.limits),
        slot_(slot),
        closed_callback_(std::move(closed)),
        socket_(std::move(socket)),
        tls_context_(std::move(tls)),
        read_deadline_(context),
        write_deadline_(context) {}

  void start() override;
  void drain() override;
  void close() override;

 private:
  bool speaks_plain_http();
  void refuse_plain_http();
  void handshake();
  void begin(bool http2);
  HttpPeer judge_peer();
  void advance();
  void read();
  void on_read(const ErrorCode& error, std::size_t size);
  void flush();
  void on_written(const ErrorCode& error, std::size_t size);
  void linger();
  void discard_input();
  void close_after(Duration limit) {
    read_deadline_.set(limit, [self = shared_from_this()] { self->close(); });
  }

  asio::io_context& context_;
  HttpServerState& state_;
  const HttpLimits& limits_;
  const ConnectionSlots::Id slot_;
  const Closed closed_callback_;
  tcp::socket socket_;
  std::shared_ptr<const TlsServerContext> tls_context_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  std::string address_;
  std::unique_ptr<HttpProtocol> protocol_;  // none until the handshake is over
  std::optional<HttpProtocol::Patience> patience_;
  Deadline read_deadline_;
  Deadline write_deadline_;

  std::array<char, 16384> buffer_;
  bool reading_ = false;
  std::string writing_;
  std::size_t written_ = 0;
  bool write_pending_ = false;

  bool lingering_ = false;
  std::size_t lingered_bytes_ = 0;
  bool closed_ = false;
};

std::string address_text(const tcp::endpoint& endpoint) {
  asio::ip::address address = endpoint.address();
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  const std::string port = std::to_string(endpoint.port());
  return address.is_v6() ? "[" + address.to_string() + "]:" + port
                         : address.to_string() + ":" + port;
}

void Connection::start() {
  ErrorCode error;
  const tcp::endpoint remote = socket_.remote_endpoint(error);
  if (error) return close();
  address_ = address_text(remote);
  socket_.set_option(tcp::no_delay(true), error);
  socket_.set_option(asio::socket_base::keep_alive(true), error);
  if (!tls_context_) return begin(/*http2=*/false);

  close_after(limits_.head_timeout);
  socket_.async_wait(tcp::socket::wait_read, [self = shared_from_this()](const ErrorCode& failed) {
    if (self->closed_) return;
    if (failed) return self->close();
    if (self->speaks_plain_http()) return self->refuse_plain_http();
    self->handshake();
  });
}

// Whether the first bytes look like a request rather than like TLS; they are not taken yet.
bool Connection::speaks_plain_http() {
  constexpr std::array<std::string_view, 5> kBeginnings = {"GET /", "HEAD ", "POST ", "PUT /",
                                                           "OPTIO"};
  std::array<char, 5> first{};
  const auto size =
      ::recv(socket_.native_handle(), first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT);
  if (size <= 0) return false;
  const std::string_view seen(first.data(), static_cast<std::size_t>(size));
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return begin.starts_with(seen); });
}

// In the words of Go's server, which users of Kubernetes know.
void Connection::refuse_plain_http() {
  writing_ = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
  flush();
}

void Connection::handshake() {
  ssl_st* connection = tls_context_->new_connection();
  if (!connection) return close();
  tls_.emplace(socket_, connection);
  tls_->async_handshake(asio::ssl::stream_base::server,
                        [self = shared_from_this()](const ErrorCode& failed) {
                          if (self->closed_) return;
                          if (failed) return self->close();
                          self->begin(speaks_http2(*self->tls_->native_handle()));
                        });
}

void Connection::begin(bool http2) {
  read_deadline_.clear();
  if (state_.draining) return linger();
  // An exchange may be held by any code; it must hold neither connection nor worker once these end.
  HttpLink link{
      .state = state_,
      .peer = [this] { return judge_peer(); },
      .set_busy = [this](bool busy) { state_.slots.set_busy(slot_, busy); },
      .wake =
          [context = &context_, connection = weak_from_this()](std::int32_t stream) {
            asio::post(*context, [connection, stream] {
              const auto self = connection.lock();
              if (!self || self->closed_ || self->lingering_) return;
              self->protocol_->answered(stream);
              self->advance();
            });
          },
  };
  protocol_ = http2 ? make_http2_protocol(std::move(link)) : make_http1_protocol(std::move(link));
  advance();
}

// For every request anew: certificates expire, and authorities are taken back.
HttpPeer Connection::judge_peer() {
  HttpPeer peer;
  peer.address = address_;
  if (!tls_) return peer;
  peer.tls = true;
  std::shared_ptr<const TlsServerContext> current;
  {
    MutexLock lock(state_.mutex);
    current = state_.tls;
  }
  std::optional<WallTime> now;
  if (state_.options.wall_clock) now = state_.options.wall_clock();
  current->identify(*tls_->native_handle(), now, peer);
  return peer;
}

// Does what the protocol needs, after any event.
void Connection::advance() {
  if (closed_ || lingering_) return;
  if (protocol_->end() != HttpProtocol::End::kBroken) flush();
  if (closed_ || lingering_) return;
  if (protocol_->end() == HttpProtocol::End::kBroken) return close();
  if (protocol_->wants_input()) read();
  if (patience_ == protocol_->patience()) return;
  patience_ = protocol_->patience();
  if (!patience_) return read_deadline_.clear();
  read_deadline_.set(patience_->limit, [self = shared_from_this()] {
    self->protocol_->timed_out();
    self->advance();
  });
}

void Connection::read() {
  if (reading_ || closed_) return;
  reading_ = true;
  auto done = [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
    self->reading_ = false;
    if (!self->closed_) self->on_read(error, size);
  };
  if (tls_ && !lingering_)
    tls_->async_read_some(asio::buffer(buffer_), std::move(done));
  else
    socket_.async_read_some(asio::buffer(buffer_), std::move(done));
}

void Connection::on_read(const ErrorCode& error, std::size_t size) {
  if (lingering_) {
    lingered_bytes_ += size;
    if (error) return close();
    // To close now would reset a client that is still sending, before it has read the answer.
    if (lingered_bytes_ > kLingerBytes) return close_after(limits_.close_timeout);
    return discard_input();
  }
  if (error == asio::error::eof && !tls_)
    protocol_->client_finished();
  else if (error)
    return close();
  else
    protocol_->receive({buffer_.data(), size});
  advance();
}

void Connection::flush() {
  if (write_pending_ || closed_) return;
  if (written_ == writing_.size()) {
    written_ = 0;
    writing_ = protocol_ ? protocol_->next_output() : std::string();
    if (writing_.empty()) {
      write_deadline_.clear();
      const bool finished = !protocol_ || protocol_->end() == HttpProtocol::End::kFinished;
      return finished ? linger() : void();
    }
  }
  write_pending_ = true;
  write_deadline_.set(limits_.write_timeout, [self = shared_from_this()] { self->close(); });
  auto done = [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
    self->write_pending_ = false;
    if (!self->closed_) self->on_written(error, size);
  };
  const auto rest = asio::buffer(writing_.data() + written_, writing_.size() - written_);
  if (tls_)
    tls_->async_write_some(rest, std::move(done));
  else
    socket_.async_write_some(rest, std::move(done));
}

void Connection::on_written(const ErrorCode& error, std::size_t size) {
  if (error) return close();
  written_ += size;
  if (!protocol_) return flush();
  protocol_->sent(size);
  advance();
}

// Closes in good order: signals the end of the output, and waits a little for the other side to do
// so, too.
void Connection::linger() {
  if (closed_ || lingering_) return;
  lingering_ = true;
  close_after(limits_.close_timeout);
  if (!tls_) return discard_input();
  tls_->async_shutdown([self = shared_from_this()](const ErrorCode& error) {
    if (self->closed_) return;
    // An error: the client was still sending.
    if (error) return self->discard_input();
    self->close();
  });
}

void Connection::discard_input() {
  ErrorCode ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  read();
}

void Connection::drain() {
  if (!protocol_) return;  // the handshake, which will see that the server stops
  protocol_->drain();
  advance();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Connection> self = shared_from_this();
  read_deadline_.clear();
  write_deadline_.clear();
  ErrorCode ignored;
  socket_.close(ignored);
  if (protocol_) protocol_->lost();
  closed_callback_();
}

}  // namespace

std::shared_ptr<HttpConnection> make_connection(asio::io_context& context, int socket,
                                                ConnectionSlots::Id slot, HttpServerState& state,
                                                HttpConnection::Closed closed) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  tcp::socket adopted(context);
  ErrorCode error;
  adopted.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), socket, error);
  if (error) return nullptr;
  std::shared_ptr<const TlsServerContext> tls;
  {
    MutexLock lock(state.mutex);
    tls = state.tls;
  }
  return std::make_shared<Connection>(context, std::move(adopted), slot, state, std::move(tls),
                                      std::move(closed));
}

}  // namespace berth::net
