// What Filter finds out about one node, and Reserve again about the one that was chosen. For
// DynamicResources' own files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/dynamic_resources/dynamic_resources.h"

namespace berth::plugins {

// Indices into the plugin's reasons.
enum : std::uint8_t { kLeftOver, kDoesNotFit, kNotAllocated, kNotAvailable };

struct DynamicResources::NodeJudgement {
  Code code = Code::kSuccess;
  std::uint8_t reason = Status::kListed;
  std::string text;  // with kListed

  // Of a pod whose claims are all allocated there is none of these.
  const ExtendedClaimVariant* variant = nullptr;
  const std::vector<Ref<const ResourceClaim>>* claims = nullptr;  // that were to be allocated
  NodeAllocation allocation;                                      // for those, in the same order

  void reject(std::uint8_t with) {
    code = Code::kUnschedulableAndUnresolvable;
    reason = with;
  }
  void fail(std::string why) {
    code = Code::kError;
    reason = Status::kListed;
    text = std::move(why);
  }
  // What the allocator's verdict means.
  void take_verdict(std::string_view node_name);
};

}  // namespace berth::plugins
