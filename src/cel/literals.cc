#include "cel/literals.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::kInvalid, std::move(message));
}

char simple_escape(char c) {
  static constexpr std::string_view kFrom = "abfnrtv";
  static constexpr std::string_view kTo = "\a\b\f\n\r\t\v";
  const auto at = kFrom.find(c);
  return at == std::string_view::npos ? c : kTo[at];
}

bool is_code_point(char32_t value) {
  return value <= 0x10FFFF && !(value >= 0xD800 && value <= 0xDFFF);
}

std::string normalize_newlines(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      result += text[i];
      continue;
    }
    result += '\n';
    if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
  }
  return result;
}

// The text between the quotes of a string or bytes token, escapes resolved. The lexer has seen that
// they are well-formed.
Result<std::string> unquote(const Token& token) {
  const bool bytes = token.kind == TokenKind::kBytes;
  const std::string whole = normalize_newlines(token.text);
  std::string_view text = whole;
  if (bytes) text.remove_prefix(1);
  const bool raw = text[0] == 'r' || text[0] == 'R';
  if (raw) text.remove_prefix(1);
  const bool triple = text.size() >= 6 && text[1] == text[0] && text[2] == text[0];
  const std::size_t quotes = triple ? 3 : 1;
  text = text.substr(quotes, text.size() - 2 * quotes);
  std::string result;
  while (!text.empty()) {
    if (raw || text[0] != '\\') {
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    const char c = text[1];
    std::size_t digits = 0;
    int base = 16;
    if (c == 'x' || c == 'X') digits = 2;
    if (c == 'u') digits = 4;
    if (c == 'U') digits = 8;
    if (c >= '0' && c <= '3') {
      digits = 3;
      base = 8;
    }
    if (digits == 0) {
      result += simple_escape(c);
      text.remove_prefix(2);
      continue;
    }
    if (bytes && (c == 'u' || c == 'U')) {
      return invalid("unable to unescape string");
    }
    const std::size_t from = base == 8 ? 1 : 2;
    const auto value = static_cast<char32_t>(*parse_uint(text.substr(from, digits), base));
    if (bytes) {
      result += static_cast<char>(value);
    } else if (!is_code_point(value)) {
      return invalid("invalid unicode code point");
    } else {
      append_rune(result, value);
    }
    text.remove_prefix(from + digits);
  }
  return result;
}

Result<Value> integer(const std::string& text, bool negative) {
  const bool hex = text.starts_with("0x");
  const std::string digits = (negative ? "-" : "") + (hex ? text.substr(2) : text);
  const auto number = parse_int(digits, hex ? 16 : 10);
  if (!number) return invalid("invalid int literal");
  return Value::integer(*number);
}

Result<Value> unsigned_integer(const std::string& text) {
  const bool hex = text.starts_with("0x");
  const std::string digits = text.substr(hex ? 2 : 0, text.size() - (hex ? 3 : 1));
  const auto number = parse_uint(digits, hex ? 16 : 10);
  if (!number) return invalid("invalid uint literal");
  return Value::unsigned_integer(*number);
}

Result<Value> floating(const std::string& text, bool negative) {
  const auto number = parse_double((negative ? "-" : "") + text);
  if (!number) return invalid("invalid double literal");
  return Value::floating(*number);
}

}  // namespace

Result<Value> literal_value(const Token& token, bool negative) {
  switch (token.kind) {
    case TokenKind::kTrue:
    case TokenKind::kFalse: return Value::boolean(token.kind == TokenKind::kTrue);
    case TokenKind::kNull: return Value();
    case TokenKind::kInt: return integer(token.text, negative);
    case TokenKind::kUint: return unsigned_integer(token.text);
    case TokenKind::kDouble: return floating(token.text, negative);
    case TokenKind::kString:
    case TokenKind::kBytes: {
      auto text = unquote(token);
      if (!text) return fail(text.error());
      return token.kind == TokenKind::kString ? Value::string(std::move(*text))
                                              : Value::bytes(std::move(*text));
    }
    default: return fail(ErrorKind::kNotFound, "");
  }
}

}  // namespace berth::cel
