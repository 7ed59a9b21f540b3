#include "net/http_exchange.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace berth::net {
namespace {

class ExchangeResponder final : public HttpResponder {
 public:
  explicit ExchangeResponder(std::shared_ptr<HttpExchange> exchange)
      : exchange_(std::move(exchange)) {}
  ~ExchangeResponder() override { exchange_->abandon(); }

  void read_body(std::size_t most_bytes, std::function<void(std::string)> done) override {
    exchange_->read_body(most_bytes, std::move(done));
  }
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

void HttpExchange::answer_with(const std::shared_ptr<HttpExchange>& exchange,
                               const HttpHandler& handler, HttpRequest request) {
  const auto responder = std::make_shared<ExchangeResponder>(exchange);
  exchange->call([&] { handler(std::move(request), responder); });
}

void HttpExchange::call(const std::function<void()>& handler) {
  try {
    handler();
  } catch (const std::exception& e) {
    respond(error_response_(500, std::string("internal error: ") + e.what()));
  } catch (...) {
    respond(error_response_(500, "internal error"));
  }
}

HttpExchange::HttpExchange(bool head_only, std::size_t max_waiting_bytes,
                           std::shared_ptr<StreamBudget> budget, HttpErrorResponse error_response,
                           std::function<void()> wake)
    : head_only_(head_only),
      max_waiting_bytes_(max_waiting_bytes),
      budget_(std::move(budget)),
      error_response_(std::move(error_response)),
      wake_(std::move(wake)) {}

HttpExchange::~HttpExchange() {
  MutexLock lock(mutex_);
  give_back(waiting_bytes_);
}

void HttpExchange::give_back(std::size_t bytes) {
  bytes = std::min(bytes, waiting_bytes_);
  waiting_bytes_ -= bytes;
  budget_->give_back(bytes);
}

void HttpExchange::wake() {
  if (woken_ || !wake_) return;
  woken_ = true;
  wake_();
}

void HttpExchange::put(std::string bytes) {
  if (!bytes.empty() && wake_) pieces_.push_back(std::move(bytes));
}

void HttpExchange::read_body(std::size_t most_bytes, std::function<void(std::string)> done) {
  MutexLock lock(mutex_);
  // A callback that is never called is dropped outside the lock: it may hold the responder.
  if (state_ != State::kUnanswered || gone_ || on_body_ || !wake_) return;
  on_body_.swap(done);
  body_wanted_ = most_bytes;
  wake();
}

void HttpExchange::body_complete(std::string body) {
  std::function<void(std::string)> done;
  {
    MutexLock lock(mutex_);
    done.swap(on_body_);
  }
  if (done) call([&] { done(std::move(body)); });
}

void HttpExchange::refuse(const HttpRefusal& refusal) {
  respond(error_response_(refusal.status, refusal.message));
  std::function<void(std::string)> dropped;
  MutexLock lock(mutex_);
  dropped.swap(on_body_);
}

void HttpExchange::respond(HttpResponse response) {
  MutexLock lock(mutex_);
  if (state_ != State::kUnanswered) return;
  state_ = State::kComplete;
  if (!wake_) return;
  head_ = Head{response.status, std::move(response.headers), response.body.size()};
  if (!head_only_ && !has_no_body(response.status)) put(std::move(response.body));
  wake();
}

void HttpExchange::begin(int status, HttpHeaders headers) {
  MutexLock lock(mutex_);
  if (state_ != State::kUnanswered) return;
  state_ = State::kStreaming;
  bodiless_ = head_only_ || has_no_body(status);
  if (gone_)
    cut_ = true;
  else
    head_ = Head{status, std::move(headers), std::nullopt};
  wake();
}

bool HttpExchange::write(std::string chunk) {
  MutexLock lock(mutex_);
  if (state_ != State::kStreaming || gone_) return false;
  if (bodiless_ || chunk.empty()) return true;
  if (!wake_) return true;
  const bool too_many = waiting_bytes_ > 0 && waiting_bytes_ + chunk.size() > max_waiting_bytes_;
  if (too_many || !budget_->take(chunk.size(), waiting_bytes_)) {
    cut_ = true;
    gone_ = true;
    pieces_.clear();
    give_back(waiting_bytes_);
    wake();
    return false;
  }
  waiting_bytes_ += chunk.size();
  put(std::move(chunk));
  wake();
  return true;
}

void HttpExchange::end() {
  MutexLock lock(mutex_);
  if (state_ != State::kStreaming) return;
  state_ = State::kComplete;
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
  output.head.swap(head_);
  output.pieces.swap(pieces_);
  output.complete = state_ == State::kComplete;
  output.cut = cut_;
  output.body_wanted.swap(body_wanted_);
  return output;
}

void HttpExchange::written(std::size_t body_bytes) {
  MutexLock lock(mutex_);
  give_back(body_bytes);
}

bool HttpExchange::streaming() const {
  MutexLock lock(mutex_);
  return state_ == State::kStreaming;
}

void HttpExchange::say_gone() {
  std::function<void()> callback;
  std::function<void(std::string)> dropped;
  {
    MutexLock lock(mutex_);
    callback.swap(on_gone_);
    dropped.swap(on_body_);
  }
  if (callback) callback();
}

void HttpExchange::client_finished() {
  {
    MutexLock lock(mutex_);
    gone_ = true;
  }
  say_gone();
}

void HttpExchange::client_gone() {
  {
    MutexLock lock(mutex_);
    gone_ = true;
    wake_ = nullptr;
    head_.reset();
    pieces_.clear();
    give_back(waiting_bytes_);
  }
  say_gone();
}

void HttpExchange::finished() {
  std::function<void()> dropped;
  std::function<void(std::string)> dropped_body;
  MutexLock lock(mutex_);
  wake_ = nullptr;
  give_back(waiting_bytes_);
  dropped.swap(on_gone_);
  dropped_body.swap(on_body_);
}

void HttpExchange::drain() {
  {
    MutexLock lock(mutex_);
    if (state_ != State::kStreaming) return;
    state_ = State::kComplete;
    gone_ = true;
    wake();
  }
  say_gone();
}

}  // namespace berth::net
