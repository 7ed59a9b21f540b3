// Http2ServerSession: the server's side of HTTP/2 as nghttp2 does it, in our words. Bytes in, bytes
// out; their meaning is reported to an Http2Events. For http2_protocol.cc, which decides what is
// done about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/http_exchange.h"

namespace berth::net {

enum class Http2Error : std::uint8_t { kNone, kProtocol, kInternal, kEnhanceYourCalm };

// Called from inside receive() and collect(); may call the session, except for those two.
class Http2Events {
 public:
  virtual ~Http2Events() = default;

  enum class Frame : std::uint8_t { kContinuation, kOther };
  // Before anything else of a frame. False: the connection ends here.
  virtual bool frame_begins(Frame kind) = 0;

  virtual void request_begins(std::int32_t stream) = 0;
  virtual void header(std::int32_t stream, std::string_view name, std::string_view value) = 0;
  virtual void head_complete(std::int32_t stream) = 0;
  virtual void data(std::int32_t stream, std::string_view piece) = 0;  // to be consumed
  virtual void request_complete(std::int32_t stream) = 0;
  virtual void reset_received(std::int32_t stream) = 0;
  virtual void closed(std::int32_t stream) = 0;

  // A piece of an answer has left; `last` of it.
  virtual void answer_sent(std::int32_t stream, bool last) = 0;
  // More of the body of an answer.
  struct Body {
    std::size_t size = 0;
    enum class Rest : std::uint8_t { kMore, kLater, kNone, kCut } rest = Rest::kMore;
  };
  virtual Body read_body(std::int32_t stream, std::span<std::uint8_t> into) = 0;
};

class Http2ServerSession {
 public:
  struct Settings {
    std::uint32_t streams = 100;
    std::uint32_t head_bytes = 64 << 10;
    std::uint32_t stream_window = 64 << 10;
  };
  // `events` outlives it.
  Http2ServerSession(const Settings& settings, Http2Events& events);
  ~Http2ServerSession();
  Http2ServerSession(const Http2ServerSession&) = delete;
  Http2ServerSession& operator=(const Http2ServerSession&) = delete;

  // False: it cannot go on, and has sent GOAWAY.
  bool receive(std::string_view bytes);
  // Appends what is to be sent until it is longer than `enough`. False: as above.
  bool collect(std::string& out, std::size_t enough);

  // Nothing is left to be sent; nothing is left to be sent or received.
  bool all_sent() const;
  bool over() const;
  std::size_t waiting_frames() const;

  // What was received of a body has been used: the client may send as much again.
  void consume(std::int32_t stream, std::size_t bytes);
  // How much of a body may be on its way, per stream and in all.
  void set_windows(std::int32_t stream, std::int32_t stream_window, std::int32_t connection_window);

  void go_on(std::int32_t stream);  // 100 Continue
  // With a body, more of which is asked for, unless there is none.
  void answer(std::int32_t stream, const HttpExchange::Head& head, const std::string& date,
              bool has_body);
  void resume(std::int32_t stream);  // read_body() has more, after it returned kLater
  void reset(std::int32_t stream, Http2Error why);
  // No new streams; those that there are may end.
  void refuse_more();
  // No streams at all, for that reason.
  void terminate(Http2Error why);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::net
