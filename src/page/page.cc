#include "page/page.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"
#include "page/page_text.h"

namespace berth::page {
namespace {

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// How a character is written in the JSON within a <script> element, or nothing if it may stay. '<'
// could end the element or begin a comment. U+2028 and U+2029 end lines in JavaScript.
std::string_view escaped(std::string_view character) {
  if (character == "<") return "\\u003c";
  if (character == "\xE2\x80\xA8") return "\\u2028";
  if (character == "\xE2\x80\xA9") return "\\u2029";
  return {};
}

// All that `escaped` changes, in JSON stands in strings only.
void append_data(std::string& out, std::string_view json) {
  const auto is_plain = [](char c) { return c != '<' && static_cast<unsigned char>(c) < 0x80; };
  while (!json.empty()) {
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(json, is_plain) - json.begin());
    out += json.substr(0, plain);
    json.remove_prefix(plain);
    if (json.empty()) return;
    const std::size_t length = utf8_length(json);
    const std::string_view character = json.substr(0, std::max<std::size_t>(length, 1));
    const std::string_view instead = length == 0 ? kReplacementCharacter : escaped(character);
    out += instead.empty() ? character : instead;
    json.remove_prefix(character.size());
  }
}

std::string assembled(std::string_view policy, std::string_view data) {
  std::string html;
  html.reserve(kBeforePolicy.size() + policy.size() + kBeforeData.size() + data.size() +
               data.size() / 16 + kAfterData.size());
  html += kBeforePolicy;
  html += policy;
  html += kBeforeData;
  append_data(html, data);
  html += kAfterData;
  return html;
}

}  // namespace

std::string page_with(std::string_view data) { return assembled(kPolicy, data); }

std::string live_page(std::string_view data) { return assembled(live_policy(), data); }

std::string live_policy() { return std::string(kPolicy) + "; connect-src 'self'"; }

}  // namespace berth::page
