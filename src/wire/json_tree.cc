#include "wire/json_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "base/utf8.h"
#include "wire/json_text.h"

namespace berth {
namespace {

void append_utf8(std::string& out, std::uint32_t rune) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (rune < 0x80) {
    put(rune);
  } else if (rune < 0x800) {
    put(0xc0 | (rune >> 6));
    put(0x80 | (rune & 0x3f));
  } else if (rune < 0x10000) {
    put(0xe0 | (rune >> 12));
    put(0x80 | ((rune >> 6) & 0x3f));
    put(0x80 | (rune & 0x3f));
  } else {
    put(0xf0 | (rune >> 18));
    put(0x80 | ((rune >> 12) & 0x3f));
    put(0x80 | ((rune >> 6) & 0x3f));
    put(0x80 | (rune & 0x3f));
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<JsonValue> run() {
    JsonValue value;
    if (parse_value(value, 0)) {
      skip_space();
      if (at_ < text_.size()) unexpected("after top-level value");
    }
    if (!error_.empty()) return fail(ErrorKind::kInvalid, std::move(error_));
    return value;
  }

 private:
  // Parity: a text that ends within a word, a number or an escape reads as if a space came next.
  enum class Where : std::uint8_t { kBetweenTokens, kInToken };

  bool unexpected(std::string_view context, Where where = Where::kBetweenTokens) {
    if (at_ >= text_.size() && where == Where::kBetweenTokens) {
      error_ = "unexpected end of JSON input";
      return false;
    }
    std::string shown;
    switch (const char c = at_ < text_.size() ? text_[at_] : ' ') {
      case '\'': shown = "\\'"; break;
      case '"': shown = "\""; break;
      default: {
        std::string rune;
        append_utf8(rune, static_cast<unsigned char>(c));
        shown = berth::go_quoted(rune);
        shown = shown.substr(1, shown.size() - 2);
      }
    }
    error_ = fmt::format("invalid character '{}' {}", shown, context);
    return false;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  }

  bool parse_value(JsonValue& value, std::size_t depth) {
    skip_space();
    if ((peek() == '{' || peek() == '[') && depth >= kMaxNesting) {
      return unexpected("exceeded max depth");
    }
    switch (peek()) {
      case '{': return parse_object(value, depth);
      case '[': return parse_array(value, depth);
      case '"': value.kind = JsonValue::Kind::kString; return parse_string(value.text);
      case 't': value = JsonValue::of_bool(true); return parse_word("true");
      case 'f': value = JsonValue::of_bool(false); return parse_word("false");
      case 'n': return parse_word("null");
      default:
        if (peek() == '-' || is_digit(peek())) return parse_number(value);
        return unexpected("looking for beginning of value");
    }
  }

  bool parse_object(JsonValue& value, std::size_t depth) {
    value.kind = JsonValue::Kind::kObject;
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
      return true;
    }
    for (;;) {
      skip_space();
      if (peek() != '"') return unexpected("looking for beginning of object key string");
      JsonMember& member = value.members.emplace_back();
      if (!parse_string(member.name)) return false;
      skip_space();
      if (peek() != ':') return unexpected("after object key");
      ++at_;
      if (!parse_value(member.value, depth + 1)) return false;
      skip_space();
      if (peek() != ',' && peek() != '}') return unexpected("after object key:value pair");
      if (text_[at_++] == '}') return true;
    }
  }

  bool parse_array(JsonValue& value, std::size_t depth) {
    value.kind = JsonValue::Kind::kArray;
    ++at_;
    skip_space();
    if (peek() == ']') {
      ++at_;
      return true;
    }
    for (;;) {
      if (!parse_value(value.items.emplace_back(), depth + 1)) return false;
      skip_space();
      if (peek() != ',' && peek() != ']') return unexpected("after array element");
      if (text_[at_++] == ']') return true;
    }
  }

  bool parse_word(std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i, ++at_) {
      if (peek() != word[i]) {
        return unexpected(fmt::format("in literal {} (expecting '{}')", word, word[i]),
                          Where::kInToken);
      }
    }
    return true;
  }

  bool parse_digits(std::string_view context) {
    if (!is_digit(peek())) return unexpected(context, Where::kInToken);
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool parse_number(JsonValue& value) {
    value.kind = JsonValue::Kind::kNumber;
    const std::size_t begin = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else if (!parse_digits("in numeric literal")) {
      return false;
    }
    if (peek() == '.') {
      ++at_;
      if (!parse_digits("after decimal point in numeric literal")) return false;
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!parse_digits("in exponent of numeric literal")) return false;
    }
    value.text = text_.substr(begin, at_ - begin);
    return true;
  }

  bool parse_string(std::string& out) {
    ++at_;
    for (;;) {
      const char c = peek();
      if (at_ >= text_.size() || static_cast<unsigned char>(c) < 0x20) {
        return unexpected("in string literal");
      }
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        if (!parse_escape(out)) return false;
        continue;
      }
      const std::size_t length = utf8_length(text_.substr(at_));
      out += length == 0 ? std::string_view("\xef\xbf\xbd") : text_.substr(at_, length);
      at_ += std::max<std::size_t>(length, 1);
    }
  }

  bool parse_escape(std::string& out) {
    ++at_;
    switch (peek()) {
      case '"':
      case '\\':
      case '/': out += peek(); break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': return parse_rune(out);
      default: return unexpected("in string escape code", Where::kInToken);
    }
    ++at_;
    return true;
  }

  // At the 'u'.
  bool parse_hex(std::uint32_t& rune) {
    ++at_;
    rune = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      std::uint32_t digit = 0;
      if (is_digit(c)) {
        digit = static_cast<std::uint32_t>(c - '0');
      } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
        digit = static_cast<std::uint32_t>((c | 0x20) - 'a') + 10;
      } else {
        return unexpected("in \\u hexadecimal character escape", Where::kInToken);
      }
      rune = rune * 16 + digit;
    }
    return true;
  }

  bool parse_rune(std::string& out) {
    constexpr std::uint32_t kReplacement = 0xfffd;
    std::uint32_t rune = 0;
    if (!parse_hex(rune)) return false;
    if (rune < 0xd800 || rune > 0xdfff) {
      append_utf8(out, rune);
      return true;
    }
    // Half of a pair: the other half must follow, else it stands for nothing.
    if (rune < 0xdc00 && text_.substr(at_).starts_with("\\u")) {
      const std::size_t before = at_;
      ++at_;
      std::uint32_t low = 0;
      if (!parse_hex(low)) return false;
      if (low >= 0xdc00 && low <= 0xdfff) {
        append_utf8(out, 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00));
        return true;
      }
      at_ = before;
    }
    append_utf8(out, kReplacement);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

void append_json(std::string& out, const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull: out += "null"; break;
    case JsonValue::Kind::kBool: out += value.boolean ? "true" : "false"; break;
    case JsonValue::Kind::kNumber: out += value.text; break;
    case JsonValue::Kind::kString: append_json_string(out, value.text); break;
    case JsonValue::Kind::kArray:
      out += '[';
      for (const JsonValue& item : value.items) {
        if (&item != &value.items.front()) out += ',';
        append_json(out, item);
      }
      out += ']';
      break;
    case JsonValue::Kind::kObject:
      out += '{';
      for (const JsonMember& member : value.members) {
        if (&member != &value.members.front()) out += ',';
        append_json_string(out, member.name);
        out += ':';
        append_json(out, member.value);
      }
      out += '}';
      break;
  }
}

}  // namespace

JsonValue JsonValue::of_text(std::string_view text) {
  JsonValue value;
  value.kind = Kind::kString;
  value.text = text;
  return value;
}

JsonValue JsonValue::of_bool(bool flag) {
  JsonValue value;
  value.kind = Kind::kBool;
  value.boolean = flag;
  return value;
}

JsonValue JsonValue::of_number(std::string literal) {
  JsonValue value;
  value.kind = Kind::kNumber;
  value.text = std::move(literal);
  return value;
}

JsonValue JsonValue::of_int(std::int64_t value) { return of_number(fmt::format("{}", value)); }

JsonValue JsonValue::array() {
  JsonValue value;
  value.kind = Kind::kArray;
  return value;
}

JsonValue JsonValue::object() {
  JsonValue value;
  value.kind = Kind::kObject;
  return value;
}

const JsonValue* JsonValue::find(std::string_view name) const {
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const JsonMember& member) { return member.name == name; });
  return found == members.rend() ? nullptr : &found->value;
}

void JsonValue::add(std::string_view name, JsonValue value) {
  members.push_back({std::string(name), std::move(value)});
}

Result<JsonValue> parse_json(std::string_view text) { return Parser(text).run(); }

std::string_view go_name(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull: return "null";
    case JsonValue::Kind::kBool: return "bool";
    case JsonValue::Kind::kNumber: return "number";
    case JsonValue::Kind::kString: return "string";
    case JsonValue::Kind::kArray: return "array";
    case JsonValue::Kind::kObject: return "object";
  }
  return "value";
}

void sort_members(JsonValue& value) {
  for (JsonValue& item : value.items) sort_members(item);
  std::map<std::string, JsonValue> by_name;
  for (JsonMember& member : value.members) {
    by_name.insert_or_assign(std::move(member.name), std::move(member.value));
  }
  value.members.clear();
  for (auto& [name, member] : by_name) value.add(name, std::move(member));
  for (JsonMember& member : value.members) sort_members(member.value);
}

namespace {

void append_indented(std::string& out, const JsonValue& value, std::size_t depth) {
  const bool object = value.kind == JsonValue::Kind::kObject;
  if ((object ? value.members.size() : value.items.size()) == 0) return append_json(out, value);
  const auto new_line = [&out](std::size_t levels) {
    out.push_back('\n');
    out.append(2 * levels, ' ');
  };
  out.push_back(object ? '{' : '[');
  bool first = true;
  const auto begin_next = [&] {
    if (!std::exchange(first, false)) out.push_back(',');
    new_line(depth + 1);
  };
  for (const JsonMember& member : value.members) {
    begin_next();
    append_json_string(out, member.name);
    out += ": ";
    append_indented(out, member.value, depth + 1);
  }
  for (const JsonValue& item : value.items) {
    begin_next();
    append_indented(out, item, depth + 1);
  }
  new_line(depth);
  out.push_back(object ? '}' : ']');
}

}  // namespace

std::string to_indented_json(const JsonValue& value) {
  std::string out;
  append_indented(out, value, 0);
  return out;
}

std::string to_json(const JsonValue& value) {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace berth
