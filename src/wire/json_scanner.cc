#include "wire/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <charconv>
#include <cstring>
#include <span>

#include "base/go_quote.h"
#include "base/keyed_hash.h"
#include "base/utf8.h"
#include "wire/json_text.h"

namespace berth {
namespace {

// The longest piece of text that is taken in one step: a pair of \u escapes, or "false".
constexpr std::size_t kLongestToken = 12;

// The names of one object. Few are compared one by one, which needs no memory of its own.
class NameSet {
 public:
  // False: it is there already.
  bool insert(std::string_view name) {
    if (count_ < kFew) {
      const auto known = std::span(few_).first(count_);
      if (std::ranges::find(known, name) != known.end()) return false;
      few_[count_++] = name;
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(name).second;
  }

 private:
  static constexpr std::size_t kFew = 16;

  std::array<std::string_view, kFew> few_;
  std::size_t count_ = 0;
  boost::unordered_flat_set<std::string_view, TextHash> many_;
};

// Whether one of eight characters is a control character, a quotation mark, a backslash or not
// ASCII; looked at as one number.
bool has_odd_character(const char* eight) {
  constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
  constexpr std::uint64_t kHighs = 0x8080808080808080ULL;
  std::uint64_t word = 0;
  std::memcpy(&word, eight, sizeof(word));
  const auto has_zero = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes & kHighs; };
  const std::uint64_t control = (word - kOnes * 0x20) & ~word & kHighs;
  const std::uint64_t quote = has_zero(word ^ kOnes * '"');
  const std::uint64_t backslash = has_zero(word ^ kOnes * '\\');
  return (control | quote | backslash | (word & kHighs)) != 0;
}

}  // namespace

bool JsonScanner::object(std::size_t depth) {
  if (depth > kMaxNesting) return refuse("maps and lists are nested too deep");
  if (!take('{')) return expected("a map");
  NameSet names;
  skip_space();
  if (take('}')) return true;
  do {
    skip_space();
    std::string_view name;
    const std::size_t begin = at_;
    if (!this->name(name)) return false;
    if (!names.insert(name)) {
      at_ = begin;
      return refuse("a key stands twice in a map");
    }
    if (!value(depth)) return false;
    skip_space();
  } while (take(','));
  return take('}') || expected("',' or '}'");
}

bool JsonScanner::name(std::string_view& name) {
  const std::size_t begin = at_;
  if (!string()) return problem_ != nullptr ? false : expected("a key in quotation marks");
  name = text_.substr(begin + 1, at_ - begin - 2);
  if (name.find('\\') != name.npos) {
    at_ = begin;
    return refuse("a key is written with escapes");
  }
  skip_space();
  return take(':') || expected("':'");
}

bool JsonScanner::value(std::size_t depth) {
  skip_space();
  if (at_end()) return expected("a value");
  switch (text_[at_]) {
    case '{': return object(depth + 1);
    case '[': return array(depth + 1);
    case '"': return string();
    case 't': return word("true");
    case 'f': return word("false");
    case 'n': return word("null");
    default: return number();
  }
}

bool JsonScanner::array(std::size_t depth) {
  if (depth > kMaxNesting) return refuse("maps and lists are nested too deep");
  take('[');
  skip_space();
  if (take(']')) return true;
  do {
    if (!value(depth)) return false;
    skip_space();
  } while (take(','));
  return take(']') || expected("',' or ']'");
}

bool JsonScanner::word(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return expected("a value");
  at_ += word.size();
  return true;
}

std::size_t JsonScanner::digits() {
  const std::size_t from = at_;
  while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
  return at_ - from;
}

bool JsonScanner::number() {
  const std::size_t begin = at_;
  take('-');
  const bool zero = at_ < text_.size() && text_[at_] == '0';
  const std::size_t whole = digits();
  if (whole == 0) return expected(at_ == begin ? "a value" : "a digit");
  if (zero && whole > 1) return refuse("a number begins with 0");
  if (take('.') && digits() == 0) return expected("a digit");
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (digits() == 0) return expected("a digit");
  }
  return true;
}

bool JsonScanner::string() {
  if (!take('"')) return false;
  while (at_ < text_.size()) {
    while (text_.size() - at_ >= 8 && !has_odd_character(text_.data() + at_)) at_ += 8;
    if (at_end()) return false;
    const auto c = static_cast<unsigned char>(text_[at_]);
    if (c == '"') {
      ++at_;
      return true;
    }
    if (c < 0x20) return refuse("a control character in a string");
    if (c == '\\') {
      if (!escape()) return false;
    } else if (c < 0x80) {
      ++at_;
    } else {
      const std::size_t length = utf8_length(text_.substr(at_));
      if (length == 0) return refuse("invalid UTF-8");
      at_ += length;
    }
  }
  return false;
}

std::optional<std::uint32_t> JsonScanner::hex4() {
  std::uint32_t code = 0;
  if (at_ + 4 > text_.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(&text_[at_], &text_[at_] + 4, code, 16);
  if (error != std::errc() || end != &text_[at_] + 4) return std::nullopt;
  at_ += 4;
  return code;
}

bool JsonScanner::escape() {
  constexpr const char* kInvalid = "an invalid escape in a string";
  ++at_;
  if (at_end()) return false;
  const char c = text_[at_++];
  if (c != 'u')
    return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos || refuse(kInvalid);
  const auto code = hex4();
  if (!code) return refuse(kInvalid);
  if (*code < 0xD800 || *code > 0xDFFF) return true;
  // Half a pair is no character.
  if (*code > 0xDBFF || !take('\\') || !take('u')) return refuse(kInvalid);
  const auto low = hex4();
  return (low && *low >= 0xDC00 && *low <= 0xDFFF) || refuse(kInvalid);
}

bool JsonScanner::is_cut_off() const { return text_.size() - at_ < kLongestToken; }

std::string JsonScanner::problem() const {
  if (problem_ != nullptr) return problem_;
  if (at_end()) return "the text ends in the middle";
  const std::string_view rest = text_.substr(at_);
  return fmt::format("expected {}, got {}", expected_ != nullptr ? expected_ : "something else",
                     go_quoted(rest.substr(0, std::max<std::size_t>(utf8_length(rest), 1))));
}

}  // namespace berth
