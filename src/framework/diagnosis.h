// Why no node was good enough for a pod: verdicts by node, who rejected, and the sentence.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/node_set.h"
#include "framework/status.h"

namespace berth {

// What a scheduling attempt found out (core.md §1.6). The verdicts by row are the cycle's own
// (Cycle::verdicts); `explicit_nodes` says for which rows there is one. All other nodes share
// `absent`.
struct Diagnosis {
  NodeSet explicit_nodes;
  Outcome absent = Outcome::of(Code::kUnschedulableAndUnresolvable);
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;

  // Notes who rejected. Nobody in particular is not noted; a pending plugin is in both sets.
  void add_plugin(Code code, const std::string& plugin);
};

// The error when there is no node at all.
inline constexpr std::string_view kNoNodesAvailable = "no nodes available to schedule pods";

// "No node fits", as an error with upstream's sentence.
struct FitError {
  std::size_t all_nodes = 0;
  // How many nodes gave which reason (explicit verdicts and the absent ones).
  std::map<std::string, std::size_t> reasons;
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;

  // `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.`
  std::string message() const;
};

// "0/1 nodes are available: 1 <reason>.": the form in which a rejection by Reserve, Permit or a
// permit wait is told.
std::shared_ptr<const FitError> fit_error_for_one(const Outcome& rejection);

}  // namespace berth
