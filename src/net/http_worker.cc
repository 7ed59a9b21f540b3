#include "net/http_worker.h"

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <utility>

#include "net/http_connection.h"

namespace berth::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;

}  // namespace

struct HttpWorker::Parts {
  explicit Parts(HttpServerState& shared) : state(shared) {}

  void forget(ConnectionSlots::Id slot);
  void accept_next();
  void stop_listening();

  HttpServerState& state;
  // One thread runs it, so what follows needs no lock.
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  boost::unordered_flat_map<ConnectionSlots::Id, std::shared_ptr<HttpConnection>> connections;
  std::optional<tcp::acceptor> acceptor;
  std::function<void(int)> accepted;
  asio::steady_timer accept_again{context};
  asio::steady_timer grace{context};
};

namespace {

void discard(int socket, ConnectionSlots::Id slot, HttpServerState& state) {
  if (socket >= 0) ::close(socket);
  state.slots.leave(slot);
  MutexLock lock(state.mutex);
  --state.connections;
  state.changed.notify_all();
}

tcp protocol_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  return address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4();
}

}  // namespace

void HttpWorker::Parts::forget(ConnectionSlots::Id slot) {
  connections.erase(slot);
  discard(-1, slot, state);
}

void HttpWorker::Parts::accept_next() {
  acceptor->async_accept([this](const ErrorCode& error, tcp::socket socket) {
    if (!acceptor) return;
    if (!error) {
      ErrorCode failed;
      const int handle = socket.release(failed);
      if (!failed) accepted(handle);
      return accept_next();
    }
    // Most likely there are too many open files: better in a moment.
    accept_again.expires_after(std::chrono::milliseconds(50));
    accept_again.async_wait([this](const ErrorCode& cancelled) {
      if (!cancelled && acceptor) accept_next();
    });
  });
}

void HttpWorker::Parts::stop_listening() {
  if (!acceptor) return;
  acceptor.reset();
  accept_again.cancel();
  MutexLock lock(state.mutex);
  state.listening = false;
  state.changed.notify_all();
}

HttpWorker::HttpWorker(std::string thread_name, HttpServerState& state)
    : parts_(std::make_unique<Parts>(state)),
      thread_(std::move(thread_name), [parts = parts_.get()] { parts->context.run(); }) {}

HttpWorker::~HttpWorker() {
  asio::post(parts_->context, [parts = parts_.get()] {
    parts->grace.cancel();
    parts->work.reset();
  });
  thread_.join();
}

void HttpWorker::adopt(int socket, ConnectionSlots::Id slot) {
  asio::post(parts_->context, [parts = parts_.get(), socket, slot] {
    if (parts->state.draining) return discard(socket, slot, parts->state);
    const std::shared_ptr<HttpConnection> connection = make_connection(
        parts->context, socket, slot, parts->state, [parts, slot] { parts->forget(slot); });
    if (!connection) return discard(socket, slot, parts->state);
    parts->connections.emplace(slot, connection);
    connection->start();
  });
}

void HttpWorker::close(ConnectionSlots::Id slot) {
  asio::post(parts_->context, [parts = parts_.get(), slot] {
    const auto found = parts->connections.find(slot);
    if (found == parts->connections.end()) return;
    const std::shared_ptr<HttpConnection> connection = found->second;
    connection->close();
  });
}

void HttpWorker::listen(int socket, std::function<void(int)> accepted) {
  asio::post(parts_->context, [parts = parts_.get(), socket, accepted = std::move(accepted)] {
    parts->accepted = accepted;
    parts->acceptor.emplace(parts->context);
    ErrorCode error;
    parts->acceptor->assign(protocol_of(socket), socket, error);
    if (error) return parts->stop_listening();
    parts->accept_next();
  });
}

void HttpWorker::drain(Duration grace) {
  asio::post(parts_->context, [parts = parts_.get(), grace] {
    parts->stop_listening();
    const auto drained = parts->connections;  // it changes as they close
    for (const auto& [slot, connection] : drained) connection->drain();
    parts->grace.expires_after(grace);
    parts->grace.async_wait([parts](const ErrorCode& cancelled) {
      if (cancelled) return;
      const auto late = parts->connections;
      for (const auto& [slot, connection] : late) connection->close();
    });
  });
}

}  // namespace berth::net
