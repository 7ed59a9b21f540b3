// HTTP/2: requests as streams, any number of them at a time up to a limit.
//
// Everything that a client may make us keep, or do for nothing, has a bound: streams, heads (also
// in CONTINUATION frames), bodies that are not read (the window), streams that are reset before
// they are answered, frames that lead to nothing, and answers that are not taken.
#include <algorithm>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/http2_server_session.h"
#include "net/http_protocol.h"
#include "net/http_wire.h"

namespace berth::net {
namespace {

// Of a body that no handler has asked for yet, per stream; all streams together may have 64 KiB,
// which is what a connection begins with, and more once a body is wanted.
constexpr std::int32_t kUnreadBodyWindow = 16 << 10;
constexpr std::int32_t kWantedBodiesWindow = 1 << 20;
// Frames of one head. 64 KiB fit into five.
constexpr int kMostContinuations = 8;
// Streams that a client takes back before their answer begins, beyond those that it let us answer.
constexpr std::uint64_t kMostResets = 200;
// Frames that neither ask for something nor take an answer, in a row.
constexpr std::uint64_t kMostIdleFrames = 10'000;
// Of answers to frames (acknowledgements, resets) that wait to be sent; then nothing is read.
constexpr std::size_t kMostWaitingFrames = 1000;
constexpr std::size_t kOutputBytes = 64 << 10;

class Http2Protocol final : public HttpProtocol, private Http2Events {
 public:
  explicit Http2Protocol(HttpLink link)
      : link_(std::move(link)),
        limits_(state().options.limits),
        session_({.streams = limits_.streams,
                  .head_bytes = static_cast<std::uint32_t>(limits_.head_bytes),
                  .stream_window = kUnreadBodyWindow},
                 *this) {
    settle();
  }

  void receive(std::string_view bytes) override;
  // A client that sends nothing more cannot take large answers either.
  void client_finished() override { end_ = End::kBroken; }
  void answered(std::int32_t id) override;
  void timed_out() override;
  void drain() override;
  void sent(std::size_t /*bytes*/) override { settle(); }
  void lost() override;

  std::string next_output() override;
  bool wants_input() const override {
    return end_ == End::kOpen && session_.waiting_frames() < kMostWaitingFrames;
  }
  End end() const override { return end_; }
  std::optional<Patience> patience() const override { return patience_; }

 private:
  struct Stream {
    HttpRequest request;
    std::size_t head_bytes = 0;
    bool head_complete = false;
    bool half_closed = false;  // the client has sent all of it
    bool dispatched = false;

    std::string body;
    std::size_t unconsumed = 0;             // of the body: the client's window is smaller by that
    std::optional<std::size_t> body_limit;  // it is wanted
    bool expects_continue = false;

    std::shared_ptr<HttpExchange> exchange;
    bool answering = false;  // the head of the answer is submitted
    bool complete = false;   // after `output` comes nothing more
    std::deque<std::string> output;
    std::size_t sent = 0;  // of output's first piece
  };

  // Callbacks of the session.
  bool frame_begins(Frame kind) override;
  void request_begins(std::int32_t id) override { streams_.try_emplace(id); }
  void header(std::int32_t id, std::string_view name, std::string_view value) override;
  void head_complete(std::int32_t id) override;
  void data(std::int32_t id, std::string_view piece) override;
  void request_complete(std::int32_t id) override;
  void reset_received(std::int32_t id) override;
  void closed(std::int32_t id) override;
  void answer_sent(std::int32_t id, bool last) override;
  Body read_body(std::int32_t id, std::span<std::uint8_t> into) override;

  const HttpServerState& state() const { return link_.state; }
  Stream* find(std::int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : &found->second;
  }
  void dispatch(std::int32_t id, Stream& stream);
  void want_body(std::int32_t id, Stream& stream, std::size_t most_bytes);
  void body_came(std::int32_t id, Stream& stream);
  void discard_body(std::int32_t id, Stream& stream);
  void begin_answer(std::int32_t id, Stream& stream, const HttpExchange::Head& head);
  void cut(std::int32_t id, Stream& stream);
  void one_less_unanswered() {
    if (--unanswered_ == 0) link_.set_busy(false);
  }
  void progress() {
    idle_frames_ = 0;
    ++turn_;
  }
  void settle();

  const HttpLink link_;
  const HttpLimits& limits_;
  Http2ServerSession session_;
  std::unordered_map<std::int32_t, Stream> streams_;
  std::vector<std::int32_t> ready_;  // of which a head or a part of a wanted body has come
  End end_ = End::kOpen;
  bool draining_ = false;
  int continuations_ = 0;
  std::size_t unanswered_ = 0;  // streams without a complete exchange
  std::uint64_t answers_ = 0;
  std::uint64_t resets_ = 0;
  std::uint64_t idle_frames_ = 0;
  std::uint64_t turn_ = 0;
  std::optional<Patience> patience_;
};

// ---- callbacks of the session
// ---------------------------------------------------------------------

bool Http2Protocol::frame_begins(Frame kind) {
  continuations_ = kind == Frame::kContinuation ? continuations_ + 1 : 0;
  if (continuations_ <= kMostContinuations && ++idle_frames_ <= kMostIdleFrames) return true;
  session_.terminate(Http2Error::kEnhanceYourCalm);
  return false;
}

void Http2Protocol::header(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->head_complete) return;  // a trailer
  // As the setting counts them: 32 bytes for each.
  stream->head_bytes += name.size() + value.size() + 32;
  if (stream->head_bytes > limits_.head_bytes) return;
  HttpRequest& request = stream->request;
  if (name == ":method")
    request.method = value;
  else if (name == ":path")
    request.target = value;
  else if (name == ":authority")
    request.headers.set("Host", std::string(value));
  else if (!name.starts_with(':') && !(name == "host" && request.headers.find("Host")))
    request.headers.add(std::string(name), std::string(value));
}

void Http2Protocol::head_complete(std::int32_t id) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->head_complete) return;
  stream->head_complete = true;
  progress();
  ready_.push_back(id);
}

void Http2Protocol::data(std::int32_t id, std::string_view piece) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->answering) return session_.consume(id, piece.size());
  if (piece.empty()) return;
  progress();
  stream->body += piece;
  stream->unconsumed += piece.size();
  if (stream->body_limit) ready_.push_back(id);
}

void Http2Protocol::request_complete(std::int32_t id) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  stream->half_closed = true;
  if (stream->body_limit) ready_.push_back(id);
}

void Http2Protocol::reset_received(std::int32_t id) {
  // A stream that is reset before it is answered has cost us work: such resets are counted.
  if (const Stream* stream = find(id); stream && !stream->answering) ++resets_;
  if (resets_ > kMostResets + answers_) session_.terminate(Http2Error::kEnhanceYourCalm);
}

void Http2Protocol::answer_sent(std::int32_t id, bool last) {
  progress();
  const Stream* stream = find(id);
  // The answer is complete, and the rest of the request is not needed.
  if (stream && last && !stream->half_closed) session_.reset(id, Http2Error::kNone);
}

void Http2Protocol::closed(std::int32_t id) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  discard_body(id, *stream);
  const std::shared_ptr<HttpExchange> exchange = std::move(stream->exchange);
  const bool complete = stream->complete;
  const bool taken = complete && stream->output.empty();
  streams_.erase(id);
  if (!exchange) return;
  if (!complete) one_less_unanswered();
  if (taken)
    exchange->finished();
  else
    exchange->client_gone();
}

Http2Events::Body Http2Protocol::read_body(std::int32_t id, std::span<std::uint8_t> into) {
  Stream* stream = find(id);
  if (stream == nullptr || !stream->exchange) return {0, Body::Rest::kCut};
  std::size_t copied = 0;
  while (copied < into.size() && !stream->output.empty()) {
    const std::string& piece = stream->output.front();
    const std::size_t size = std::min(into.size() - copied, piece.size() - stream->sent);
    std::memcpy(into.data() + copied, piece.data() + stream->sent, size);
    copied += size;
    stream->sent += size;
    if (stream->sent < piece.size()) break;
    stream->output.pop_front();
    stream->sent = 0;
  }
  stream->exchange->written(copied);
  if (!stream->output.empty()) return {copied, Body::Rest::kMore};
  return {copied, stream->complete ? Body::Rest::kNone : Body::Rest::kLater};
}

// ---- requests and answers -----------------------------------------------------------------------

void Http2Protocol::receive(std::string_view bytes) {
  const bool good = session_.receive(bytes);
  // Handlers are not called from inside the session.
  for (const std::int32_t id : std::exchange(ready_, {})) {
    Stream* stream = find(id);
    if (stream == nullptr) continue;
    if (!stream->dispatched)
      dispatch(id, *stream);
    else if (stream->body_limit)
      body_came(id, *stream);
    answered(id);
  }
  if (!good && end_ == End::kOpen) end_ = End::kFinished;
  settle();
}

void Http2Protocol::dispatch(std::int32_t id, Stream& stream) {
  stream.dispatched = true;
  HttpRequest request = std::move(stream.request);
  request.peer = link_.peer();
  stream.expects_continue = request.headers.find("Expect") == "100-continue";
  if (++unanswered_ == 1) link_.set_busy(true);
  stream.exchange = std::make_shared<HttpExchange>(request.method == "HEAD", limits_.waiting_bytes,
                                                   state().stream_budget, state().error_response,
                                                   [wake = link_.wake, id] { wake(id); });
  if (stream.head_bytes > limits_.head_bytes)
    return stream.exchange->refuse({431, "the request's header is larger than the server allows"});
  if (request.method == "CONNECT") return stream.exchange->refuse({405, "this server is no proxy"});
  if (!request.target.starts_with('/') && request.target != "*")
    return stream.exchange->refuse({400, "malformed HTTP request: bad target"});
  HttpExchange::answer_with(stream.exchange, state().handler, std::move(request));
}

void Http2Protocol::want_body(std::int32_t id, Stream& stream, std::size_t most_bytes) {
  progress();
  stream.body_limit = most_bytes;
  session_.set_windows(id,
                       static_cast<std::int32_t>(std::clamp<std::size_t>(
                           most_bytes, kUnreadBodyWindow, kWantedBodiesWindow)),
                       kWantedBodiesWindow);
  if (stream.expects_continue && stream.body.empty() && !stream.half_closed) session_.go_on(id);
  body_came(id, stream);
}

void Http2Protocol::body_came(std::int32_t id, Stream& stream) {
  if (stream.body.size() > *stream.body_limit) {
    stream.body_limit.reset();
    return stream.exchange->refuse({413, "the request's body is larger than the server allows"});
  }
  session_.consume(id, std::exchange(stream.unconsumed, 0));
  if (!stream.half_closed) return;
  stream.body_limit.reset();
  stream.exchange->body_complete(std::move(stream.body));
}

void Http2Protocol::discard_body(std::int32_t id, Stream& stream) {
  stream.body_limit.reset();
  session_.consume(id, std::exchange(stream.unconsumed, 0));
  stream.body = {};
}

void Http2Protocol::answered(std::int32_t id) {
  for (;;) {
    Stream* stream = find(id);
    if (stream == nullptr || !stream->exchange || stream->complete) break;
    HttpExchange::Output answer = stream->exchange->take();
    if (answer.cut) {
      cut(id, *stream);
      break;
    }
    for (std::string& piece : answer.pieces) stream->output.push_back(std::move(piece));
    if (answer.complete) {
      stream->complete = true;
      one_less_unanswered();
    }
    if (answer.head)
      begin_answer(id, *stream, *answer.head);
    else if (stream->answering && (answer.complete || !answer.pieces.empty()))
      session_.resume(id);
    // The handler may answer as soon as it has the body, so look again.
    if (!answer.body_wanted || answer.complete) break;
    want_body(id, *stream, *answer.body_wanted);
  }
  settle();
}

void Http2Protocol::begin_answer(std::int32_t id, Stream& stream, const HttpExchange::Head& head) {
  stream.answering = true;
  ++answers_;
  discard_body(id, stream);
  const auto& clock = state().options.wall_clock;
  const bool has_body = !stream.complete || !stream.output.empty();
  session_.answer(id, head, clock ? http_date(clock()) : std::string(), has_body);
}

void Http2Protocol::cut(std::int32_t id, Stream& stream) {
  one_less_unanswered();
  stream.output.clear();
  std::exchange(stream.exchange, nullptr)->client_gone();
  session_.reset(id, Http2Error::kInternal);
}

// ---- the connection -----------------------------------------------------------------------------

std::string Http2Protocol::next_output() {
  std::string out;
  if (!session_.collect(out, kOutputBytes)) end_ = End::kBroken;
  settle();
  return out;
}

void Http2Protocol::timed_out() {
  if (streams_.empty())
    session_.terminate(Http2Error::kNone);
  else
    end_ = End::kBroken;
  settle();
}

void Http2Protocol::drain() {
  if (std::exchange(draining_, true)) return;
  session_.refuse_more();
  for (const auto& [id, stream] : streams_)
    if (stream.exchange) stream.exchange->drain();
  settle();
}

void Http2Protocol::lost() {
  for (auto& [id, stream] : std::exchange(streams_, {}))
    if (stream.exchange) stream.exchange->client_gone();
}

// Whether it is over, and how long to wait if not.
void Http2Protocol::settle() {
  if (end_ != End::kOpen) return;
  if (session_.over() || (draining_ && streams_.empty() && session_.all_sent())) {
    end_ = End::kFinished;
    return;
  }
  const auto any = [&](auto condition) {
    return std::ranges::any_of(streams_, [&](const auto& s) { return condition(s.second); });
  };
  std::optional<Duration> limit;
  if (any([](const Stream& stream) { return !stream.head_complete; }))
    limit = limits_.head_timeout;
  else if (any([](const Stream& stream) { return stream.body_limit.has_value(); }))
    limit = limits_.body_timeout;
  else if (any([](const Stream& stream) { return !stream.output.empty(); }))
    limit = limits_.write_timeout;
  else if (streams_.empty())
    limit = answers_ == 0 ? limits_.head_timeout : limits_.idle_timeout;
  patience_.reset();
  if (limit) patience_ = Patience{*limit, turn_};
}

}  // namespace

std::unique_ptr<HttpProtocol> make_http2_protocol(HttpLink link) {
  return std::make_unique<Http2Protocol>(std::move(link));
}

}  // namespace berth::net
