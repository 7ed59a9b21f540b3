#include "cel/library/net.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "cel/library/library.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

std::unexpected<Error> wrong(std::string text) {
  return fail(ErrorKind::kInvalid, std::move(text));
}

// What is wrong with an address, and from where on.
struct Wrong {
  const char* what = "unable to parse IP";
  std::string_view at;
};

// Four numbers.
bool parse_v4(std::string_view text, std::uint8_t* octets, Wrong& wrong) {
  int value = 0;
  std::size_t digits = 0;
  std::size_t field = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c)) {
      wrong = {"IPv4 field has octet with leading zero", {}};
      if (digits == 1 && value == 0) return false;
      value = value * 10 + (c - '0');
      ++digits;
      wrong = {"IPv4 field has value >255", {}};
      if (value > 255) return false;
      continue;
    }
    wrong = {"unexpected character", text.substr(i)};
    if (c != '.') return false;
    wrong = {"IPv4 field must have at least one digit", text.substr(i)};
    if (digits == 0 || i == text.size() - 1) return false;
    wrong = {"IPv4 address too long", {}};
    if (field == 3) return false;
    octets[field++] = static_cast<std::uint8_t>(value);
    value = 0;
    digits = 0;
  }
  wrong = {"IPv4 address too short", {}};
  if (field < 3) return false;
  octets[3] = static_cast<std::uint8_t>(value);
  return true;
}

// How many hexadecimal digits begin the text: at most five are counted.
std::size_t hex_digits(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && length < 5 &&
         std::string_view("0123456789abcdefABCDEF").find(text[length]) != std::string_view::npos) {
    ++length;
  }
  return length;
}

// Up to eight groups, the last two perhaps as an IPv4 address; "::" is remembered in `gap`.
bool parse_groups(std::string_view& rest, IpAddress& address, std::size_t& at,
                  std::optional<std::size_t>& gap, Wrong& wrong) {
  while (at < 16) {
    const std::size_t length = hex_digits(rest);
    wrong = {"each group must have 4 or less digits", rest};
    if (length > 4) return false;
    wrong = {"each colon-separated field must have at least one digit", rest};
    if (length == 0) return false;
    if (length < rest.size() && rest[length] == '.') {
      wrong = {"embedded IPv4 address must replace the final 2 fields of the address", rest};
      if (!gap && at != 12) return false;
      wrong = {"too many hex fields to fit an embedded IPv4 at the end of the address", rest};
      if (at + 4 > 16) return false;
      if (!parse_v4(rest, address.octets.data() + at, wrong)) return false;
      at += 4;
      rest = {};
      return true;
    }
    const auto group = static_cast<unsigned>(*parse_uint(rest.substr(0, length), 16));
    address.octets[at] = static_cast<std::uint8_t>(group >> 8);
    address.octets[at + 1] = static_cast<std::uint8_t>(group & 0xFF);
    at += 2;
    rest.remove_prefix(length);
    if (rest.empty()) return true;
    wrong = {"unexpected character, want colon", rest};
    if (rest[0] != ':') return false;
    wrong = {"colon must be followed by more characters", rest};
    if (rest.size() == 1) return false;
    rest.remove_prefix(1);
    if (rest[0] != ':') continue;
    wrong = {"multiple :: in address", rest};
    if (gap) return false;
    gap = at;
    rest.remove_prefix(1);
    if (rest.empty()) return true;
  }
  return true;
}

bool parse_v6(std::string_view rest, IpAddress& address, Wrong& wrong) {
  std::optional<std::size_t> gap;
  std::size_t at = 0;
  if (rest.starts_with("::")) {
    gap = 0;
    rest.remove_prefix(2);
    if (rest.empty()) return true;
  }
  if (!parse_groups(rest, address, at, gap, wrong)) return false;
  wrong = {"trailing garbage after address", rest};
  if (!rest.empty()) return false;
  if (at == 16) {
    wrong = {"the :: must expand to at least one field of zeros", {}};
    return !gap;
  }
  wrong = {"address string too short", {}};
  if (!gap) return false;
  const auto begin = address.octets.begin() + static_cast<std::ptrdiff_t>(*gap);
  std::move_backward(begin, address.octets.begin() + static_cast<std::ptrdiff_t>(at),
                     address.octets.end());
  std::fill_n(begin, 16 - at, std::uint8_t{0});
  return true;
}

// As Go's netip reads it; also returns whether it has a zone.
Result<IpAddress> parse_address(std::string_view text, bool& zone) {
  IpAddress address;
  Wrong wrong_at;
  const std::size_t mark = text.find_first_of(".:%");
  bool good = false;
  if (mark != std::string_view::npos && text[mark] == '.') {
    good = parse_v4(text, address.octets.data(), wrong_at);
  } else if (mark != std::string_view::npos && text[mark] == ':') {
    address.v6 = true;
    const std::size_t percent = text.find('%');
    zone = percent != std::string_view::npos;
    if (zone && percent + 1 == text.size()) {
      wrong_at = {"zone must be a non-empty string", {}};
    } else {
      good = parse_v6(text.substr(0, percent), address, wrong_at);
    }
  } else if (mark != std::string_view::npos) {
    wrong_at = {"missing IPv6 address", {}};
  }
  if (good) return address;
  std::string message = "ParseAddr(" + go_quoted(text) + "): " + wrong_at.what;
  if (!wrong_at.at.empty()) message += " (at " + go_quoted(wrong_at.at) + ")";
  return wrong(std::move(message));
}

bool is_v4_in_v6(const IpAddress& address) {
  if (!address.v6) return false;
  return std::all_of(address.octets.begin(), address.octets.begin() + 10,
                     [](std::uint8_t octet) { return octet == 0; }) &&
         address.octets[10] == 0xFF && address.octets[11] == 0xFF;
}

bool bit_equal(const IpAddress& a, const IpAddress& b, int bits) {
  if (a.v6 != b.v6) return false;
  for (int i = 0; i < bits; ++i) {
    const auto octet = static_cast<std::size_t>(i / 8);
    const int mask = 0x80 >> (i % 8);
    if ((a.octets[octet] & mask) != (b.octets[octet] & mask)) return false;
  }
  return true;
}

bool all_zero(const IpAddress& address, std::size_t from, std::size_t to) {
  return std::all_of(address.octets.begin() + static_cast<std::ptrdiff_t>(from),
                     address.octets.begin() + static_cast<std::ptrdiff_t>(to),
                     [](std::uint8_t octet) { return octet == 0; });
}

bool unspecified(const IpAddress& ip) { return all_zero(ip, 0, 16); }
bool loopback(const IpAddress& ip) {
  return ip.v6 ? all_zero(ip, 0, 15) && ip.octets[15] == 1 : ip.octets[0] == 127;
}
bool multicast(const IpAddress& ip) {
  return ip.v6 ? ip.octets[0] == 0xFF : (ip.octets[0] & 0xF0) == 0xE0;
}
bool link_local_multicast(const IpAddress& ip) {
  return ip.v6 ? ip.octets[0] == 0xFF && (ip.octets[1] & 0x0F) == 0x02
               : ip.octets[0] == 224 && ip.octets[1] == 0 && ip.octets[2] == 0;
}
bool link_local_unicast(const IpAddress& ip) {
  return ip.v6 ? ip.octets[0] == 0xFE && (ip.octets[1] & 0xC0) == 0x80
               : ip.octets[0] == 169 && ip.octets[1] == 254;
}
bool global_unicast(const IpAddress& ip) {
  const bool broadcast = !ip.v6 && std::all_of(ip.octets.begin(), ip.octets.begin() + 4,
                                               [](std::uint8_t octet) { return octet == 255; });
  return !broadcast && !unspecified(ip) && !loopback(ip) && !multicast(ip) &&
         !link_local_unicast(ip);
}

template <bool (*test)(const IpAddress&)>
Value is(Args args) {
  return Value::boolean(test(args[0].as_ip()));
}

Value to_ip(Args args) {
  const auto parsed = parse_ip(args[0].as_string());
  return parsed ? Value::ip(*parsed) : Value::error(parsed.error().message);
}
Value is_ip(Args args) { return Value::boolean(parse_ip(args[0].as_string()).has_value()); }
Value is_canonical(Args args) {
  const auto parsed = parse_ip(args[0].as_string());
  if (!parsed) return Value::error(parsed.error().message);
  return Value::boolean(ip_text(*parsed) == args[0].as_string());
}
Value family(Args args) { return Value::integer(args[0].as_ip().v6 ? 6 : 4); }
Value ip_to_string(Args args) { return Value::string(ip_text(args[0].as_ip())); }

Value to_cidr(const std::string& text) {
  const auto parsed = parse_cidr(text);
  if (parsed) return Value::cidr(*parsed);
  return Value::error("network address parse error during conversion from string: " +
                      parsed.error().message);
}
Value to_cidr(Args args) { return to_cidr(args[0].as_string()); }
Value is_cidr(Args args) { return Value::boolean(parse_cidr(args[0].as_string()).has_value()); }

bool holds(const IpPrefix& prefix, const IpAddress& address) {
  return bit_equal(prefix.address, address, prefix.bits);
}
Value contains_ip(Args args) { return Value::boolean(holds(args[0].as_cidr(), args[1].as_ip())); }
Value contains_ip_text(Args args) {
  const auto parsed = parse_ip(args[1].as_string());
  // Parity: a text that is no address is an error without its reason.
  if (!parsed) return no_such_overload();
  return Value::boolean(holds(args[0].as_cidr(), *parsed));
}
Value contains_range(const IpPrefix& outer, const IpPrefix& inner) {
  return Value::boolean(outer.bits <= inner.bits && holds(outer, inner.address));
}
Value contains_cidr(Args args) { return contains_range(args[0].as_cidr(), args[1].as_cidr()); }
Value contains_cidr_text(Args args) {
  const Value parsed = to_cidr(args[1].as_string());
  return parsed.is_error() ? parsed : contains_range(args[0].as_cidr(), parsed.as_cidr());
}
Value cidr_ip(Args args) { return Value::ip(args[0].as_cidr().address); }
Value prefix_length(Args args) { return Value::integer(args[0].as_cidr().bits); }
Value masked(Args args) {
  IpPrefix prefix = args[0].as_cidr();
  for (int i = prefix.bits; i < (prefix.address.v6 ? 128 : 32); ++i) {
    std::uint8_t& octet = prefix.address.octets[static_cast<std::size_t>(i / 8)];
    octet = static_cast<std::uint8_t>(octet & ~(0x80 >> (i % 8)));
  }
  return Value::cidr(prefix);
}
Value cidr_to_string(Args args) { return Value::string(cidr_text(args[0].as_cidr())); }

}  // namespace

Result<IpAddress> parse_ip(std::string_view text) {
  bool zone = false;
  const auto address = parse_address(text, zone);
  if (!address) {
    return wrong("IP Address " + go_quoted(text) +
                 " parse error during conversion from string: " + address.error().message);
  }
  if (zone) return wrong("IP address " + go_quoted(text) + " with zone value is not allowed");
  if (is_v4_in_v6(*address)) {
    return wrong("IPv4-mapped IPv6 address " + go_quoted(text) + " is not allowed");
  }
  return address;
}

Result<IpPrefix> parse_cidr(std::string_view text) {
  const auto cannot = [&](const std::string& why) {
    return wrong("network address parse error during conversion from string: netip.ParsePrefix(" +
                 go_quoted(text) + "): " + why);
  };
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return cannot("no '/'");
  bool zone = false;
  const auto address = parse_address(text.substr(0, slash), zone);
  if (!address) return cannot(address.error().message);
  if (zone) return cannot("IPv6 zones cannot be present in a prefix");
  const std::string_view bits = text.substr(slash + 1);
  const bool digits =
      !bits.empty() && bits.find_first_not_of("0123456789") == std::string_view::npos;
  if (bits.size() > 1 && (bits[0] < '1' || bits[0] > '9')) {
    return cannot("bad bits after slash: " + go_quoted(bits));
  }
  const auto number = digits ? parse_int(bits) : std::nullopt;
  if (!number) return cannot("bad bits after slash: " + go_quoted(bits));
  if (*number > (address->v6 ? 128 : 32)) return cannot("prefix length out of range");
  if (is_v4_in_v6(*address)) {
    return wrong("IPv4-mapped IPv6 address " + go_quoted(text) + " is not allowed");
  }
  return IpPrefix{*address, static_cast<int>(*number)};
}

std::string ip_text(const IpAddress& address) {
  std::string text;
  if (!address.v6) {
    for (std::size_t i = 0; i < 4; ++i) {
      if (i > 0) text += '.';
      text += std::to_string(address.octets[i]);
    }
    return text;
  }
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) {
    groups[i] = static_cast<unsigned>(address.octets[2 * i] << 8 | address.octets[2 * i + 1]);
  }
  // The longest run of zeros, from two on, is left out; of equals the first.
  std::size_t gap = 8;
  std::size_t gap_end = 8;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i >= 2 && end - i > gap_end - gap) {
      gap = i;
      gap_end = end;
    }
  }
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == gap) {
      text += "::";
      i = gap_end;
      if (i >= 8) break;
    } else if (i > 0) {
      text += ':';
    }
    std::array<char, 8> buffer{};
    const int length = std::snprintf(buffer.data(), buffer.size(), "%x", groups[i]);
    text.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return text;
}

std::string cidr_text(const IpPrefix& prefix) {
  return ip_text(prefix.address) + "/" + std::to_string(prefix.bits);
}

void add_addresses(FunctionTable& table) {
  table.add("ip(string) -> ip", "string_to_ip", to_ip);
  table.add("ip::family() -> int", "ip_family", family);
  table.add("ip.isCanonical(string) -> bool", "ip_is_canonical", is_canonical);
  table.add("ip::isUnspecified() -> bool", "ip_is_unspecified", is<unspecified>);
  table.add("ip::isLoopback() -> bool", "ip_is_loopback", is<loopback>);
  table.add("ip::isLinkLocalMulticast() -> bool", "ip_is_link_local_multicast",
            is<link_local_multicast>);
  table.add("ip::isLinkLocalUnicast() -> bool", "ip_is_link_local_unicast", is<link_local_unicast>);
  table.add("ip::isGlobalUnicast() -> bool", "ip_is_global_unicast", is<global_unicast>);
  table.add("isIP(string) -> bool", "is_ip", is_ip);
  table.add("string(ip) -> string", "ip_to_string", ip_to_string);

  table.add("cidr(string) -> cidr", "string_to_cidr", to_cidr);
  table.add("cidr::containsIP(string) -> bool", "cidr_contains_ip_string", contains_ip_text);
  table.add("cidr::containsIP(ip) -> bool", "cidr_contains_ip_ip", contains_ip);
  table.add("cidr::containsCIDR(string) -> bool", "cidr_contains_cidr_string", contains_cidr_text);
  table.add("cidr::containsCIDR(cidr) -> bool", "cidr_contains_cidr", contains_cidr);
  table.add("cidr::ip() -> ip", "cidr_ip", cidr_ip);
  table.add("cidr::prefixLength() -> int", "cidr_prefix_length", prefix_length);
  table.add("cidr::masked() -> cidr", "cidr_masked", masked);
  table.add("isCIDR(string) -> bool", "is_cidr", is_cidr);
  table.add("string(cidr) -> string", "cidr_to_string", cidr_to_string);
}

}  // namespace berth::cel
