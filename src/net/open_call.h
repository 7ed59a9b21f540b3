// One call of an HttpClient while it is under way: what was asked, and what has come of the answer.
// Its progress is reported here, whether it is sent by libcurl or as a stream of HTTP/2. For
// http_client.cc; the client's thread only.
#pragma once

#include <functional>
#include <string_view>

#include "berth/result.h"
#include "net/http_client.h"
#include "net/http_message.h"

namespace berth::net {

// The status after which a connection takes no further calls.
inline constexpr int kUnauthorized = 401;

// One of the two.
struct HttpCallbacks {
  std::function<void(Result<HttpResponse>)> done;
  HttpStreamCallbacks stream;
};

class OpenCall {
 public:
  OpenCall(HttpCallId id, HttpCall call, HttpCallbacks callbacks, const HttpClientOptions& options);
  OpenCall(const OpenCall&) = delete;
  OpenCall& operator=(const OpenCall&) = delete;

  HttpCallId id() const { return id_; }
  const HttpCall& call() const { return call_; }
  const HttpClientOptions& options() const { return options_; }
  // An error: a line break in what goes into the head.
  Result<void> can_be_sent() const;

  // Right before it is sent: whether the caller still allows it. A refusal is final.
  bool may_be_sent();
  bool withheld() const { return withheld_; }
  static Error withheld_error();

  // What is answered, as it comes.
  void begin_head();  // also after a 100
  void header(std::string_view name, std::string_view value);
  void end_head(int status);
  bool head_complete() const { return head_complete_; }
  int status() const { return status_; }  // 0 until the head is complete
  bool body(std::string_view piece);      // false: it is too large

  // The answer was larger than it may be.
  bool too_large() const { return too_large_; }
  Error too_large_error() const;

  // Calls back for the last time.
  void finish(Result<void> ended);

 private:
  bool streaming() const { return !callbacks_.done; }

  const HttpCallId id_;
  const HttpCall call_;
  const HttpCallbacks callbacks_;
  const HttpClientOptions& options_;

  HttpResponse response_;
  bool head_complete_ = false;
  int status_ = 0;
  bool too_large_ = false;
  bool withheld_ = false;
};

}  // namespace berth::net
