// Invariants: what must be true of every run, whatever went wrong in it.
//
// A pure function of what happened and how things stand; it knows neither the engine nor the
// simulator. invariants_test.cc plants a bug for each and expects it to be found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "history.h"

namespace berth::simulation {

enum class Invariant : std::uint8_t {
  kBoundOnce,        // no pod is bound twice
  kNodesFit,         // no node is over its allocatable
  kColumnsAgree,     // the columns are the sums of the pods that are placed
  kOnePlace,         // every unbound pod of ours is in exactly one place
  kNothingAssumed,   // nothing stays assumed once bindings are confirmed
  kReserveBalanced,  // every reservation is kept by a bound pod or given back
  kWaitsSettled,     // every wait ends, once
  kNoTaskLeft,       // no attempt is left over
  kSeenIsStored,     // the scheduler's pods and nodes are the API server's
  kStatusIsDecided,  // PodScheduled and nominatedNodeName are those of the pod's last decision
};
std::string_view to_string(Invariant invariant);

struct Violation {
  Invariant invariant;
  std::string text;
};

enum class Moment : std::uint8_t {
  kAnyTime,  // between two steps: bindings, waits and deltas may be under way
  kAtRest,   // nothing is under way and nothing goes wrong any more
};

std::vector<Violation> check(const History& history, const State& state, Moment moment);

}  // namespace berth::simulation
