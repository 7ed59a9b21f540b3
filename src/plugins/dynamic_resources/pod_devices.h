// What DynamicResources keeps of one pod from PreFilter to the end of its binding. For the plugin's
// own files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "berth/node_selector.h"
#include "berth/plugin.h"
#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/extended_resources.h"
#include "plugins/dynamic_resources/kept_verdicts.h"

namespace berth::plugins {

struct PodClaim {
  Ref<const ResourceClaim> claim;            // as it was when last looked at
  std::optional<NodeSelector> available_on;  // where its allocation can be used; absent: everywhere
  bool stuck = false;  // allocated, but its devices have failed, or took too long, to get ready
  bool skips_node_operations = false;  // allocated devices are not for every node's kubelet
  // From Reserve to the end of PreBind: the claim with the allocation that is to be written.
  Ref<const ResourceClaim> reserved;
  // The claim with the allocation that another pod of the group has in flight; null: none has.
  Ref<const ResourceClaim> shared;

  bool allocated() const { return claim->allocated(); }
  // What it gets has been decided about, here or elsewhere.
  bool decided() const { return allocated() || shared; }
};

// Whether a pod can use an allocated claim on a node, and if not, why not.
enum class ClaimUse : std::uint8_t {
  kPossible,
  kNotReady,      // its devices have failed, or took too long, to get ready
  kElsewhere,     // its devices are for other nodes
  kNeedsFeature,  // the node's kubelet cannot leave out what is to be skipped
};
ClaimUse use_of(const PodClaim& claim, const Node& node, const Symbols& symbols);

// The claim for extended resources as one kind of node would have it.
struct ExtendedClaimVariant {
  Ref<const ResourceClaim> claim;
  std::vector<ContainerExtendedResourceRequest> mappings;
  std::vector<Ref<const ResourceClaim>> to_allocate;  // the pod's own, and this one
};

// Where a node has an extended resource from.
enum class ResourceSource : std::uint8_t { kDevices, kDevicePlugin, kNone };
ResourceSource source_of(const BackedResource& resource, const Resources& allocatable);

struct ExtendedResources {
  // Every scalar that the pod requests and that may be devices, with the class if there is one, in
  // the order of their names.
  std::vector<BackedResource> resources;
  std::string in_memory_uid;  // of the claim, in our own books
  // By which of the resources (one character each) are to be devices.
  std::map<std::string, ExtendedClaimVariant> variants;
  const ExtendedClaimVariant* chosen = nullptr;  // since Reserve
};

// Indices into the plugin's reasons.
enum : std::uint8_t { kLeftOver, kDoesNotFit, kNotAllocated, kNotAvailable };

// What Filter finds out about one node, and Reserve again about the one that was chosen.
struct NodeJudgement {
  Code code = Code::kSuccess;
  std::uint8_t reason = Status::kListed;
  std::string text;         // with kListed
  bool unfinished = false;  // the search for devices goes on in the next turn

  // Of a pod whose claims are all allocated there is none of these.
  const ExtendedClaimVariant* variant = nullptr;
  const std::vector<Ref<const ResourceClaim>>* claims = nullptr;  // that were to be allocated
  NodeAllocation allocation;                                      // for those, in the same order

  // For another node; the arrays of `allocation` stay.
  void start_over() {
    code = Code::kSuccess;
    reason = Status::kListed;
    text.clear();
    unfinished = false;
    variant = nullptr;
    claims = nullptr;
    allocation.verdict = NodeAllocation::Verdict::kImpossible;
    allocation.steps = 0;
  }
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

// The feature of nodes that can leave out what a device says is to be skipped.
inline constexpr std::string_view kOptionalNodeOperations = "DRAOptionalNodeOperations";

struct PodDevices {
  std::vector<PodClaim> claims;  // the pod's own, then the one for extended resources
  std::optional<ExtendedResources> extended;
  std::optional<Allocator> allocator;  // there is something to allocate; until Reserve
  std::vector<Ref<const ResourceClaim>> to_allocate;  // without the one for extended resources
  std::set<std::size_t> unavailable;                  // claims that kept some node from being used
  std::vector<Score> scores;                          // by row; empty: nothing to prefer
  // What took long to find out, or may be asked for again; by row. It holds for the whole cycle: no
  // pod that comes or goes makes a difference to it.
  std::unordered_map<NodeRow, NodeJudgement> judged;
  // What is known from other pods that asked for the same; null: nothing is kept for this one. For
  // this cycle.
  KeptVerdicts::Shape* kept = nullptr;
  std::uint32_t turn = 0;  // Cycle::turn at the last question
  bool undone = false;

  // The one for extended resources, if there is one; it is the last.
  PodClaim* extended_claim() { return extended ? &claims.back() : nullptr; }
  std::size_t own_claims() const { return claims.size() - (extended ? 1 : 0); }
};

// That PreFilter has seen the pod; without devices when it has no claims.
struct Seen {
  std::unique_ptr<PodDevices> devices;
};

}  // namespace berth::plugins
