#include "net/http_message.h"

#include <algorithm>
#include <cstdint>

#include "base/ascii.h"

namespace berth::net {
namespace {

bool unreserved(char c) {
  return is_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == '~';
}

}  // namespace

void HttpHeaders::set(std::string_view name, std::string value) {
  std::erase_if(headers_,
                [&](const auto& header) { return same_but_for_case(header.first, name); });
  headers_.emplace_back(std::string(name), std::move(value));
}

std::optional<std::string_view> HttpHeaders::find(std::string_view name) const {
  for (const auto& [key, value] : headers_)
    if (same_but_for_case(key, name)) return value;
  return std::nullopt;
}

std::string HttpHeaders::joined(std::string_view name) const {
  std::string all;
  bool first = true;
  for (const auto& [key, value] : headers_) {
    if (!same_but_for_case(key, name)) continue;
    if (!first) all += ", ";
    first = false;
    all += value;
  }
  return all;
}

std::string_view HttpRequest::path() const {
  const std::string_view all = target;
  return all.substr(0, all.find('?'));
}

std::string_view HttpRequest::query() const {
  const std::string_view all = target;
  const std::size_t mark = all.find('?');
  return mark == std::string_view::npos ? std::string_view() : all.substr(mark + 1);
}

bool is_cross_origin(const HttpRequest& request) {
  std::string_view origin = request.headers.find("Origin").value_or("");
  if (origin.empty()) return false;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return true;  // "null"
  origin.remove_prefix(scheme + 3);
  return origin != request.headers.find("Host").value_or("");
}

std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    std::optional<std::string> name = unescape(part.substr(0, equals), true);
    std::optional<std::string> value;
    if (equals == std::string_view::npos)
      value.emplace();
    else
      value = unescape(part.substr(equals + 1), true);
    // A parameter that cannot be read is as good as none; upstream's servers drop it, too.
    if (name && value) parameters.emplace_back(std::move(*name), std::move(*value));
  }
  return parameters;
}

std::optional<std::string> unescape(std::string_view text, bool plus_is_space) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      plain += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
      i += 2;
    } else {
      plain += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

std::string escape(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (unreserved(c)) {
      escaped += c;
      continue;
    }
    const auto byte = static_cast<std::uint8_t>(c);
    escaped += '%';
    escaped += kDigits[byte >> 4];
    escaped += kDigits[byte & 15];
  }
  return escaped;
}

}  // namespace berth::net
