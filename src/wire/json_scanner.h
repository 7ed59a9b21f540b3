// JsonScanner: walks over JSON text without keeping anything: whether it is JSON, and where a value
// ends. Strict where decoders are not: a key that stands twice in an object is refused, and so is
// nesting that is too deep. Any thread.
//
//   JsonScanner json(text);
//   if (!json.object(1)) …          // json.problem(), json.line()
//   text.substr(0, json.position()) // the object
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

class JsonScanner {
 public:
  // From `position` on, which is on that line.
  explicit JsonScanner(std::string_view text, std::size_t position = 0, std::size_t line = 1)
      : text_(text), at_(position), line_(line) {}

  std::size_t position() const { return at_; }
  std::size_t line() const { return line_; }
  bool at_end() const { return at_ == text_.size(); }
  char next() const { return at_end() ? '\0' : text_[at_]; }

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c > ' ') return;
      if (c == '\n')
        ++line_;
      else if (c != ' ' && c != '\t' && c != '\r')
        return;
    }
  }

  // Each goes past what it is called after and is false if that is not what comes next. Where a
  // scan failed, it stays. `depth`: of the object or list, the outermost has 1; of a value that of
  // what it stands in.
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool object(std::size_t depth);
  bool value(std::size_t depth);
  // A member's name and the colon; `name` without its quotation marks. A name that is written with
  // escapes is refused: it could be another one's second spelling.
  bool name(std::string_view& name);

  // After something was not what comes next: whether more text could make it so.
  bool is_cut_off() const;
  // The same in words: "ends in the middle", "expected a value, got '}'".
  std::string problem() const;

 private:
  bool array(std::size_t depth);
  bool word(std::string_view expected);
  bool number();
  bool string();
  bool escape();
  std::size_t digits();
  std::optional<std::uint32_t> hex4();
  bool refuse(const char* problem) {
    problem_ = problem;
    return false;
  }
  bool expected(const char* what) {
    expected_ = what;
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  const char* problem_ = nullptr;   // what is wrong however the text goes on
  const char* expected_ = nullptr;  // what should stand there instead
};

}  // namespace berth
