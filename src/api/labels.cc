#include "berth/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <tuple>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "base/keyed_hash.h"

namespace berth {

// ---- label sets -------------------------------------------------------------------------------

LabelSet::LabelSet(std::vector<Label> labels) {
  // Among equal keys by their place, so that the last one comes last.
  std::vector<std::pair<Symbol, std::size_t>> order;
  order.reserve(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) order.emplace_back(labels[i].key, i);
  std::ranges::sort(order);
  labels_.reserve(labels.size());
  for (const auto& [key, place] : order) {
    if (!labels_.empty() && labels_.back().key == key) labels_.pop_back();
    labels_.push_back(labels[place]);
  }
  labels_.shrink_to_fit();
}

const Symbol* LabelSet::find(Symbol key) const {
  const auto found = std::ranges::lower_bound(labels_, key, {}, &Label::key);
  return found != labels_.end() && found->key == key ? &found->value : nullptr;
}

// ---- requirements -----------------------------------------------------------------------------

std::optional<std::int64_t> parse_label_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  // Towards the negative end, which reaches one further.
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, c - '0', &value))
      return std::nullopt;
  }
  if (negative) return value;
  std::int64_t positive;
  if (__builtin_sub_overflow(std::int64_t{0}, value, &positive)) return std::nullopt;
  return positive;
}

bool Requirement::matches(const LabelSet& labels, const Symbols& symbols) const {
  const Symbol* value = labels.find(key);
  switch (op) {
    case SelectorOperator::kIn: return value && std::ranges::binary_search(values, *value);
    case SelectorOperator::kNotIn: return !value || !std::ranges::binary_search(values, *value);
    case SelectorOperator::kExists: return value;
    case SelectorOperator::kDoesNotExist: return !value;
    case SelectorOperator::kGreaterThan:
    case SelectorOperator::kLessThan: {
      if (!value) return false;
      const std::optional<std::int64_t> number = parse_label_integer(symbols.text(*value));
      if (!number) return false;
      return op == SelectorOperator::kGreaterThan ? *number > bound : *number < bound;
    }
    case SelectorOperator::kUnknown: break;
  }
  return false;
}

std::string_view operator_text(const SelectorRequirement& written, const Symbols& symbols) {
  switch (written.op) {
    case SelectorOperator::kIn: return "In";
    case SelectorOperator::kNotIn: return "NotIn";
    case SelectorOperator::kExists: return "Exists";
    case SelectorOperator::kDoesNotExist: return "DoesNotExist";
    case SelectorOperator::kGreaterThan: return "Gt";
    case SelectorOperator::kLessThan: return "Lt";
    case SelectorOperator::kUnknown: break;
  }
  return symbols.text(written.operator_text);
}

// ---- what a key and a value may look like -----------------------------------------------------

namespace {

constexpr std::size_t kLongestName = 63;
constexpr std::size_t kLongestSubdomain = 253;

bool is_lower_or_digit(char c) { return is_lower_case(c) || is_digit(c); }

// Alphanumeric at both ends; in between also '-', '_' and '.'.
bool is_name(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

// Labels of lower-case letters, digits and inner '-', joined by dots.
bool is_subdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (part.empty() || part.front() == '-' || part.back() == '-') return false;
    if (!std::ranges::all_of(part, [](char c) { return is_lower_or_digit(c) || c == '-'; }))
      return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

constexpr std::string_view kNameWrong =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kSubdomainWrong =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kValueWrong =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

void say(std::string& problems, std::string_view problem) {
  if (!problems.empty()) problems += "; ";
  problems += problem;
}

std::string problems_of_value(std::string_view value) {
  std::string problems;
  if (value.size() > kLongestName)
    say(problems, fmt::format("must be no more than {} bytes", kLongestName));
  if (!value.empty() && !is_name(value)) say(problems, kValueWrong);
  return problems;
}

// Of a list of values, for the operator alone.
std::string_view problem_of_count(SelectorOperator op, std::size_t count) {
  switch (op) {
    case SelectorOperator::kIn:
    case SelectorOperator::kNotIn:
      return count == 0 ? "for 'in', 'notin' operators, values set can't be empty" : "";
    case SelectorOperator::kExists:
    case SelectorOperator::kDoesNotExist:
      return count != 0 ? "values set must be empty for exists and does not exist" : "";
    case SelectorOperator::kGreaterThan:
    case SelectorOperator::kLessThan:
      return count != 1 ? "for 'Gt', 'Lt' operators, exactly one value is required" : "";
    case SelectorOperator::kUnknown: break;
  }
  return "";
}

}  // namespace

std::vector<std::string> label_key_problems(std::string_view key) {
  std::vector<std::string> problems;
  std::string_view name = key;
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.contains('/'))
      return {
          fmt::format("a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. "
                      "'example.com/MyName')",
                      kNameWrong)};
    if (prefix.empty()) {
      problems.push_back("prefix part must be non-empty");
    } else {
      if (prefix.size() > kLongestSubdomain)
        problems.push_back(
            fmt::format("prefix part must be no more than {} bytes", kLongestSubdomain));
      if (!is_subdomain(prefix)) problems.push_back(fmt::format("prefix part {}", kSubdomainWrong));
    }
  }
  if (name.empty())
    problems.push_back("name part must be non-empty");
  else if (name.size() > kLongestName)
    problems.push_back(fmt::format("name part must be no more than {} bytes", kLongestName));
  if (!is_name(name)) problems.push_back(fmt::format("name part {}", kNameWrong));
  return problems;
}

bool is_valid_label_key(std::string_view key) { return label_key_problems(key).empty(); }
bool is_valid_label_value(std::string_view value) { return problems_of_value(value).empty(); }

// ---- errors -----------------------------------------------------------------------------------

namespace {

// As Go's JSON encoder writes a string, which also hides what a browser might take for markup.
std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&')
          out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  return out + "\"";
}

std::string child(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

}  // namespace

std::string quoted_list(const std::vector<Symbol>& values, const Symbols& symbols) {
  if (values.empty()) return "null";
  std::vector<std::string> strings;
  for (const Symbol value : values) strings.push_back(json_string(symbols.text(value)));
  return fmt::format("[{}]", fmt::join(strings, ","));
}

Error aggregate(const std::vector<std::string>& sentences) {
  boost::unordered_flat_set<std::string_view, TextHash> distinct;
  std::string text;
  std::size_t left_out = 0;
  for (const std::string& sentence : sentences) {
    if (!distinct.insert(sentence).second) continue;
    if (text.size() > kLongestAggregate) {
      ++left_out;
      continue;
    }
    if (distinct.size() > 1) text += ", ";
    text += sentence;
  }
  if (left_out > 0) text += fmt::format(", and {} more", left_out);
  return {ErrorKind::kInvalid, distinct.size() > 1 ? "[" + text + "]" : std::move(text)};
}

// ---- compiling --------------------------------------------------------------------------------

std::vector<std::string> check_requirement(const SelectorRequirement& written,
                                           const Symbols& symbols, const std::string& path,
                                           Requirement& compiled) {
  compiled = {written.key, written.op, written.values, 0};
  if (written.op == SelectorOperator::kUnknown)  // Parity: then nothing else is looked at
    return {
        fmt::format("{}: Unsupported value: {}: supported values: \"In\", \"NotIn\", \"Exists\", "
                    "\"DoesNotExist\", \"Gt\", \"Lt\"",
                    child(path, "operator"), go_quoted(operator_text(written, symbols)))};
  std::vector<std::string> errors;
  const std::string_view key = symbols.text(written.key);
  const std::string values_path = child(path, "values");
  const auto value_path = [&](std::size_t i) { return fmt::format("{}[{}]", values_path, i); };

  if (const std::vector<std::string> problems = label_key_problems(key); !problems.empty())
    errors.push_back(fmt::format("{}: Invalid value: {}: {}", child(path, "key"), go_quoted(key),
                                 fmt::join(problems, "; ")));
  if (const std::string_view problem = problem_of_count(written.op, written.values.size());
      !problem.empty())
    errors.push_back(fmt::format("{}: Invalid value: {}: {}", values_path,
                                 quoted_list(written.values, symbols), problem));
  if (written.op == SelectorOperator::kGreaterThan || written.op == SelectorOperator::kLessThan) {
    for (std::size_t i = 0; i < written.values.size(); ++i) {
      const std::string_view value = symbols.text(written.values[i]);
      const std::optional<std::int64_t> bound = parse_label_integer(value);
      compiled.bound = bound.value_or(0);
      if (!bound)
        errors.push_back(
            fmt::format("{}: Invalid value: {}: for 'Gt', 'Lt' operators, the value "
                        "must be an integer",
                        value_path(i), go_quoted(value)));
    }
  }
  for (std::size_t i = 0; i < written.values.size(); ++i) {
    const std::string_view value = symbols.text(written.values[i]);
    if (const std::string problems = problems_of_value(value); !problems.empty())
      errors.push_back(fmt::format("{}[{}]: Invalid value: {}: {}", value_path(i), key,
                                   go_quoted(value), problems));
  }
  std::ranges::sort(compiled.values);
  const auto repeated = std::ranges::unique(compiled.values);
  compiled.values.erase(repeated.begin(), repeated.end());
  return errors;
}

Result<Requirement> compile_requirement(const SelectorRequirement& written, const Symbols& symbols,
                                        const std::string& path) {
  Requirement compiled;
  const std::vector<std::string> errors = check_requirement(written, symbols, path, compiled);
  if (!errors.empty()) return fail(aggregate(errors));
  return compiled;
}

namespace {

// By key, and further so that the order in which they were written does not show.
void sort(std::vector<Requirement>& requirements) {
  std::ranges::sort(requirements, [](const Requirement& a, const Requirement& b) {
    return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
  });
}

}  // namespace

Selector Selector::nothing() {
  Selector selector;
  selector.nothing_ = true;
  return selector;
}

Result<Selector> Selector::compile(const std::optional<LabelSelector>& written,
                                   const Symbols& symbols) {
  if (!written) return nothing();
  Selector selector;
  for (const Label& label : written->match_labels) {
    Result<Requirement> requirement = compile_requirement(
        {label.key, SelectorOperator::kIn, {}, {label.value}}, symbols, std::string());
    if (!requirement) return fail(std::move(requirement).error());
    selector.add(*std::move(requirement));
  }
  for (const SelectorRequirement& expression : written->match_expressions) {
    if (expression.op > SelectorOperator::kDoesNotExist)
      return fail(ErrorKind::kInvalid, fmt::format("{} is not a valid label selector operator",
                                                   go_quoted(operator_text(expression, symbols))));
    Result<Requirement> requirement = compile_requirement(expression, symbols, std::string());
    if (!requirement) return fail(std::move(requirement).error());
    selector.add(*std::move(requirement));
  }
  sort(selector.requirements_);
  return selector;
}

Selector Selector::of_set(const std::vector<Label>& labels) {
  Selector selector;
  for (const Label& label : labels)
    selector.add({label.key, SelectorOperator::kIn, {label.value}, 0});
  sort(selector.requirements_);
  return selector;
}

bool Selector::matches(const LabelSet& labels, const Symbols& symbols) const {
  return !nothing_ && std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
    return requirement.matches(labels, symbols);
  });
}

}  // namespace berth
