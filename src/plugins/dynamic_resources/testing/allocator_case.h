// A scenario of the allocator in one row of a table: what there is, what is asked for, and what
// comes of it.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "plugins/dynamic_resources/testing/allocator_fixture.h"

namespace berth::testing {

struct AllocatorCase {
  const char* name;
  std::vector<std::string> cluster;  // slices and classes
  std::vector<std::string> taken;    // see AllocatorFixture::take
  std::vector<std::string> claims;
  std::string expected;
  plugins::AllocatorFeatures features = {};
  const char* node = "n1";
};

inline void check(const std::vector<AllocatorCase>& cases) {
  for (const AllocatorCase& row : cases) {
    SCOPED_TRACE(row.name);
    AllocatorFixture fixture(row.features);
    for (const std::string& object : row.cluster) fixture.add(object);
    for (const std::string& device : row.taken) fixture.take(device);
    EXPECT_EQ(fixture.allocate(row.node, row.claims), row.expected);
  }
}

inline std::string selector(std::string_view expression) {
  return "selectors: [{cel: {expression: '" + std::string(expression) + "'}}]";
}

// A selector for the attribute `size` of the driver "drv".
inline std::string sized(std::string_view size) {
  return selector("device.attributes[\"drv\"].size == \"" + std::string(size) + "\"");
}

}  // namespace berth::testing
