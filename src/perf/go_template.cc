#include "perf/go_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace berth::perf {

// What a template is parsed into. In a namespace with a name, because GoTemplate::Block holds it.
namespace template_tree {

struct Operand;

// Commands, each with the result of the one before as its last argument.
struct Pipeline {
  std::vector<std::vector<Operand>> commands;
};

struct Operand {
  enum class Of { kValue, kField, kVariable, kFunction, kPipeline };

  Of of = Of::kValue;
  JsonValue value;
  std::string name;  // of a field without its dot: empty for `.` itself
  Pipeline pipeline;
};

struct Action {
  enum class Of { kText, kOutput, kAssignment, kIf, kRange };

  Of of = Of::kText;
  std::string text;      // as written
  std::string variable;  // `$x`, where the action sets one
  Pipeline pipeline;
  std::vector<Action> body, otherwise;
};

}  // namespace template_tree

struct GoTemplate::Block {
  std::vector<template_tree::Action> actions;
};

namespace {

using template_tree::Action;
using template_tree::Operand;
using template_tree::Pipeline;
using Kind = JsonValue::Kind;

constexpr std::string_view kSpaces = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

std::unexpected<Error> bad_action(std::string_view written, std::string_view complaint) {
  return fail(ErrorKind::kUnavailable, fmt::format("\"{}\" {}", written, complaint));
}

// ---- functions ----------------------------------------------------------------------------------

std::optional<double> number_of(const JsonValue& value) {
  if (value.kind != Kind::kNumber && value.kind != Kind::kString) return std::nullopt;
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stopped, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

bool truth(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull: return false;
    case Kind::kBool: return value.boolean;
    case Kind::kNumber: return number_of(value).value_or(1) != 0;
    case Kind::kString: return !value.text.empty();
    case Kind::kArray: return !value.items.empty();
    case Kind::kObject: return !value.members.empty();
  }
  return false;
}

bool equal(const JsonValue& a, const JsonValue& b) {
  if (a.kind == Kind::kNumber && b.kind == Kind::kNumber) return number_of(a) == number_of(b);
  return to_json(a) == to_json(b);
}

// Arithmetic is done in floating point, and its result cut off.
std::optional<double> arithmetic(std::string_view function, double a, double b) {
  if (function == "AddInt") return a + b;
  if (function == "SubtractInt") return a - b;
  if (function == "MultiplyInt") return a * b;
  if (b == 0) return std::nullopt;
  if (function == "DivideInt") return a / b;
  if (function == "Mod" && std::trunc(b) != 0) return std::fmod(std::trunc(a), std::trunc(b));
  return std::nullopt;
}

std::optional<JsonValue> call_with_one(std::string_view function, const JsonValue& argument) {
  if (function == "JSON") return JsonValue::of_text(to_json(argument));
  if (function == "Int")
    if (const auto number = number_of(argument))
      return JsonValue::of_int(static_cast<std::int64_t>(*number));
  return std::nullopt;
}

std::optional<JsonValue> call_with_two(std::string_view function, const JsonValue& a,
                                       const JsonValue& b) {
  if (function == "or") return truth(a) ? a : b;
  if (function == "eq") return JsonValue::of_bool(equal(a, b));
  const auto x = number_of(a), y = number_of(b);
  if (!x || !y) return std::nullopt;
  if (function == "ge") return JsonValue::of_bool(*x >= *y);
  const auto result = arithmetic(function, *x, *y);
  if (!result) return std::nullopt;
  return JsonValue::of_int(static_cast<std::int64_t>(*result));
}

bool is_function(std::string_view name) {
  constexpr std::array<std::string_view, 10> kFunctions = {
      "AddInt", "DivideInt", "Int", "JSON", "Mod", "MultiplyInt", "SubtractInt", "eq", "ge", "or"};
  return std::ranges::find(kFunctions, name) != kFunctions.end();
}

// ---- parsing ------------------------------------------------------------------------------------

// Reads what stands between braces.
class ActionReader {
 public:
  explicit ActionReader(std::string_view text) : rest_(trimmed(text)) {}

  // `word` and what separates it from the next, if it stands here.
  bool keyword(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    if (rest_.size() > word.size() && !kSpaces.contains(rest_[word.size()])) return false;
    skip(word.size());
    return true;
  }

  // `$x` of `$x := …`; empty if there is none.
  std::string declared_variable() {
    const std::size_t assign = rest_.find(":=");
    if (!rest_.starts_with('$') || assign == std::string_view::npos) return {};
    std::string name(trimmed(rest_.substr(0, assign)));
    skip(assign + 2);
    return name;
  }

  // Up to the end, or to the bracket that closes it.
  std::optional<Pipeline> pipeline() {
    Pipeline read;
    read.commands.emplace_back();
    while (!rest_.empty() && rest_.front() != ')') {
      if (rest_.front() == '|') {
        skip(1);
        read.commands.emplace_back();
        continue;
      }
      auto one = operand();
      if (!one) return std::nullopt;
      read.commands.back().push_back(std::move(*one));
    }
    for (const auto& command : read.commands)
      if (command.empty()) return std::nullopt;
    return read;
  }

  bool at_end() const { return rest_.empty(); }

 private:
  void skip(std::size_t count) {
    rest_.remove_prefix(count);
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpaces), rest_.size()));
  }

  std::optional<Operand> operand() {
    Operand read;
    if (rest_.front() == '(') {
      skip(1);
      auto nested = pipeline();
      if (!nested || at_end()) return std::nullopt;
      skip(1);
      read.of = Operand::Of::kPipeline;
      read.pipeline = std::move(*nested);
      return read;
    }
    if (rest_.front() == '"') {
      const std::size_t close = rest_.find('"', 1);
      if (close == std::string_view::npos) return std::nullopt;
      read.value = JsonValue::of_text(rest_.substr(1, close - 1));
      skip(close + 1);
      return read;
    }
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t\r\n()|"));
    skip(word.size());
    return operand_of(word);
  }

  static std::optional<Operand> operand_of(std::string_view word) {
    Operand read;
    read.name = word;
    if (word == "nil") return read;
    if (word.starts_with('.')) {
      read.of = Operand::Of::kField;
      read.name.erase(0, 1);
      return read;
    }
    if (word.starts_with('$')) {
      read.of = Operand::Of::kVariable;
      return read;
    }
    if (is_function(word)) {
      read.of = Operand::Of::kFunction;
      return read;
    }
    read.value = JsonValue::of_number(std::string(word));
    if (!number_of(read.value)) return std::nullopt;
    return read;
  }

  std::string_view rest_;
};

class TemplateReader {
 public:
  explicit TemplateReader(std::string_view text) : text_(text) {}

  // Actions up to the end of the text, or to `else` and `end`, which `ended_by_` then names.
  Result<std::vector<Action>> block() {
    std::vector<Action> read;
    ended_by_.clear();
    while (at_ < text_.size()) {
      const std::size_t open = text_.find("{{", at_);
      if (open != at_) read.push_back(plain(text_.substr(at_, open - at_)));
      if (open == std::string_view::npos) {
        at_ = text_.size();
        break;
      }
      const std::size_t close = text_.find("}}", open);
      if (close == std::string_view::npos)
        return fail(ErrorKind::kInvalid, "\"{{\" without \"}}\"");
      at_ = close + 2;
      Result<bool> goes_on = action(text_.substr(open, at_ - open), read);
      if (!goes_on) return fail(goes_on.error());
      if (!*goes_on) break;
    }
    return read;
  }

  bool at_end() const { return at_ >= text_.size() && ended_by_.empty(); }

 private:
  // False where the block ends.
  Result<bool> action(std::string_view written, std::vector<Action>& into) {
    ActionReader reader(written.substr(2, written.size() - 4));
    if (reader.keyword("end") || reader.keyword("else")) {
      ended_by_ = trimmed(written.substr(2, written.size() - 4));
      return reader.at_end() ? Result<bool>(false) : bad_action(written, "cannot be read");
    }
    Action read = plain(written);
    read.of = Action::Of::kOutput;
    if (reader.keyword("if")) read.of = Action::Of::kIf;
    if (reader.keyword("range")) read.of = Action::Of::kRange;
    read.variable = reader.declared_variable();
    if (read.of == Action::Of::kOutput && !read.variable.empty()) read.of = Action::Of::kAssignment;
    auto pipeline = reader.pipeline();
    if (!pipeline || !reader.at_end()) return bad_action(written, "cannot be read");
    read.pipeline = std::move(*pipeline);
    if (read.of == Action::Of::kIf || read.of == Action::Of::kRange)
      if (Result<void> blocks = read_blocks(read); !blocks) return fail(blocks.error());
    into.push_back(std::move(read));
    return true;
  }

  static Action plain(std::string_view text) {
    Action made;
    made.text = text;
    return made;
  }

  Result<void> read_blocks(Action& action) {
    for (std::vector<Action>* into : {&action.body, &action.otherwise}) {
      Result<std::vector<Action>> read = block();
      if (!read) return fail(read.error());
      *into = std::move(*read);
      if (std::exchange(ended_by_, {}) == "end") return {};
    }
    return bad_action(action.text, "has no end");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string ended_by_;
};

// ---- execution ----------------------------------------------------------------------------------

class Execution {
 public:
  Result<void> run(const std::vector<Action>& actions, const JsonValue& dot) {
    const std::size_t outer = variables_.size();
    for (const Action& action : actions)
      if (Result<void> done = run(action, dot); !done) return done;
    variables_.erase(variables_.begin() + static_cast<std::ptrdiff_t>(outer), variables_.end());
    return {};
  }

  std::string take_text() { return std::move(text_); }

 private:
  Result<void> run(const Action& action, const JsonValue& dot) {
    if (action.of == Action::Of::kText) {
      text_ += action.text;
      return {};
    }
    std::optional<JsonValue> value = value_of(action.pipeline, dot);
    if (!value) return bad_action(action.text, "cannot be computed");
    switch (action.of) {
      case Action::Of::kAssignment:
        variables_.emplace_back(action.variable, std::move(*value));
        return {};
      case Action::Of::kIf: return run(truth(*value) ? action.body : action.otherwise, dot);
      case Action::Of::kRange: return repeat(action, *value, dot);
      default: return print(action, *value);
    }
  }

  Result<void> repeat(const Action& action, const JsonValue& over, const JsonValue& dot) {
    std::vector<JsonValue> items = over.items;
    if (over.kind == Kind::kNumber)
      for (double i = 0; i < number_of(over).value_or(0); ++i)
        items.push_back(JsonValue::of_int(static_cast<std::int64_t>(i)));
    else if (over.kind != Kind::kArray && !over.is_null())
      return bad_action(action.text, "cannot be computed");
    if (items.empty()) return run(action.otherwise, dot);
    for (const JsonValue& item : items) {
      if (!action.variable.empty()) variables_.emplace_back(action.variable, item);
      Result<void> done = run(action.body, item);
      if (!done) return done;
      if (!action.variable.empty()) variables_.pop_back();
    }
    return {};
  }

  Result<void> print(const Action& action, const JsonValue& value) {
    switch (value.kind) {
      case Kind::kNull: text_ += "<no value>"; return {};
      case Kind::kBool: text_ += value.boolean ? "true" : "false"; return {};
      case Kind::kNumber:
      case Kind::kString: text_ += value.text; return {};
      default: return bad_action(action.text, "cannot be computed");
    }
  }

  std::optional<JsonValue> value_of(const Pipeline& pipeline, const JsonValue& dot) const {
    std::optional<JsonValue> result;
    for (const std::vector<Operand>& command : pipeline.commands) {
      std::vector<JsonValue> arguments;
      for (std::size_t i = 0; i < command.size(); ++i) {
        if (i == 0 && command[0].of == Operand::Of::kFunction) continue;
        std::optional<JsonValue> argument = value_of(command[i], dot);
        if (!argument) return std::nullopt;
        arguments.push_back(std::move(*argument));
      }
      if (result) arguments.push_back(std::move(*result));
      result = command[0].of == Operand::Of::kFunction ? call(command[0].name, arguments)
               : arguments.size() == 1                 ? std::optional(arguments[0])
                                                       : std::nullopt;
      if (!result) return std::nullopt;
    }
    return result;
  }

  std::optional<JsonValue> value_of(const Operand& operand, const JsonValue& dot) const {
    switch (operand.of) {
      case Operand::Of::kValue: return operand.value;
      case Operand::Of::kPipeline: return value_of(operand.pipeline, dot);
      case Operand::Of::kField: {
        if (operand.name.empty()) return dot;
        const JsonValue* found = dot.find(operand.name);
        return found ? *found : JsonValue();
      }
      case Operand::Of::kVariable:
        for (auto one = variables_.rbegin(); one != variables_.rend(); ++one)
          if (one->first == operand.name) return one->second;
        return std::nullopt;
      case Operand::Of::kFunction: break;  // functions are no values
    }
    return std::nullopt;
  }

  static std::optional<JsonValue> call(std::string_view function,
                                       const std::vector<JsonValue>& arguments) {
    if (arguments.size() == 1) return call_with_one(function, arguments[0]);
    if (arguments.size() == 2) return call_with_two(function, arguments[0], arguments[1]);
    return std::nullopt;
  }

  std::vector<std::pair<std::string, JsonValue>> variables_;
  std::string text_;
};

}  // namespace

Result<GoTemplate> GoTemplate::parse(std::string_view text) {
  TemplateReader reader(text);
  Result<std::vector<Action>> actions = reader.block();
  if (!actions) return fail(actions.error());
  if (!reader.at_end()) return fail(ErrorKind::kUnavailable, "\"{{end}}\" without a beginning");
  return GoTemplate(std::make_shared<const Block>(std::move(*actions)));
}

Result<std::string> GoTemplate::execute(const JsonValue& data) const {
  Execution execution;
  if (Result<void> done = execution.run(block_->actions, data); !done) return fail(done.error());
  return execution.take_text();
}

}  // namespace berth::perf
