// A scenario of the allocator in one row of a table: what there is, what is asked for, and what
// comes of it.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
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

inline constexpr std::string_view kSmall = "{name: small, attributes: {size: {string: small}}}";
inline constexpr std::string_view kLarge = "{name: large, attributes: {size: {string: large}}}";

inline std::string list(std::initializer_list<std::string_view> parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

// Devices d1 … dn.
inline std::string devices(int count) {
  std::string out;
  for (int i = 1; i <= count; ++i) out += fmt::format("{}{{name: d{}}}", i == 1 ? "" : ", ", i);
  return out;
}

// " r=drv/pool/d1 r=drv/pool/d2 …"
inline std::string taken(std::string_view request, int first, int last) {
  std::string out;
  for (int i = first; i <= last; ++i) out += fmt::format(" {}=drv/pool/d{}", request, i);
  return out;
}

}  // namespace berth::testing
