#include "berth/node_selector.h"

#include <algorithm>

#include "berth/labels.h"

namespace berth {
namespace {

// A decimal integer in the one way it is normally written: no plus, no leading zeros, no "-0".
std::optional<std::int64_t> parse_strict(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (text != "0" && (digits.empty() || digits.front() < '1' || digits.front() > '9'))
    return std::nullopt;
  return parse_label_integer(text);
}

bool compares(const Toleration& toleration, const Taint& taint, const TolerationRules& rules) {
  if (!rules.comparison_operators) return false;
  const std::optional<std::int64_t> bound = parse_strict(rules.symbols.text(toleration.value));
  const std::optional<std::int64_t> value = parse_strict(rules.symbols.text(taint.value));
  if (!bound || !value) return false;
  return toleration.op == TolerationOperator::kLessThan ? *value < *bound : *value > *bound;
}

}  // namespace

bool tolerates(const Toleration& toleration, const Taint& taint, const TolerationRules& rules) {
  if (toleration.effect != TaintEffect::kAny && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  switch (toleration.op) {
    case TolerationOperator::kEqual: return toleration.value == taint.value;
    case TolerationOperator::kExists: return true;
    case TolerationOperator::kLessThan:
    case TolerationOperator::kGreaterThan: return compares(toleration, taint, rules);
    case TolerationOperator::kUnknown: break;
  }
  return false;
}

bool tolerates(std::span<const Toleration> tolerations, const Taint& taint,
               const TolerationRules& rules) {
  return std::ranges::any_of(tolerations, [&](const Toleration& toleration) {
    return tolerates(toleration, taint, rules);
  });
}

const Taint* find_untolerated(std::span<const Taint> taints,
                              std::span<const Toleration> tolerations,
                              const TolerationRules& rules) {
  for (const Taint& taint : taints)
    if (taint.repels() && !tolerates(tolerations, taint, rules)) return &taint;
  return nullptr;
}

}  // namespace berth
