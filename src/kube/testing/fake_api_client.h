// FakeApiClient: the API server that tests of this room talk to. It keeps every call, and answers
// them from a script, by a function, or by the test's hand at a moment of its choice.
//
//   FakeApiClient client(loop);
//   client.script(answered(R"({"kind":"Status"})"));   // the next call gets this,
//   client.script(refused(409, "Conflict", "..."));    // the one after it that
//   client.set_responder([](const ApiCall& call) { … return std::optional<ApiResult>(); });
//   …
//   client.calls().at(0).path;                         // what was asked, in order
//   client.answer(no_answer("connection refused"));    // by hand: the oldest that still waits
//
// The script goes first, then the function; a call for which neither has anything waits for the
// hand. All answers come through the loop, as they do in life: run it (loop.run_until(loop.now()))
// to let them arrive; time does not move for them.
//
// Streams are fed by the test: client.stream_at(0).begin(200), .chunk("…"), .end(). World thread
// only; the callbacks run where the test calls.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "kube/api_client.h"

namespace berth::kube::testing {

// ---- answers ----------------------------------------------------------------------------------

inline ApiResult answered(std::string body = "{}", int code = 200,
                          std::string content_type = "application/json") {
  return ApiAnswer{code, std::move(content_type), std::move(body)};
}

inline ErrorKind kind_of(int code) {
  switch (code) {
    case 404: return ErrorKind::kNotFound;
    case 409: return ErrorKind::kConflict;
    case 410: return ErrorKind::kGone;
    case 408:
    case 504: return ErrorKind::kTimeout;
    case 429:
    case 503: return ErrorKind::kUnavailable;
    case 400:
    case 422: return ErrorKind::kInvalid;
    case 401:
    case 403: return ErrorKind::kForbidden;
    default: return ErrorKind::kInternal;
  }
}

// The server says no: with a Status of this code.
inline ApiResult refused(int code, std::string reason, std::string message) {
  ApiFailure failure{{kind_of(code), message}, {}};
  failure.status.status = "Failure";
  failure.status.code = code;
  failure.status.reason = std::move(reason);
  failure.status.message = std::move(message);
  return std::unexpected(std::move(failure));
}

// Nobody answers.
inline ApiResult no_answer(std::string message, ErrorKind kind = ErrorKind::kUnavailable) {
  return std::unexpected(ApiFailure{{kind, std::move(message)}, {}});
}

// ---- the client -------------------------------------------------------------------------------

class FakeApiClient final : public ApiClient {
 public:
  explicit FakeApiClient(Loop& loop, BodyFormat format = BodyFormat::kJson)
      : loop_(loop), format_(format) {}

  // ---- calls

  // For the next call that has none yet; those before it first.
  void script(ApiResult answer) { script_.push_back(std::move(answer)); }
  // Nothing: the call waits for the test's hand.
  using Responder = std::function<std::optional<ApiResult>(const ApiCall&)>;
  void set_responder(Responder responder) { responder_ = std::move(responder); }

  // All that were made, also those that were given up.
  const std::vector<ApiCall>& calls() const { return calls_; }
  // "POST /api/v1/…", one for each call.
  std::vector<std::string> requests() const {
    std::vector<std::string> lines;
    for (const ApiCall& call : calls_) lines.push_back(call.method + " " + call.path);
    return lines;
  }
  // Of those that wait for the test's hand: oldest first.
  std::size_t waiting() const { return waiting_.size(); }
  const ApiCall& waiting_call(std::size_t index = 0) const { return waiting_.at(index)->call; }
  void answer(ApiResult result, std::size_t index = 0) {
    const std::shared_ptr<Waiting> chosen = waiting_.at(index);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
    deliver(chosen, std::move(result));
  }
  // Calls whose task was destroyed, or whose token was cancelled, before they had an answer.
  std::size_t given_up() const { return given_up_; }

  // ---- streams

  class Stream {
   public:
    const ApiCall& call() const { return call_; }
    bool ended() const { return ended_; }

    void begin(int code = 200, std::string content_type = "application/json") {
      if (callbacks_.begin) callbacks_.begin(code, {{"Content-Type", std::move(content_type)}});
    }
    void chunk(std::string_view bytes) {
      BERTH_CHECK(!ended_);
      if (callbacks_.chunk && !bytes.empty()) callbacks_.chunk(bytes);
    }
    void end(Result<void> how = {}) {
      if (std::exchange(ended_, true)) return;
      if (callbacks_.end) callbacks_.end(std::move(how));
    }

   private:
    friend class FakeApiClient;
    Stream(ApiCall call, net::HttpStreamCallbacks callbacks)
        : call_(std::move(call)), callbacks_(std::move(callbacks)) {}
    ApiCall call_;
    net::HttpStreamCallbacks callbacks_;
    bool ended_ = false;
  };
  // In the order in which they were begun; those that ended stay.
  std::size_t streams() const { return streams_.size(); }
  Stream& stream_at(std::size_t index) { return *streams_.at(index); }
  Stream& last_stream() { return *streams_.back(); }

  // ---- ApiClient

  Task<ApiResult> call(ApiCall call, CancelToken cancel = {}) override {
    const std::shared_ptr<Waiting> waiting = begin_call(std::move(call));
    const GivenUp given_up{*this, waiting};
    const CancelToken::Registration cancelling = cancel.on_cancel([waiting, cancel] {
      waiting->answer.set(no_answer(cancel.cause(), ErrorKind::kCancelled));
    });
    ApiResult result = co_await waiting->answer;
    co_return result;
  }

  net::HttpCallId stream(ApiCall call, net::HttpStreamCallbacks callbacks) override {
    streams_.push_back(std::shared_ptr<Stream>(new Stream(std::move(call), std::move(callbacks))));
    return streams_.size();
  }

  // Its `end` is called from the loop, as in life: not before this returns.
  void cancel(net::HttpCallId id) override {
    if (id == 0 || id > streams_.size()) return;
    loop_.post([cancelled = std::weak_ptr<Stream>(streams_[id - 1])] {
      if (const auto present = cancelled.lock())
        present->end(fail(ErrorKind::kCancelled, "cancelled"));
    });
  }

  BodyFormat format() const override { return format_; }

 private:
  struct Waiting {
    ApiCall call;
    Eventual<ApiResult> answer;
    bool arrived = false;
  };
  struct GivenUp {
    FakeApiClient& client;
    const std::shared_ptr<Waiting>& waiting;
    ~GivenUp() {
      if (waiting->arrived) return;
      ++client.given_up_;
      std::erase(client.waiting_, waiting);
    }
  };

  std::shared_ptr<Waiting> begin_call(ApiCall call) {
    calls_.push_back(call);
    const auto waiting = std::make_shared<Waiting>();
    waiting->call = std::move(call);
    std::optional<ApiResult> result;
    if (!script_.empty()) {
      result = std::move(script_.front());
      script_.pop_front();
    } else if (responder_) {
      result = responder_(waiting->call);
    }
    if (result) {
      deliver(waiting, *std::move(result));
    } else {
      waiting_.push_back(waiting);
    }
    return waiting;
  }

  void deliver(const std::shared_ptr<Waiting>& waiting, ApiResult result) {
    loop_.post([receiver = std::weak_ptr<Waiting>(waiting), result = std::move(result)]() mutable {
      const std::shared_ptr<Waiting> present = receiver.lock();
      if (!present || present->answer.is_set()) return;
      present->arrived = true;
      present->answer.set(std::move(result));
    });
  }

  Loop& loop_;
  const BodyFormat format_;
  std::deque<ApiResult> script_;
  Responder responder_;
  std::vector<ApiCall> calls_;
  std::vector<std::shared_ptr<Waiting>> waiting_;
  std::size_t given_up_ = 0;
  std::vector<std::shared_ptr<Stream>> streams_;
};

}  // namespace berth::kube::testing
