// The search for devices on one node: depth first, through claims, requests and devices in order,
// with everything undone on the way back. For the allocator's own files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/allocator_claims.h"
#include "plugins/dynamic_resources/allocator_counters.h"
#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::plugins {

// What all searches of one scheduling cycle share.
struct SearchContext {
  DevicePools::State& pools;
  const AllocatedDevices& allocated;
  SearchBudget budget;
  CounterBalances balances;
  std::uint64_t steps = 0;
};

// Made once per scheduling cycle and asked about one node after the other, so that its arrays grow
// only once.
class DeviceSearch {
 public:
  explicit DeviceSearch(SearchContext& context) : context_(context) {}

  NodeAllocation run(NodePools& node, std::span<PreparedClaim* const> claims);

 private:
  // How it goes on: everything found; not this way; too many devices for one claim; not at all.
  enum class Step : std::uint8_t { kDone, kFailed, kLimit, kStopped };

  // One alternative of a request, on this node.
  struct Wanted {
    const PreparedRequest* prepared = nullptr;
    std::int64_t devices = 0;
    std::vector<std::uint32_t> all;  // of allocation mode All: which
    std::uint32_t answers = 0;       // where its part of selectable_ begins
  };
  struct WantedRequest {
    bool prioritized = false;
    std::int16_t chosen = -1;  // of the alternatives
    std::vector<Wanted> alternatives;
  };
  struct WantedClaim {
    PreparedClaim* prepared = nullptr;
    std::vector<WantedRequest> requests;
    std::int64_t devices = 0;  // chosen so far
  };
  struct Position {
    std::uint32_t claim = 0;
    std::uint32_t request = 0;
    std::uint32_t alternative = 0;
    std::int64_t device = 0;
  };
  // A device that is chosen for now.
  struct Chosen {
    std::uint32_t candidate = 0;
    std::uint32_t claim = 0;
    std::uint32_t request = 0;
    std::uint32_t alternative = 0;
    bool marked = false;
    bool counters = false;
    ResourceList consumed;
  };
  // A device of which this attempt takes shares.
  struct Sharing {
    std::uint32_t candidate = 0;
    std::uint32_t shares = 0;
    ResourceList consumed;
  };
  struct CandidateState {
    bool known = false;
    bool exclusive = false;  // somebody in the cluster has it
    const ResourceList* consumed = nullptr;
    std::uint32_t marks = 0;  // how many claims of this attempt have it
  };
  enum class Selectable : std::uint8_t { kUnknown, kNo, kYes };

  // ---- before
  void begin(NodePools& node, std::span<PreparedClaim* const> claims);
  bool prepare();
  bool prepare(WantedClaim& claim);
  bool prepare(const PreparedClaim& claim, const PreparedRequest& alternative, Wanted& wanted);
  bool list_all_devices(const PreparedClaim& claim, Wanted& wanted);
  // ---- the search
  Step search(Position at, bool alternative_chosen, std::uint32_t first_candidate);
  Step try_alternatives(Position at);
  Step take_all(Position at, const Wanted& wanted, bool alternative_chosen);
  Step take_some(Position at, const Wanted& wanted, bool alternative_chosen,
                 std::uint32_t first_candidate);
  // Nothing where an error ends everything.
  std::optional<bool> choose(const Position& at, const Wanted& wanted, std::uint32_t candidate,
                             bool must);
  void give_back();
  bool satisfy_constraints(const Wanted& wanted, WantedClaim& claim, const Candidate& candidate);
  std::optional<bool> selectable(const PreparedClaim& claim, const Wanted& wanted,
                                 std::uint32_t candidate);
  std::optional<bool> judge(const PreparedClaim& claim, const PreparedRequest& request,
                            Candidate& candidate);
  bool capacity_left(const PreparedRequest& request, std::uint32_t candidate);
  CandidateState& state_of(std::uint32_t candidate);
  bool in_use(const PreparedRequest& request, std::uint32_t candidate, std::uint32_t claim);
  bool chosen_for(std::uint32_t candidate, std::uint32_t claim) const;
  Sharing* sharing(std::uint32_t candidate);
  bool spend();
  Step stop(NodeAllocation::Verdict verdict, std::string message);
  // ---- after
  void collect(NodeAllocation& out) const;

  SearchContext& context_;
  NodePools* node_ = nullptr;
  std::vector<WantedClaim> claims_;
  std::vector<CandidateState> states_;
  std::vector<Selectable> selectable_;
  std::vector<Chosen> chosen_;
  std::vector<Sharing> sharing_;
  CounterUses counters_;
  std::uint64_t steps_ = 0;
  std::uint64_t max_steps_ = 0;
  std::optional<TimePoint> deadline_;
  NodeAllocation stopped_;
};

}  // namespace berth::plugins
