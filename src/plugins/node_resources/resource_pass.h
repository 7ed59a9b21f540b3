// NodeResourcesFit at Filter: whether rows have what a pod asks for.
//
// Rows are looked at 64 at a time: every resource gives a word of the rows that it fails; only
// those are looked at one by one. A scalar that few rows have to do with fails all the others
// alike, and is compared only where it does not: a pod that names thousands of resources which
// nobody offers costs one list of sentences, and nothing per row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/node_set.h"
#include "berth/symbols.h"

namespace berth {
class Cycle;
class FilterPass;
}  // namespace berth

namespace berth::plugins {

// What PreFilter leaves for Filter.
struct Demand {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  struct Scalar {
    Symbol name;
    std::int64_t amount = 0;
    bool devices = false;  // a DeviceClass stands behind it
  };
  std::vector<Scalar> scalars;  // those to be checked, in the order of their reasons
};

// The sentences that the pass gives by number.
std::span<const std::string_view> resource_reasons();

void filter_by_resources(const Cycle& cycle, FilterPass& pass, const Demand& demand);

// A resource of which a row has too little left.
struct Shortage {
  Symbol resource;
  std::string reason;
  std::int64_t requested = 0;
  std::int64_t allocatable = 0;
  std::int64_t used = 0;
};

// What filter_by_resources() rejects a row for, in the order of the reasons.
std::vector<Shortage> shortages_on(const Cycle& cycle, NodeRow row, const Demand& demand);

}  // namespace berth::plugins
