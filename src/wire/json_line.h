// JsonLine: one JSON object, written field by field in the order given.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

class JsonLine {
 public:
  JsonLine& text(std::string_view key, std::string_view value);
  JsonLine& text_if(std::string_view key, std::string_view value) {  // empty: left out
    return value.empty() ? *this : text(key, value);
  }
  template <std::integral Number>
  JsonLine& number(std::string_view key, Number value) {
    return raw(key, std::to_string(value));
  }
  JsonLine& flag(std::string_view key, bool value) { return raw(key, value ? "true" : "false"); }
  JsonLine& texts(std::string_view key, const std::vector<std::string>& values);
  // `json` is JSON already.
  JsonLine& raw(std::string_view key, std::string_view json);

  std::string done() const { return text_ + "}"; }
  // Without the braces.
  std::string members() const { return text_.substr(1); }

 private:
  std::string text_ = "{";
};

// "[a, b]" of texts that are JSON already, one a line.
std::string json_list(const std::vector<std::string>& items, std::string_view indent);

}  // namespace berth
