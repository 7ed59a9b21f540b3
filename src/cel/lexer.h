// The words of an expression.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/source.h"

namespace berth::cel {

enum class TokenKind : std::uint8_t {
  kEnd,
  kPunctuation,  // operators and brackets, and the word "in"
  kTrue,
  kFalse,
  kNull,
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
  kIdentifier,
  kQuotedIdentifier,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::int32_t offset = 0;  // in code points
  std::string text;

  bool is(std::string_view punctuation) const {
    return kind == TokenKind::kPunctuation && text == punctuation;
  }
};

// All tokens, the last a kEnd. What is no token goes to `issues`.
std::vector<Token> tokenize(const Source& source, Issues& issues);

}  // namespace berth::cel
