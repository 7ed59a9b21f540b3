// Source: the text of an expression, and what is wrong with it, shown line by line with a mark
// under the place, in upstream's form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

class Source {
 public:
  explicit Source(std::string_view text);

  const std::u32string& runes() const { return runes_; }

  struct Place {
    int line = -1;  // from 1
    int column = -1;
  };
  // Of a position in code points; a negative one is no place, and neither has an empty text any.
  Place place(std::int32_t offset) const;
  std::u32string_view line(int number) const;

 private:
  std::u32string runes_;
  std::vector<std::int32_t> lines_;  // where each begins
};

class Issues {
 public:
  explicit Issues(const Source& source) : source_(source) {}

  void add(std::int32_t offset, std::string message);
  bool empty() const { return found_.empty(); }
  // All of them, in the order of the text.
  std::string text() const;

 private:
  struct Issue {
    Source::Place place;
    std::string message;
  };
  static constexpr std::size_t kMost = 100;

  const Source& source_;
  std::vector<Issue> found_;
};

}  // namespace berth::cel
