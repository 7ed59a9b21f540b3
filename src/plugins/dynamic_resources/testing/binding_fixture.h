// For tests of what DynamicResources does after Filter: Reserve, Unreserve and PreBind.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plugins/dynamic_resources/testing/devices_fixture.h"

namespace berth::testing {

// Has reserved a node and waits in PreBind.
struct AttemptInPreBind : Attempt {
  AttemptInPreBind(DevicesFixture& fixture, Ref<const Pod> pod, std::string_view node)
      : Attempt(fixture, std::move(pod)) {
    EXPECT_EQ(reach_reserve(node), "ok");
    begin_pre_bind(node);
  }
};

// Two devices on n1, and a claim "c" for one of them.
class BindingTest : public ::testing::Test {
 protected:
  BindingTest() {
    fixture.add(slice("s", on("n1"), "{name: d1}, {name: d2}"));
    fixture.add(claim_of("c", exact("r")));
  }
  std::vector<std::string> writes() { return fixture.server.take_calls(); }
  std::size_t pending() { return fixture.tracker().pending_count(); }
  // Somebody else changes the claim, in a way that does not matter to us.
  void touch(const std::string& name) {
    fixture.server.put(make_ref<ResourceClaim>(fixture.server.stored(name)));
  }

  DevicesFixture fixture;
  ClaimServer& server = fixture.server;
};

}  // namespace berth::testing
