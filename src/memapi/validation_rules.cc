#include "memapi/validation_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/go_quote.h"
#include "berth/labels.h"
#include "memapi/json_edit.h"
#include "memapi/validation.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kPercentRule =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
    "'93%', regex used for validation is '[0-9]+%')";
constexpr std::string_view kNotNegative = "must be greater than or equal to 0";
constexpr std::size_t kLongestLabelValue = 63;

bool is_percent(std::string_view text) {
  if (text.size() < 2 || !text.ends_with('%')) return false;
  text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

void check_selector_requirement(const JsonValue& one, const std::string& path, Problems& problems) {
  const auto& values = items_at(one, "values");
  check_set_operator(one, path, problems);
  check_qualified_name(text_at(one, "key"), path + ".key", problems);
  for (std::size_t i = 0; i < values.size(); ++i)
    check_label_value(values[i].text, item_path(path + ".values", i), problems);
}

}  // namespace

std::string item_path(const std::string& list, std::size_t index) {
  return fmt::format("{}[{}]", list, index);
}

std::string key_path(const std::string& map, std::string_view key) {
  return fmt::format("{}[{}]", map, key);
}

std::string shown(const JsonValue* value) {
  if (value == nullptr) return "null";
  if (value->kind == JsonValue::Kind::kString) return go_quoted(value->text);
  JsonValue sorted = *value;
  sort_members(sorted);
  return to_json(sorted);
}

std::string shown_struct(const JsonValue& object, std::span<const GoMember> members) {
  std::string text;
  for (const GoMember& member : members) {
    const JsonValue* value = at(object, member.name);
    text += fmt::format("{}\"{}\":{}", text.empty() ? "" : ",", member.go_name,
                        value != nullptr ? shown(value) : std::string(member.zero));
  }
  return fmt::format("{{{}}}", text);
}

void check_dns_label(std::string_view name, const std::string& path, Problems& problems) {
  if (is_dns_label(name)) return;
  if (name.size() > 63)
    problems.push_back(
        FieldProblem::invalid(path, go_quoted(name), "must be no more than 63 characters"));
  const bool dots = name.contains('.') && is_dns_subdomain(name);
  if (name.size() <= 63 || dots)
    problems.push_back(
        FieldProblem::invalid(path, go_quoted(name), dots ? "must not contain dots" : kLabelRule));
}

void check_dns_subdomain(std::string_view name, const std::string& path, Problems& problems) {
  if (is_dns_subdomain(name)) return;
  const bool long_one = name.size() > 253;
  problems.push_back(FieldProblem::invalid(
      path, go_quoted(name), long_one ? "must be no more than 253 characters" : kSubdomainRule));
}

void check_qualified_name(std::string_view name, const std::string& path, Problems& problems) {
  for (const std::string& problem : label_key_problems(name))
    problems.push_back(FieldProblem::invalid(path, go_quoted(name), problem));
}

void check_label_value(std::string_view value, const std::string& path, Problems& problems) {
  if (is_valid_label_value(value)) return;
  const bool long_one = value.size() > kLongestLabelValue;
  problems.push_back(FieldProblem::invalid(
      path, go_quoted(value), long_one ? "must be no more than 63 bytes" : kLabelValueRule));
}

void check_labels(const JsonValue* labels, const std::string& path, Problems& problems) {
  if (!is_object(labels)) return;
  for (const JsonMember& label : labels->members) {
    check_qualified_name(label.name, path, problems);
    check_label_value(label.value.text, path, problems);
  }
}

void check_set_operator(const JsonValue& requirement, const std::string& path, Problems& problems) {
  const std::string_view op = text_at(requirement, "operator");
  const auto& values = items_at(requirement, "values");
  const std::string values_path = path + ".values";
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      problems.push_back(FieldProblem::required(
          values_path, "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      problems.push_back(FieldProblem::forbidden(
          values_path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    problems.push_back(
        FieldProblem::invalid(path + ".operator", go_quoted(op), "not a valid selector operator"));
  }
}

void check_label_selector(const JsonValue* selector, const std::string& path, Problems& problems) {
  if (!is_object(selector)) return;
  check_labels(at(*selector, "matchLabels"), path + ".matchLabels", problems);
  const auto& expressions = items_at(*selector, "matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i)
    check_selector_requirement(expressions[i], item_path(path + ".matchExpressions", i), problems);
}

void check_one_of(const JsonValue& object, std::string_view name, const std::string& path,
                  std::initializer_list<std::string_view> allowed, Problems& problems) {
  const std::string_view value = text_at(object, name);
  if (std::ranges::find(allowed, value) != allowed.end()) return;
  const std::string field = fmt::format("{}.{}", path, name);
  if (value.empty()) {
    problems.push_back(FieldProblem::required(field));
    return;
  }
  std::string supported;
  for (const std::string_view one : allowed)
    supported += fmt::format("{}{}", supported.empty() ? "" : ", ", go_quoted(one));
  problems.push_back(FieldProblem::not_supported(field, go_quoted(value), supported));
}

void check_not_negative(const JsonValue& object, const std::string& path,
                        std::initializer_list<std::string_view> names, Problems& problems) {
  for (const std::string_view name : names) {
    const auto number = int_at(object, name);
    if (number && *number < 0) {
      problems.push_back(FieldProblem::invalid(fmt::format("{}.{}", path, name),
                                               fmt::format("{}", *number), kNotNegative));
    }
  }
}

std::int64_t count_or_percent(const JsonValue* value) {
  if (value == nullptr) return 0;
  std::int64_t number = 0;
  std::from_chars(value->text.data(), value->text.data() + value->text.size(), number);
  return number;
}

void check_count_or_percent(const JsonValue* value, const std::string& path, Problems& problems) {
  if (value == nullptr) return;
  const bool text = value->kind == JsonValue::Kind::kString;
  if (text && !is_percent(value->text)) {
    problems.push_back(FieldProblem::invalid(path, shown(value), kPercentRule));
    return;
  }
  if (!text && count_or_percent(value) < 0)
    problems.push_back(FieldProblem::invalid(path, shown(value), kNotNegative));
}

void check_at_most_all(const JsonValue* value, const std::string& path, Problems& problems) {
  if (value == nullptr || !is_percent(value->text) || count_or_percent(value) <= 100) return;
  problems.push_back(FieldProblem::invalid(path, shown(value), "must not be greater than 100%"));
}

void check_immutable(const JsonValue& object, const JsonValue& old, std::string_view path,
                     Problems& problems) {
  const JsonValue* now = at(object, path);
  if (equal(now, at(old, path))) return;
  problems.push_back(FieldProblem::invalid(std::string(path), shown(now), "field is immutable"));
}

}  // namespace berth::memapi
