// Help about flags: two columns per section, the right one wrapped if the terminal's width is
// known.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_quote.h"
#include "config/flags/flag_set.h"
#include "wire/json_text.h"

namespace berth::config {
namespace {

// What a default is not worth mentioning.
bool is_zero(const Flag& flag) {
  const std::string_view type = flag.value->type();
  const std::string& text = flag.default_text;
  if (type == "bool" || type == "version") return text == "false" || text.empty();
  if (type == "duration") return text == "0" || text == "0s";
  if (type == "int" || type == "int32" || type == "float32") return text == "0";
  if (type == "string") return text.empty();
  if (type == "ip") return text == "<nil>";
  if (type == "stringSlice") return text == "[]";
  return text == "false" || text == "<nil>" || text.empty() || text == "0";
}

std::string_view shown_type(std::string_view type) {
  if (type == "bool") return "";
  if (type == "stringSlice") return "strings";
  return type;
}

std::string left_column(const Flag& flag) {
  std::string out = flag.shorthand ? fmt::format("  -{}, --{}", flag.shorthand, flag.name)
                                   : fmt::format("      --{}", flag.name);
  const std::string_view type = flag.value->type();
  if (const std::string_view shown = shown_type(type); !shown.empty()) {
    out += fmt::format(" {}", shown);
  }
  if (!flag.without_value.empty() && type != "bool") {
    out += fmt::format("[={}]", flag.without_value);
  }
  return out;
}

std::string right_column(const Flag& flag) {
  if (is_zero(flag)) return flag.usage;
  const std::string shown =
      flag.value->type() == "string" ? go_quoted(flag.default_text) : flag.default_text;
  return fmt::format("{} (default {})", flag.usage, shown);
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '\n') out.append(indent, ' ');
  }
  return out;
}

// Splits off a line of at most `width` characters, a few more if that is all there is left.
std::pair<std::string_view, std::string_view> split_line(std::string_view text, std::size_t width,
                                                         std::size_t slop) {
  if (width + slop > text.size()) return {text, {}};
  const std::string_view head = text.substr(0, width);
  const std::size_t space = head.find_last_of(" \t\n");
  if (space == std::string_view::npos || space == 0) return {text, {}};
  const std::size_t newline = head.rfind('\n');
  const bool breaks = newline != std::string_view::npos && newline > 0 && newline < space;
  const std::size_t at = breaks ? newline : space;
  return {text.substr(0, at), text.substr(at + 1)};
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  constexpr std::size_t kNarrow = 24;
  constexpr std::size_t kSlop = 5;
  if (columns == 0) return indented(text, indent);
  std::string out;
  if (columns < indent + kNarrow) {  // too narrow beside the flags: below them
    indent = 16;
    out = "\n" + std::string(indent, ' ');
    if (columns < indent + kNarrow) {
      // Parity: a line break becomes the indentation of the block.
      std::string flat;
      for (const char c : text) flat += c == '\n' ? out : std::string(1, c);
      return flat;
    }
  }
  const std::size_t width = columns - indent - kSlop;
  for (bool first = true; first || !text.empty(); first = false) {
    const auto [line, rest] = split_line(text, width, kSlop);
    if (!first) out += "\n" + std::string(indent, ' ');
    out += indented(line, indent);
    text = rest;
  }
  return out;
}

std::string section_usage(const FlagSection& section, std::size_t columns) {
  std::vector<const Flag*> flags;
  for (const Flag& flag : section.flags) flags.push_back(&flag);
  std::ranges::sort(flags, {}, [](const Flag* flag) -> const std::string& { return flag->name; });
  std::size_t widest = 0;
  for (const Flag* flag : flags) widest = std::max(widest, left_column(*flag).size());
  // Parity: a terminal of known width makes every section's left column as wide as that of a flag
  // whose name fills the terminal but for 24 columns, "      --" and " int" included.
  if (columns > 24) widest = std::max(widest, columns - 24 + 12);
  std::string out = fmt::format("\n{} flags:\n\n", section.name);
  for (const Flag* flag : flags) {
    const std::string left = left_column(*flag);
    out += left + std::string(widest - left.size() + 3, ' ') +
           wrapped(right_column(*flag), widest + 3, columns) + "\n";
  }
  return out;
}

}  // namespace

std::string FlagSet::usage(std::size_t columns) const {
  std::string out;
  for (const std::unique_ptr<FlagSection>& section : sections_) {
    out += section_usage(*section, columns);
  }
  return out;
}

}  // namespace berth::config
