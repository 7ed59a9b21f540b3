// The names that the scheduler itself knows, as symbols that are the same in every engine.
//
// To add one: a line in the table below. make_symbols() is how a table of symbols is made; a table
// made in any other way does not have these.
#pragma once

#include <memory>
#include <string_view>

#include "berth/symbols.h"

namespace berth::names {

// clang-format off
#define BERTH_NAMES(X)                                                          \
  X(kCpu, "cpu")                                                                \
  X(kMemory, "memory")                                                          \
  X(kEphemeralStorage, "ephemeral-storage")                                     \
  X(kPods, "pods")                                                              \
  X(kHostname, "kubernetes.io/hostname")                                        \
  X(kZone, "topology.kubernetes.io/zone")                                       \
  X(kRegion, "topology.kubernetes.io/region")                                   \
  X(kBetaZone, "failure-domain.beta.kubernetes.io/zone")                        \
  X(kBetaRegion, "failure-domain.beta.kubernetes.io/region")                    \
  X(kUnschedulableTaint, "node.kubernetes.io/unschedulable")                    \
  X(kNotReadyTaint, "node.kubernetes.io/not-ready")                             \
  X(kUnreachableTaint, "node.kubernetes.io/unreachable")                        \
  X(kMetadataName, "metadata.name")                                             \
  X(kDefaultScheduler, "default-scheduler")                                     \
  X(kDefaultNamespace, "default")                                               \
  X(kTcp, "TCP")                                                                \
  X(kAnyAddress, "0.0.0.0")
// clang-format on

enum : std::uint32_t {
  kNoNameId,
#define X(constant, text) constant##Id,
  BERTH_NAMES(X)
#undef X
};

#define X(constant, text) inline constexpr Symbol constant{constant##Id};
BERTH_NAMES(X)
#undef X

inline constexpr std::string_view kAll[] = {
#define X(constant, text) text,
    BERTH_NAMES(X)
#undef X
};

}  // namespace berth::names

namespace berth {

inline std::shared_ptr<Symbols> make_symbols() { return std::make_shared<Symbols>(names::kAll); }

}  // namespace berth
