// The seeds that fault_simulation_test was called with, for each of its tests of random runs.
#pragma once

#include "tests/seeds.h"

namespace berth::simulation {

// With `otherwise` as their number if the command line does not say how many.
Seeds wanted_seeds(std::uint64_t otherwise);

}  // namespace berth::simulation
