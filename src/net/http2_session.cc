#include "net/http2_session.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <charconv>
#include <cstring>
#include <span>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "net/freed.h"

namespace berth::net {
namespace {

using Callbacks = std::unique_ptr<nghttp2_session_callbacks, Freed<nghttp2_session_callbacks_del>>;
using Session = std::unique_ptr<nghttp2_session, Freed<nghttp2_session_del>>;

// How much may be on its way to us, per stream and in all. What comes is dealt with at once.
constexpr std::int32_t kStreamWindow = 4 << 20;
constexpr std::int32_t kConnectionWindow = 64 << 20;
// Of one answer's head.
constexpr std::size_t kMostHeaderBytes = 256 << 10;

std::string_view view(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Of the connection rather than the request: HTTP/2 has no place for them.
bool of_connection(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames = {
      "connection",       "content-length",    "host",   "keep-alive",
      "proxy-connection", "transfer-encoding", "upgrade"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The head of a request in nghttp2's form. The texts it refers to are the call's or its own.
class RequestHead {
 public:
  explicit RequestHead(const OpenCall& open) {
    const HttpCall& call = open.call();
    split(call.url);
    if (const auto host = call.headers.find("Host")) authority_ = *host;
    add(":method", call.method);
    add(":scheme", "https");
    add(":authority", authority_);
    add(":path", path_);
    names_.reserve(call.headers.size());
    for (const auto& [name, value] : call.headers) {
      const std::string& small = names_.emplace_back(lower_case(name));
      if (!of_connection(small)) add(small, value);
    }
    if (!call.bearer_token.empty()) {
      bearer_ = "Bearer " + call.bearer_token;
      add("authorization", bearer_);
    }
    if (!call.headers.find("User-Agent")) add("user-agent", open.options().user_agent);
    if (!call.headers.find("Accept")) add("accept", "*/*");
    const bool takes_body = call.method == "POST" || call.method == "PUT" || call.method == "PATCH";
    if (takes_body || !call.body.empty()) {
      const auto end =
          std::to_chars(length_.data(), length_.data() + length_.size(), call.body.size()).ptr;
      add("content-length", {length_.data(), static_cast<std::size_t>(end - length_.data())});
    }
  }
  RequestHead(const RequestHead&) = delete;
  RequestHead& operator=(const RequestHead&) = delete;

  const std::vector<nghttp2_nv>& fields() const { return fields_; }

 private:
  // "https://10.0.0.1:6443/api?x" has the authority and the path; the pool made sure of the form.
  void split(std::string_view url) {
    url.remove_prefix(std::string_view("https://").size());
    const std::size_t end = std::min(url.find_first_of("/?"), url.size());
    authority_ = url.substr(0, end);
    path_ = url.substr(end);
    if (path_.empty() || path_.front() == '?') path_.insert(0, "/");
  }

  void add(std::string_view name, std::string_view value) {
    const auto bytes = [](std::string_view text) {
      return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
    };
    fields_.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }

  std::string authority_, path_, bearer_;
  std::vector<std::string> names_;
  std::array<char, 20> length_{};
  std::vector<nghttp2_nv> fields_;
};

Error protocol_error(int code) {
  return {ErrorKind::kUnavailable,
          fmt::format("http2: client connection lost ({})", nghttp2_strerror(code))};
}

}  // namespace

struct Http2Session::Parts {
  struct Stream {
    OpenCall* call = nullptr;
    std::size_t sent = 0;  // of the body
    std::size_t header_bytes = 0;
    int status = 0;
    bool begun = false;     // its head is out of the door
    bool complete = false;  // the answer is complete
  };

  Parts();

  Stream* find(std::int32_t id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }
  void end(std::int32_t id, Result<void> result, bool untouched = false);
  void on_goodbye(const nghttp2_goaway& frame);
  void header(std::int32_t id, std::string_view name, std::string_view value);
  void head_complete(std::int32_t id, bool last);
  bool data(std::int32_t id, std::string_view piece);
  void closed(std::int32_t id, std::uint32_t code);
  ssize_t read_body(std::int32_t id, std::span<std::uint8_t> into, std::uint32_t& flags);
  void refuse(std::int32_t id, Error why);
  void withhold();

  static Callbacks make_callbacks();

  Session session;
  boost::unordered_flat_map<std::int32_t, Stream> streams;
  boost::unordered_flat_map<HttpCallId, std::int32_t> by_call;
  std::vector<Ended> ended;
  std::vector<std::int32_t> questioned;  // streams to be asked about before they leave
  std::string goodbye;                   // why the server ends it, if it had a reason
};

// ---- callbacks of nghttp2
// -------------------------------------------------------------------------

namespace {

template <typename Parts>
Parts& parts_of(void* user) {
  return *static_cast<Parts*>(user);
}

}  // namespace

Callbacks Http2Session::Parts::make_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  BERTH_CHECK(nghttp2_session_callbacks_new(&made) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (Stream* stream = parts_of<Parts>(user).find(frame->hd.stream_id)) {
          stream->status = 0;
          if (!stream->call->head_complete()) stream->call->begin_head();
        }
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
               std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
               std::uint8_t, void* user) {
        parts_of<Parts>(user).header(frame->hd.stream_id, view(name, name_size),
                                     view(value, value_size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made, [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
               std::size_t size, void* user) {
        parts_of<Parts>(user).data(id, view(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        Parts& parts = parts_of<Parts>(user);
        const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
        if (frame->hd.type == NGHTTP2_HEADERS) parts.head_complete(frame->hd.stream_id, last);
        if (frame->hd.type == NGHTTP2_DATA && last)
          if (Stream* stream = parts.find(frame->hd.stream_id)) stream->complete = true;
        if (frame->hd.type == NGHTTP2_GOAWAY) parts.on_goodbye(frame->goaway);
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type == NGHTTP2_HEADERS)
          if (Stream* stream = parts_of<Parts>(user).find(frame->hd.stream_id))
            stream->begun = true;
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
        parts_of<Parts>(user).closed(id, code);
        return 0;
      });
  return Callbacks(made);
}

Http2Session::Parts::Parts() {
  const Callbacks callbacks = make_callbacks();
  nghttp2_session* made = nullptr;
  BERTH_CHECK(nghttp2_session_client_new(&made, callbacks.get(), this) == 0);
  session.reset(made);
  const std::array<nghttp2_settings_entry, 3> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMostHeaderBytes}}};
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(made, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

void Http2Session::Parts::end(std::int32_t id, Result<void> result, bool untouched) {
  const auto found = streams.find(id);
  if (found == streams.end()) return;
  const HttpCallId call = found->second.call->id();
  streams.erase(found);
  by_call.erase(call);
  ended.push_back({call, std::move(result), untouched});
}

// Resets a stream whose rest is not needed.
void Http2Session::Parts::refuse(std::int32_t id, Error why) {
  nghttp2_submit_rst_stream(session.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
  end(id, fail(std::move(why)));
}

// Takes back what has not left and is not to any more. Calls may wait here for long, when the
// socket takes no more or the server wants no more streams at once.
void Http2Session::Parts::withhold() {
  std::erase_if(questioned, [this](std::int32_t id) {
    const Stream* stream = find(id);
    if (stream == nullptr || stream->begun) return true;
    if (stream->call->may_be_sent()) return false;
    refuse(id, OpenCall::withheld_error());
    return true;
  });
}

void Http2Session::Parts::header(std::int32_t id, std::string_view name, std::string_view value) {
  Stream* stream = find(id);
  if (stream == nullptr || stream->call->head_complete()) return;  // of no call, or a trailer
  stream->header_bytes += name.size() + value.size();
  if (stream->header_bytes > kMostHeaderBytes)
    return refuse(id, {ErrorKind::kInvalid, "the head of the answer is too large"});
  if (name == ":status")
    std::from_chars(value.data(), value.data() + value.size(), stream->status);
  else
    stream->call->header(name, value);
}

void Http2Session::Parts::head_complete(std::int32_t id, bool last) {
  Stream* stream = find(id);
  if (stream == nullptr) return;
  if (last) stream->complete = true;
  if (stream->status >= 200 && !stream->call->head_complete())
    stream->call->end_head(stream->status);
}

bool Http2Session::Parts::data(std::int32_t id, std::string_view piece) {
  const Stream* stream = find(id);
  if (stream == nullptr) return false;
  OpenCall& call = *stream->call;
  if (call.body(piece)) return true;
  refuse(id, call.too_large_error());
  return false;
}

void Http2Session::Parts::closed(std::int32_t id, std::uint32_t code) {
  const Stream* stream = find(id);
  if (stream == nullptr) return;
  // Also when the server did not read the rest of the request.
  if (stream->complete && stream->call->head_complete()) return end(id, {});
  const bool untouched = code == NGHTTP2_REFUSED_STREAM;
  end(id,
      fail(ErrorKind::kUnavailable,
           fmt::format("stream error: stream ID {}; {}; received from peer", id,
                       nghttp2_http2_strerror(code))),
      untouched);
}

// "Nothing after this number was looked at." What is before it goes on.
void Http2Session::Parts::on_goodbye(const nghttp2_goaway& frame) {
  if (frame.error_code != NGHTTP2_NO_ERROR)
    goodbye = fmt::format(
        "http2: server sent GOAWAY and closed the connection; LastStreamID={}, ErrCode={}, "
        "debug=\"{}\"",
        frame.last_stream_id, nghttp2_http2_strerror(frame.error_code),
        view(frame.opaque_data, frame.opaque_data_len));
  std::vector<std::int32_t> untouched;
  for (const auto& [id, stream] : streams)
    if (id > frame.last_stream_id) untouched.push_back(id);
  std::ranges::sort(untouched);
  for (const std::int32_t id : untouched)
    end(id,
        fail(ErrorKind::kUnavailable,
             "http2: Transport received Server's graceful shutdown"
             " GOAWAY"),
        true);
}

ssize_t Http2Session::Parts::read_body(std::int32_t id, std::span<std::uint8_t> into,
                                       std::uint32_t& flags) {
  Stream* stream = find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::string& body = stream->call->call().body;
  const std::size_t size = std::min(into.size(), body.size() - stream->sent);
  std::memcpy(into.data(), body.data() + stream->sent, size);
  stream->sent += size;
  if (stream->sent == body.size()) flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(size);
}

// ---- the session itself -------------------------------------------------------------------------

Http2Session::Http2Session() : parts_(std::make_unique<Parts>()) {}
Http2Session::~Http2Session() = default;

bool Http2Session::takes_calls() const {
  return nghttp2_session_check_request_allowed(parts_->session.get()) != 0;
}

bool Http2Session::over() const {
  nghttp2_session* session = parts_->session.get();
  return nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0;
}

bool Http2Session::has_calls() const { return !parts_->streams.empty(); }

Result<void> Http2Session::begin(OpenCall& call) {
  const RequestHead head(call);
  nghttp2_data_provider body{};
  body.source.ptr = parts_.get();
  body.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size,
                          std::uint32_t* flags, nghttp2_data_source* source, void*) -> ssize_t {
    return static_cast<Parts*>(source->ptr)->read_body(id, {into, size}, *flags);
  };
  const std::int32_t id = nghttp2_submit_request(
      parts_->session.get(), nullptr, head.fields().data(), head.fields().size(),
      call.call().body.empty() ? nullptr : &body, nullptr);
  if (id < 0) return fail(protocol_error(id));
  parts_->streams.emplace(id, Parts::Stream{.call = &call});
  parts_->by_call.emplace(call.id(), id);
  if (call.call().may_send) parts_->questioned.push_back(id);
  return {};
}

void Http2Session::forget(const OpenCall& call) {
  const auto found = parts_->by_call.find(call.id());
  if (found == parts_->by_call.end()) return;
  const std::int32_t id = found->second;
  parts_->by_call.erase(found);
  parts_->streams.erase(id);
  nghttp2_submit_rst_stream(parts_->session.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

void Http2Session::ping() {
  nghttp2_submit_ping(parts_->session.get(), NGHTTP2_FLAG_NONE, nullptr);
}

Result<void> Http2Session::receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      parts_->session.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) return fail(protocol_error(static_cast<int>(used)));
  return {};
}

std::vector<Http2Session::Ended> Http2Session::take_ended() {
  return std::exchange(parts_->ended, {});
}

std::vector<Http2Session::Ended> Http2Session::lose(const Error& why) {
  const Error error =
      parts_->goodbye.empty() ? why : Error{ErrorKind::kUnavailable, parts_->goodbye};
  std::vector<std::int32_t> left;
  for (const auto& [id, stream] : parts_->streams) left.push_back(id);
  std::ranges::sort(left);
  for (const std::int32_t id : left) parts_->end(id, fail(error), !parts_->streams.at(id).begun);
  return take_ended();
}

Result<void> Http2Session::collect(std::string& out, std::size_t enough) {
  parts_->withhold();
  while (out.size() <= enough) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(parts_->session.get(), &data);
    if (size < 0) return fail(protocol_error(static_cast<int>(size)));
    if (size == 0) break;
    out.append(view(data, static_cast<std::size_t>(size)));
  }
  return {};
}

}  // namespace berth::net
