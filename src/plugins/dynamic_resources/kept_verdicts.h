// KeptVerdicts: whether claims can have devices on a node, kept from one pod to the next.
//
// What the allocator says about a node depends on what the claims ask for, on the node, and on the
// pools that it draws from with what is allocated of them. Most pods ask for what others have asked
// for, and an allocation changes one node: only nodes that changed are searched again. Which devices
// it would be is not kept; Reserve searches the node that was chosen.
//
// Part of DynamicResources, one per plugin. World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "api/devices.h"
#include "berth/views.h"
#include "cluster/kept_answers.h"
#include "plugins/dynamic_resources/allocated_devices.h"

namespace berth::plugins {

class DevicePools;

class KeptVerdicts {
 public:
  enum class Verdict : std::uint8_t { kUnknown, kAllocated, kImpossible };

  // The verdicts about claims that ask for the same.
  class Shape {
   public:
    Shape(const KeptVerdicts& owner, std::span<const Ref<const ResourceClaim>> claims)
        : owner_(owner), claims_(claims.begin(), claims.end()) {}

    bool is_of(std::span<const Ref<const ResourceClaim>> claims) const;
    Verdict at(NodeRow row) const {
      return row < found_.size() && found_[row] >= owner_.changed_at(row) ? verdicts_[row]
                                                                          : Verdict::kUnknown;
    }
    void keep(NodeRow row, Verdict verdict);
    std::size_t bytes() const;

   private:
    const KeptVerdicts& owner_;
    std::vector<Ref<const ResourceClaim>> claims_;  // the first ones that asked for it
    std::vector<std::uint64_t> found_;              // by row: at which change of the owner's
    std::vector<Verdict> verdicts_;
  };

  // Once per scheduling cycle that needs devices, when the pools are up to date: forgets what has
  // changed since the last one.
  void refresh(const Cluster& cluster, const AllocatedDevices& allocated, const DevicePools& pools);
  // Valid until the next refresh.
  Shape& of(std::span<const Ref<const ResourceClaim>> claims);

 private:
  std::uint64_t changed_at(NodeRow row) const {
    return row < rows_.size() && rows_[row] > all_ ? rows_[row] : all_;
  }
  void row_changed(NodeRow row);
  void all_changed() { all_ = ++changes_; }
  bool follow_nodes(const NodeTable& nodes);
  bool follow_devices(const Cluster& cluster, const AllocatedDevices& allocated,
                      const DevicePools& pools);

  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;
  KeptAnswers<Shape> shapes_{kMaxBytes};

  std::uint64_t changes_ = 1;        // counted
  std::uint64_t all_ = 1;            // the last one that may concern every row
  std::vector<std::uint64_t> rows_;  // by row: the last one that concerns it

  // ---- what the verdicts are up to date with
  std::uint64_t position_ = 0;  // in the log of changed rows
  std::uint64_t allocated_ = 0, slices_ = 0, classes_ = 0, taint_rules_ = 0;
};

}  // namespace berth::plugins
