#include "wire/json_line.h"

#include "wire/json_text.h"

namespace berth {

JsonLine& JsonLine::raw(std::string_view key, std::string_view json) {
  if (text_.size() > 1) text_ += ", ";
  append_json_string(text_, key);
  text_ += ": ";
  text_ += json;
  return *this;
}

JsonLine& JsonLine::text(std::string_view key, std::string_view value) {
  std::string json;
  append_json_string(json, value);
  return raw(key, json);
}

JsonLine& JsonLine::texts(std::string_view key, const std::vector<std::string>& values) {
  std::string json = "[";
  for (const std::string& value : values) {
    if (json.size() > 1) json += ", ";
    append_json_string(json, value);
  }
  return raw(key, json + "]");
}

std::string json_list(const std::vector<std::string>& items, std::string_view indent) {
  if (items.empty()) return "[]";
  std::string text = "[\n";
  for (std::size_t i = 0; i < items.size(); ++i) {
    text += indent;
    text += "  ";
    text += items[i];
    text += i + 1 < items.size() ? ",\n" : "\n";
  }
  return text + std::string(indent) + "]";
}

}  // namespace berth
