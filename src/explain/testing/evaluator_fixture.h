// An Evaluator with a profile of scripted plugins, over a cluster made with builders.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explain/evaluator.h"
#include "framework/testing/fake_plugins.h"

namespace berth::testing {

struct EvaluatorTest : ::testing::Test {
  World world;
  PluginTable table;
  explain::EvaluatorOptions options;
  std::vector<ManifestObject> objects;
  std::string failure;  // of make or load
  std::size_t from_classes = 0;

  EvaluatorTest() {
    config::Profile& profile = options.configuration.profiles.emplace_back();
    profile.scheduler_name = "default-scheduler";
    plugin("Sort", [](const Handle&) { return std::make_unique<FakeQueueSort>(); });
    plugin("Binder", [](const Handle&) { return std::make_unique<FakeBind>("Binder"); });
  }

  void plugin(const std::string& name,
              std::function<std::unique_ptr<Plugin>(const Handle&)> create) {
    ASSERT_TRUE(table.add(entry_of(name, std::move(create))));
    options.configuration.profiles.front()
        .plugins.at(config::ExtensionPoint::kMultiPoint)
        .enabled.push_back({name, name.starts_with("Score") ? 2 : 0});
  }
  void filter(const std::string& name, std::function<Outcome(const Cycle&, NodeRow)> script) {
    plugin(name, [name, script](const Handle&) {
      auto filter = std::make_unique<FakeFilter>(name);
      filter->script = script;
      return filter;
    });
  }
  void pre_filter(const std::string& name, std::function<PreFilterResult(Cycle&)> script) {
    plugin(name, [name, script](const Handle&) {
      auto filter = std::make_unique<FakePreFilter>(name);
      filter->script = script;
      return filter;
    });
  }
  void score(const std::string& name, std::function<Score(const Cycle&, NodeRow)> script) {
    plugin(name, [name, script](const Handle&) {
      auto scorer = std::make_unique<FakePreScore>(name);
      scorer->script = script;
      return scorer;
    });
  }
  // At most so many pods a node, those on trial included.
  void room_for(std::size_t pods) {
    filter("Room", [pods](const Cycle& cycle, NodeRow row) {
      return cycle.nodes().pods(row).size() < pods ? Outcome() : Outcome::unschedulable("full");
    });
  }

  void nodes(std::initializer_list<const char*> names) {
    for (const char* name : names)
      objects.emplace_back().object = Ref<const Object>(world.node(name).build());
  }
  void pod(const PodBuilder& builder) { objects.emplace_back().object = builder.build(); }

  // Null, and a failure, if it cannot be made or loaded.
  std::unique_ptr<explain::Evaluator> loaded() {
    Result<std::unique_ptr<explain::Evaluator>> made =
        explain::Evaluator::make(world.interner, table, options);
    if (!made) {
      failure = made.error().message;
      return nullptr;
    }
    if (Result<void> done = (*made)->load(objects); !done) {
      failure = done.error().message;
      return nullptr;
    }
    return *std::move(made);
  }
  std::vector<explain::PodDecision> decide() {
    const std::unique_ptr<explain::Evaluator> evaluator = loaded();
    if (!evaluator) return {};
    std::vector<explain::PodDecision> decisions = evaluator->decide();
    EXPECT_EQ(evaluator->increment_difference(), std::nullopt);
    from_classes = evaluator->decided_from_classes();
    return decisions;
  }
};

}  // namespace berth::testing
