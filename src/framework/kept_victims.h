// KeptVictims: the preemption victims on each node, for pods that every filter treats alike.
//
// Where a profile's filters use one row alone (Dependence::kRow), the result of VictimSearch for a
// row is valid until the row, its nominated pods or a disruption budget change. Kept by Preemption
// between cycles; for the next pod with the same spec and metadata only the other rows are tried.
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

// The result of trying one row, and the cost of its victims by five measures, in the order in which
// upstream compares them. More is better.
struct TriedRow {
  static constexpr std::size_t kMeasures = 5;
  Status status;  // Success: `victims` make room
  std::array<std::int64_t, kMeasures> measures{};
  Victims victims;
};

class KeptVictims {
 public:
  // Whether results can be kept: only row plugins filter, and the pod has no resources in its
  // status.
  static bool can_keep(const Cycle& cycle, const Framework& framework, const NominationLog* log);

  KeptVictims(const Framework& framework, const Pod& pod)
      : framework_(framework), spec_(&pod.spec()), meta_(&pod.meta()) {}
  // Whether such a pod may exist: its spec has more references than this one and the interner's.
  bool in_use() const { return spec_->use_count() > 2; }
  static std::size_t hash_of(const Framework& framework, const Pod& pod);
  bool is_of(const Framework& framework, const Pod& pod) const {
    return &framework_ == &framework && spec_.get() == &pod.spec() && meta_.get() == &pod.meta();
  }

  // Drops the results of rows that changed.
  void catch_up(const Cycle& cycle, const NominationLog& log);

  // Null when the row must be tried. The status is valid in this cycle.
  const TriedRow* find(const Cycle& cycle, NodeRow row);
  // Not with an Error.
  const TriedRow& keep(const Cycle& cycle, NodeRow row, TriedRow tried);

  std::size_t bytes() const;

 private:
  bool follow(const Cycle& cycle, const NominationLog& log);

  const Framework& framework_;
  const Ref<const PodSpec> spec_;
  const Ref<const PodMeta> meta_;

  // ---- what the results are up to date with
  std::uint64_t rows_position_ = 0, nominations_position_ = 0;
  std::uint64_t budgets_ = 0, device_classes_ = 0;
  internal::PluginMask skipped_;

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
