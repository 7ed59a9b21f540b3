#include "net/http_exchange.h"

#include <algorithm>
#include <utility>

namespace berth::net {
namespace {

class ExchangeResponder final : public HttpResponder {
 public:
  explicit ExchangeResponder(std::shared_ptr<HttpExchange> exchange)
      : exchange_(std::move(exchange)) {}
  ~ExchangeResponder() override { exchange_->abandon(); }

  void respond(HttpResponse response) override { exchange_->respond(std::move(response)); }
  void begin(int status, HttpHeaders headers) override {
    exchange_->begin(status, std::move(headers));
  }
  bool write(std::string chunk) override { return exchange_->write(std::move(chunk)); }
  void end() override { exchange_->end(); }
  void on_gone(std::function<void()> callback) override { exchange_->on_gone(std::move(callback)); }

 private:
  const std::shared_ptr<HttpExchange> exchange_;
};

}  // namespace

std::shared_ptr<HttpResponder> make_responder(std::shared_ptr<HttpExchange> exchange) {
  return std::make_shared<ExchangeResponder>(std::move(exchange));
}

HttpExchange::HttpExchange(HttpAnswerForm form, std::size_t max_waiting_bytes,
                           HttpErrorResponse error_response,
                           std::shared_ptr<const std::atomic<bool>> draining,
                           std::function<void()> wake)
    : max_waiting_bytes_(max_waiting_bytes),
      error_response_(std::move(error_response)),
      draining_(std::move(draining)),
      form_(std::move(form)),
      wake_(std::move(wake)) {}

void HttpExchange::wake() {
  if (woken_ || !wake_) return;
  woken_ = true;
  wake_();
}

void HttpExchange::put(std::string bytes) {
  if (bytes.empty() || !wake_) return;
  waiting_bytes_ += bytes.size();
  pieces_.push_back(std::move(bytes));
}

void HttpExchange::respond(HttpResponse response) {
  MutexLock lock(mutex_);
  if (state_ != State::kUnanswered) return;
  state_ = State::kComplete;
  if (*draining_) form_.keep_alive = false;
  put(response_bytes(response, form_));
  wake();
}

void HttpExchange::begin(int status, HttpHeaders headers) {
  MutexLock lock(mutex_);
  if (state_ != State::kUnanswered) return;
  state_ = State::kStreaming;
  if (gone_) {
    cut_ = true;
  } else {
    if (form_.http_1_0 || *draining_) form_.keep_alive = false;
    bodiless_ = form_.head_only || status == 204 || status == 304;
    put(stream_head_bytes(status, headers, form_));
  }
  wake();
}

bool HttpExchange::write(std::string chunk) {
  MutexLock lock(mutex_);
  if (state_ != State::kStreaming || gone_) return false;
  if (bodiless_ || chunk.empty()) return true;
  if (waiting_bytes_ > 0 && waiting_bytes_ + chunk.size() > max_waiting_bytes_) {
    cut_ = true;
    gone_ = true;
    pieces_.clear();
    wake();
    return false;
  }
  put(chunk_bytes(std::move(chunk), form_));
  wake();
  return true;
}

void HttpExchange::end() {
  MutexLock lock(mutex_);
  if (state_ != State::kStreaming) return;
  state_ = State::kComplete;
  if (!bodiless_ && !gone_) put(stream_end_bytes(form_));
  wake();
}

void HttpExchange::abandon() {
  HttpResponse response;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kComplete) return;
    if (state_ == State::kStreaming) {
      cut_ = true;
      wake();
      return;
    }
  }
  respond(error_response_(500, "the request was not answered"));
}

void HttpExchange::on_gone(std::function<void()> callback) {
  {
    MutexLock lock(mutex_);
    if (!gone_) {
      if (state_ != State::kComplete) on_gone_.swap(callback);
      return;
    }
  }
  callback();
}

HttpExchange::Output HttpExchange::take() {
  MutexLock lock(mutex_);
  woken_ = false;
  Output output;
  output.pieces.swap(pieces_);
  output.complete = state_ == State::kComplete;
  output.cut = cut_;
  output.keep_alive = form_.keep_alive;
  return output;
}

void HttpExchange::written(std::size_t bytes) {
  MutexLock lock(mutex_);
  waiting_bytes_ -= std::min(bytes, waiting_bytes_);
}

bool HttpExchange::streaming() const {
  MutexLock lock(mutex_);
  return state_ == State::kStreaming;
}

void HttpExchange::say_gone() {
  std::function<void()> callback;
  {
    MutexLock lock(mutex_);
    callback.swap(on_gone_);
  }
  if (callback) callback();
}

void HttpExchange::client_finished() {
  {
    MutexLock lock(mutex_);
    gone_ = true;
    form_.keep_alive = false;
  }
  say_gone();
}

void HttpExchange::client_gone() {
  {
    MutexLock lock(mutex_);
    gone_ = true;
    wake_ = nullptr;
    pieces_.clear();
  }
  say_gone();
}

void HttpExchange::finished() {
  std::function<void()> dropped;
  MutexLock lock(mutex_);
  wake_ = nullptr;
  dropped.swap(on_gone_);
}

void HttpExchange::drain() {
  {
    MutexLock lock(mutex_);
    form_.keep_alive = false;
    if (state_ != State::kStreaming) return;
    state_ = State::kComplete;
    if (!bodiless_ && !gone_) put(stream_end_bytes(form_));
    gone_ = true;
    wake();
  }
  say_gone();
}

}  // namespace berth::net
