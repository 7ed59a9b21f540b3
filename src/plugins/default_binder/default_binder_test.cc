#include "plugins/default_binder/default_binder.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "plugins/testing/plugin_fixture.h"

namespace berth::plugins {
namespace {

Task<void> run_bind(const BindPlugin& plugin, Cycle& cycle, std::optional<Outcome>& outcome) {
  Task<Outcome> call = plugin.bind(cycle, "n1");
  outcome = co_await call;
}

struct DefaultBinderTest : ::testing::Test {
  PluginFixture fixture;
  std::unique_ptr<DefaultBinder> plugin = fixture.make<DefaultBinder>();
  Cycle cycle{fixture.world.pod("p").in("shop"), fixture.cluster};
  std::optional<Outcome> outcome;
  TaskSet tasks;
};

TEST_F(DefaultBinderTest, BindsThroughTheApi) {
  tasks.spawn(run_bind(*plugin, cycle, outcome));
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->ok());
  EXPECT_EQ(fixture.api.bound,
            (std::vector<std::pair<std::string, std::string>>{{"shop/p", "n1"}}));
}

TEST_F(DefaultBinderTest, TheApisErrorIsItsOwn) {
  fixture.api.fails("bind", {ErrorKind::kConflict, "pod p is already assigned to node \"n2\""});
  tasks.spawn(run_bind(*plugin, cycle, outcome));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->code, Code::kError);
  EXPECT_EQ(outcome->message(), "pod p is already assigned to node \"n2\"");
}

}  // namespace
}  // namespace berth::plugins
