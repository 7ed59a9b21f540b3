#include "config/flags/flag_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_quote.h"
#include "wire/json_text.h"

namespace berth::config {
namespace {

std::string with_dashes(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '_', '-');
  return out;
}

Result<void> assign(Flag& flag, std::string_view text) {
  Result<void> set = flag.value->set(text);
  if (!set) {
    const std::string name =
        flag.shorthand ? fmt::format("-{}, --{}", flag.shorthand, flag.name) : "--" + flag.name;
    return fail(ErrorKind::kInvalid,
                fmt::format("invalid argument {} for {} flag: {}", go_quoted(text), go_quoted(name),
                            set.error().message));
  }
  flag.changed = true;
  return {};
}

// A character as Go shows one: 'x'.
std::string quoted_letter(char c) {
  if (c == '\'') return "'\\''";
  if (c == '"') return "'\"'";
  const std::string text = go_quoted(std::string_view(&c, 1));
  return "'" + text.substr(1, text.size() - 2) + "'";
}

}  // namespace

FlagSection& FlagSet::section(std::string_view name) {
  for (const std::unique_ptr<FlagSection>& section : sections_) {
    if (section->name == name) return *section;
  }
  return *sections_.emplace_back(
      std::make_unique<FlagSection>(FlagSection{.name = std::string(name), .flags = {}}));
}

Flag& add_flag(FlagSection& section, std::string name, std::unique_ptr<FlagValue> value,
               std::string usage) {
  Flag flag;
  flag.name = std::move(name);
  flag.usage = std::move(usage);
  flag.value = std::move(value);
  flag.default_text = flag.value->text();
  if (flag.value->type() == "bool") flag.without_value = "true";
  return section.flags.emplace_back(std::move(flag));
}

Flag* FlagSet::find(std::string_view name) {
  for (const std::unique_ptr<FlagSection>& section : sections_) {
    for (Flag& flag : section->flags) {
      if (flag.name == name) return &flag;
    }
  }
  return nullptr;
}

Flag* FlagSet::find(char shorthand) {
  for (const std::unique_ptr<FlagSection>& section : sections_) {
    for (Flag& flag : section->flags) {
      if (flag.shorthand == shorthand) return &flag;
    }
  }
  return nullptr;
}

Result<void> FlagSet::parse_long(const std::string& word, const std::vector<std::string>& args,
                                 std::size_t& next) {
  const std::string_view body = std::string_view(word).substr(2);
  if (body.starts_with('-') || body.starts_with('=')) {
    return fail(ErrorKind::kInvalid, fmt::format("bad flag syntax: {}", word));
  }
  const std::size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  Flag* const flag = find(with_dashes(name));
  if (!flag) return fail(ErrorKind::kInvalid, fmt::format("unknown flag: --{}", name));
  if (equals != std::string_view::npos) return assign(*flag, body.substr(equals + 1));
  if (!flag->without_value.empty()) return assign(*flag, flag->without_value);
  if (next < args.size()) return assign(*flag, args[next++]);
  return fail(ErrorKind::kInvalid, fmt::format("flag needs an argument: --{}", name));
}

// "-v4", "-v=4", "-v 4", "-hv4".
Result<void> FlagSet::parse_short(const std::string& word, const std::vector<std::string>& args,
                                  std::size_t& next) {
  std::string_view letters = std::string_view(word).substr(1);
  while (!letters.empty()) {
    Flag* const flag = find(letters.front());
    if (!flag) {
      return fail(ErrorKind::kInvalid, fmt::format("unknown shorthand flag: {} in -{}",
                                                   quoted_letter(letters.front()), letters));
    }
    if (letters.size() > 2 && letters[1] == '=') return assign(*flag, letters.substr(2));
    if (flag->without_value.empty()) {
      if (letters.size() > 1) return assign(*flag, letters.substr(1));
      if (next < args.size()) return assign(*flag, args[next++]);
      return fail(ErrorKind::kInvalid, fmt::format("flag needs an argument: {} in -{}",
                                                   quoted_letter(letters.front()), letters));
    }
    if (Result<void> set = assign(*flag, flag->without_value); !set) return set;
    letters.remove_prefix(1);
  }
  return {};
}

Result<std::vector<std::string>> FlagSet::parse(const std::vector<std::string>& args) {
  std::vector<std::string> positional;
  for (std::size_t next = 0; next < args.size();) {
    const std::string& word = args[next++];
    if (word == "--") {
      positional.insert(positional.end(), args.begin() + static_cast<std::ptrdiff_t>(next),
                        args.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      positional.push_back(word);
      continue;
    }
    Result<void> read =
        word[1] == '-' ? parse_long(word, args, next) : parse_short(word, args, next);
    if (!read) return fail(std::move(read.error()));
  }
  return positional;
}

bool FlagSet::changed(std::string_view name) const {
  for (const std::unique_ptr<FlagSection>& section : sections_) {
    for (const Flag& flag : section->flags) {
      if (flag.name == name) return flag.changed;
    }
  }
  return false;
}

std::vector<FlagEcho> FlagSet::echo() const {
  std::vector<FlagEcho> all;
  for (const std::unique_ptr<FlagSection>& section : sections_) {
    for (const Flag& flag : section->flags) all.push_back({flag.name, flag.value->text()});
  }
  std::ranges::sort(all, {}, &FlagEcho::name);
  return all;
}

}  // namespace berth::config
