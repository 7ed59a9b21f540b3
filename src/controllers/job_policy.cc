#include "controllers/job_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "wire/json_tree.h"

namespace berth::controllers {
namespace {

const JsonValue& member_of(const JsonValue& object, std::string_view name) {
  static const JsonValue kNothing;
  const JsonValue* found = object.find(name);
  return found != nullptr ? *found : kNothing;
}

std::optional<std::int64_t> number_of(const JsonValue& value) {
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [at, problem] = std::from_chars(value.text.data(), end, number);
  if (value.kind != JsonValue::Kind::kNumber || problem != std::errc() || at != end)
    return std::nullopt;
  return number;
}

PodFailureRule::Action action_named(std::string_view name) {
  if (name == "FailJob") return PodFailureRule::Action::kFailJob;
  if (name == "FailIndex") return PodFailureRule::Action::kFailIndex;
  if (name == "Ignore") return PodFailureRule::Action::kIgnore;
  return PodFailureRule::Action::kCount;
}

// Whether the rule is about an exit with this code, which is a failure.
bool about_exit(const PodFailureRule& rule, const ContainerExit& exit) {
  if (exit.code == 0 || (!rule.container.empty() && rule.container != exit.container)) return false;
  const bool listed = std::ranges::find(rule.codes, exit.code) != rule.codes.end();
  return listed != rule.other_codes;
}

}  // namespace

bool PodFailureRule::matches(const PodFacts& failed_pod) const {
  if (by_code) {
    return std::ranges::any_of(failed_pod.exits,
                               [&](const ContainerExit& exit) { return about_exit(*this, exit); });
  }
  return std::ranges::any_of(conditions, [&](const auto& wanted) {
    return std::ranges::find(failed_pod.conditions, wanted) != failed_pod.conditions.end();
  });
}

std::vector<PodFailureRule> read_pod_failure_policy(std::string_view json) {
  std::vector<PodFailureRule> rules;
  const Result<JsonValue> policy = parse_json(json);
  if (!policy) return rules;
  for (const JsonValue& one : member_of(*policy, "rules").items) {
    PodFailureRule rule;
    rule.action = action_named(member_of(one, "action").text);
    const JsonValue& codes = member_of(one, "onExitCodes");
    rule.by_code = codes.kind == JsonValue::Kind::kObject;
    rule.container = member_of(codes, "containerName").text;
    rule.other_codes = member_of(codes, "operator").text == "NotIn";
    for (const JsonValue& value : member_of(codes, "values").items)
      if (const auto number = number_of(value)) rule.codes.push_back(*number);
    for (const JsonValue& pattern : member_of(one, "onPodConditions").items) {
      const std::string& status = member_of(pattern, "status").text;
      rule.conditions.emplace_back(member_of(pattern, "type").text,
                                   status.empty() ? "True" : status);
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

FailureVerdict judge_failure(const std::vector<PodFailureRule>& rules, const PodFacts& pod) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const PodFailureRule& rule = rules[i];
    if (!rule.matches(pod)) continue;
    FailureVerdict verdict{rule.action, ""};
    if (rule.action != PodFailureRule::Action::kFailJob) return verdict;
    if (rule.by_code) {
      const auto exit = std::ranges::find_if(
          pod.exits, [&](const ContainerExit& one) { return about_exit(rule, one); });
      verdict.message = fmt::format(
          "Container {} for pod {} failed with exit code {} matching FailJob rule at index {}",
          exit->container, pod.key(), exit->code, i);
    } else {
      const auto condition = std::ranges::find_if(rule.conditions, [&](const auto& wanted) {
        return std::ranges::find(pod.conditions, wanted) != pod.conditions.end();
      });
      verdict.message = fmt::format("Pod {} has condition {} matching FailJob rule at index {}",
                                    pod.key(), condition->first, i);
    }
    return verdict;
  }
  return {};
}

std::vector<SuccessRule> read_success_policy(std::string_view json) {
  std::vector<SuccessRule> rules;
  const Result<JsonValue> policy = parse_json(json);
  if (!policy) return rules;
  for (const JsonValue& one : member_of(*policy, "rules").items) {
    SuccessRule rule;
    if (const JsonValue* indexes = one.find("succeededIndexes")) rule.indexes = indexes->text;
    rule.count = number_of(member_of(one, "succeededCount"));
    rules.push_back(std::move(rule));
  }
  return rules;
}

std::optional<std::size_t> met_rule(const std::vector<SuccessRule>& rules,
                                    const std::set<std::int64_t>& succeeded) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const SuccessRule& rule = rules[i];
    auto reached = static_cast<std::int64_t>(succeeded.size());
    std::int64_t wanted = rule.count.value_or(0);
    if (rule.indexes) {
      constexpr std::int64_t kEnd = 100'000;
      const std::set<std::int64_t> named = numbers_in(*rule.indexes, kEnd);
      reached = std::ranges::count_if(
          named, [&](std::int64_t index) { return succeeded.contains(index); });
      wanted = rule.count.value_or(static_cast<std::int64_t>(named.size()));
    }
    if (wanted > 0 && reached >= wanted) return i;
  }
  return std::nullopt;
}

std::string ranges_of(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first;
    for (auto next = std::next(first); next != numbers.end() && *next == *last + 1; ++next)
      last = next;
    if (!text.empty()) text += ',';
    text += *first == *last ? fmt::format("{}", *first) : fmt::format("{}-{}", *first, *last);
    first = std::next(last);
  }
  return text;
}

std::set<std::int64_t> numbers_in(std::string_view ranges, std::int64_t end_index) {
  std::set<std::int64_t> numbers;
  const char* at = ranges.data();
  const char* const end = at + ranges.size();
  while (at != end) {
    std::int64_t first = 0;
    const auto one = std::from_chars(at, end, first);
    if (one.ec != std::errc()) break;
    std::int64_t last = first;
    at = one.ptr;
    if (at != end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
    last = std::min(last, end_index - 1);
    for (first = std::max<std::int64_t>(first, 0); first <= last; ++first) numbers.insert(first);
    if (at != end) ++at;
  }
  return numbers;
}

}  // namespace berth::controllers
