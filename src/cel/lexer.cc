#include "cel/lexer.h"

#include <algorithm>
#include <array>

#include "cel/numbers.h"

namespace berth::cel {

namespace {

constexpr std::array<std::string_view, 24> kPunctuation = {
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}",
    "(",  ")",  ".",  ",",  "-",  "!",  "?", ":", "+", "*", "/", "%"};

bool is_decimal(char32_t c) { return c >= '0' && c <= '9'; }
bool is_word_start(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_hexadecimal(char32_t c) {
  return is_decimal(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

class Lexer {
 public:
  Lexer(const Source& source, Issues& issues) : text_(source.runes()), issues_(issues) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (skip_space(); at_ < text_.size(); skip_space()) {
      const std::size_t begin = at_;
      const TokenKind kind = next();
      if (kind != TokenKind::kEnd) {
        tokens.push_back({kind, static_cast<std::int32_t>(begin), taken(begin)});
        continue;
      }
      at_ = std::max(at_, begin + 1);
      issues_.add(static_cast<std::int32_t>(begin),
                  "Syntax error: token recognition error at: '" + taken(begin) + "'");
    }
    tokens.push_back({TokenKind::kEnd, static_cast<std::int32_t>(text_.size()), "<EOF>"});
    return tokens;
  }

 private:
  std::string taken(std::size_t begin) const {
    return from_runes(std::u32string_view(text_).substr(begin, at_ - begin));
  }
  char32_t peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : U'\0';
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char32_t c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  // kEnd if there is no token here; what was looked at is then behind us.
  TokenKind next() {
    if (const TokenKind kind = quoted_literal(); kind != TokenKind::kNull) return kind;
    const char32_t c = peek();
    if (is_decimal(c) || (c == '.' && is_decimal(peek(1)))) return number();
    if (is_word_start(c)) return word();
    if (c == '`') return quoted_identifier();
    for (const std::string_view each : kPunctuation) {
      if (c == static_cast<char32_t>(each[0]) &&
          (each.size() == 1 || peek(1) == static_cast<char32_t>(each[1]))) {
        at_ += each.size();
        return TokenKind::kPunctuation;
      }
    }
    ++at_;
    return TokenKind::kEnd;
  }

  TokenKind word() {
    const std::size_t begin = at_;
    while (is_word_start(peek()) || is_decimal(peek())) ++at_;
    const std::u32string_view word = std::u32string_view(text_).substr(begin, at_ - begin);
    if (word == U"in") return TokenKind::kPunctuation;
    if (word == U"true") return TokenKind::kTrue;
    if (word == U"false") return TokenKind::kFalse;
    if (word == U"null") return TokenKind::kNull;
    return TokenKind::kIdentifier;
  }

  TokenKind number() {
    if (peek() == '0' && peek(1) == 'x' && is_hexadecimal(peek(2))) {
      at_ += 2;
      while (is_hexadecimal(peek())) ++at_;
      return unsigned_mark() ? TokenKind::kUint : TokenKind::kInt;
    }
    while (is_decimal(peek())) ++at_;
    bool floating = false;
    if (peek() == '.' && is_decimal(peek(1))) {
      floating = true;
      ++at_;
      while (is_decimal(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_decimal(peek(1 + sign))) {
        floating = true;
        at_ += 1 + sign;
        while (is_decimal(peek())) ++at_;
      }
    }
    if (floating) return TokenKind::kDouble;
    return unsigned_mark() ? TokenKind::kUint : TokenKind::kInt;
  }

  bool unsigned_mark() {
    if (peek() != 'u' && peek() != 'U') return false;
    ++at_;
    return true;
  }

  TokenKind quoted_identifier() {
    ++at_;
    const std::size_t begin = at_;
    while (is_word_start(peek()) || is_decimal(peek()) || peek() == '.' || peek() == '-' ||
           peek() == '/' || peek() == ' ') {
      ++at_;
    }
    if (at_ == begin || peek() != '`') return TokenKind::kEnd;
    ++at_;
    return TokenKind::kQuotedIdentifier;
  }

  // kNull if no quote begins here.
  TokenKind quoted_literal() {
    std::size_t prefix = 0;
    const bool bytes = peek() == 'b' || peek() == 'B';
    if (bytes) ++prefix;
    const bool raw = peek(prefix) == 'r' || peek(prefix) == 'R';
    if (raw) ++prefix;
    const char32_t quote = peek(prefix);
    if (quote != '"' && quote != '\'') return TokenKind::kNull;
    at_ += prefix;
    const TokenKind kind = bytes ? TokenKind::kBytes : TokenKind::kString;
    const std::size_t begin = at_;
    if (peek(1) == quote && peek(2) == quote) {
      if (rest_of_string(quote, 3, raw)) return kind;
      at_ = begin;  // an empty string, and a quote behind it
    }
    return rest_of_string(quote, 1, raw) ? kind : TokenKind::kEnd;
  }

  bool rest_of_string(char32_t quote, std::size_t quotes, bool raw) {
    at_ += quotes;
    while (at_ < text_.size()) {
      const char32_t c = text_[at_];
      if (c == quote && (quotes == 1 || (peek(1) == quote && peek(2) == quote))) {
        at_ += quotes;
        return true;
      }
      if (quotes == 1 && (c == '\n' || c == '\r')) return false;
      if (c == '\\' && !raw) {
        const std::size_t length = escape_length();
        if (length == 0) {
          at_ = std::min(at_ + 2, text_.size());
          return false;
        }
        at_ += length;
      } else {
        ++at_;
      }
    }
    return false;
  }

  // Of the escape sequence here; 0 if it is none.
  std::size_t escape_length() const {
    const char32_t c = peek(1);
    const auto all = [&](std::size_t count, bool (*good)(char32_t)) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!good(peek(2 + i))) return false;
      }
      return true;
    };
    const auto octal = [](char32_t each) { return each >= '0' && each <= '7'; };
    if (c != 0 && c < 0x80 &&
        std::string_view("abfnrtv\"'\\?`").find(static_cast<char>(c)) != std::string_view::npos) {
      return 2;
    }
    if ((c == 'x' || c == 'X') && all(2, is_hexadecimal)) return 4;
    if (c == 'u' && all(4, is_hexadecimal)) return 6;
    if (c == 'U' && all(8, is_hexadecimal)) return 10;
    if (c >= '0' && c <= '3' && all(2, octal)) return 4;
    return 0;
  }

  const std::u32string& text_;
  Issues& issues_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> tokenize(const Source& source, Issues& issues) {
  return Lexer(source, issues).run();
}

}  // namespace berth::cel
