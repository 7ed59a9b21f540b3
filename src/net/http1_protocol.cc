// HTTP/1.1: one request after the other.
#include <algorithm>
#include <deque>
#include <utility>

#include "net/http_protocol.h"
#include "net/http_wire.h"

namespace berth::net {
namespace {

// Read while an answer is under way, to notice that the client goes: the next request, or a body
// that no handler has asked for.
constexpr std::size_t kReadAheadBytes = 16 << 10;
// Small pieces go together: a packet, and in TLS a record, for each would be dear.
constexpr std::size_t kTogetherBytes = 64 << 10;

class Http1Protocol final : public HttpProtocol {
 public:
  explicit Http1Protocol(HttpLink link) : link_(std::move(link)), limits_(state().options.limits) {
    next_request(limits_.head_timeout);
  }

  void receive(std::string_view bytes) override;
  void client_finished() override;
  void answered(std::int32_t stream) override;
  void timed_out() override { end_ = idle() ? End::kFinished : End::kBroken; }
  void drain() override;
  void sent(std::size_t bytes) override;
  void lost() override;

  std::string next_output() override;
  bool wants_input() const override;
  End end() const override { return end_; }
  std::optional<Patience> patience() const override { return patience_; }

 private:
  // Of the body of an answer, with what HTTP adds to it.
  struct Piece {
    std::string bytes;
    std::size_t body_bytes = 0;
  };

  const HttpServerState& state() const { return link_.state; }
  bool idle() const { return !exchange_ && !begun_; }
  void wait(Duration limit) { patience_ = Patience{limit, ++turn_}; }

  void next_request(Duration limit);
  void read_head();
  void dispatch();
  void want_body(std::size_t most_bytes);
  void read_body();
  void refuse_body(const HttpRefusal& refusal);
  bool skip_body();
  void begin_answer(const HttpExchange::Head& head);
  void refuse(const HttpRefusal& refusal);
  void put(std::string bytes, std::size_t body_bytes = 0);
  void finish();

  const HttpLink link_;
  const HttpLimits& limits_;
  End end_ = End::kOpen;
  std::optional<Patience> patience_;
  std::uint64_t turn_ = 0;

  // The request.
  std::string input_;  // received, and not yet part of a request
  std::optional<HttpRequestReader> reader_;
  bool begun_ = false;        // its first byte has come
  bool body_wanted_ = false;  // and not complete
  bool body_refused_ = false;
  bool client_finished_ = false;

  // Its answer.
  std::shared_ptr<HttpExchange> exchange_;
  HttpAnswerForm form_;
  bool streaming_ = false;
  bool complete_ = false;  // after `output_` comes nothing more
  std::deque<Piece> output_;
  // What next_output() gave away, in order, and how much of the first is sent.
  std::deque<std::pair<std::size_t, std::size_t>> under_way_;  // bytes, body bytes
  std::size_t sent_of_first_ = 0;
};

void Http1Protocol::next_request(Duration limit) {
  reader_.emplace(limits_.head_bytes);
  begun_ = body_wanted_ = body_refused_ = false;
  wait(limit);
}

void Http1Protocol::receive(std::string_view bytes) {
  input_ += bytes;
  if (!exchange_) return read_head();
  if (!body_wanted_) return;
  wait(limits_.body_timeout);
  read_body();
}

void Http1Protocol::read_head() {
  while (!exchange_ && !input_.empty() && end_ == End::kOpen) {
    if (!begun_) {
      begun_ = true;
      wait(limits_.head_timeout);
    }
    const std::expected<std::size_t, HttpRefusal> used = reader_->put_head(input_);
    if (!used) return refuse(used.error());
    input_.erase(0, *used);
    if (reader_->head_complete()) return dispatch();
    if (*used == 0) return;
  }
}

void Http1Protocol::dispatch() {
  patience_.reset();
  link_.set_busy(true);
  form_ = {};
  form_.http_1_0 = reader_->http_1_0();
  form_.keep_alive = reader_->keep_alive();
  if (state().options.wall_clock) form_.date = http_date(state().options.wall_clock());
  HttpRequest request = reader_->head();
  form_.head_only = request.method == "HEAD";
  request.peer = link_.peer();
  complete_ = streaming_ = false;
  exchange_ =
      std::make_shared<HttpExchange>(form_.head_only, limits_.waiting_bytes, state().stream_budget,
                                     state().error_response, [wake = link_.wake] { wake(0); });
  HttpExchange::answer_with(exchange_, state().handler, std::move(request));
  answered(0);  // most answer there and then, or ask for the body
}

void Http1Protocol::want_body(std::size_t most_bytes) {
  body_wanted_ = true;
  if (const auto allowed = reader_->limit_body(most_bytes); !allowed)
    return refuse_body(allowed.error());
  if (reader_->expects_continue() && input_.empty() && !reader_->complete())
    put("HTTP/1.1 100 Continue\r\n\r\n");
  wait(limits_.body_timeout);
  read_body();
}

void Http1Protocol::read_body() {
  if (!reader_->complete()) {
    const std::expected<std::size_t, HttpRefusal> used = reader_->put(input_);
    if (!used) return refuse_body(used.error());
    input_.erase(0, *used);
    if (!reader_->complete()) return;
  }
  body_wanted_ = false;
  patience_.reset();
  exchange_->body_complete(reader_->take_body());
}

void Http1Protocol::refuse_body(const HttpRefusal& refusal) {
  body_wanted_ = false;
  body_refused_ = true;
  patience_.reset();
  exchange_->refuse(refusal);
}

// Whether the next request begins where the input is now. The rest of a body that no handler read
// is skipped if it has arrived already; otherwise the connection ends.
bool Http1Protocol::skip_body() {
  if (reader_->complete()) return true;
  if (body_refused_ || !reader_->limit_body(input_.size())) return false;
  const std::expected<std::size_t, HttpRefusal> used = reader_->put(input_);
  if (!used) return false;
  input_.erase(0, *used);
  return reader_->complete();
}

void Http1Protocol::answered(std::int32_t /*stream*/) {
  while (exchange_ && !complete_ && end_ == End::kOpen) {
    HttpExchange::Output answer = exchange_->take();
    if (answer.cut) {
      end_ = End::kBroken;
      return;
    }
    if (answer.head) begin_answer(*answer.head);
    for (std::string& piece : answer.pieces) {
      const std::size_t size = piece.size();
      put(streaming_ ? chunk_bytes(std::move(piece), form_) : std::move(piece), size);
    }
    if (answer.complete) {
      complete_ = true;
      link_.set_busy(false);
      if (streaming_ && !form_.head_only) put(stream_end_bytes(form_));
      return;
    }
    // The handler may answer as soon as it has the body, so look again.
    if (!answer.body_wanted) return;
    want_body(*answer.body_wanted);
  }
}

void Http1Protocol::begin_answer(const HttpExchange::Head& head) {
  body_wanted_ = false;
  patience_.reset();
  streaming_ = !head.length && !has_no_body(head.status);
  const bool ends_with_connection = streaming_ && form_.http_1_0;
  if (!skip_body() || client_finished_ || ends_with_connection || state().draining)
    form_.keep_alive = false;
  put(head.length ? response_head_bytes(head.status, head.headers, *head.length, form_)
                  : stream_head_bytes(head.status, head.headers, form_));
}

// Of bytes that are no request.
void Http1Protocol::refuse(const HttpRefusal& refusal) {
  patience_.reset();
  HttpAnswerForm form;
  form.keep_alive = false;
  put(response_bytes(state().error_response(refusal.status, refusal.message), form));
  end_ = End::kFinished;
}

void Http1Protocol::put(std::string bytes, std::size_t body_bytes) {
  if (!bytes.empty()) output_.push_back({std::move(bytes), body_bytes});
}

std::string Http1Protocol::next_output() {
  if (output_.empty()) return {};
  Piece next = std::move(output_.front());
  output_.pop_front();
  while (!output_.empty() && next.bytes.size() + output_.front().bytes.size() <= kTogetherBytes) {
    next.bytes += output_.front().bytes;
    next.body_bytes += output_.front().body_bytes;
    output_.pop_front();
  }
  under_way_.emplace_back(next.bytes.size(), next.body_bytes);
  return std::move(next.bytes);
}

void Http1Protocol::sent(std::size_t bytes) {
  sent_of_first_ += bytes;
  while (!under_way_.empty() && sent_of_first_ >= under_way_.front().first) {
    sent_of_first_ -= under_way_.front().first;
    if (exchange_) exchange_->written(under_way_.front().second);
    under_way_.pop_front();
  }
  if (complete_ && output_.empty() && under_way_.empty()) finish();
}

void Http1Protocol::finish() {
  complete_ = false;
  exchange_->finished();
  exchange_.reset();
  if (!form_.keep_alive || (state().draining && input_.empty())) {
    end_ = End::kFinished;
    return;
  }
  next_request(limits_.idle_timeout);
  read_head();
}

bool Http1Protocol::wants_input() const {
  if (end_ != End::kOpen || client_finished_) return false;
  return !exchange_ || body_wanted_ || input_.size() < kReadAheadBytes;
}

void Http1Protocol::client_finished() {
  // A half-closed client still gets its answer, but no stream without an end.
  if (!exchange_ || exchange_->streaming() || body_wanted_) {
    end_ = End::kBroken;
    return;
  }
  client_finished_ = true;
  exchange_->client_finished();
}

void Http1Protocol::drain() {
  if (exchange_)
    exchange_->drain();
  else if (idle())
    end_ = End::kFinished;
}

void Http1Protocol::lost() {
  if (const std::shared_ptr<HttpExchange> exchange = std::exchange(exchange_, nullptr))
    exchange->client_gone();
}

}  // namespace

std::unique_ptr<HttpProtocol> make_http1_protocol(HttpLink link) {
  return std::make_unique<Http1Protocol>(std::move(link));
}

}  // namespace berth::net
