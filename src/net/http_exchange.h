// One request and its answer, between the connection that it came on and the handler that answers
// it, whatever is spoken on that connection.
//
// The handler's side may be any thread and may outlive the connection, even the server; the
// connection's side is the thread that its socket belongs to. For http1_protocol.cc and
// http2_protocol.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread.h"
#include "net/http_message.h"
#include "net/http_wire.h"

namespace berth::net {

// The response when there is no answer by a handler: a status and a message.
using HttpErrorResponse = std::function<HttpResponse(int status, std::string message)>;

// What all streams of a server have been handed in and their clients have not taken. Any thread.
class StreamBudget {
 public:
  explicit StreamBudget(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // For a stream that holds `held` bytes already. False: they and these are more than is free.
  bool take(std::size_t bytes, std::size_t held) {
    const std::size_t used = used_.fetch_add(bytes) + bytes;
    if (used + held <= most_bytes_) return true;
    used_ -= bytes;
    return false;
  }
  void give_back(std::size_t bytes) { used_ -= bytes; }
  std::size_t used() const { return used_; }

 private:
  const std::size_t most_bytes_;
  std::atomic<std::size_t> used_ = 0;
};

class HttpExchange {
 public:
  // `wake` is called, under a lock, when there is something to take(). `head_only`: the request was
  // HEAD, so that no body is sent.
  HttpExchange(bool head_only, std::size_t max_waiting_bytes, std::shared_ptr<StreamBudget> budget,
               HttpErrorResponse error_response, std::function<void()> wake);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  // The handler's side; see HttpResponder.
  void read_body(std::size_t most_bytes, std::function<void(std::string)> done) EXCLUDES(mutex_);
  void respond(HttpResponse response) EXCLUDES(mutex_);
  void begin(int status, HttpHeaders headers) EXCLUDES(mutex_);
  bool write(std::string chunk) EXCLUDES(mutex_);
  void end() EXCLUDES(mutex_);
  void on_gone(std::function<void()> callback) EXCLUDES(mutex_);
  // No handler is left to answer: sends a 500, or ends a stream that is not complete.
  void abandon() EXCLUDES(mutex_);

  // The connection's side. What the handler throws, here or when it gets the body, becomes an
  // answer.
  static void answer_with(const std::shared_ptr<HttpExchange>& exchange, const HttpHandler& handler,
                          HttpRequest request);
  struct Head {
    int status = 200;
    HttpHeaders headers;
    std::optional<std::size_t> length;  // of the body; none: it comes in pieces
  };
  struct Output {
    std::optional<Head> head;
    std::vector<std::string> pieces;         // of the body
    bool complete = false;                   // these were the last
    bool cut = false;                        // the answer ends here, without having been completed
    std::optional<std::size_t> body_wanted;  // the handler needs the body, if it is not longer
  };
  Output take() EXCLUDES(mutex_);
  void written(std::size_t body_bytes) EXCLUDES(mutex_);
  bool streaming() const EXCLUDES(mutex_);
  void body_complete(std::string body) EXCLUDES(mutex_);
  // The request turned out not to be one: this is the answer, unless the handler had one.
  void refuse(const HttpRefusal& refusal) EXCLUDES(mutex_);
  // Half-closed client: it sends no more, but may still read a short answer.
  void client_finished() EXCLUDES(mutex_);
  void client_gone() EXCLUDES(mutex_);
  // The answer was sent: the exchange no longer uses the connection.
  void finished() EXCLUDES(mutex_);
  // The server stops: a stream ends here, a short answer may still come.
  void drain() EXCLUDES(mutex_);

 private:
  enum class State : std::uint8_t { kUnanswered, kStreaming, kComplete };

  void put(std::string bytes) REQUIRES(mutex_);
  void give_back(std::size_t bytes) REQUIRES(mutex_);
  void wake() REQUIRES(mutex_);
  void say_gone() EXCLUDES(mutex_);
  void call(const std::function<void()>& handler) EXCLUDES(mutex_);

  const bool head_only_;
  const std::size_t max_waiting_bytes_;
  const std::shared_ptr<StreamBudget> budget_;
  const HttpErrorResponse error_response_;

  mutable Mutex mutex_;
  State state_ GUARDED_BY(mutex_) = State::kUnanswered;
  bool gone_ GUARDED_BY(mutex_) = false;  // no stream has a reader any more
  bool cut_ GUARDED_BY(mutex_) = false;
  bool bodiless_ GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ GUARDED_BY(mutex_);  // none: the connection is gone
  bool woken_ GUARDED_BY(mutex_) = false;
  std::function<void()> on_gone_ GUARDED_BY(mutex_);
  std::optional<std::size_t> body_wanted_ GUARDED_BY(mutex_);
  std::function<void(std::string)> on_body_ GUARDED_BY(mutex_);
  std::optional<Head> head_ GUARDED_BY(mutex_);
  std::vector<std::string> pieces_ GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;  // of a stream
};

}  // namespace berth::net
