// The search for devices on one node: depth first, through claims, requests and devices in order,
// with everything undone on the way back. Its stack is an array, not the program's, so that it can
// stop in the middle and go on later. For the allocator's own files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/dynamic_resources/allocator.h"
#include "plugins/dynamic_resources/allocator_capacity.h"
#include "plugins/dynamic_resources/allocator_claims.h"
#include "plugins/dynamic_resources/allocator_counters.h"
#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::plugins {

// What all searches of one scheduling cycle share.
struct SearchContext {
  DevicePools& pools;
  const AllocatedDevices& allocated;
  SearchClock clock;
  CounterBalances balances;
};

// Made once per scheduling cycle and asked about one node after the other, so that its arrays grow
// only once.
class DeviceSearch {
 public:
  explicit DeviceSearch(SearchContext& context) : context_(context) {}

  void begin(NodePools& node, std::span<PreparedClaim* const> claims);
  // Until there is an answer or, as kUnfinished, the turn is over; then run() goes on from there.
  void run(NodeAllocation& out);
  // In the place of run(): what there is for each request (allocator_supply.cc).
  std::vector<RequestSupply> supply();

 private:
  using Verdict = NodeAllocation::Verdict;

  enum class Step : std::uint8_t {
    kEnter,    // down to next_
    kTryNext,  // the next candidate of the last frame
    kDone,     // everything found
    kFailed,   // not this way
    kLimit,    // too many devices for one claim
    kStopped,  // not at all: see stopped_verdict_
    kPaused,   // the turn is over
  };

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
    bool alternative_chosen = false;
    std::int64_t device = 0;
    std::uint32_t first_candidate = 0;
  };
  // A decision on the way down to where the search is, which may have to be made anew.
  struct Frame {
    enum class Kind : std::uint8_t { kNextClaim, kAlternatives, kAllDevices, kSomeDevice };
    Kind kind = Kind::kNextClaim;
    bool only_too_many = true;    // so far, of kAlternatives
    std::uint32_t candidate = 0;  // of kSomeDevice: the one that is tried
    Position at;
  };
  // How far the claims have been looked at before the search.
  struct Preparing {
    std::uint32_t claim = 0;
    std::uint32_t request = 0;
    std::uint32_t alternative = 0;
    std::uint32_t pool = 0;
    std::uint32_t candidate = 0;
    std::int64_t devices = 0;  // that the claim's requests so far need at least
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
    bool exclusive = false;  // allocated in the cluster
    bool shared = false;     // a share of it is
    const ResourceList* consumed = nullptr;
    std::uint32_t marks = 0;  // how many claims of this attempt have it
  };
  enum class Selectable : std::uint8_t { kUnknown, kNo, kYes };

  // ---- before
  bool prepare();
  bool prepare(WantedClaim& claim);
  bool list_all_devices(const PreparedClaim& claim, Wanted& wanted);
  bool count_devices(const PreparedClaim& claim, const WantedRequest& request);
  // ---- the search
  Step walk();
  Step enter();
  Step enter_all(const Position& at, const Wanted& wanted);
  Step try_next();
  Step leave();
  Step leave_alternative(Frame& frame);
  // ---- one device (allocator_choice.cc)
  // Nothing where the search has to pause or to stop.
  std::optional<bool> choose(const Position& at, const Wanted& wanted, std::uint32_t candidate,
                             bool must);
  void give_back();
  bool satisfy_constraints(const Wanted& wanted, WantedClaim& claim, const Candidate& candidate);
  std::optional<bool> selectable(const PreparedClaim& claim, const Wanted& wanted,
                                 std::uint32_t candidate);
  std::optional<bool> judge(const PreparedClaim& claim, const PreparedRequest& request,
                            Candidate& candidate);
  // Whether the device has enough for the request, whoever uses it already.
  std::optional<bool> has_capacity(const PreparedClaim& claim, const PreparedRequest& request,
                                   std::uint32_t candidate);
  // Whether enough of it is left; `doing` ("checking") is for the text of an error.
  std::optional<bool> capacity_left(const PreparedClaim& claim, const PreparedRequest& request,
                                    std::uint32_t candidate, std::string_view doing);
  CapacityRequest capacity_of(const PreparedRequest& request) const;
  std::string text_of(const DeviceId& id) const;  // driver/pool/device
  CandidateState& state_of(std::uint32_t candidate);
  bool in_use(const PreparedRequest& request, std::uint32_t candidate, std::uint32_t claim);
  bool chosen_for(std::uint32_t candidate, std::uint32_t claim) const;
  Sharing* sharing(std::uint32_t candidate);
  // ---- supply. False where it cannot be told.
  bool count(const PreparedClaim& claim, const Wanted& wanted, std::uint32_t candidate,
             RequestSupply& supply);
  // ---- time False where the search has to pause or to stop (halt_).
  bool spend() { return ++steps_ < next_look_ || look_at_clock(); }
  bool look_at_clock();
  void stop(Verdict verdict, std::string message);
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

  Preparing preparing_;
  std::vector<Frame> frames_;
  Position next_;
  Step step_ = Step::kEnter;
  Step halt_ = Step::kPaused;
  Verdict stopped_verdict_ = Verdict::kError;
  std::string stopped_message_;

  std::uint64_t steps_ = 0;
  std::uint64_t counted_steps_ = 0;  // that the clock knows of
  std::uint64_t next_look_ = 0;
  Duration begun_{0};  // what was used of the budget before
};

}  // namespace berth::plugins
