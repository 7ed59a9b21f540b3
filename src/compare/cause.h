// find_cause: what made two decisions about the same pod end on different nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compare/decision_probes.h"
#include "wire/json_tree.h"

namespace berth::compare {

// "There" is the first side of a comparison, "here" the side that is compared with it.
struct Cause {
  enum class Type : std::uint8_t {
    kFilter,       // a plugin rejects the other side's node
    kScore,        // a plugin's points turn the order
    kDraw,         // both nodes are equally good on both sides: the draw chose
    kNotSearched,  // a search looks at some nodes only, or the node was not there
    kOrder,        // another pod was tried at this place
    kUnknown,      // the decision could not be seen
  };
  Type type = Type::kUnknown;
  std::string plugin;
  std::string text;  // for people
  // kScore: how much more each plugin favours the node there over the node here than it does here,
  // in weighted points. The first one is `plugin`.
  std::map<std::string, std::int64_t> shifts;
};

std::string_view to_string(Cause::Type type);

// `there` and `here` are the two decisions; either may have chosen no node. `names`: of the sides.
struct SideNames {
  std::string there, here;
};
Cause find_cause(const ProbedDecision& there, const ProbedDecision& here, const SideNames& names);

// How many pods were on different nodes, or on a node on one side only, when the decisions were made.
std::size_t count_elsewhere(const ProbedDecision& there, const ProbedDecision& here);

JsonValue to_json_tree(const Cause& cause);

}  // namespace berth::compare
