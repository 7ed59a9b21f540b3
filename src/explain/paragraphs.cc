#include "explain/paragraphs.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

namespace berth::explain {
namespace {

constexpr std::size_t kNamesShown = 20;  // of the nodes that share a reason

}  // namespace

std::string wrapped(const std::string& head, const std::vector<std::string>& words,
                    std::size_t indent) {
  std::string text, line = head;
  bool fresh = true;
  for (const std::string& word : words) {
    if (!fresh && line.size() + 1 + word.size() > kWidth) {
      text += line + '\n';
      line.assign(indent, ' ');
      fresh = true;
    }
    if (!fresh) line.push_back(' ');
    line += word;
    fresh = false;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return text + line + '\n';
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) words.push_back(std::move(word));
  return words;
}

std::vector<std::string> listed(const std::vector<std::string>& names) {
  std::vector<std::string> words;
  const std::size_t shown = names.size() <= kNamesShown + 1 ? names.size() : kNamesShown;
  for (std::size_t i = 0; i < shown; ++i)
    words.push_back(i + 1 < shown ? names[i] + "," : names[i]);
  if (shown < names.size()) words.push_back(fmt::format("and {} more", names.size() - shown));
  return words;
}

std::string plural(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace berth::explain
