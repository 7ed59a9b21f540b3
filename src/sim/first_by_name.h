// FirstByName: nodes of equal score go by name, where the scheduler draws, so that runs compare with
// each other and with upstream's (tests/parity). Of equal placements the one with the first node is
// taken.
//
// It is done by Score plugins that stand below all others: two digits of a node's place in the order
// of names, for the weights of the other plugins are multiplied until no difference of theirs is
// smaller than all that the digits say. The scheduler itself knows nothing of it.
#pragma once

#include <string>
#include <vector>

#include "berth/plugin_table.h"
#include "berth/result.h"
#include "config/configuration.h"

namespace berth::sim {

// Adds the plugins to the table and to every profile, whose weights grow. `nodes` are the names of
// all nodes; past the first ten thousand or so nodes share a place.
Result<void> take_first_by_name(std::vector<std::string> nodes, PluginTable& table,
                                config::Configuration& configuration);

}  // namespace berth::sim
