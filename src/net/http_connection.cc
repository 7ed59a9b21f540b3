#include "net/http_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "net/http_wire.h"

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

// While an answer is under way it goes on reading, to notice that the client has gone.
class Connection final : public HttpConnection, public std::enable_shared_from_this<Connection> {
 public:
  Connection(asio::io_context& context, tcp::socket socket, HttpServerState& state,
             std::shared_ptr<const TlsServerContext> tls, Closed closed)
      : context_(context),
        state_(state),
        options_(state.options),
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
  void next_request(Duration patience);
  void advance();
  void dispatch();
  void refuse(const HttpRefusal& refusal);
  void read();
  void on_read(const ErrorCode& error, std::size_t size);
  void pump();
  void flush();
  void on_written(const ErrorCode& error, std::size_t size);
  void finish();
  void linger();
  bool idle() const { return reader_ && !begun_; }
  void expect_progress(Duration patience) {
    read_deadline_.set(patience, [self = shared_from_this()] { self->too_late(); });
  }
  void too_late() {
    if (idle() && !lingering_)
      linger();
    else
      close();
  }

  asio::io_context& context_;
  HttpServerState& state_;
  const HttpServerOptions& options_;
  const Closed closed_callback_;
  tcp::socket socket_;
  std::shared_ptr<const TlsServerContext> tls_context_;
  std::optional<asio::ssl::stream<tcp::socket&>> tls_;
  HttpPeer peer_;
  Deadline read_deadline_;
  Deadline write_deadline_;

  std::array<char, 16384> buffer_;
  std::string input_;  // read, and not yet part of a request
  std::optional<HttpRequestReader> reader_;
  bool begun_ = false;  // the request that is being read
  bool reading_ = false;

  std::shared_ptr<HttpExchange> exchange_;  // the answer that is under way
  std::deque<std::string> output_;
  std::string writing_;
  std::size_t written_ = 0;
  bool write_pending_ = false;
  bool complete_ = false;  // after `output_` comes nothing more
  bool keep_alive_ = true;

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
  peer_.address = address_text(remote);
  socket_.set_option(tcp::no_delay(true), error);
  socket_.set_option(asio::socket_base::keep_alive(true), error);
  if (!tls_context_) return next_request(options_.limits.head_timeout);

  expect_progress(options_.limits.head_timeout);
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
  read_deadline_.clear();
  output_.emplace_back(
      "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
  complete_ = true;
  keep_alive_ = false;
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
                          self->peer_.tls = true;
                          self->tls_context_->identify(*self->tls_->native_handle(), self->peer_);
                          self->next_request(self->options_.limits.head_timeout);
                        });
}

void Connection::next_request(Duration patience) {
  if (*state_.draining && input_.empty()) return linger();
  reader_.emplace(options_.limits.head_bytes, options_.limits.body_bytes);
  begun_ = false;
  expect_progress(patience);
  advance();
}

void Connection::advance() {
  while (!input_.empty()) {
    if (!begun_) {
      begun_ = true;
      expect_progress(options_.limits.head_timeout);
    }
    const bool had_head = reader_->head_complete();
    const std::expected<std::size_t, HttpRefusal> used = reader_->put(input_);
    if (!used) return refuse(used.error());
    input_.erase(0, *used);
    if (reader_->complete()) return dispatch();
    if (reader_->head_complete()) expect_progress(options_.limits.body_timeout);
    if (!had_head && reader_->head_complete() && reader_->expects_continue() && input_.empty()) {
      output_.emplace_back("HTTP/1.1 100 Continue\r\n\r\n");
      flush();
    }
    if (*used == 0) break;
  }
  read();
}

void Connection::dispatch() {
  read_deadline_.clear();
  HttpAnswerForm form;
  form.http_1_0 = reader_->http_1_0();
  form.keep_alive = reader_->keep_alive();
  if (options_.wall_clock) form.date = http_date(options_.wall_clock());
  HttpRequest request = reader_->take();
  reader_.reset();
  form.head_only = request.method == "HEAD";
  request.peer = peer_;
  // The exchange may be held by anybody; it must hold neither connection nor worker once these end.
  auto wake = [context = &context_, connection = weak_from_this()] {
    asio::post(*context, [connection] {
      if (const auto self = connection.lock()) self->pump();
    });
  };
  exchange_ =
      std::make_shared<HttpExchange>(std::move(form), options_.limits.waiting_bytes,
                                     state_.error_response, state_.draining, std::move(wake));
  if (input_.size() < options_.limits.head_bytes) read();
  std::shared_ptr<HttpResponder> responder = make_responder(exchange_);
  try {
    state_.handler(std::move(request), responder);
  } catch (const std::exception& e) {
    responder->respond(state_.error_response(500, std::string("internal error: ") + e.what()));
  } catch (...) {
    responder->respond(state_.error_response(500, "internal error"));
  }
}

void Connection::refuse(const HttpRefusal& refusal) {
  read_deadline_.clear();
  HttpAnswerForm form;
  form.keep_alive = false;
  output_.push_back(response_bytes(state_.error_response(refusal.status, refusal.message), form));
  reader_.reset();
  complete_ = true;
  keep_alive_ = false;
  flush();
}

void Connection::read() {
  if (reading_ || closed_) return;
  reading_ = true;
  auto done = [self = shared_from_this()](const ErrorCode& error, std::size_t size) {
    self->reading_ = false;
    if (!self->closed_) self->on_read(error, size);
  };
  if (tls_)
    tls_->async_read_some(asio::buffer(buffer_), std::move(done));
  else
    socket_.async_read_some(asio::buffer(buffer_), std::move(done));
}

void Connection::on_read(const ErrorCode& error, std::size_t size) {
  if (lingering_) {
    lingered_bytes_ += size;
    if (error || lingered_bytes_ > options_.limits.body_bytes) return close();
    return read();
  }
  if (error) {
    // Who has said all that he wants to say may still listen; a watch is not for him.
    const bool may_listen = error == asio::error::eof && !tls_ && exchange_;
    if (!may_listen || exchange_->streaming()) return close();
    exchange_->client_finished();
    return;
  }
  input_.append(buffer_.data(), size);
  if (reader_)
    advance();
  else if (input_.size() < options_.limits.head_bytes)
    read();
}

void Connection::pump() {
  if (closed_ || !exchange_) return;
  HttpExchange::Output taken = exchange_->take();
  if (taken.cut) return close();
  for (std::string& piece : taken.pieces) output_.push_back(std::move(piece));
  complete_ = taken.complete;
  keep_alive_ = taken.keep_alive;
  flush();
}

void Connection::flush() {
  if (write_pending_ || closed_) return;
  if (written_ == writing_.size()) {
    // Small pieces go together: a packet, and in TLS a record, for each would be dear.
    constexpr std::size_t kTogether = 64 << 10;
    written_ = 0;
    writing_.clear();
    if (output_.empty()) {
      write_deadline_.clear();
      if (complete_) finish();
      return;
    }
    writing_ = std::move(output_.front());
    output_.pop_front();
    while (!output_.empty() && writing_.size() + output_.front().size() <= kTogether) {
      writing_ += output_.front();
      output_.pop_front();
    }
  }
  write_pending_ = true;
  write_deadline_.set(options_.limits.write_timeout,
                      [self = shared_from_this()] { self->close(); });
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
  if (exchange_) exchange_->written(size);
  flush();
}

void Connection::finish() {
  complete_ = false;
  if (exchange_) {
    exchange_->finished();
    exchange_.reset();
  }
  if (!keep_alive_) return linger();
  next_request(options_.limits.idle_timeout);
}

// Closes in good order: says that nothing more comes, and waits a little for the other side to do
// so, too. To close with input unread would make the system take back what was sent last.
void Connection::linger() {
  if (closed_ || lingering_) return;
  lingering_ = true;
  reader_.reset();
  expect_progress(options_.limits.close_timeout);
  if (tls_) {
    tls_->async_shutdown([self = shared_from_this()](const ErrorCode&) {
      if (self->closed_) return;
      ErrorCode ignored;
      self->socket_.shutdown(tcp::socket::shutdown_send, ignored);
      self->close();
    });
    return;
  }
  ErrorCode ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  read();
}

void Connection::drain() {
  if (exchange_)
    exchange_->drain();
  else if (idle())
    linger();
}

void Connection::close() {
  if (closed_) return;
  closed_ = true;
  const std::shared_ptr<Connection> self = shared_from_this();
  read_deadline_.clear();
  write_deadline_.clear();
  ErrorCode ignored;
  socket_.close(ignored);
  if (const std::shared_ptr<HttpExchange> exchange = std::exchange(exchange_, nullptr))
    exchange->client_gone();
  closed_callback_(self);
}

}  // namespace

std::shared_ptr<HttpConnection> make_connection(asio::io_context& context, int socket,
                                                HttpServerState& state,
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
  return std::make_shared<Connection>(context, std::move(adopted), state, std::move(tls),
                                      std::move(closed));
}

}  // namespace berth::net
