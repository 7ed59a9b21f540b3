// HTTP/1.1 as bytes: requests read from them, responses written as them. No socket in sight, so
// that tests and fuzzers can feed it what they like. For http1_protocol.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "net/http_message.h"

namespace berth::net {

// Why a request is not taken: the status to answer with, and a sentence.
struct HttpRefusal {
  int status = 400;
  std::string message;
};

// Reads one request from bytes as they arrive.
class HttpRequestReader {
 public:
  explicit HttpRequestReader(std::size_t max_head_bytes, std::size_t max_body_bytes = SIZE_MAX);
  ~HttpRequestReader();
  HttpRequestReader(HttpRequestReader&&) noexcept;
  HttpRequestReader& operator=(HttpRequestReader&&) noexcept;

  // Reads what it can and returns how much that was; the rest is to be given again, with more
  // behind it. Nothing more is read once the request is complete. After a refusal it is of no use.
  std::expected<std::size_t, HttpRefusal> put(std::string_view bytes);
  // The same, up to the end of the head.
  std::expected<std::size_t, HttpRefusal> put_head(std::string_view bytes);

  // Once the head is complete: a new limit for the body, which may be refused for its length now.
  std::expected<void, HttpRefusal> limit_body(std::size_t max_body_bytes);

  bool head_complete() const;
  bool complete() const;

  // Of the head, once it is complete.
  bool keep_alive() const;
  bool http_1_0() const;
  bool expects_continue() const;

  // The request in the head; the body is empty.
  HttpRequest head() const;
  // The complete request, or its body, once.
  HttpRequest take();
  std::string take_body();

 private:
  struct Parser;
  std::expected<std::size_t, HttpRefusal> step(std::string_view bytes);
  std::expected<void, HttpRefusal> check_head() const;

  std::unique_ptr<Parser> parser_;
  std::size_t max_head_bytes_;
  std::size_t head_bytes_ = 0;
};

// How the answer to one request must look.
struct HttpAnswerForm {
  bool head_only = false;  // the request was HEAD
  bool http_1_0 = false;   // no chunks: the end of the stream is the end of the connection
  bool keep_alive = true;
  std::string date;  // empty: none
};

// A whole response. Headers about length and connection are replaced.
std::string response_bytes(const HttpResponse& response, const HttpAnswerForm& form);
// The beginning of one, and of one whose body comes in chunks.
std::string response_head_bytes(int status, const HttpHeaders& headers, std::size_t body_bytes,
                                const HttpAnswerForm& form);
std::string stream_head_bytes(int status, const HttpHeaders& headers, const HttpAnswerForm& form);
// Empty for an empty chunk, which would end the stream.
std::string chunk_bytes(std::string chunk, const HttpAnswerForm& form);
std::string stream_end_bytes(const HttpAnswerForm& form);

std::string_view reason_phrase(int status);
// Whether an answer with this status never has a body.
bool has_no_body(int status);
// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(WallTime time);

}  // namespace berth::net
