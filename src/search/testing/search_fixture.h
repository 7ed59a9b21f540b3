// A cluster, a profile of fake plugins, and NodeSearch between them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/testing/fake_plugins.h"
#include "search/node_search.h"

namespace berth::testing {

struct TroubleList final : Observer {
  void internal_error(std::string_view message) override { internal_errors.emplace_back(message); }
  std::vector<std::string> internal_errors;
};

struct NodeSearchTest : ::testing::Test {
  FakeWorld world;
  FakeProfile profile{world};
  TroubleList observer;
  std::vector<Extender*> extenders;
  SearchPolicy policy;
  std::int32_t percentage = 0;
  std::unique_ptr<NodeSearch> node_search;
  std::unique_ptr<Cycle> cycle;
  std::vector<std::string> asked;  // nodes that the Filter of filter_all was asked about

  // Profile, extenders and policy are complete.
  NodeSearch& searcher() {
    if (!node_search)
      node_search =
          std::make_unique<NodeSearch>(world.cluster, world.random, extenders, observer, policy);
    return *node_search;
  }
  void nodes(int count) {
    for (int i = 1; i <= count; ++i) world.cluster.add_node(world.node("n" + std::to_string(i)));
  }
  void filter_all(std::function<Outcome(std::string_view)> verdict = {}) {
    profile.filter("Filter", [this, verdict](const Cycle& c, NodeRow row) {
      asked.emplace_back(c.nodes().name_text(row));
      return verdict ? verdict(c.nodes().name_text(row)) : Outcome();
    });
  }
  SearchResult search(Ref<const Pod> pod, SearchTrace* trace = nullptr) {
    world.cluster.begin_cycle();
    asked.clear();
    cycle = std::make_unique<Cycle>(pod, world.cluster);
    return run_task(world.loop, searcher().run(*cycle, profile.framework(), percentage, trace));
  }
  SearchResult search() { return search(world.pod("p")); }
  std::string chosen(const SearchResult& result) {
    return result.row == kNoRow ? "" : std::string(world.cluster.nodes().name_text(result.row));
  }
};

}  // namespace berth::testing
