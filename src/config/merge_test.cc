#include "config/merge.h"

#include <gtest/gtest.h>

#include "base/ascii.h"
#include "config/testing/parse.h"

namespace berth::config {
namespace {

TEST(Merge, PutsTheUsersPluginsIntoTheDefaultSet) {
  const PluginSet defaults{{{"A", 0}, {"B", 2}, {"C", 1}}, {"X"}};
  const struct {
    const char* what;
    PluginSet user;
    PluginSet merged;
  } cases[] = {
      {"nothing said", {}, defaults},
      {"appended in order",
       {{{"D", 4}, {"E", 0}}, {}},
       {{{"A", 0}, {"B", 2}, {"C", 1}, {"D", 4}, {"E", 0}}, {"X"}}},
      {"listed again: the user's weight, in the default's place",
       {{{"D", 0}, {"B", 7}}, {}},
       {{{"A", 0}, {"B", 7}, {"C", 1}, {"D", 0}}, {"X"}}},
      {"disabled", {{}, {"B"}}, {{{"A", 0}, {"C", 1}}, {"B", "X"}}},
      {"disabled and enabled: at the end",
       {{{"B", 5}}, {"B"}},
       {{{"A", 0}, {"C", 1}, {"B", 5}}, {"B", "X"}}},
      {"all disabled", {{{"D", 1}}, {"*"}}, {{{"D", 1}}, {"*", "X"}}},
      {"twice: the last takes the place, the first stays for the framework to refuse",
       {{{"B", 5}, {"B", 6}}, {}},
       {{{"A", 0}, {"B", 6}, {"C", 1}, {"B", 5}}, {"X"}}},
      {"an unknown name disabled", {{}, {"Z"}}, {defaults.enabled, {"Z", "X"}}},
  };
  for (const auto& [what, user, merged] : cases) EXPECT_EQ(merge(defaults, user), merged) << what;
}

TEST(Merge, EachExtensionPointForItself) {
  const auto named = parse(file(R"(
profiles:
- schedulerName: a
  plugins:
    score: {enabled: [{name: NodeAffinity, weight: 9}], disabled: [{name: "*", weight: 4}]}
    multiPoint: {disabled: [{name: NodePorts}], enabled: [{name: TaintToleration, weight: 8}]}
- schedulerName: b
)"));
  ASSERT_TRUE(named) << named.error().message;
  const Plugins& plugins = named->profiles[0].plugins;
  EXPECT_EQ(plugins.at(ExtensionPoint::kScore), (PluginSet{{{"NodeAffinity", 9}}, {"*"}}));
  EXPECT_EQ(plugins.at(ExtensionPoint::kFilter), PluginSet{});
  std::vector<PluginRef> expected = default_multi_point({});
  std::erase_if(expected, [](const PluginRef& plugin) { return plugin.name == "NodePorts"; });
  expected[4].weight = 8;
  EXPECT_EQ(plugins.at(ExtensionPoint::kMultiPoint), (PluginSet{expected, {"NodePorts"}}));
  EXPECT_EQ(named->profiles[1].plugins.at(ExtensionPoint::kMultiPoint),
            (PluginSet{default_multi_point({}), {}}));
}

TEST(Merge, EveryExtensionPointHasItsKey) {
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    const std::string key = lower_first(to_string(static_cast<ExtensionPoint>(i)));
    const auto configuration =
        parse(file("profiles: [{plugins: {" + key + ": {disabled: [{name: Foo}]}}}]"));
    ASSERT_TRUE(configuration) << configuration.error().message;
    EXPECT_EQ(configuration->profiles[0].plugins.sets[i].disabled, std::vector<std::string>{"Foo"})
        << key;
  }
}

}  // namespace
}  // namespace berth::config
