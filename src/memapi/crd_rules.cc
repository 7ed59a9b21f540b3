#include "memapi/crd_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/go_quote.h"
#include "cel/expression.h"
#include "memapi/crd_cel_types.h"
#include "memapi/crd_schema.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

struct RuleText {
  std::string rule;
  std::string message;
  std::string message_expression;
  std::string reason;
  std::string field_path;
  bool optional_old = false;

  std::string shown() const {
    std::string text = message.empty() ? rule : message;
    const auto space = [](char c) { return c == ' ' || c == '\n' || c == '\t'; };
    while (!text.empty() && space(text.back())) text.pop_back();
    return text.substr(
        static_cast<std::size_t>(std::ranges::find_if_not(text, space) - text.begin()));
  }
  std::string message_or_rule() const {
    return message.empty() ? "failed rule: " + shown() : shown();
  }
};

RuleText rule_text(const JsonValue& rule) {
  RuleText text;
  text.rule = text_at(rule, "rule");
  text.message = text_at(rule, "message");
  text.message_expression = text_at(rule, "messageExpression");
  text.reason = text_at(rule, "reason");
  text.field_path = text_at(rule, "fieldPath");
  text.optional_old = true_at(rule, "optionalOldSelf");
  return text;
}

using Compilation = Result<std::shared_ptr<const cel::Expression>>;

Compilation compile_rule(const RuleText& text, const CelTypes& types) {
  return cel::Expression::compile(text.rule, text.optional_old ? types.optional_old : types.plain,
                                  [](const cel::Type& type) -> std::string {
                                    if (type.kind() == cel::TypeKind::kBool) return {};
                                    return "cel expression must evaluate to a bool";
                                  });
}

Compilation compile_message(const RuleText& text, const CelTypes& types) {
  Compilation compiled = cel::Expression::compile(
      text.message_expression, text.optional_old ? types.optional_old : types.plain,
      [](const cel::Type& type) -> std::string {
        if (type.kind() == cel::TypeKind::kString) return {};
        return "messageExpression must evaluate to a string";
      });
  if (!compiled && !compiled.error().message.starts_with("messageExpression"))
    compiled.error().message = "messageExpression " + compiled.error().message;
  return compiled;
}

// ".spec.size" as errors name it: "spec.size".
std::string child_path(const std::string& path, std::string_view field_path) {
  if (field_path.empty()) return path;
  std::string normal;
  while (!field_path.empty()) {
    if (field_path.starts_with("['")) {
      const std::size_t end = field_path.find("']");
      normal += fmt::format("[{}]", field_path.substr(2, end - 2));
      field_path.remove_prefix(end == std::string_view::npos ? field_path.size() : end + 2);
    } else {
      normal += field_path.front();
      field_path.remove_prefix(1);
    }
  }
  if (path.empty()) return normal.starts_with('.') ? normal.substr(1) : normal;
  return normal.starts_with('.') || normal.starts_with('[') ? path + normal : path + "." + normal;
}

std::string shown_path(const std::string& path) { return path.empty() ? "<nil>" : path; }

// What an error shows of a value: nothing of one with parts.
std::string shown_value(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kString: return ": " + go_quoted(value.text);
    case JsonValue::Kind::kNumber: return ": " + value.text;
    case JsonValue::Kind::kBool: return value.boolean ? ": true" : ": false";
    default: return {};
  }
}

FieldProblem broken_rule(const RuleText& text, const CrdRules::Subject& subject,
                         const std::string& detail) {
  const std::string path = shown_path(child_path(subject.path, text.field_path));
  const bool parts = subject.schema.type == "object" || subject.schema.type == "array";
  const std::string value = parts ? std::string() : shown_value(subject.value);
  if (text.reason == "FieldValueForbidden") return FieldProblem::forbidden(path, detail);
  if (text.reason == "FieldValueRequired") return FieldProblem::required(path, detail);
  if (text.reason == "FieldValueDuplicate")
    return {"FieldValueDuplicate", "Duplicate value" + value, path};
  return {"FieldValueInvalid", fmt::format("Invalid value{}: {}", value, detail), path};
}

FieldProblem failed_rule(const CrdRules::Subject& subject, std::string_view detail) {
  return FieldProblem::invalid(shown_path(subject.path), go_quoted(subject.schema.type), detail);
}

}  // namespace

struct CrdRules::Compiled {
  struct One {
    RuleText text;
    std::shared_ptr<const cel::Expression> expression;
    std::shared_ptr<const cel::Expression> message;  // null: none
  };
  std::vector<One> all;

  // The text that the rule's expression makes of what is wrong; nothing when it makes none.
  static std::optional<std::string> message_of(const One& one,
                                               std::span<const cel::Value> variables,
                                               std::uint64_t& budget) {
    if (!one.message) return std::nullopt;
    const auto outcome = one.message->evaluate(variables, kMostCostOfRule, {});
    budget -= std::min(budget, outcome.cost);
    if (!outcome.value.is(cel::Kind::kString)) return std::nullopt;
    const std::string& text = outcome.value.as_string();
    const bool usable = !text.empty() && text.find('\n') == std::string::npos &&
                        text.find_first_not_of(" \t") != std::string::npos;
    return usable ? std::optional(text) : std::nullopt;
  }
};

CrdRules CrdRules::read(const JsonValue& rules, const CrdSchema& schema, bool root) {
  CrdRules made;
  const auto types = cel_types_of(schema, root);
  if (!types) return made;
  auto compiled = std::make_shared<Compiled>();
  for (const JsonValue& rule : rules.items) {
    Compiled::One one{rule_text(rule), nullptr, nullptr};
    Compilation expression = compile_rule(one.text, *types);
    if (!expression) continue;
    one.expression = std::move(*expression);
    if (!one.text.message_expression.empty()) {
      if (auto message = compile_message(one.text, *types)) one.message = std::move(*message);
    }
    compiled->all.push_back(std::move(one));
  }
  if (!compiled->all.empty()) made.rules_ = std::move(compiled);
  return made;
}

bool CrdRules::check(const Subject& subject, std::uint64_t& budget,
                     std::vector<FieldProblem>& problems) const {
  if (rules_ == nullptr || subject.value.is_null()) return true;
  const cel::Value self = cel_value_of(subject.value, subject.schema, subject.root);
  const cel::Value old_self = subject.old != nullptr
                                  ? cel_value_of(*subject.old, subject.schema, subject.root)
                                  : cel::Value();
  const cel::Value optional_old =
      subject.old != nullptr ? cel::Value::some(old_self) : cel::Value::none();
  const bool unchanged = subject.old != nullptr && equal(subject.value, *subject.old);
  for (const Compiled::One& one : rules_->all) {
    const bool transition = one.expression->uses("oldSelf");
    if (transition && subject.old == nullptr && !one.text.optional_old) continue;
    const std::array<cel::Value, 2> variables{self,
                                              one.text.optional_old ? optional_old : old_self};
    const auto outcome = one.expression->evaluate(variables, kMostCostOfRule, {});
    if (outcome.interrupted || outcome.cost > budget) {
      problems.push_back(
          failed_rule(subject,
                      "validation failed due to running out of cost budget, no further validation "
                      "rules will be run"));
      return false;
    }
    budget -= outcome.cost;
    if (outcome.value.is_error()) {
      const std::string& why = outcome.value.as_error().text;
      if (why.starts_with("no such overload")) {
        problems.push_back(failed_rule(
            subject, fmt::format("'{}': call arguments did not match a supported operator, "
                                 "function or macro signature for rule: {}",
                                 why, one.text.shown())));
      } else if (why.starts_with("operation cancelled: actual cost limit exceeded")) {
        problems.push_back(failed_rule(
            subject, fmt::format("'{}': no further validation rules will be run due to call cost "
                                 "exceeds limit for rule: {}",
                                 why, one.text.shown())));
        return false;
      } else {
        problems.push_back(
            failed_rule(subject, fmt::format("{} evaluating rule: {}", why, one.text.shown())));
      }
      continue;
    }
    if (outcome.value.is_true()) continue;
    // What was stored before the rule was made may stay as it is.
    if (unchanged && !transition) continue;
    const auto said = Compiled::message_of(one, variables, budget);
    problems.push_back(broken_rule(one.text, subject, said.value_or(one.text.message_or_rule())));
  }
  return true;
}

// ---- when a definition is stored ----------------------------------------------------------------

namespace {

std::string shown_rule(const RuleText& text) {
  return fmt::format(
      R"({{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},)"
      R"("OptionalOldSelf":{}}})",
      to_json(JsonValue::of_text(text.rule)), to_json(JsonValue::of_text(text.message)),
      to_json(JsonValue::of_text(text.message_expression)),
      text.reason.empty() ? "null" : to_json(JsonValue::of_text(text.reason)),
      to_json(JsonValue::of_text(text.field_path)), text.optional_old ? "true" : "null");
}

bool blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void check_rule_text(const JsonValue& rule, const RuleText& text, const std::string& here,
                     std::vector<FieldProblem>& problems) {
  const bool lines = text.message.find('\n') != std::string::npos;
  if (blank(text.rule)) {
    problems.push_back(FieldProblem::required(here + ".rule", "rule is not specified"));
  } else if (!text.message.empty() && blank(text.message)) {
    problems.push_back(FieldProblem::invalid(here + ".message", go_quoted(text.message),
                                             "must be non-empty if specified"));
  } else if (lines) {
    problems.push_back(FieldProblem::invalid(here + ".message", go_quoted(text.message),
                                             "must not contain line breaks"));
  } else if (text.rule.find('\n') != std::string::npos && text.message.empty()) {
    problems.push_back(FieldProblem::required(
        here + ".message", "message must be specified if rule contains line breaks"));
  }
  if (!text.message_expression.empty() && blank(text.message_expression)) {
    problems.push_back(FieldProblem::required(here + ".messageExpression",
                                              "messageExpression must be non-empty if specified"));
  }
  static constexpr std::array<std::string_view, 4> kReasons = {
      "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"};
  if (at(rule, "reason") != nullptr && std::ranges::find(kReasons, text.reason) == kReasons.end()) {
    problems.push_back(FieldProblem::not_supported(
        here + ".reason", go_quoted(text.reason),
        R"("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")"));
  }
}

}  // namespace

void check_rules(const JsonValue& rules, const CrdSchema& schema, bool root, bool correlated,
                 const std::string& path, std::vector<FieldProblem>& problems) {
  const auto types = cel_types_of(schema, root);
  for (std::size_t i = 0; i < rules.items.size(); ++i) {
    const RuleText text = rule_text(rules.items[i]);
    const std::string here = fmt::format("{}[{}]", path, i);
    check_rule_text(rules.items[i], text, here, problems);
    if (blank(text.rule)) continue;
    if (!types) {
      problems.push_back(
          FieldProblem::invalid(here + ".rule", shown_rule(text),
                                "failed to convert to declType for CEL validation rules"));
      continue;
    }
    const Compilation compiled = compile_rule(text, *types);
    if (!compiled) {
      problems.push_back(
          FieldProblem::invalid(here + ".rule", shown_rule(text), compiled.error().message));
      continue;
    }
    if (!text.message_expression.empty()) {
      if (const Compilation message = compile_message(text, *types); !message) {
        problems.push_back(FieldProblem::invalid(here + ".messageExpression", shown_rule(text),
                                                 message.error().message));
      }
    }
    const bool transition = (*compiled)->uses("oldSelf");
    if (transition && !correlated) {
      problems.push_back(FieldProblem::invalid(
          here + ".rule", go_quoted(text.rule),
          "oldSelf cannot be used on the uncorrelatable portion of the schema"));
    }
    if (text.optional_old && !transition) {
      problems.push_back(FieldProblem::invalid(here + ".optionalOldSelf", "true",
                                               "may not be set if oldSelf is not used in rule"));
    }
  }
}

}  // namespace berth::memapi
