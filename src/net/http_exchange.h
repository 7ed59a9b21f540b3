// One request and its answer, between the connection that it came on and whoever answers it.
//
// The handler's side may be any thread and may outlive the connection, even the server; the
// connection's side is the thread that its socket belongs to. For http_connection.cc.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread.h"
#include "net/http_message.h"
#include "net/http_wire.h"

namespace berth::net {

// What the client is told when there is no answer by a handler: a status and a sentence.
using HttpErrorResponse = std::function<HttpResponse(int status, std::string message)>;

class HttpExchange {
 public:
  // `draining`: whether the server stops, so that an answer that begins now is the connection's
  // last. `wake` tells the connection that there is something to take(); called under a lock.
  HttpExchange(HttpAnswerForm form, std::size_t max_waiting_bytes, HttpErrorResponse error_response,
               std::shared_ptr<const std::atomic<bool>> draining, std::function<void()> wake);

  // The handler's side; see HttpResponder.
  void respond(HttpResponse response) EXCLUDES(mutex_);
  void begin(int status, HttpHeaders headers) EXCLUDES(mutex_);
  bool write(std::string chunk) EXCLUDES(mutex_);
  void end() EXCLUDES(mutex_);
  void on_gone(std::function<void()> callback) EXCLUDES(mutex_);
  // Nobody is left who could answer: a 500, or the end of a stream that is not complete.
  void abandon() EXCLUDES(mutex_);

  // The connection's side.
  struct Output {
    std::vector<std::string> pieces;
    bool complete = false;  // these were the last
    bool cut = false;       // the connection is to be closed at once
    bool keep_alive = true;
  };
  Output take() EXCLUDES(mutex_);
  void written(std::size_t bytes) EXCLUDES(mutex_);
  bool streaming() const EXCLUDES(mutex_);
  // The client will send nothing more; it may still want a short answer.
  void client_finished() EXCLUDES(mutex_);
  void client_gone() EXCLUDES(mutex_);
  // The answer was sent: the connection is of no more use to whoever holds this.
  void finished() EXCLUDES(mutex_);
  // The server stops: a stream ends here, a short answer may still come and is the last.
  void drain() EXCLUDES(mutex_);

 private:
  enum class State : std::uint8_t { kUnanswered, kStreaming, kComplete };

  void put(std::string bytes) REQUIRES(mutex_);
  void wake() REQUIRES(mutex_);
  void say_gone() EXCLUDES(mutex_);

  const std::size_t max_waiting_bytes_;
  const HttpErrorResponse error_response_;
  const std::shared_ptr<const std::atomic<bool>> draining_;

  mutable Mutex mutex_;
  HttpAnswerForm form_ GUARDED_BY(mutex_);
  State state_ GUARDED_BY(mutex_) = State::kUnanswered;
  bool gone_ GUARDED_BY(mutex_) = false;  // no stream has a reader any more
  bool cut_ GUARDED_BY(mutex_) = false;
  bool bodiless_ GUARDED_BY(mutex_) = false;
  std::function<void()> wake_ GUARDED_BY(mutex_);  // none: the connection is gone
  bool woken_ GUARDED_BY(mutex_) = false;
  std::function<void()> on_gone_ GUARDED_BY(mutex_);
  std::vector<std::string> pieces_ GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ GUARDED_BY(mutex_) = 0;
};

// What a handler gets.
std::shared_ptr<HttpResponder> make_responder(std::shared_ptr<HttpExchange> exchange);

}  // namespace berth::net
