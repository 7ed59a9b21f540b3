#include "memapi/crd_formats.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "cel/library/named_formats.h"
#include "cel/library/net.h"
#include "cel/library/time.h"
#include "memapi/validation.h"

namespace berth::memapi {
namespace {

bool is_hex(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

// Pairs of hexadecimal digits with colons, hyphens or dots between.
bool is_mac(std::string_view text) {
  const bool dots = text.find('.') != std::string_view::npos;
  const std::size_t digits = dots ? 4 : 2;
  const char separator = dots ? '.' : text.find('-') != std::string_view::npos ? '-' : ':';
  std::size_t octets = 0;
  for (;;) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    if (part.size() != digits || !is_hex(part)) return false;
    octets += digits / 2;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return octets == 6 || octets == 8 || octets == 20;
}

bool is_email(std::string_view text) {
  const std::size_t sign = text.rfind('@');
  if (sign == std::string_view::npos || sign == 0 || sign + 1 == text.size()) return false;
  return text.find_first_of(" \t\r\n") == std::string_view::npos;
}

bool is_hostname(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return is_dns_subdomain(lower);
}

bool is_uuid_of(std::string_view text, char version) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '-'; });
  return digits.size() == 32 && is_hex(digits) && (version == 0 || digits[12] == version);
}

bool is_color(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  return (text.size() == 3 || text.size() == 6) && is_hex(text);
}

}  // namespace

bool has_format(std::string_view text, std::string_view format) {
  if (format == "date-time" || format == "datetime") return cel::parse_timestamp(text).has_value();
  if (format == "duration") return cel::parse_duration(text).has_value();
  if (format == "ipv4" || format == "ipv6") {
    const auto address = cel::parse_ip(text);
    return address && address->v6 == (format == "ipv6");
  }
  if (format == "cidr") return cel::parse_cidr(text).has_value();
  if (format == "mac") return is_mac(text);
  if (format == "email") return is_email(text);
  if (format == "hostname") return is_hostname(text);
  if (format == "uuid") return is_uuid_of(text, 0);
  if (format == "uuid3" || format == "uuid4" || format == "uuid5")
    return is_uuid_of(text, format.back());
  if (format == "hexcolor") return is_color(text);
  if (format == "k8s-short-name") return is_dns_label(text);
  if (format == "k8s-long-name") return is_dns_subdomain(text);
  for (const std::string_view named : {"uri", "byte", "date"}) {
    if (format != named) continue;
    const cel::NamedFormat* found = cel::named_format(named);
    return found == nullptr || found->validate(text).empty();
  }
  return true;
}

}  // namespace berth::memapi
