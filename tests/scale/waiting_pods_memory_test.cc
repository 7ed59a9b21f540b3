// What a pod costs that waits at Permit, in the whole engine: attempt, coroutine, table entry and
// timer. The pod itself and its place on the node are the cluster's, and counted there.
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "base/testing/allocations.h"
#include "base/testing/sanitizers.h"
#include "config/load.h"
#include "engine/engine.h"
#include "framework/testing/fake_plugins.h"
#include "plugins/table.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"

namespace berth {
namespace {

// With sanitizers a coroutine's frame keeps what an optimised one does not.
constexpr std::size_t kMostBytes = testing::kSanitized ? 1536 : 1024;

// How many plugins hold each pod.
class WaitingPodsInTheEngine : public ::testing::TestWithParam<int> {};

TEST_P(WaitingPodsInTheEngine, CostAtMostAKibibyteEachAndNoThread) {
  if (!testing::kCountsAllocations) GTEST_SKIP() << "nobody counts in this build";
  const std::size_t pods = GetParam() == 1 ? 100'000 : 20'000;
  testing::World world;
  VirtualLoop loop;
  ClusterView objects(loop, ClusterView::Shows::kAtOnce);
  StoreApi api(loop, objects, {.keeps_statuses = false});
  Observer observer;
  EngineOptions options;
  options.configuration = config::default_configuration(options.gates);
  PluginTable plugins = plugins::make_plugin_table();
  for (int i = 1; i <= GetParam(); ++i) {
    PluginEntry hold;
    hold.name = "Hold" + std::to_string(i);
    hold.create = [name = hold.name](const config::PluginArgs&,
                                     const Handle&) -> Result<std::unique_ptr<Plugin>> {
      auto plugin = std::make_unique<testing::FakePermit>(name);
      plugin->script = [](Cycle&) { return PermitResult::wait(std::chrono::minutes(5)); };
      plugin->events = std::vector<EventRegistration>();
      return plugin;
    };
    options.configuration.profiles[0]
        .plugins.at(config::ExtensionPoint::kPermit)
        .enabled.push_back({hold.name, 0});
    ASSERT_TRUE(plugins.add(std::move(hold)));
  }
  auto engine = Engine::make(loop, world.interner, plugins, api, observer, std::move(options));
  ASSERT_TRUE(engine) << engine.error().message;
  objects.serve((*engine)->cluster(), [&](Delta delta) { (*engine)->apply(std::move(delta)); });

  for (std::size_t i = 0; i < pods / 100; ++i) {
    const Ref<const Node> node = world.node("node-" + std::to_string(i));
    (*engine)->apply({DeltaType::kAdded, Ref<const Object>(node)});
  }
  for (std::size_t i = 0; i < pods; ++i)
    (*engine)->apply({DeltaType::kAdded, world.pod("web-7d4b9c6f5-" + std::to_string(i)).build()});
  const std::size_t before = testing::live_bytes();
  while ((*engine)->run_one()) {
  }
  ASSERT_EQ((*engine)->waiting_pods().size(), pods);
  const std::size_t each = (testing::live_bytes() - before) / pods;
  RecordProperty("bytes_each", std::to_string(each));
  EXPECT_LE(each, kMostBytes);

  loop.run_until(TimePoint{std::chrono::minutes(5)});
  EXPECT_EQ((*engine)->waiting_pods().size(), 0u) << "their time is up";
  EXPECT_EQ((*engine)->cluster().assumed_count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Held, WaitingPodsInTheEngine, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace berth
