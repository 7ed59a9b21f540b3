// KeptVictims: who would have to go from which node for pods that every filter treats alike.
//
// Where a profile's filters look at a row alone (Dependence::kRow), the answer of VictimSearch
// about a row holds until the row changes, or what is nominated to it, or a disruption budget. Kept
// by Preemption, between cycles; the next pod with the same spec and metadata is tried on the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/framework.h"
#include "framework/nomination_log.h"
#include "framework/preemption_victims.h"

namespace berth {

// What became of trying one row, and how much the victims would be missed: by five measures, each
// of which counts among those that are equal by the ones before it. More is better.
struct TriedRow {
  static constexpr std::size_t kMeasures = 5;
  Status status;  // Success: `victims` make room
  std::array<std::int64_t, kMeasures> measures{};
  Victims victims;
};

class KeptVictims {
 public:
  // Whether answers can be kept: only row plugins filter, and the pod is as its spec says.
  static bool can_keep(const Cycle& cycle, const Framework& framework, const NominationLog* log);

  KeptVictims(const Framework& framework, const Pod& pod)
      : framework_(framework), spec_(&pod.spec()), meta_(&pod.meta()) {}
  // Whether there may be such a pod: somebody beside us and the interner has its spec.
  bool in_use() const { return spec_->use_count() > 2; }
  static std::size_t hash_of(const Framework& framework, const Pod& pod);
  bool is_of(const Framework& framework, const Pod& pod) const {
    return &framework_ == &framework && spec_.get() == &pod.spec() && meta_.get() == &pod.meta();
  }

  // Forgets the rows about which something changed.
  void catch_up(const Cycle& cycle, const NominationLog& log);

  // Null when the row is to be tried. Its status is good in this cycle.
  const TriedRow* find(const Cycle& cycle, NodeRow row);
  // Not with an Error.
  const TriedRow& keep(const Cycle& cycle, NodeRow row, TriedRow tried);

  std::size_t bytes() const;

 private:
  bool follow(const Cycle& cycle, const NominationLog& log);

  const Framework& framework_;
  const Ref<const PodSpec> spec_;
  const Ref<const PodMeta> meta_;

  // ---- up to when
  std::uint64_t rows_position_ = 0, nominations_position_ = 0;
  std::uint64_t budgets_ = 0, device_classes_ = 0;
  PluginMask skipped_;

  NodeSet known_;
  std::vector<TriedRow> by_row_;
  // What Status::kListed of kept answers refers to, and the same list's number in this cycle.
  struct Listed {
    std::vector<std::string> reasons;
    std::uint32_t in_cycle;
  };
  std::vector<Listed> listed_;
  std::vector<std::uint32_t> list_of_row_;  // kListed: which
};

}  // namespace berth
