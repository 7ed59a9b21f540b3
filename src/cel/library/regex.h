// Regular expressions: RE2's, as Go has them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "cel/value.h"

namespace re2 {
class RE2;
}

namespace berth::cel {

class Regex {
 public:
  // Errors are in Go's words: "error parsing regexp: missing closing ]: `[a`".
  static Result<std::shared_ptr<const Regex>> compile(const std::string& pattern);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  bool matches(std::string_view text) const;
  std::string find(std::string_view text) const;  // empty if there is no match
  // At most `limit`; all if that is negative.
  std::vector<std::string> find_all(std::string_view text, std::int64_t limit) const;

 private:
  explicit Regex(std::unique_ptr<const re2::RE2> compiled);
  std::unique_ptr<const re2::RE2> compiled_;
};

// matches, find and findAll have their pattern compiled beforehand when it is a constant.
bool takes_regex(std::string_view function);
Value call_with_regex(std::string_view function, const Regex& regex, std::span<const Value> args);

}  // namespace berth::cel
