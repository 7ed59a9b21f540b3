#include "cel/source.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "cel/numbers.h"

namespace berth::cel {

Source::Source(std::string_view text) : runes_(cel::runes(text)) {
  lines_.push_back(0);
  for (std::size_t i = 0; i < runes_.size(); ++i) {
    if (runes_[i] == U'\n') lines_.push_back(static_cast<std::int32_t>(i) + 1);
  }
}

Source::Place Source::place(std::int32_t offset) const {
  if (offset < 0) return {};
  if (runes_.empty()) return {1, -1};
  const auto after = std::upper_bound(lines_.begin(), lines_.end(), offset);
  return {static_cast<int>(after - lines_.begin()), offset - *(after - 1)};
}

std::u32string_view Source::line(int number) const {
  const std::u32string_view all = runes_;
  const auto index = static_cast<std::size_t>(number - 1);
  const auto begin = static_cast<std::size_t>(lines_[index]);
  const std::size_t end =
      index + 1 < lines_.size() ? static_cast<std::size_t>(lines_[index + 1]) - 1 : all.size();
  return all.substr(begin, end - begin);
}

void Issues::add(std::int32_t offset, std::string message) {
  found_.push_back({source_.place(offset), std::move(message)});
}

std::string Issues::text() const {
  std::vector<std::size_t> order(found_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto& x = found_[a].place;
    const auto& y = found_[b].place;
    return std::tuple(x.line, x.column, a) < std::tuple(y.line, y.column, b);
  });
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0) text += '\n';
    if (i == kMost) {
      text += std::to_string(found_.size() - kMost) + " more errors were truncated";
      break;
    }
    const Issue& issue = found_[order[i]];
    const auto [line, column] = issue.place;
    text += "ERROR: <input>:" + std::to_string(line) + ":" + std::to_string(column + 1) + ": " +
            issue.message;
    if (line < 1 || column < 0) continue;
    std::u32string shown(source_.line(line));
    std::replace(shown.begin(), shown.end(), U'\t', U' ');
    text += "\n | " + from_runes(shown) + "\n | ";
    // Wide marks stand under what is not ASCII.
    const auto at = static_cast<std::size_t>(column);
    for (std::size_t j = 0; j < std::min(at, shown.size()); ++j) {
      text += shown[j] < 0x80 ? "." : "．";
    }
    text += at < shown.size() && shown[at] >= 0x80 ? "＾" : "^";
  }
  return text;
}

}  // namespace berth::cel
