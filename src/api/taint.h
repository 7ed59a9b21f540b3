// Taints of nodes and the tolerations of pods that answer them (plugins.md §2.3).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/symbols.h"

namespace berth {

enum class TaintEffect : std::uint8_t {
  kAny,  // of a toleration that names none
  kNoSchedule,
  kPreferNoSchedule,
  kNoExecute,
  kUnknown,
};

struct Taint {
  Symbol key;
  Symbol value;
  TaintEffect effect = TaintEffect::kNoSchedule;

  // Whether the taint keeps pods away (or drives them off), rather than asking them to prefer
  // others.
  bool repels() const {
    return effect == TaintEffect::kNoSchedule || effect == TaintEffect::kNoExecute;
  }
  friend bool operator==(const Taint&, const Taint&) = default;
};

enum class TolerationOperator : std::uint8_t { kEqual, kExists, kLessThan, kGreaterThan, kUnknown };

struct Toleration {
  Symbol key;  // empty: any key
  Symbol value;
  TolerationOperator op = TolerationOperator::kEqual;
  TaintEffect effect = TaintEffect::kAny;
  std::optional<std::int64_t> toleration_seconds;

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// Lt and Gt count only with the gate TaintTolerationComparisonOperators.
struct TolerationRules {
  const Symbols& symbols;
  bool comparison_operators = false;
};

bool tolerates(const Toleration& toleration, const Taint& taint, const TolerationRules& rules);
bool tolerates(std::span<const Toleration> tolerations, const Taint& taint,
               const TolerationRules& rules);

// The first taint that repels and is not tolerated; null if there is none.
const Taint* find_untolerated(std::span<const Taint> taints,
                              std::span<const Toleration> tolerations,
                              const TolerationRules& rules);

}  // namespace berth
