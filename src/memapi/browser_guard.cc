#include "memapi/browser_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/go_quote.h"

namespace berth::memapi {
namespace {

// "[::1]" of "[::1]:8001", "localhost" of "localhost".
std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_address_of_ipv4(std::string_view host) {
  return std::ranges::count(host, '.') == 3 &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Names that only this machine itself resolves; "127.0.0.1.example.com" is somebody's name.
bool is_this_machine(std::string_view host) {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && is_address_of_ipv4(host));
}

// Browsers say so in one of these ways: what they send to another site names the page's own, and no page
// can take these headers away.
bool may_be_browser(const net::HttpRequest& request) {
  for (const std::string_view name : {"Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"})
    if (request.headers.find(name)) return true;
  return request.headers.find("User-Agent").value_or("").starts_with("Mozilla/");
}

ApiError turned_away(std::string message) {
  ApiError error;
  error.code = 403;
  error.reason = "Forbidden";
  error.message = std::move(message);
  return error;
}

}  // namespace

Answer<void> check_sender(const net::HttpRequest& request) {
  const std::string_view host = request.headers.find("Host").value_or("");
  if (!host.empty() && !is_this_machine(without_port(host))) {
    return refuse(turned_away(
        fmt::format("the Host {} is not this machine: without a token only localhost is served",
                    go_quoted(host))));
  }
  if (const auto origin = request.headers.find("Origin");
      origin && *origin != fmt::format("http://{}", host)) {
    return refuse(turned_away(
        fmt::format("without a token no pages of the Origin {} are served", go_quoted(*origin))));
  }
  if (!request.body.empty() && request.headers.find("Content-Type").value_or("").empty() &&
      may_be_browser(request)) {
    ApiError error = ApiError::unsupported_media_type("");
    error.message = "a body needs a Content-Type";
    return refuse(std::move(error));
  }
  return {};
}

}  // namespace berth::memapi
