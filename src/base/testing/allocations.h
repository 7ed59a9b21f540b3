// How much this program has allocated: for tests that hold memory to a budget. Linking this
// replaces the global operator new; what malloc itself adds to a block is counted too.
#pragma once

#include <cstddef>

namespace berth::testing {

// False under the thread sanitizer, which keeps operator new for itself.
extern const bool kCountsAllocations;

// Bytes allocated and not yet freed, by all threads.
std::size_t live_bytes();

// The most that live_bytes() has been since reset_peak_bytes().
std::size_t peak_bytes();
void reset_peak_bytes();

// How often operator new was called.
std::size_t allocations();

}  // namespace berth::testing
