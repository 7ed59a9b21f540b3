#include "wire/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/ascii.h"
#include "base/utf8.h"
#include "wire/json_text.h"
#include "wire/yaml_scalar.h"

namespace berth {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0 || (c < 0x20 && c != '\n') || c == 0x7f) return false;
    i += length;
  }
  return true;
}

// Whether text may stand without quotes as far as YAML's syntax goes.
bool is_plain_syntax(std::string_view text) {
  if (text.empty() || is_blank(text.front()) || is_blank(text.back())) return false;
  if (text.starts_with("---") || text.starts_with("...")) return false;
  if (std::string_view("#,[]{}&*!|>'\"%@`").contains(text.front())) return false;
  const auto blank_or_end = [&](std::size_t i) { return i >= text.size() || is_blank(text[i]); };
  if (std::string_view("-?:").contains(text.front()) && blank_or_end(1)) return false;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == ':' && blank_or_end(i + 1)) return false;
    if (text[i] == '#' && is_blank(text[i - 1])) return false;
  }
  return true;
}

// A date, or digits with colons: other readers of YAML take them for a time or a number to base 60.
bool looks_like_time(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text.front())) return false;
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos || digits + 1 >= text.size()) return false;
  if (!is_digit(text[digits + 1])) return false;
  if (text[digits] == '-' && digits == 4) return true;
  return text[digits] == ':' && text.find_first_not_of("0123456789_:.") == std::string_view::npos;
}

std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          fmt::format_to(std::back_inserter(out), "\\x{:02X}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

// Line by line behind a "|", each with `indent` spaces; only for text that this form can carry.
std::string literal(std::string_view text, std::size_t indent) {
  std::string out = text.ends_with("\n\n") ? "|+" : text.ends_with('\n') ? "|" : "|-";
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += '\n';
    if (end > begin) out.append(indent, ' ');
    out += text.substr(begin, end - begin);
    begin = end + 1;
  }
  return out;
}

std::string scalar(std::string_view text, std::size_t indent) {
  if (!is_printable(text)) return double_quoted(text);
  if (text.contains('\n')) {
    const bool fits = !is_blank(text.front()) && text.front() != '\n' && !text.contains(" \n") &&
                      !is_blank(text.back());
    return fits ? literal(text, indent) : double_quoted(text);
  }
  if (resolve_plain(text).type != YamlType::kString || looks_like_time(text)) {
    return double_quoted(text);
  }
  return is_plain_syntax(text) ? std::string(text) : single_quoted(text);
}

// In the one form that a number has in YAML: 2.50 becomes 2.5, 1.0 becomes 1.
std::string number(std::string_view text) {
  const YamlScalar resolved = resolve_plain(text);
  return resolved.type == YamlType::kFloat ? fmt::format("{}", resolved.number) : resolved.json;
}

void append_block(std::string& out, const JsonValue& value, std::size_t indent);

// What stands behind "key:" or "-": a scalar on the same line, or a block on the next ones.
void append_value(std::string& out, const JsonValue& value, std::size_t indent) {
  switch (value.kind) {
    case JsonValue::Kind::kNull: out += " null\n"; return;
    case JsonValue::Kind::kBool: out += value.boolean ? " true\n" : " false\n"; return;
    case JsonValue::Kind::kNumber: out += ' ' + number(value.text) + '\n'; return;
    case JsonValue::Kind::kString: out += ' ' + scalar(value.text, indent) + '\n'; return;
    case JsonValue::Kind::kArray:
      if (value.items.empty()) {
        out += " []\n";
        return;
      }
      break;
    case JsonValue::Kind::kObject:
      if (value.members.empty()) {
        out += " {}\n";
        return;
      }
      break;
  }
  out += '\n';
  append_block(out, value, indent);
}

void append_block(std::string& out, const JsonValue& value, std::size_t indent) {
  constexpr std::size_t kStep = 2;
  const std::string margin(indent, ' ');
  for (const JsonMember& member : value.members) {
    out += margin + scalar(member.name, indent + kStep) + ':';
    const bool list = member.value.kind == JsonValue::Kind::kArray;
    append_value(out, member.value, list ? indent : indent + kStep);
  }
  for (const JsonValue& item : value.items) {
    std::string entry;
    append_value(entry, item, indent + kStep);
    // A block that begins on the next line begins behind the dash instead.
    const bool block = entry.front() == '\n';
    out += margin + '-' + (block ? ' ' + entry.substr(1 + indent + kStep) : entry);
  }
}

}  // namespace

std::string to_go_yaml(const JsonValue& value) {
  std::string out;
  if (value.members.empty() && value.items.empty()) {
    append_value(out, value, 0);
    return out.substr(1);
  }
  append_block(out, value, 0);
  return out;
}

std::string json_to_yaml(std::string_view json) {
  const Result<JsonValue> value = parse_json(json);
  return value ? to_go_yaml(*value) : std::string(json);
}

}  // namespace berth
