// What the obstacles of several plugins (berth/obstacle.h) have in common: selectors as people read
// them, and what a node lacks to match one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/labels.h"
#include "berth/node.h"
#include "berth/obstacle.h"
#include "berth/pod.h"

namespace berth::plugins {

// One pod or node can be kept apart by thousands of things; so many of a kind are listed.
inline constexpr std::size_t kMostObstacles = 16;

// The sentence of the verdict about a row that the PreFilter of this plugin left out.
std::string left_out_sentence(std::string_view plugin);

// The amount of a resource as Kubernetes writes it: cpu in thousandths, memory and the like in
// bytes, all else as a number.
std::string amount_text(std::string_view resource, std::int64_t amount);
// The part of `wanted` that is missing where `available` are there: from 0 to 1.
double missing_part(std::int64_t wanted, std::int64_t available);

// "disktype in [hdd, ssd]", "gpu", "no gpu", "cores > 8". Of many values only the first are named.
std::string requirement_text(Symbol key, SelectorOperator op, const std::vector<Symbol>& values,
                             const Symbols& symbols);
// "app=db, tier in [a, b]", "all pods" or "no pods".
std::string selector_text(const Selector& selector, const Symbols& symbols);
// "disktype=hdd" or "no label disktype".
std::string label_text(Symbol key, const LabelSet& labels, const Symbols& symbols);

// What keeps a node from matching terms, of which it would have to match one.
struct TermMismatch {
  std::string subject;   // "disktype in [ssd]"; of several terms: "… or …"
  std::string text;      // "needs label disktype in [ssd], the node has disktype=hdd"
  std::size_t term = 0;  // the one with the smallest part that does not match
  std::vector<std::string> requirements;  // of that term, those that do not match
  double distance = 1;                    // that part
};

// `matches` says whether the node matches a term. Asked with each requirement as a term of its own,
// it says which ones the node does not match.
TermMismatch mismatch_of(std::span<const NodeSelectorTerm> terms, const Node& node,
                         const Symbols& symbols,
                         const std::function<bool(const NodeSelectorTerm&)>& matches);

}  // namespace berth::plugins
