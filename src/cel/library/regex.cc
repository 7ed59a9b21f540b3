#include "cel/library/regex.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "cel/library/library.h"

namespace berth::cel {

namespace {

using Args = std::span<const Value>;

// Go's error text for the same mistake.
std::string complaint(const re2::RE2& regex) {
  const std::string& arg = regex.error_arg();
  const auto about = [&](const char* what) { return std::string(what) + ": `" + arg + "`"; };
  std::string text;
  switch (regex.error_code()) {
    case re2::RE2::ErrorBadEscape: text = about("invalid escape sequence"); break;
    case re2::RE2::ErrorBadCharClass: text = about("invalid character class"); break;
    case re2::RE2::ErrorBadCharRange: text = about("invalid character class range"); break;
    case re2::RE2::ErrorMissingBracket: text = about("missing closing ]"); break;
    case re2::RE2::ErrorMissingParen: text = "missing closing ): `" + regex.pattern() + "`"; break;
    case re2::RE2::ErrorUnexpectedParen: text = "unexpected ): `" + regex.pattern() + "`"; break;
    case re2::RE2::ErrorTrailingBackslash:
      text = "trailing backslash at end of expression: ``";
      break;
    case re2::RE2::ErrorRepeatArgument:
      text = about("missing argument to repetition operator");
      break;
    case re2::RE2::ErrorRepeatSize: text = about("invalid repeat count"); break;
    case re2::RE2::ErrorRepeatOp: text = about("invalid nested repetition operator"); break;
    case re2::RE2::ErrorBadPerlOp: text = about("invalid or unsupported Perl syntax"); break;
    case re2::RE2::ErrorBadUTF8: text = about("invalid UTF-8"); break;
    case re2::RE2::ErrorBadNamedCapture: text = about("invalid named capture"); break;
    default: text = "expression too large: `" + regex.pattern() + "`";
  }
  return "error parsing regexp: " + text;
}

// Go knows (?<name>…), RE2 of this age only (?P<name>…).
std::string with_old_names(const std::string& pattern) {
  std::string result;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view rest = std::string_view(pattern).substr(i);
    if (rest[0] == '\\') {
      std::size_t length = std::min<std::size_t>(2, rest.size());
      if (rest.starts_with("\\Q")) length = std::min(rest.size(), rest.find("\\E"));
      result += rest.substr(0, length);
      i += length - 1;
      continue;
    }
    if (rest[0] == '[') in_class = true;
    if (rest[0] == ']') in_class = false;
    if (!in_class && rest.starts_with("(?<") && !rest.starts_with("(?<=") &&
        !rest.starts_with("(?<!")) {
      result += "(?P<";
      i += 2;
      continue;
    }
    result += rest[0];
  }
  return result;
}

Value strings(std::vector<std::string> texts) {
  std::vector<Value> items;
  items.reserve(texts.size());
  for (std::string& each : texts) items.push_back(Value::string(std::move(each)));
  return Value::list(std::move(items));
}

// matches() with a pattern that is known only now.
Value matches(Args args) {
  if (!args[1].is(Kind::kString)) return error_or_no_overload(args[1]);
  const auto regex = Regex::compile(args[1].as_string());
  if (!regex) return Value::error(regex.error().message);
  return Value::boolean((*regex)->matches(args[0].as_string()));
}

Value find(Args args) {
  const auto regex = Regex::compile(args[1].as_string());
  if (!regex) return Value::error("Illegal regex: " + regex.error().message);
  return Value::string((*regex)->find(args[0].as_string()));
}

Value find_all(Args args) {
  const auto regex = Regex::compile(args[1].as_string());
  if (!regex) return Value::error("Illegal regex: " + regex.error().message);
  const std::int64_t limit = args.size() == 3 ? args[2].as_int() : -1;
  return strings((*regex)->find_all(args[0].as_string(), limit));
}

template <typename Test>
Value test_strings(Args args, Test test) {
  for (const Value& arg : args) {
    if (!arg.is(Kind::kString)) return error_or_no_overload(arg);
  }
  return Value::boolean(test(args[0].as_string(), args[1].as_string()));
}
Value contains_text(Args args) {
  return test_strings(args, [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  });
}
Value starts_with(Args args) {
  return test_strings(args, [](const std::string& text, const std::string& part) {
    return text.starts_with(part);
  });
}
Value ends_with(Args args) {
  return test_strings(
      args, [](const std::string& text, const std::string& part) { return text.ends_with(part); });
}

}  // namespace

Regex::Regex(std::unique_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
Regex::~Regex() = default;

Result<std::shared_ptr<const Regex>> Regex::compile(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_unique<const re2::RE2>(with_old_names(pattern), options);
  if (!compiled->ok()) return fail(ErrorKind::kInvalid, complaint(*compiled));
  return std::shared_ptr<const Regex>(new Regex(std::move(compiled)));
}

bool Regex::matches(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

std::string Regex::find(std::string_view text) const {
  auto found = find_all(text, 1);
  return found.empty() ? std::string() : std::move(found[0]);
}

std::vector<std::string> Regex::find_all(std::string_view text, std::int64_t limit) const {
  const re2::StringPiece whole(text.data(), text.size());
  std::vector<std::string> found;
  std::size_t at = 0;
  std::size_t last_end = std::string::npos;
  while (at <= text.size() && (limit < 0 || static_cast<std::int64_t>(found.size()) < limit)) {
    re2::StringPiece match;
    if (!compiled_->Match(whole, at, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
    const auto begin = static_cast<std::size_t>(match.data() - text.data());
    const std::size_t end = begin + match.size();
    // Nothing directly behind a match is no match of its own.
    const bool counts = !match.empty() || begin != last_end;
    if (counts) found.emplace_back(match.data(), match.size());
    last_end = end;
    if (!match.empty()) {
      at = end;
    } else {
      const std::size_t length = utf8_length(text.substr(std::min(end, text.size())));
      at = end + (length == 0 ? 1 : length);
    }
  }
  return found;
}

bool takes_regex(std::string_view function) {
  return function == "matches" || function == "find" || function == "findAll";
}

Value call_with_regex(std::string_view function, const Regex& regex, Args args) {
  if (!args[0].is(Kind::kString)) return error_or_no_overload(args[0]);
  const std::string& text = args[0].as_string();
  if (function == "matches") return Value::boolean(regex.matches(text));
  if (function == "find") return Value::string(regex.find(text));
  if (args.size() == 3 && !args[2].is(Kind::kInt)) return error_or_no_overload(args[2]);
  return strings(regex.find_all(text, args.size() == 3 ? args[2].as_int() : -1));
}

void add_string_tests(FunctionTable& table) {
  table.add("string::contains(string) -> bool", "contains_string", contains_text);
  table.add("string::endsWith(string) -> bool", "ends_with_string", ends_with);
  table.add("string::startsWith(string) -> bool", "starts_with_string", starts_with);
  for (const char* name : {"contains", "endsWith", "startsWith"}) table.at(name).unguarded = true;
  table.add("matches(string, string) -> bool", "matches");
  table.add("string::matches(string) -> bool", "matches_string");
  table.for_all("matches", Trait::kMatch, matches);
}

void add_regexes(FunctionTable& table) {
  table.add("string::find(string) -> string", "string_find_string", find);
  table.add("string::findAll(string) -> list(string)", "string_find_all_string", find_all);
  table.add("string::findAll(string, int) -> list(string)", "string_find_all_string_int", find_all);
}

}  // namespace berth::cel
