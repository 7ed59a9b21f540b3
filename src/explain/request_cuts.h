// Less of a resource for a pod: how much its containers ask for together, and which of them have to
// ask for less so that it is a given amount.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "explain/edits.h"

namespace berth::explain {

// The resources that the pod asks for, but those that nobody can cut (overhead alone).
std::vector<Symbol> requested_resources(const UnplacedPod& unplaced);
// How much of it the pod asks for as a whole, in base units.
std::int64_t requested_total(const UnplacedPod& unplaced, Symbol resource);
// What a row has left of it; never less than 0.
std::int64_t free_amount(const NodeTable& nodes, Symbol resource, NodeRow row);
std::int64_t allocatable_amount(const NodeTable& nodes, Symbol resource, NodeRow row);

// Asks for `total` of the resource, or, if overhead alone is more, for as little as possible. The
// largest container gives first. nullopt if there is nothing to cut.
std::optional<Edit> cut_request(const UnplacedPod& unplaced, Symbol resource, std::int64_t total);

// The largest amount, less than now, with which the pod fits somewhere when the other edits are
// made, too; nullopt if there is none.
std::optional<Edit> largest_fitting_cut(const UnplacedPod& unplaced, std::span<const Edit> others,
                                        Symbol resource);

}  // namespace berth::explain
