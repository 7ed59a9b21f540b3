// Everything a NodeTable shows, as text, and whether it agrees with itself. For tests.
#pragma once

#include <string>

#include "berth/views.h"

namespace berth::testing {

// Rows with all columns, pods in their order, images, ports; sets; order; generations; log.
std::string dump(const NodeTable& table);

// What is wrong with the columns when they are compared with the pods that are on the rows; empty
// if nothing is.
std::string inconsistencies(const Cluster& cluster);

}  // namespace berth::testing
