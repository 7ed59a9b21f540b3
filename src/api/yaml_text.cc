#include "api/yaml_text.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cctype>

#include "api/json_text.h"

namespace berth {
namespace {

namespace json = boost::json;

// Whether a string can stand without quotes and be read back as that string.
bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kOtherThings{
      "true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_./-() ").find(c) != std::string_view::npos;
  };
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text.front()))) return false;
  if (text.back() == ' ' || !std::ranges::all_of(text, is_word)) return false;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kOtherThings, lower) == kOtherThings.end();
}

void append_string(std::string& out, std::string_view text) {
  if (is_plain(text))
    out += text;
  else
    append_json_string(out, text);
}

bool is_block(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) ||
         (value.is_array() && !value.get_array().empty());
}

void append_scalar(std::string& out, const json::value& value) {
  if (value.is_string())
    append_string(out, value.get_string());
  else
    out += json::serialize(value);
}

// Writes the value's lines; the first one continues where `out` stands.
void append_block(std::string& out, const json::value& value, std::size_t indent) {
  const std::string margin(indent, ' ');
  bool first = true;
  const auto begin_line = [&] {
    if (!first) out += margin;
    first = false;
  };
  if (value.is_array()) {
    for (const json::value& item : value.get_array()) {
      begin_line();
      out += "- ";
      if (is_block(item)) {
        append_block(out, item, indent + 2);
      } else {
        append_scalar(out, item);
        out += '\n';
      }
    }
    return;
  }
  for (const auto& [key, item] : value.get_object()) {
    begin_line();
    append_string(out, key);
    out += ':';
    if (is_block(item)) {
      // A list may stand at the margin of its key.
      const std::size_t inner = item.is_array() ? indent : indent + 2;
      out += '\n' + std::string(inner, ' ');
      append_block(out, item, inner);
    } else {
      out += ' ';
      append_scalar(out, item);
      out += '\n';
    }
  }
}

}  // namespace

std::string json_to_yaml(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse({text.data(), text.size()}, error);
  if (error) return std::string(text);
  std::string out;
  if (is_block(value)) {
    append_block(out, value, 0);
  } else {
    append_scalar(out, value);
    out += '\n';
  }
  return out;
}

}  // namespace berth
