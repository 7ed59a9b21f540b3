// Any bytes as an HTTP request: read in one piece and in small ones, which must come to the same,
// then taken apart and answered the way the server does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_message.h"
#include "net/http_wire.h"

namespace {

using namespace berth::net;

constexpr std::size_t kMaxHead = 1024;
constexpr std::size_t kMaxBody = 512;

void check(bool good) {
  if (!good) std::abort();
}

struct Read {
  std::optional<HttpRequest> request;
  HttpAnswerForm form;
  std::optional<int> refused;
  std::string rest;
};

Read read(std::string_view bytes, std::size_t piece) {
  HttpRequestReader reader(kMaxHead, kMaxBody);
  Read result;
  std::string& waiting = result.rest;
  while (!bytes.empty() && !reader.complete()) {
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    const auto used = reader.put(waiting);
    if (!used) {
      check(used.error().status >= 400 && used.error().status < 600);
      result.refused = used.error().status;
      return result;
    }
    check(*used <= waiting.size());
    waiting.erase(0, *used);
  }
  if (!reader.complete()) return result;
  result.form.keep_alive = reader.keep_alive();
  result.form.http_1_0 = reader.http_1_0();
  result.request = reader.take();
  result.form.head_only = result.request->method == "HEAD";
  waiting += bytes;
  return result;
}

void check_request(const HttpRequest& request) {
  check(!request.method.empty());
  check(request.target.starts_with('/') || request.target == "*");
  check(request.body.size() <= kMaxBody);
  check(request.path().size() <= request.target.size());
  for (const auto& [name, value] : parse_query(request.query())) {
    check(unescape(escape(name), true) == name);
    check(unescape(escape(value), true) == value);
  }
  for (const auto& [name, value] : request.headers) {
    check(request.headers.find(name).has_value());
    check(value.find('\n') == std::string::npos);
  }
}

// What comes out is one answer: its head has no more lines than were given.
void check_answer(const Read& read) {
  HttpResponse response;
  response.headers.add("X-Echo", read.request->body);
  response.body = read.request->body;
  const std::string bytes = response_bytes(response, read.form);
  const std::size_t end = bytes.find("\r\n\r\n");
  check(end != std::string::npos);
  check(bytes.size() == end + 4 + (read.form.head_only ? 0 : response.body.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Read whole = read(bytes, bytes.size() + 1);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    const Read pieces = read(bytes, piece);
    // Cut differently, a fault may be seen sooner or later, and so be another; a request is the
    // same.
    if (!whole.request || !pieces.request) continue;
    check(pieces.request->method == whole.request->method);
    check(pieces.request->target == whole.request->target);
    check(pieces.request->body == whole.request->body);
    check(pieces.request->headers.size() == whole.request->headers.size());
    check(pieces.rest == whole.rest);
  }
  if (whole.request) {
    check_request(*whole.request);
    check_answer(whole);
  }
  return 0;
}
