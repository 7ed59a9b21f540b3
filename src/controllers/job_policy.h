// What a Job says about pods that fail and about when it has succeeded (podFailurePolicy,
// successPolicy).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/pod_index.h"

namespace berth::controllers {

struct PodFailureRule {
  enum class Action : std::uint8_t { kFailJob, kFailIndex, kIgnore, kCount };
  Action action = Action::kCount;
  // Exit codes of this container, or of any.
  std::string container;
  std::vector<std::int64_t> codes;
  bool other_codes = false;  // all but these
  bool by_code = false;
  std::vector<std::pair<std::string, std::string>> conditions;  // type and status

  bool matches(const PodFacts& failed_pod) const;
};
std::vector<PodFailureRule> read_pod_failure_policy(std::string_view json);

// The first rule that matches.
struct FailureVerdict {
  PodFailureRule::Action action = PodFailureRule::Action::kCount;
  std::string message;  // of kFailJob
};
FailureVerdict judge_failure(const std::vector<PodFailureRule>& rules, const PodFacts& pod);

struct SuccessRule {
  std::optional<std::string> indexes;  // "0-3,5"
  std::optional<std::int64_t> count;
};
std::vector<SuccessRule> read_success_policy(std::string_view json);
// The number of the first rule that these succeeded indexes meet.
std::optional<std::size_t> met_rule(const std::vector<SuccessRule>& rules,
                                    const std::set<std::int64_t>& succeeded);

// "0-3,5": the form of completedIndexes.
std::string ranges_of(const std::set<std::int64_t>& numbers);
// Only those below `end` count.
std::set<std::int64_t> numbers_in(std::string_view ranges, std::int64_t end);

}  // namespace berth::controllers
