#include "serve/responses.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/envelope.h"
#include "api/proto_json.h"
#include "base/ascii.h"
#include "base/go_quote.h"
#include "wire/json_text.h"
#include "wire/yaml_text.h"

namespace berth::serve {
namespace {

// The part before `separator`; `rest` goes on behind it.
std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return part;
}

int specificity(const MediaRange& range) {
  return (range.type != "*" ? 2 : 0) + (range.subtype != "*" ? 1 : 0);
}

void append_pretty(std::string& out, const JsonValue& value, std::size_t indent) {
  const auto line = [&](std::size_t depth) {
    out += '\n';
    out.append(depth, ' ');
  };
  if (value.kind == JsonValue::Kind::kObject && !value.members.empty()) {
    out += '{';
    for (std::size_t i = 0; i < value.members.size(); ++i) {
      if (i > 0) out += ',';
      line(indent + 2);
      append_json_string(out, value.members[i].name);
      out += ": ";
      append_pretty(out, value.members[i].value, indent + 2);
    }
    line(indent);
    out += '}';
  } else if (value.kind == JsonValue::Kind::kArray && !value.items.empty()) {
    out += '[';
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (i > 0) out += ',';
      line(indent + 2);
      append_pretty(out, value.items[i], indent + 2);
    }
    line(indent);
    out += ']';
  } else {
    out += to_json(value);
  }
}

// What must not be read as a page's tags.
std::string without_tags(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else
      safe += c;
  }
  return safe;
}

enum class Encoding : std::uint8_t { kJson, kYaml, kProto };

// For a Status. Requests for something made from an object (as=Table) are ignored.
Encoding choose_encoding(const net::HttpRequest& request) {
  struct Choice {
    std::string_view type;
    std::string_view subtype;
    Encoding encoding;
  };
  constexpr Choice kChoices[] = {{"application", "json", Encoding::kJson},
                                 {"application", "yaml", Encoding::kYaml},
                                 {"application", "vnd.kubernetes.protobuf", Encoding::kProto}};
  for (const MediaRange& range : parse_accept(request.headers.joined("Accept")))
    for (const Choice& choice : kChoices)
      if (range.parameter("as").empty() && range.covers(choice.type, choice.subtype))
        return choice.encoding;
  return Encoding::kJson;
}

JsonValue status_object(const StatusError& error) {
  JsonValue status = JsonValue::object();
  status.add("kind", JsonValue::of_text("Status"));
  status.add("apiVersion", JsonValue::of_text("v1"));
  status.add("metadata", JsonValue::object());
  status.add("status", JsonValue::of_text("Failure"));
  status.add("message", JsonValue::of_text(error.message));
  status.add("reason", JsonValue::of_text(error.reason));
  if (error.details) status.add("details", JsonValue::object());
  status.add("code", JsonValue::of_int(error.code));
  return status;
}

}  // namespace

std::string_view MediaRange::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters)
    if (key == name) return value;
  return {};
}

bool MediaRange::covers(std::string_view type_name, std::string_view subtype_name) const {
  return (type == "*" || type == type_name) && (subtype == "*" || subtype == subtype_name);
}

std::vector<MediaRange> parse_accept(std::string_view accept) {
  struct Clause {
    MediaRange range;
    std::size_t place;
  };
  std::vector<Clause> clauses;
  while (!accept.empty()) {
    std::string_view rest = cut(accept, ',');
    std::string_view names = trimmed(cut(rest, ';'));
    MediaRange range;
    if (names == "*") {
      range.type = range.subtype = "*";
    } else {
      range.type = trimmed(cut(names, '/'));
      range.subtype = trimmed(names);
      if (range.type.empty() || range.subtype.empty()) continue;
    }
    while (!rest.empty()) {
      std::string_view parameter = cut(rest, ';');
      const std::string_view key = trimmed(cut(parameter, '='));
      const std::string_view value = trimmed(parameter);
      if (key == "q")
        std::from_chars(value.data(), value.data() + value.size(), range.quality);
      else if (!key.empty())
        range.parameters.emplace_back(key, value);
    }
    clauses.push_back({std::move(range), clauses.size()});
  }
  std::ranges::sort(clauses, [](const Clause& a, const Clause& b) {
    if (a.range.quality != b.range.quality) return a.range.quality > b.range.quality;
    const int specific_a = specificity(a.range);
    const int specific_b = specificity(b.range);
    return specific_a != specific_b ? specific_a > specific_b : a.place < b.place;
  });
  std::vector<MediaRange> ranges;
  for (Clause& clause : clauses) ranges.push_back(std::move(clause.range));
  return ranges;
}

bool wants_pretty(const net::HttpRequest& request) {
  for (const auto& [name, value] : net::parse_query(request.query()))
    if (name == "pretty") return value != "0" && value != "false";
  const std::string_view agent = request.headers.find("User-Agent").value_or("");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

std::string write_json(const JsonValue& value, bool pretty) {
  std::string written;
  if (pretty)
    append_pretty(written, value, 0);
  else
    written = to_json(value) + "\n";
  // As Go does, in case a client takes it for HTML. These characters only occur in strings.
  std::string text;
  text.reserve(written.size());
  for (const char c : written) {
    if (c == '&' || c == '<' || c == '>')
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      text += c;
  }
  return text;
}

net::HttpResponse text_error(int status, std::string_view line) {
  net::HttpResponse response;
  response.status = status;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = line;
  response.body += '\n';
  return response;
}

net::HttpResponse plain_text(std::string body) {
  net::HttpResponse response;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.body = std::move(body);
  return response;
}

net::HttpResponse page_not_found() { return text_error(404, "404 page not found"); }

net::HttpResponse status_response(const net::HttpRequest& request, const StatusError& error) {
  net::HttpResponse response;
  response.status = error.code;
  JsonValue status = status_object(error);
  const Encoding encoding = choose_encoding(request);
  if (encoding == Encoding::kProto) {
    if (Result<std::string> sealed = json_to_envelope(to_json(status))) {
      response.headers.add("Content-Type", std::string(kProtoContentType));
      response.body = std::move(*sealed);
      return response;
    }
  }
  if (encoding == Encoding::kYaml) {
    sort_members(status);
    response.headers.add("Content-Type", "application/yaml");
    response.body = to_go_yaml(status);
    return response;
  }
  response.headers.add("Content-Type", "application/json");
  response.body = write_json(status, wants_pretty(request));
  return response;
}

net::HttpResponse unauthorized(const net::HttpRequest& request) {
  return status_response(request, {401, "Unauthorized", "Unauthorized"});
}

net::HttpResponse forbidden(const net::HttpRequest& request, std::string_view user,
                            std::string_view verb, std::string_view path, std::string_view reason) {
  std::string message =
      "forbidden: " + without_tags(fmt::format("User {} cannot {} path {}", go_quoted(user), verb,
                                               go_quoted(path)));
  if (!reason.empty()) message += fmt::format(": {}", reason);
  net::HttpResponse response =
      status_response(request, {403, "Forbidden", std::move(message), true});
  response.headers.add("X-Content-Type-Options", "nosniff");
  return response;
}

net::HttpResponse too_many_requests() {
  net::HttpResponse response = text_error(429, "Too many requests, please try again later.");
  response.headers.add("Retry-After", "1");
  return response;
}

net::HttpResponse internal_error(const net::HttpRequest& request, std::string_view why) {
  return text_error(500, without_tags(fmt::format("Internal Server Error: {}: {}",
                                                  go_quoted(request.target), why)));
}

}  // namespace berth::serve
