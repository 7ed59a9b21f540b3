#include "net/http_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>

#include "base/ascii.h"

namespace berth::net {
namespace http = boost::beast::http;

struct HttpRequestReader::Parser : http::request_parser<http::string_body> {};

namespace {

HttpRefusal refusal(const boost::system::error_code& error) {
  if (error == http::error::body_limit)
    return {413, "the request's body is larger than the server allows"};
  if (error == http::error::header_limit)
    return {431, "the request's header is larger than the server allows"};
  return {400, fmt::format("malformed HTTP request: {}", error.message())};
}

// "/path?query", also of the absolute form that proxies use; nothing if it is neither.
std::optional<std::string_view> origin_form(std::string_view target) {
  if (target.starts_with('/') || target == "*") return target;
  const std::size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  if (!same_but_for_case(target.substr(0, scheme), "http") &&
      !same_but_for_case(target.substr(0, scheme), "https"))
    return std::nullopt;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? std::string_view("/") : target.substr(path);
}

// One that would end the header or begin another is cut there.
void append_header(std::string& out, std::string_view name, std::string_view value) {
  const auto line = [](std::string_view text) {
    return text.substr(0, text.find_first_of(std::string_view("\r\n\0", 3)));
  };
  out += line(name);
  out += ": ";
  out += line(value);
  out += "\r\n";
}

bool says_length_or_connection(std::string_view name) {
  return same_but_for_case(name, "Content-Length") ||
         same_but_for_case(name, "Transfer-Encoding") || same_but_for_case(name, "Connection") ||
         same_but_for_case(name, "Keep-Alive");
}

std::string head(int status, const HttpHeaders& headers, const HttpAnswerForm& form) {
  std::string out =
      fmt::format("HTTP/1.{} {} {}\r\n", form.http_1_0 ? 0 : 1, status, reason_phrase(status));
  for (const auto& [name, value] : headers)
    if (!says_length_or_connection(name)) append_header(out, name, value);
  if (!form.date.empty() && !headers.find("Date")) append_header(out, "Date", form.date);
  if (!form.keep_alive)
    out += "Connection: close\r\n";
  else if (form.http_1_0)
    out += "Connection: keep-alive\r\n";
  return out;
}

}  // namespace

HttpRequestReader::HttpRequestReader(std::size_t max_head_bytes, std::size_t max_body_bytes)
    : parser_(std::make_unique<Parser>()), max_head_bytes_(max_head_bytes) {
  parser_->header_limit(
      static_cast<std::uint32_t>(std::min<std::size_t>(max_head_bytes, UINT32_MAX)));
  parser_->body_limit(max_body_bytes);
}
HttpRequestReader::~HttpRequestReader() = default;
HttpRequestReader::HttpRequestReader(HttpRequestReader&&) noexcept = default;
HttpRequestReader& HttpRequestReader::operator=(HttpRequestReader&&) noexcept = default;

std::expected<std::size_t, HttpRefusal> HttpRequestReader::put_head(std::string_view bytes) {
  std::size_t used = 0;
  // Empty lines before a request are nothing: some clients put one behind a body.
  if (!parser_->got_some())
    while (used < bytes.size() && (bytes[used] == '\r' || bytes[used] == '\n')) ++used;
  while (used < bytes.size() && !parser_->is_header_done()) {
    const std::expected<std::size_t, HttpRefusal> size = step(bytes.substr(used));
    if (!size) return size;
    used += *size;
    head_bytes_ += *size;
    // The parser's own limit is about what it has not read yet, not about all lines together.
    if (!parser_->is_header_done() && head_bytes_ + (bytes.size() - used) > max_head_bytes_)
      return std::unexpected(refusal(http::error::header_limit));
    if (*size == 0) break;
  }
  if (parser_->is_header_done())
    if (const auto good = check_head(); !good) return std::unexpected(good.error());
  return used;
}

std::expected<std::size_t, HttpRefusal> HttpRequestReader::put(std::string_view bytes) {
  std::size_t used = 0;
  if (!parser_->is_header_done()) {
    const std::expected<std::size_t, HttpRefusal> head = put_head(bytes);
    if (!head || !parser_->is_header_done()) return head;
    used = *head;
  }
  // A call reads up to the end of a part, such as a chunk; as long as that goes on, go on.
  while (used < bytes.size() && !parser_->is_done()) {
    const std::expected<std::size_t, HttpRefusal> size = step(bytes.substr(used));
    if (!size) return size;
    used += *size;
    if (*size == 0) break;
  }
  return used;
}

// One call of the parser; 0 when it needs more.
std::expected<std::size_t, HttpRefusal> HttpRequestReader::step(std::string_view bytes) {
  boost::system::error_code error;
  const std::size_t size = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  if (error && error != http::error::need_more) return std::unexpected(refusal(error));
  return size;
}

std::expected<void, HttpRefusal> HttpRequestReader::limit_body(std::size_t max_body_bytes) {
  parser_->body_limit(max_body_bytes);  // which the parser asks for chunks only, from now on
  if (const auto length = parser_->content_length(); length && *length > max_body_bytes)
    return std::unexpected(refusal(http::error::body_limit));
  return {};
}

std::expected<void, HttpRefusal> HttpRequestReader::check_head() const {
  const auto& message = parser_->get();
  const auto method = message.method_string();
  if (same_but_for_case({method.data(), method.size()}, "CONNECT"))
    return std::unexpected(HttpRefusal{405, "this server is no proxy"});
  const auto target = message.target();
  if (!origin_form({target.data(), target.size()}))
    return std::unexpected(HttpRefusal{400, "malformed HTTP request: bad target"});
  if (message.version() >= 11 && message.count(http::field::host) != 1)
    return std::unexpected(
        HttpRefusal{400, message.count(http::field::host) == 0
                             ? "malformed HTTP request: missing required Host header"
                             : "malformed HTTP request: too many Host headers"});
  const auto encoding = message[http::field::transfer_encoding];
  if (!encoding.empty() && !parser_->chunked())
    return std::unexpected(HttpRefusal{501, "unsupported transfer encoding"});
  return {};
}

bool HttpRequestReader::head_complete() const { return parser_->is_header_done(); }
bool HttpRequestReader::complete() const { return parser_->is_done(); }
bool HttpRequestReader::keep_alive() const { return parser_->get().keep_alive(); }
bool HttpRequestReader::http_1_0() const { return parser_->get().version() < 11; }
bool HttpRequestReader::expects_continue() const {
  const auto value = parser_->get()[http::field::expect];
  return same_but_for_case({value.data(), value.size()}, "100-continue");
}

HttpRequest HttpRequestReader::head() const {
  const auto& message = parser_->get();
  HttpRequest request;
  const auto method = message.method_string();
  request.method.assign(method.data(), method.size());
  const auto target = message.target();
  request.target = origin_form({target.data(), target.size()}).value_or("/");
  for (const auto& field : message) {
    const auto name = field.name_string();
    const auto value = field.value();
    request.headers.add(std::string(name.data(), name.size()),
                        std::string(value.data(), value.size()));
  }
  return request;
}

HttpRequest HttpRequestReader::take() {
  HttpRequest request = head();
  request.body = take_body();
  return request;
}

std::string HttpRequestReader::take_body() { return std::move(parser_->get().body()); }

std::string response_head_bytes(int status, const HttpHeaders& headers, std::size_t body_bytes,
                                const HttpAnswerForm& form) {
  std::string out = head(status, headers, form);
  if (!has_no_body(status))
    fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", body_bytes);
  out += "\r\n";
  return out;
}

std::string response_bytes(const HttpResponse& response, const HttpAnswerForm& form) {
  std::string out =
      response_head_bytes(response.status, response.headers, response.body.size(), form);
  if (!form.head_only && !has_no_body(response.status)) out += response.body;
  return out;
}

std::string stream_head_bytes(int status, const HttpHeaders& headers, const HttpAnswerForm& form) {
  std::string out = head(status, headers, form);
  if (!form.http_1_0 && !has_no_body(status)) out += "Transfer-Encoding: chunked\r\n";
  out += "\r\n";
  return out;
}

std::string chunk_bytes(std::string chunk, const HttpAnswerForm& form) {
  if (form.http_1_0 || chunk.empty()) return chunk;
  std::string out;
  out.reserve(chunk.size() + 20);
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", chunk.size());
  out += chunk;
  out += "\r\n";
  return out;
}

std::string stream_end_bytes(const HttpAnswerForm& form) {
  return form.http_1_0 ? std::string() : std::string("0\r\n\r\n");
}

std::string http_date(WallTime time) {
  using namespace std::chrono;
  constexpr auto kDays =
      std::to_array<std::string_view>({"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"});
  constexpr auto kMonths = std::to_array<std::string_view>(
      {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"});
  const sys_seconds moment(floor<seconds>(time.since_epoch));
  const sys_days day = floor<days>(moment);
  const year_month_day date(day);
  const hh_mm_ss clock(moment - day);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[weekday(day).c_encoding()],
                     static_cast<unsigned>(date.day()),
                     kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

std::string_view reason_phrase(int status) {
  if (status == 429) return "Too Many Requests";
  if (status == 422) return "Unprocessable Entity";
  const auto phrase = http::obsolete_reason(http::int_to_status(static_cast<unsigned>(status)));
  return phrase.empty() ? std::string_view("Status")
                        : std::string_view(phrase.data(), phrase.size());
}

}  // namespace berth::net
