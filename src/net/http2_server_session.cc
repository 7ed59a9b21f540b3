#include "net/http2_server_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "net/freed.h"
#include "net/http_wire.h"

namespace berth::net {
namespace {

using ServerCallbacks =
    std::unique_ptr<nghttp2_session_callbacks, Freed<nghttp2_session_callbacks_del>>;
using ServerOption = std::unique_ptr<nghttp2_option, Freed<nghttp2_option_del>>;

std::string_view frame_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

std::uint32_t code_of(Http2Error error) {
  switch (error) {
    case Http2Error::kNone: return NGHTTP2_NO_ERROR;
    case Http2Error::kProtocol: return NGHTTP2_PROTOCOL_ERROR;
    case Http2Error::kInternal: return NGHTTP2_INTERNAL_ERROR;
    case Http2Error::kEnhanceYourCalm: return NGHTTP2_ENHANCE_YOUR_CALM;
  }
  return NGHTTP2_INTERNAL_ERROR;
}

// Headers of the connection rather than of the answer: HTTP/2 has no place for them.
bool only_in_http1(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"connection",        "content-length",
                                                      "keep-alive",        "proxy-connection",
                                                      "transfer-encoding", "upgrade"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The head of an answer in nghttp2's form; nghttp2 copies the texts.
class AnswerHead {
 public:
  AnswerHead(const HttpExchange::Head& head, const std::string& date)
      : status_(std::to_string(head.status)) {
    texts_.reserve(head.headers.size() + 2);
    add(":status", status_);
    for (const auto& [name, value] : head.headers) {
      const std::string& small = texts_.emplace_back(lower_case(name));
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

Http2Events& events_of(void* user) { return *static_cast<Http2Events*>(user); }

void frame_received(const nghttp2_frame& frame, Http2Events& events) {
  const std::int32_t stream = frame.hd.stream_id;
  if (frame.hd.type == NGHTTP2_RST_STREAM) events.reset_received(stream);
  if (frame.hd.type == NGHTTP2_HEADERS) events.head_complete(stream);
  if ((frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) &&
      (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
    events.request_complete(stream);
}

ServerCallbacks make_server_callbacks() {
  nghttp2_session_callbacks* made = nullptr;
  BERTH_CHECK(nghttp2_session_callbacks_new(&made) == 0);
  nghttp2_session_callbacks_set_on_begin_frame_callback(
      made, [](nghttp2_session*, const nghttp2_frame_hd* frame, void* user) -> int {
        const auto kind = frame->type == NGHTTP2_CONTINUATION ? Http2Events::Frame::kContinuation
                                                              : Http2Events::Frame::kOther;
        return events_of(user).frame_begins(kind) ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
      });
  nghttp2_session_callbacks_set_on_begin_headers_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST)
          events_of(user).request_begins(frame->hd.stream_id);
        return 0;
      });
  nghttp2_session_callbacks_set_on_header_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
               std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
               std::uint8_t, void* user) {
        events_of(user).header(frame->hd.stream_id, frame_text(name, name_size),
                               frame_text(value, value_size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
      made, [](nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
               std::size_t size, void* user) {
        events_of(user).data(stream, frame_text(data, size));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_recv_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        frame_received(*frame, events_of(user));
        return 0;
      });
  nghttp2_session_callbacks_set_on_frame_send_callback(
      made, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA)
          events_of(user).answer_sent(frame->hd.stream_id,
                                      (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0);
        return 0;
      });
  nghttp2_session_callbacks_set_on_stream_close_callback(
      made, [](nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
        events_of(user).closed(stream);
        return 0;
      });
  return ServerCallbacks(made);
}

ssize_t read_answer(nghttp2_session* /*session*/, std::int32_t stream, std::uint8_t* into,
                    std::size_t size, std::uint32_t* flags, nghttp2_data_source* /*source*/,
                    void* user) {
  using Rest = Http2Events::Body::Rest;
  const Http2Events::Body body = events_of(user).read_body(stream, {into, size});
  if (body.rest == Rest::kCut) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  if (body.rest == Rest::kNone)
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  else if (body.size == 0)
    return NGHTTP2_ERR_DEFERRED;
  return static_cast<ssize_t>(body.size);
}

}  // namespace

struct Http2ServerSession::Parts {
  std::unique_ptr<nghttp2_session, Freed<nghttp2_session_del>> session;
};

Http2ServerSession::Http2ServerSession(const Settings& settings, Http2Events& events)
    : parts_(std::make_unique<Parts>()) {
  nghttp2_option* options = nullptr;
  BERTH_CHECK(nghttp2_option_new(&options) == 0);
  const ServerOption owned(options);
  nghttp2_option_set_no_auto_window_update(options, 1);  // consume() does it
  nghttp2_option_set_no_closed_streams(options, 1);
  const ServerCallbacks callbacks = make_server_callbacks();
  nghttp2_session* made = nullptr;
  BERTH_CHECK(nghttp2_session_server_new2(&made, callbacks.get(), &events, options) == 0);
  parts_->session.reset(made);
  const std::array<nghttp2_settings_entry, 3> entries = {
      {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, settings.streams},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, settings.stream_window},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, settings.head_bytes}}};
  nghttp2_submit_settings(made, NGHTTP2_FLAG_NONE, entries.data(), entries.size());
}

Http2ServerSession::~Http2ServerSession() = default;

bool Http2ServerSession::receive(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      parts_->session.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used >= 0) return true;
  terminate(used == NGHTTP2_ERR_FLOODED ? Http2Error::kEnhanceYourCalm : Http2Error::kProtocol);
  return false;
}

bool Http2ServerSession::collect(std::string& out, std::size_t enough) {
  while (out.size() < enough) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(parts_->session.get(), &data);
    if (size < 0) return false;
    if (size == 0) break;
    out += frame_text(data, static_cast<std::size_t>(size));
  }
  return true;
}

bool Http2ServerSession::all_sent() const {
  return nghttp2_session_want_write(parts_->session.get()) == 0;
}

bool Http2ServerSession::over() const {
  return all_sent() && nghttp2_session_want_read(parts_->session.get()) == 0;
}

std::size_t Http2ServerSession::waiting_frames() const {
  return nghttp2_session_get_outbound_queue_size(parts_->session.get());
}

void Http2ServerSession::consume(std::int32_t stream, std::size_t bytes) {
  nghttp2_session_consume(parts_->session.get(), stream, bytes);
}

void Http2ServerSession::set_windows(std::int32_t stream, std::int32_t stream_window,
                                     std::int32_t connection_window) {
  nghttp2_session* session = parts_->session.get();
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, stream, stream_window);
  nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, connection_window);
}

void Http2ServerSession::go_on(std::int32_t stream) {
  const AnswerHead head({100, {}, std::nullopt}, {});
  nghttp2_submit_headers(parts_->session.get(), NGHTTP2_FLAG_NONE, stream, nullptr,
                         head.fields().data(), head.fields().size(), nullptr);
}

void Http2ServerSession::answer(std::int32_t stream, const HttpExchange::Head& head,
                                const std::string& date, bool has_body) {
  const AnswerHead answer(head, date);
  nghttp2_data_provider body{};
  body.read_callback = read_answer;
  nghttp2_submit_response(parts_->session.get(), stream, answer.fields().data(),
                          answer.fields().size(), has_body ? &body : nullptr);
}

void Http2ServerSession::resume(std::int32_t stream) {
  nghttp2_session_resume_data(parts_->session.get(), stream);
}

void Http2ServerSession::reset(std::int32_t stream, Http2Error why) {
  nghttp2_submit_rst_stream(parts_->session.get(), NGHTTP2_FLAG_NONE, stream, code_of(why));
}

void Http2ServerSession::refuse_more() {
  nghttp2_session* session = parts_->session.get();
  nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session), NGHTTP2_NO_ERROR, nullptr,
                        0);
}

void Http2ServerSession::terminate(Http2Error why) {
  nghttp2_session* session = parts_->session.get();
  nghttp2_session_terminate_session2(session, nghttp2_session_get_last_proc_stream_id(session),
                                     code_of(why));
}

}  // namespace berth::net
