// HTTP/2: requests as streams, any number of them at a time up to a limit.
//
// Everything that a client may make us keep, or do for nothing, has a bound: streams, heads (also
// in CONTINUATION frames), bodies that nobody reads (the window), streams that are reset before
// they are answered, frames that lead to nothing, and answers that are not taken.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/freed.h"
#include "net/http_protocol.h"
#include "net/http_wire.h"

namespace berth::net {
namespace {

// Of a body that nobody has asked for yet, per stream; all streams together may have 64 KiB, which
// is what a connection begins with, and more once a body is wanted.
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

using ServerSession = std::unique_ptr<nghttp2_session, Freed<nghttp2_session_del>>;
using ServerCallbacks =
    std::unique_ptr<nghttp2_session_callbacks, Freed<nghttp2_session_callbacks_del>>;
using ServerOption = std::unique_ptr<nghttp2_option, Freed<nghttp2_option_del>>;

std::string_view frame_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Headers of the connection rather than of the answer: HTTP/2 has no place for them.
bool only_in_http1(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"connection",        "content-length",
                                                      "keep-alive",        "proxy-connection",
                                                      "transfer-encoding", "upgrade"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The head of an answer as nghttp2 wants it. nghttp2 copies the texts.
class AnswerHead {
 public:
  AnswerHead(const HttpExchange::Head& head, const std::string& date)
      : status_(std::to_string(head.status)) {
    texts_.reserve(head.headers.size() + 2);
    add(":status", status_);
    for (const auto& [name, value] : head.headers) {
      std::string& small = texts_.emplace_back(name);
      for (char& c : small)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      // A value that would end a line is cut there, as in HTTP/1.1.
      if (!only_in_http1(small))
        add(small,
            std::string_view(value).substr(0, value.find_first_of(std::string_view("\r\n\0", 3))));
    }
    if (!date.empty() && !head.headers.find("Date")) add("date", texts_.emplace_back(date));
    if (head.length && !has_no_body(head.status))
      add("content-length", texts_.emplace_back(std::to_string(*head.length)));
  }
  AnswerHead(const AnswerHead&) = delete;
  AnswerHead& operator=(const AnswerHead&) = delete;

  std::span<const nghttp2_nv> fields() const { return fields_; }

 private:
  void add(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    fields_.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }

  const std::string status_;
  std::vector<std::string> texts_;  // never grows past its first reservation
  std::vector<nghttp2_nv> fields_;
};

class Http2Protocol final : public HttpProtocol {
 public:
  explicit Http2Protocol(HttpLink link);

  void receive(std::string_view bytes) override;
  // Who does not send cannot take large answers either.
  void client_finished() override { end_ = End::kBroken; }
  void answered(std::int32_t id) override;
  void timed_out() override;
  void drain() override;
  void sent(std::size_t /*bytes*/) override { settle(); }
  void lost() override;

  std::string next_output() override;
  bool wants_input() const override;
  End end() const override { return end_; }
  std::optional<Patience> patience() const override { return patience_; }

 private:
  struct Stream {
    HttpRequest request;
    std::size_t head_bytes = 0;
    bool head_complete = false;
    bool head_too_large = false;
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

  static ServerCallbacks make_callbacks();
  static Http2Protocol& self(void* user) { return *static_cast<Http2Protocol*>(user); }
  const HttpServerState& state() const { return link_.state; }
  Stream* find(std::int32_t id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : &found->second;
  }

  // What nghttp2 tells.
  int frame_begins(const nghttp2_frame_hd& frame);
  void header(std::int32_t id, std::string_view name, std::string_view value);
  void frame_received(const nghttp2_frame& frame);
  void data(std::int32_t id, std::string_view piece);
  void frame_sent(const nghttp2_frame& frame);
  void closed(std::int32_t id, std::uint32_t code);
  ssize_t read_output(std::int32_t id, std::span<std::uint8_t> into, std::uint32_t& flags);

  void dispatch(std::int32_t id, Stream& stream);
  void want_body(std::int32_t id, Stream& stream, std::size_t most_bytes);
  void body_came(std::int32_t id, Stream& stream);
  void begin_answer(std::int32_t id, Stream& stream, const HttpExchange::Head& head);
  void discard_body(std::int32_t id, Stream& stream);
  void cut(std::int32_t id, Stream& stream);
  void say_goodbye(std::uint32_t code);
  void progress() {
    idle_frames_ = 0;
    ++turn_;
  }
  void one_less_unanswered() {
    if (--unanswered_ == 0) link_.set_busy(false);
  }
  void settle();

  const HttpLink link_;
  const HttpLimits& limits_;
  ServerSession session_;
  std::unordered_map<std::int32_t, Stream> streams_;
  std::vector<std::int32_t> ready_;  // heads that are complete, to be dispatched
  End end_ = End::kOpen;
  bool draining_ = false;
  bool reading_head_ = false;
  int continuations_ = 0;
  std::size_t unanswered_ = 0;  // streams whose exchange is not complete
  std::uint64_t answers_ = 0;
  std::uint64_t resets_ = 0;
  std::uint64_t idle_frames_ = 0;
  std::uint64_t turn_ = 0;
  std::optional<Patience> patience_;
};

// ---- what nghttp2 tells -------------------------------------------------------------------------

ServerCallbacks Http2Protocol::make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  BERTH_CHECK(nghttp2_session_callbacks_new(&made) == 0);
  nghttp2_session_callbacks_set_on_begin_frame_callback(
      made, [](nghttp2_session*, const nghttp2_frame_hd* frame, void* user) {
        return self(user).frame_begins(*frame);
      });
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
          self(user).streams_[frame->hd.stream_id];
          self(user).reading_head_ = true;
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
               std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
               std::uint8_t, void* user) {
        self(user).header(frame->hd.stream_id, frame_text(name, name_size),
                          frame_text(value, value_size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
               std::size_t size, void* user) {
        self(user).data(id, frame_text(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        self(user).frame_received(*frame);
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        self(user).frame_sent(*frame);
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
        self(user).closed(id, code);
        return 0;
      });
  return ServerCallbacks(made);
}

Http2Protocol::Http2Protocol(HttpLink link)
    : link_(std::move(link)), limits_(state().options.limits) {
  nghttp2_option* options = nullptr;
  BERTH_CHECK(nghttp2_option_new(&options) == 0);
  const ServerOption owned(options);
  nghttp2_option_set_no_auto_window_update(options, 1);  // a body is taken when somebody wants it
  nghttp2_option_set_no_closed_streams(options, 1);
  const ServerCallbacks callbacks = make_callbacks();
  nghttp2_session* made = nullptr;
  BERTH_CHECK(nghttp2_session_server_new2(&made, callbacks.get(), this, options) == 0);
  session_.reset(made);
  const std::array<nghttp2_settings_entry, 3> settings = {
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.streams},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kUnreadBodyWindow},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits_.head_bytes)}}};
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  patience_ = Patience{limits_.head_timeout, turn_};
}

// Non-zero ends the connection.
int Http2Protocol::frame_begins(const nghttp2_frame_hd& frame) {
  continuations_ = frame.type == NGHTTP2_CONTINUATION ? continuations_ + 1 : 0;
  if (continuations_ <= kMostContinuations && ++idle_frames_ <= kMostIdleFrames) return 0;
  say_goodbye(NGHTTP2_ENHANCE_YOUR_CALM);
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

void Http2Protocol::header(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->head_complete) return;  // a trailer
  // As the setting counts them: 32 bytes for each.
  stream->head_bytes += name.size() + value.size() + 32;
  stream->head_too_large = stream->head_bytes > limits_.head_bytes;
  if (stream->head_too_large) return;
  if (name == ":method")
    stream->request.method = value;
  else if (name == ":path")
    stream->request.target = value;
  else if (name == ":authority")
    stream->request.headers.set("Host", std::string(value));
  else if (!name.starts_with(':') && !(name == "host" && stream->request.headers.find("Host")))
    stream->request.headers.add(std::string(name), std::string(value));
}

void Http2Protocol::frame_received(const nghttp2_frame& frame) {
  const std::int32_t id = frame.hd.stream_id;
  if (frame.hd.type == NGHTTP2_RST_STREAM) {
    // A stream that is taken back before it is answered has cost us something for nothing.
    if (const Stream* stream = find(id); stream && !stream->answering) ++resets_;
    if (resets_ > kMostResets + answers_) say_goodbye(NGHTTP2_ENHANCE_YOUR_CALM);
  }
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  Stream* stream = find(id);
  if (stream == nullptr) return;
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) stream->half_closed = true;
  if (frame.hd.type == NGHTTP2_HEADERS && !stream->head_complete) {
    stream->head_complete = true;
    reading_head_ = false;
    progress();
    ready_.push_back(id);
  }
  if (stream->half_closed && stream->body_limit) ready_.push_back(id);
}

void Http2Protocol::data(std::int32_t id, std::string_view piece) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->answering || piece.empty()) {
    nghttp2_session_consume(session_.get(), id, piece.size());
    return;
  }
  progress();
  stream->body += piece;
  stream->unconsumed += piece.size();
  if (stream->body_limit) ready_.push_back(id);
}

void Http2Protocol::frame_sent(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA) return;
  progress();
  const Stream* stream = find(frame.hd.stream_id);
  // The answer is complete, and nobody wants the rest of the request.
  if (stream && !stream->half_closed && (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
    nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, frame.hd.stream_id,
                              NGHTTP2_NO_ERROR);
}

void Http2Protocol::closed(std::int32_t id, std::uint32_t /*code*/) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  discard_body(id, *stream);
  const std::shared_ptr<HttpExchange> exchange = std::move(stream->exchange);
  const bool complete = stream->complete && stream->output.empty();
  if (exchange && !stream->complete) one_less_unanswered();
  if (!stream->head_complete) reading_head_ = false;
  streams_.erase(id);
  if (!exchange) return;
  if (complete)
    exchange->finished();
  else
    exchange->client_gone();
}

ssize_t Http2Protocol::read_output(std::int32_t id, std::span<std::uint8_t> into,
                                   std::uint32_t& flags) {
  Stream* stream = find(id);
  if (stream == nullptr || !stream->exchange) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
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
  if (stream->output.empty() && stream->complete)
    flags |= NGHTTP2_DATA_FLAG_EOF;
  else if (copied == 0)
    return NGHTTP2_ERR_DEFERRED;
  return static_cast<ssize_t>(copied);
}

// ---- requests and answers -----------------------------------------------------------------------

void Http2Protocol::receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  // Handlers are not called from inside nghttp2.
  for (const std::int32_t id : std::exchange(ready_, {})) {
    Stream* stream = find(id);
    if (stream == nullptr) continue;
    if (!stream->dispatched)
      dispatch(id, *stream);
    else if (stream->body_limit)
      body_came(id, *stream);
    answered(id);
  }
  if (used < 0) {
    say_goodbye(used == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
    end_ = End::kFinished;
  }
  settle();
}

void Http2Protocol::dispatch(std::int32_t id, Stream& stream) {
  stream.dispatched = true;
  HttpRequest request = std::move(stream.request);
  request.peer = link_.peer();
  stream.expects_continue = request.headers.find("Expect") == "100-continue";
  if (++unanswered_ == 1) link_.set_busy(true);
  stream.exchange =
      std::make_shared<HttpExchange>(request.method == "HEAD", limits_.waiting_bytes,
                                     state().error_response, [wake = link_.wake, id] { wake(id); });
  if (stream.head_too_large)
    return stream.exchange->refuse({431, "the request's header is larger than the server allows"});
  if (request.method == "CONNECT") return stream.exchange->refuse({405, "this server is no proxy"});
  if (!request.target.starts_with('/') && request.target != "*")
    return stream.exchange->refuse({400, "malformed HTTP request: bad target"});
  HttpExchange::answer_with(stream.exchange, state().handler, std::move(request));
}

void Http2Protocol::want_body(std::int32_t id, Stream& stream, std::size_t most_bytes) {
  progress();
  stream.body_limit = most_bytes;
  const auto window = static_cast<std::int32_t>(
      std::clamp<std::size_t>(most_bytes, kUnreadBodyWindow, kWantedBodiesWindow));
  nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, id, window);
  nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, kWantedBodiesWindow);
  if (stream.expects_continue && stream.body.empty() && !stream.half_closed) {
    const AnswerHead go_on({100, {}, std::nullopt}, {});
    nghttp2_submit_headers(session_.get(), NGHTTP2_FLAG_NONE, id, nullptr, go_on.fields().data(),
                           go_on.fields().size(), nullptr);
  }
  body_came(id, stream);
}

void Http2Protocol::body_came(std::int32_t id, Stream& stream) {
  if (stream.body.size() > *stream.body_limit) {
    stream.body_limit.reset();
    return stream.exchange->refuse({413, "the request's body is larger than the server allows"});
  }
  nghttp2_session_consume(session_.get(), id, std::exchange(stream.unconsumed, 0));
  if (!stream.half_closed) return;
  stream.body_limit.reset();
  stream.exchange->body_complete(std::move(stream.body));
}

void Http2Protocol::discard_body(std::int32_t id, Stream& stream) {
  stream.body_limit.reset();
  nghttp2_session_consume(session_.get(), id, std::exchange(stream.unconsumed, 0));
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
    const bool submitted = stream->answering;
    for (std::string& piece : answer.pieces) stream->output.push_back(std::move(piece));
    if (answer.complete) {
      stream->complete = true;
      one_less_unanswered();
    }
    if (answer.head)
      begin_answer(id, *stream, *answer.head);
    else if (submitted && (answer.complete || !answer.pieces.empty()))
      nghttp2_session_resume_data(session_.get(), id);
    // The handler may answer as soon as it has the body, so look again.
    if (!answer.body_wanted || answer.complete) break;
    want_body(id, *stream, *answer.body_wanted);
  }
  settle();
}

void Http2Protocol::cut(std::int32_t id, Stream& stream) {
  one_less_unanswered();
  stream.output.clear();
  std::exchange(stream.exchange, nullptr)->client_gone();
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
}

void Http2Protocol::begin_answer(std::int32_t id, Stream& stream, const HttpExchange::Head& head) {
  stream.answering = true;
  ++answers_;
  discard_body(id, stream);
  const auto& clock = state().options.wall_clock;
  const AnswerHead answer(head, clock ? http_date(clock()) : std::string());
  nghttp2_data_provider body{};
  body.source.ptr = this;
  body.read_callback = [](nghttp2_session*, std::int32_t of, std::uint8_t* into, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
    return self(source->ptr).read_output(of, {into, size}, *flags);
  };
  const bool only_head = stream.complete && stream.output.empty();
  nghttp2_submit_response(session_.get(), id, answer.fields().data(), answer.fields().size(),
                          only_head ? nullptr : &body);
}

// ---- the connection -----------------------------------------------------------------------------

std::string Http2Protocol::next_output() {
  std::string out;
  while (out.size() < kOutputBytes) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_.get(), &data);
    if (size < 0) end_ = End::kBroken;
    if (size <= 0) break;
    out += frame_text(data, static_cast<std::size_t>(size));
  }
  settle();
  return out;
}

bool Http2Protocol::wants_input() const {
  return end_ == End::kOpen &&
         nghttp2_session_get_outbound_queue_size(session_.get()) < kMostWaitingFrames;
}

// Says why no more is taken, and lets what is under way end.
void Http2Protocol::say_goodbye(std::uint32_t code) {
  nghttp2_session_terminate_session2(session_.get(),
                                     nghttp2_session_get_last_proc_stream_id(session_.get()), code);
}

void Http2Protocol::timed_out() {
  if (streams_.empty())
    say_goodbye(NGHTTP2_NO_ERROR);
  else
    end_ = End::kBroken;
  settle();
}

void Http2Protocol::drain() {
  if (std::exchange(draining_, true)) return;
  nghttp2_submit_goaway(session_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_.get()), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  for (const auto& [id, stream] : streams_)
    if (stream.exchange) stream.exchange->drain();
  settle();
}

void Http2Protocol::lost() {
  for (auto& [id, stream] : std::exchange(streams_, {}))
    if (stream.exchange) stream.exchange->client_gone();
}

// How long to wait, and whether it is over.
void Http2Protocol::settle() {
  if (end_ != End::kOpen) return;
  const bool over = nghttp2_session_want_read(session_.get()) == 0 &&
                    nghttp2_session_want_write(session_.get()) == 0;
  if (over || (draining_ && streams_.empty() && nghttp2_session_want_write(session_.get()) == 0)) {
    end_ = End::kFinished;
    return;
  }
  // The client owes us the rest of a head or a body, or does not take an answer.
  const bool owes_body =
      std::ranges::any_of(streams_, [](const auto& s) { return s.second.body_limit.has_value(); });
  const bool takes_nothing =
      std::ranges::any_of(streams_, [](const auto& s) { return !s.second.output.empty(); });
  patience_.reset();
  if (reading_head_)
    patience_ = Patience{limits_.head_timeout, turn_};
  else if (owes_body)
    patience_ = Patience{limits_.body_timeout, turn_};
  else if (takes_nothing)
    patience_ = Patience{limits_.write_timeout, turn_};
  else if (streams_.empty())
    patience_ = Patience{answers_ == 0 ? limits_.head_timeout : limits_.idle_timeout, turn_};
}

}  // namespace

std::unique_ptr<HttpProtocol> make_http2_protocol(HttpLink link) {
  return std::make_unique<Http2Protocol>(std::move(link));
}

}  // namespace berth::net
