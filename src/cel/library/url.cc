#include "cel/library/url.h"

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "cel/library/library.h"
#include "cel/library/net.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

enum class Part { kPath, kHost, kZone, kQuery, kUser };

std::unexpected<Error> wrong_url(std::string text) {
  return fail(ErrorKind::kInvalid, std::move(text));
}

bool is_unreserved(char c) {
  return is_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == '~';
}

bool is_host_character(char c) {
  return is_unreserved(c) ||
         std::string_view("!$&'()*+,;=:[]<>\"").find(c) != std::string_view::npos;
}

Result<std::string> unescape(std::string_view text, Part part) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      const std::string_view escape = text.substr(i, 3);
      if (escape.size() < 3 || hex_value(escape[1]) < 0 || hex_value(escape[2]) < 0) {
        return wrong_url("invalid URL escape " + go_quoted(escape));
      }
      const auto value = static_cast<unsigned char>(*parse_uint(escape.substr(1), 16));
      if (part == Part::kHost && value < 0x80 && escape != "%25") {
        return wrong_url("invalid URL escape " + go_quoted(escape));
      }
      if (part == Part::kZone && escape != "%25" && value != ' ' &&
          !is_host_character(static_cast<char>(value))) {
        return wrong_url("invalid URL escape " + go_quoted(escape));
      }
      result += static_cast<char>(value);
      i += 2;
    } else if (c == '+' && part == Part::kQuery) {
      result += ' ';
    } else if ((part == Part::kHost || part == Part::kZone) && (c & 0x80) == 0 &&
               !is_host_character(c)) {
      return wrong_url("invalid character " + go_quoted(std::string_view(&c, 1)) + " in host name");
    } else {
      result += c;
    }
  }
  return result;
}

std::string escape(std::string_view text, std::string_view also_allowed) {
  std::string result;
  for (const char c : text) {
    if (is_unreserved(c) || also_allowed.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += '%';
      result += "0123456789ABCDEF"[static_cast<unsigned char>(c) >> 4];
      result += "0123456789ABCDEF"[static_cast<unsigned char>(c) & 0xF];
    }
  }
  return result;
}

constexpr std::string_view kPathAllowed = "$&+,/:;=@";

// The path as it is printed: as written, where that is one way to write it.
Result<std::string> escaped_path(std::string_view written) {
  const auto path = unescape(written, Part::kPath);
  if (!path) return path;
  if (*path == "*" && written == "*") return *path;
  const bool valid = std::all_of(written.begin(), written.end(), [](char c) {
    return is_unreserved(c) ||
           std::string_view("!$&'()*+,;=:@[]%/").find(c) != std::string_view::npos;
  });
  return valid ? std::string(written) : escape(*path, kPathAllowed);
}

bool is_optional_port(std::string_view text) {
  if (text.empty()) return true;
  return text[0] == ':' && text.substr(1).find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::string> parse_literal_host(std::string_view host) {
  const std::size_t close = host.rfind(']');
  if (close == std::string_view::npos) return wrong_url("missing ']' in host");
  const std::string_view port = host.substr(close + 1);
  if (!is_optional_port(port)) return wrong_url("invalid port " + go_quoted(port) + " after host");
  const std::string_view name = host.substr(1, close - 1);
  const std::size_t zone = name.find("%25");
  auto plain = unescape(name.substr(0, zone), Part::kHost);
  if (!plain) return plain;
  if (zone != std::string_view::npos) {
    const auto rest = unescape(name.substr(zone), Part::kZone);
    if (!rest) return rest;
    *plain += *rest;
  }
  const std::size_t percent = plain->find('%');
  const auto address = parse_ip(plain->substr(0, percent));
  // An IPv4 address in the dress of an IPv6 one is none to us, but it is a host.
  const bool mapped = !address && address.error().message.starts_with("IPv4-mapped");
  if (!address && !mapped) return wrong_url("invalid host: " + address.error().message);
  if (!mapped && !address->v6) return wrong_url("invalid IP-literal");
  return "[" + *plain + "]" + std::string(port);
}

Result<std::string> parse_host(std::string_view scheme, std::string_view host) {
  const std::size_t open = host.rfind('[');
  if (open != std::string_view::npos) {
    return open == 0 ? parse_literal_host(host) : wrong_url("invalid IP-literal");
  }
  std::size_t colon = host.find(':');
  if (colon != std::string_view::npos) {
    if (scheme != "http" && scheme != "https") colon = host.rfind(':');
    const std::string_view port = host.substr(colon);
    if (!is_optional_port(port))
      return wrong_url("invalid port " + go_quoted(port) + " after host");
  }
  return unescape(host, Part::kHost);
}

Result<std::string> parse_user(std::string_view user) {
  const bool valid = std::all_of(user.begin(), user.end(), [](char c) {
    return is_unreserved(c) || std::string_view("@%:!$&'()*+,;=").find(c) != std::string_view::npos;
  });
  if (!valid) return wrong_url("net/url: invalid userinfo");
  const std::size_t colon = user.find(':');
  const auto name = unescape(user.substr(0, colon), Part::kUser);
  if (!name) return name;
  std::string text = escape(*name, "$&+,;=");
  if (colon != std::string_view::npos) {
    const auto password = unescape(user.substr(colon + 1), Part::kUser);
    if (!password) return password;
    text += ":" + escape(*password, "$&+,;=");
  }
  return text + "@";
}

// Scheme and the rest.
Result<std::pair<std::string, std::string_view>> split_scheme(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_letter(c)) continue;
    if (is_digit(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) break;
      continue;
    }
    if (c != ':') break;
    if (i == 0) return wrong_url("missing protocol scheme");
    return std::pair(lower_case(text.substr(0, i)), text.substr(i + 1));
  }
  return std::pair(std::string(), text);
}

Result<Url> parse_parts(std::string_view text, bool as_request) {
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; })) {
    return wrong_url("net/url: invalid control character in URL");
  }
  if (text.empty() && as_request) return wrong_url("empty url");
  Url url;
  if (text == "*") {
    url.path = "*";
    return url;
  }
  auto scheme = split_scheme(text);
  if (!scheme) return fail(scheme.error());
  url.scheme = std::move(scheme->first);
  std::string_view rest = scheme->second;
  if (rest.ends_with('?') && std::count(rest.begin(), rest.end(), '?') == 1) {
    url.force_query = true;
    rest.remove_suffix(1);
  } else if (const std::size_t mark = rest.find('?'); mark != std::string_view::npos) {
    url.query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (!rest.starts_with('/')) {
    if (!url.scheme.empty()) {
      url.opaque = rest;
      return url;
    }
    if (as_request) return wrong_url("invalid URI for request");
    if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos) {
      return wrong_url("first path segment in URL cannot contain colon");
    }
  }
  const bool authority = !url.scheme.empty() || (!as_request && !rest.starts_with("///"));
  if (authority && rest.starts_with("//")) {
    std::string_view who = rest.substr(2);
    const std::size_t slash = who.find('/');
    rest = slash == std::string_view::npos ? std::string_view() : who.substr(slash);
    who = who.substr(0, slash);
    const std::size_t at = who.rfind('@');
    auto host = parse_host(url.scheme, at == std::string_view::npos ? who : who.substr(at + 1));
    if (!host) return fail(host.error());
    url.host = std::move(*host);
    if (at != std::string_view::npos) {
      auto user = parse_user(who.substr(0, at));
      if (!user) return fail(user.error());
      url.user = std::move(*user);
    }
  } else if (!url.scheme.empty() && rest.starts_with('/')) {
    url.omit_host = true;
  }
  auto path = escaped_path(rest);
  if (!path) return fail(path.error());
  url.path = std::move(*path);
  return url;
}

Value to_url(Args args) {
  const std::string& text = args[0].as_string();
  const auto fails = [](const Error& error) {
    return Value::error("URL parse error during conversion from string: " + error.message);
  };
  const auto request = Url::parse(text, true);
  if (!request) return fails(request.error());
  auto url = Url::parse(text, false);
  return url ? Value::url(std::move(*url)) : fails(url.error());
}
Value is_url(Args args) {
  return Value::boolean(Url::parse(args[0].as_string(), true).has_value());
}
Value scheme(Args args) { return Value::string(args[0].as_url().scheme); }
Value host(Args args) { return Value::string(args[0].as_url().host); }
Value hostname(Args args) { return Value::string(args[0].as_url().host_and_port().first); }
Value port(Args args) { return Value::string(args[0].as_url().host_and_port().second); }
Value path(Args args) { return Value::string(args[0].as_url().path); }
Value query(Args args) {
  auto map = std::make_shared<Map>();
  for (auto& [key, texts] : args[0].as_url().query_values()) {
    std::vector<Value> values;
    for (const std::string& each : texts) values.push_back(Value::string(each));
    map->set(Value::string(key), Value::list(std::move(values)));
  }
  return Value::map(std::move(map));
}

}  // namespace

Result<Url> Url::parse(std::string_view text, bool as_request) {
  const std::size_t hash = as_request ? std::string_view::npos : text.find('#');
  const std::string_view before = text.substr(0, hash);
  auto url = parse_parts(before, as_request);
  if (!url) return wrong_url("parse " + go_quoted(before) + ": " + url.error().message);
  if (hash != std::string_view::npos) {
    const auto fragment = unescape(text.substr(hash + 1), Part::kPath);
    if (!fragment) return wrong_url("parse " + go_quoted(text) + ": " + fragment.error().message);
    url->fragment = escape(*fragment, "!$&'()*+,/:;=?@[]");
  }
  return url;
}

std::string Url::text() const {
  std::string result;
  if (!scheme.empty()) result += scheme + ":";
  if (!opaque.empty()) {
    result += opaque;
  } else {
    const bool named = !host.empty() || !user.empty();
    if ((!scheme.empty() || named) && !(omit_host && !named) && (named || !path.empty())) {
      result += "//" + user + escape(host, "!$&'()*+,;=:[]<>\"");
    }
    if (!path.empty() && path[0] != '/' && !host.empty()) result += '/';
    if (result.empty() && path.substr(0, path.find('/')).find(':') != std::string::npos) {
      result += "./";
    }
    result += path;
  }
  if (force_query || !query.empty()) result += "?" + query;
  if (!fragment.empty()) result += "#" + fragment;
  return result;
}

std::vector<std::pair<std::string, std::vector<std::string>>> Url::query_values() const {
  std::vector<std::pair<std::string, std::vector<std::string>>> values;
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::size_t end = rest.find('&');
    const std::string_view pair = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = pair.find('=');
    auto key = unescape(pair.substr(0, equals), Part::kQuery);
    auto value =
        unescape(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1),
                 Part::kQuery);
    if (!key || !value) continue;
    auto place = std::find_if(values.begin(), values.end(),
                              [&](const auto& each) { return each.first == *key; });
    if (place == values.end()) place = values.insert(values.end(), {*key, {}});
    place->second.push_back(std::move(*value));
  }
  return values;
}

std::pair<std::string, std::string> Url::host_and_port() const {
  std::string name = host;
  std::string number;
  const std::size_t colon = name.rfind(':');
  if (colon != std::string::npos && is_optional_port(std::string_view(name).substr(colon))) {
    number = name.substr(colon + 1);
    name.erase(colon);
  }
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  return {name, number};
}

void add_urls(FunctionTable& table) {
  table.add("url(string) -> url", "string_to_url", to_url);
  table.add("url::getScheme() -> string", "url_get_scheme", scheme);
  table.add("url::getHost() -> string", "url_get_host", host);
  table.add("url::getHostname() -> string", "url_get_hostname", hostname);
  table.add("url::getPort() -> string", "url_get_port", port);
  table.add("url::getEscapedPath() -> string", "url_get_escaped_path", path);
  table.add("url::getQuery() -> map(string, list(string))", "url_get_query", query);
  table.add("isURL(string) -> bool", "is_url_string", is_url);
}

}  // namespace berth::cel
