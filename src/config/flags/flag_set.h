// Flags of a command line with the forms, the complaints and the help of pflag, the library behind
// every Kubernetes program: `--x=v`, `--x v`, `-v4`, `_` for `-`, `--` as the end of flags.
//
// A FlagSet is filled once, parses one command line, and knows afterwards which flags were given.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"

namespace berth::config {

// Where the words of a flag go.
class FlagValue {
 public:
  virtual ~FlagValue() = default;

  virtual Result<void> set(std::string_view text) = 0;
  // What it is now, in the form that help and logs show.
  virtual std::string text() const = 0;
  // "string", "stringSlice", …; help shows a name made from it.
  virtual std::string_view type() const = 0;
};

struct Flag {
  std::string name;
  char shorthand = 0;  // 0: none
  std::string usage;
  std::unique_ptr<FlagValue> value;
  std::string default_text;   // of the value, before any word was read
  std::string without_value;  // what the bare flag means; empty: it needs a value
  bool changed = false;       // given on the command line
};

// Flags that stand under one heading in the help.
struct FlagSection {
  std::string name;  // "Secure serving"
  std::vector<Flag> flags;
};

struct FlagEcho {
  std::string name;
  std::string value;
};

class FlagSet {
 public:
  // The sections appear in help in the order in which they are begun.
  FlagSection& section(std::string_view name);

  // What is not a flag or a flag's value. A complaint is pflag's sentence.
  Result<std::vector<std::string>> parse(const std::vector<std::string>& args);

  bool changed(std::string_view name) const;
  // All flags by name.
  std::vector<FlagEcho> echo() const;

  // Every section with its flags by name; lines are wrapped at `columns` unless that is 0.
  std::string usage(std::size_t columns) const;

 private:
  Flag* find(std::string_view name);
  Flag* find(char shorthand);
  Result<void> parse_long(const std::string& word, const std::vector<std::string>& args,
                          std::size_t& next);
  Result<void> parse_short(const std::string& word, const std::vector<std::string>& args,
                           std::size_t& next);

  std::vector<std::unique_ptr<FlagSection>> sections_;
};

// Adds a flag to `section`; the value as it is now is the default.
Flag& add_flag(FlagSection& section, std::string name, std::unique_ptr<FlagValue> value,
               std::string usage);

}  // namespace berth::config
