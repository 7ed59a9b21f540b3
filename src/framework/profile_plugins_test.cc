#include "framework/profile_plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "base/testing/names.h"
#include "framework/testing/fake_plugins.h"

namespace berth {
namespace {

using config::ExtensionPoint;

class Sorter final : public FakePlugin, public QueueSortPlugin {
 public:
  using FakePlugin::FakePlugin;
  bool less(const QueuedPod&, const QueuedPod&) const override { return false; }
};

// At every point but QueueSort.
class Everywhere final : public FakePlugin,
                         public PreEnqueuePlugin,
                         public PreFilterPlugin,
                         public PerNodeFilter,
                         public PostFilterPlugin,
                         public PreScorePlugin,
                         public PerNodeScore,
                         public ReservePlugin,
                         public PermitPlugin,
                         public PreBindPlugin,
                         public BindPlugin,
                         public PostBindPlugin {
 public:
  using FakePlugin::FakePlugin;
  Outcome pre_enqueue(const Pod&) const override { return {}; }
  PreFilterResult pre_filter(Cycle&) const override { return Outcome(); }
  Outcome filter_node(const Cycle&, NodeRow) const override { return {}; }
  Task<PostFilterResult> post_filter(Cycle&, const Diagnosis&) const override {
    co_return PostFilterResult{};
  }
  Outcome pre_score(Cycle&, const NodeSet&) const override { return {}; }
  Score score_node(const Cycle&, NodeRow) const override { return 0; }
  Outcome reserve(Cycle&, std::string_view) override { return {}; }
  void unreserve(Cycle&, std::string_view) override {}
  PermitResult permit(Cycle&, std::string_view) override { return {}; }
  Task<Outcome> pre_bind(Cycle&, std::string_view, CancelToken) override { co_return Outcome(); }
  Task<Outcome> bind(Cycle&, std::string_view) const override { co_return Outcome(); }
  void post_bind(Cycle&, std::string_view) override {}
};

class OnlyScores final : public FakePlugin, public PerNodeScore {
 public:
  using FakePlugin::FakePlugin;
  Score score_node(const Cycle&, NodeRow) const override { return 0; }
};

class ForGroups final : public FakePlugin,
                        public PlacementScorePlugin,
                        public PodGroupPostFilterPlugin {
 public:
  using FakePlugin::FakePlugin;
  Score score_placement(const TriedPlacement&, const Cluster&) const override { return 0; }
  Task<GroupPostFilterResult> post_filter_group(UnplacedGroup&) const override {
    co_return GroupPostFilterResult{};
  }
};

struct ProfilePluginsTest : ::testing::Test {
  FakeWorld world;
  PluginTable table;
  config::Profile profile;
  std::vector<config::PluginRef> defaults;
  int made = 0;

  ProfilePluginsTest() {
    profile.scheduler_name = "mine";
    knows<Sorter>("Sort");
    knows<Sorter>("OtherSort");
    knows<Everywhere>("A");
    knows<Everywhere>("B");
    knows<Everywhere>("C");
    knows<OnlyScores>("S");
    knows<OnlyScores>("T");
    add({"Planned", {}, "Filter", 0, "Is not built yet."});
    enable(ExtensionPoint::kQueueSort, {{"Sort", 0}});
  }
  void add(PluginEntry entry) { ASSERT_TRUE(table.add(std::move(entry)).has_value()); }
  template <typename T>
  void knows(const std::string& name) {
    PluginEntry entry;
    entry.name = name;
    entry.create = [this, name](const config::PluginArgs&,
                                const Handle&) -> Result<std::unique_ptr<Plugin>> {
      ++made;
      return std::make_unique<T>(name);
    };
    add(std::move(entry));
  }
  void enable(ExtensionPoint point, const std::vector<config::PluginRef>& plugins) {
    auto& enabled = profile.plugins.at(point).enabled;
    enabled.insert(enabled.end(), plugins.begin(), plugins.end());
  }
  void disable(ExtensionPoint point, const std::vector<std::string>& names) {
    profile.plugins.at(point).disabled = names;
  }
  Result<ProfilePlugins> make() {
    return ProfilePlugins::make(profile, defaults, table, world.handle("mine"));
  }
  std::string error() {
    const Result<ProfilePlugins> plugins = make();
    return plugins ? "no error" : plugins.error().message;
  }

  template <typename Point>
  static std::vector<std::string> names(const std::vector<Placed<Point>>& list) {
    std::vector<std::string> found;
    for (const Placed<Point>& placed : list) found.push_back(placed.name());
    return found;
  }
  // "A*5": the order and the weights of Score.
  std::vector<std::string> scores() {
    const Result<ProfilePlugins> plugins = make();
    if (!plugins) return {plugins.error().message};
    std::vector<std::string> found;
    for (const Placed<ScorePlugin>& placed : plugins->score)
      found.push_back(placed.name() + "*" + std::to_string(placed.weight));
    return found;
  }
};

using P = ExtensionPoint;

// ---- expansion of multiPoint (core.md §3.2)

TEST_F(ProfilePluginsTest, MultiPointEnablesAPluginWhereverItCanBe) {
  enable(P::kMultiPoint, {{"A", 5}, {"S", 0}});
  const Result<ProfilePlugins> plugins = make();
  ASSERT_TRUE(plugins.has_value()) << plugins.error().message;
  EXPECT_THAT(names(plugins->pre_enqueue), ElementsAre("A"));
  EXPECT_THAT(names(plugins->queue_sort), ElementsAre("Sort"));
  EXPECT_THAT(names(plugins->pre_filter), ElementsAre("A"));
  EXPECT_THAT(names(plugins->filter), ElementsAre("A"));
  EXPECT_THAT(names(plugins->post_filter), ElementsAre("A"));
  EXPECT_THAT(names(plugins->pre_score), ElementsAre("A"));
  EXPECT_THAT(names(plugins->score), ElementsAre("A", "S"));
  EXPECT_THAT(names(plugins->reserve), ElementsAre("A"));
  EXPECT_THAT(names(plugins->permit), ElementsAre("A"));
  EXPECT_THAT(names(plugins->pre_bind), ElementsAre("A"));
  EXPECT_THAT(names(plugins->bind), ElementsAre("A"));
  EXPECT_THAT(names(plugins->post_bind), ElementsAre("A"));
}

TEST_F(ProfilePluginsTest, APluginIsMadeOnceAndSharedByItsPoints) {
  enable(P::kMultiPoint, {{"A", 0}});
  enable(P::kScore, {{"A", 2}});
  const Result<ProfilePlugins> plugins = make();
  ASSERT_TRUE(plugins.has_value());
  EXPECT_EQ(made, 2) << "Sort and A";
  EXPECT_EQ(plugins->score[0].index, plugins->bind[0].index);
  EXPECT_EQ(static_cast<const Plugin*>(plugins->score[0].plugin),
            static_cast<const Plugin*>(plugins->bind[0].plugin));
  EXPECT_EQ(plugins->all[plugins->score[0].index]->name(), "A");
}

TEST_F(ProfilePluginsTest, ScoreIsOrderedByOverridesThenMultiPointThenTheRest) {
  struct Case {
    const char* behaviour;
    std::vector<config::PluginRef> multi_point, score;
    std::vector<std::string> disabled, expected;
  };
  const Case cases[] = {
      {"multiPoint's order", {{"B", 2}, {"A", 3}}, {}, {}, {"B*2", "A*3"}},
      {"explicit ones come last", {{"A", 0}, {"B", 0}}, {{"S", 7}}, {}, {"A*1", "B*1", "S*7"}},
      {"an override comes first, with its own weight",
       {{"A", 3}, {"B", 4}},
       {{"B", 9}},
       {},
       {"B*9", "A*3"}},
      {"overrides in explicit order, multiPoint's, then the rest in explicit order",
       {{"A", 0}, {"B", 0}, {"C", 0}},
       {{"T", 4}, {"C", 2}, {"S", 5}, {"A", 3}},
       {},
       {"C*2", "A*3", "B*1", "T*4", "S*5"}},
      {"disabled by name", {{"A", 0}, {"B", 0}}, {}, {"A"}, {"B*1"}},
      {"disabled and enabled: the explicit entry stays",
       {{"A", 0}, {"B", 0}},
       {{"A", 6}},
       {"A"},
       {"B*1", "A*6"}},
      {"all disabled: only the explicit ones", {{"A", 0}, {"B", 0}}, {{"S", 2}}, {"*"}, {"S*2"}},
      {"all disabled, an override is no override",
       {{"A", 8}, {"B", 0}},
       {{"S", 0}, {"A", 0}},
       {"*"},
       {"S*1", "A*1"}},
      {"no multiPoint at all", {}, {{"T", 0}, {"S", 3}}, {}, {"T*1", "S*3"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    ProfilePluginsTest::profile.plugins = {};
    enable(P::kQueueSort, {{"Sort", 0}});
    enable(P::kBind, {{"A", 0}});
    disable(P::kBind, {"*"});
    enable(P::kMultiPoint, c.multi_point);
    enable(P::kScore, c.score);
    disable(P::kScore, c.disabled);
    EXPECT_EQ(scores(), c.expected);
  }
}

TEST_F(ProfilePluginsTest, DisablingAtOnePointLeavesTheOthers) {
  enable(P::kMultiPoint, {{"A", 0}, {"B", 0}});
  disable(P::kFilter, {"A"});
  disable(P::kPermit, {"*"});
  const Result<ProfilePlugins> plugins = make();
  ASSERT_TRUE(plugins.has_value());
  EXPECT_THAT(names(plugins->filter), ElementsAre("B"));
  EXPECT_THAT(names(plugins->permit), IsEmpty());
  EXPECT_THAT(names(plugins->reserve), ElementsAre("A", "B"));
}

TEST_F(ProfilePluginsTest, APluginThatIsDisabledEverywhereIsMadeAllTheSame) {
  enable(P::kMultiPoint, {{"A", 0}, {"S", 0}});
  disable(P::kScore, {"S"});
  const Result<ProfilePlugins> plugins = make();
  ASSERT_TRUE(plugins.has_value());
  EXPECT_EQ(plugins->all.size(), 3u);
}

// ---- weights

TEST_F(ProfilePluginsTest, TheExplicitWeightCountsEvenIfItIsNone) {
  enable(P::kMultiPoint, {{"A", 5}});
  enable(P::kScore, {{"A", 0}});
  EXPECT_THAT(scores(), ElementsAre("A*1"));
}

TEST_F(ProfilePluginsTest, WeightsAtOtherPointsDoNotCount) {
  enable(P::kMultiPoint, {{"A", 5}});
  enable(P::kFilter, {{"A", 9}});
  EXPECT_THAT(scores(), ElementsAre("A*5"));
}

TEST_F(ProfilePluginsTest, NegativeWeightsAreRefused) {
  enable(P::kMultiPoint, {{"A", -1}});
  EXPECT_EQ(error(), "score plugins: total score of Score plugins could overflow");
}

// ---- errors, letter for letter

TEST_F(ProfilePluginsTest, WhatAProfileCannotBeIsToldInUpstreamsWords) {
  struct Case {
    const char* behaviour;
    std::function<void(ProfilePluginsTest&)> arrange;
    const char* message;
  };
  const Case cases[] = {
      {"unknown at a point", [](auto& t) { t.enable(P::kScore, {{"Foo", 0}}); },
       "ScorePlugin \"Foo\" does not exist"},
      {"unknown in multiPoint: told at the first point",
       [](auto& t) { t.enable(P::kMultiPoint, {{"Foo", 0}}); },
       "PreFilterPlugin \"Foo\" does not exist"},
      {"of several mistakes the explicit lists come first",
       [](auto& t) {
         t.enable(P::kMultiPoint, {{"Foo", 0}});
         t.enable(P::kPermit, {{"Bar", 0}});
       },
       "PermitPlugin \"Bar\" does not exist"},
      {"points are looked at in upstream's order",
       [](auto& t) {
         t.enable(P::kPreEnqueue, {{"Foo", 0}});
         t.enable(P::kPostBind, {{"Bar", 0}});
       },
       "PostBindPlugin \"Bar\" does not exist"},
      {"unknown in multiPoint where the first points are closed",
       [](auto& t) {
         t.enable(P::kMultiPoint, {{"Foo", 0}});
         t.disable(P::kPreFilter, {"*"});
       },
       "FilterPlugin \"Foo\" does not exist"},
      {"the wrong type", [](auto& t) { t.enable(P::kFilter, {{"S", 0}}); },
       "plugin \"S\" does not extend FilterPlugin plugin"},
      {"twice at a point", [](auto& t) { t.enable(P::kScore, {{"A", 0}, {"A", 1}}); },
       "plugin \"A\" already registered as \"ScorePlugin\""},
      {"twice in multiPoint", [](auto& t) { t.enable(P::kMultiPoint, {{"A", 0}, {"A", 0}}); },
       "plugin \"A\" already registered as \"PreFilterPlugin\""},
      {"two QueueSorts", [](auto& t) { t.enable(P::kQueueSort, {{"OtherSort", 0}}); },
       "only one queue sort plugin required for profile with scheduler name \"mine\", but got 2"},
      {"no QueueSort", [](auto& t) { t.profile.plugins.at(P::kQueueSort).enabled.clear(); },
       "only one queue sort plugin required for profile with scheduler name \"mine\", but got 0"},
      {"no Bind", [](auto& t) { t.disable(P::kBind, {"*"}); },
       "at least one bind plugin is needed for profile with scheduler name \"mine\""},
      {"arguments twice", [](auto& t) { t.profile.plugin_config = {{"A", {}}, {"A", {}}}; },
       "repeated config for plugin A"},
      {"a placement point that a plugin cannot be at",
       [](auto& t) { t.enable(P::kPlacementScore, {{"A", 0}}); },
       "plugin \"A\" does not extend PlacementScorePlugin plugin"},
      {"a point of groups that a plugin cannot be at",
       [](auto& t) { t.enable(P::kPodGroupPostFilter, {{"A", 0}}); },
       "plugin \"A\" does not extend PodGroupPostFilterPlugin plugin"},
      {"unknown at a placement point",
       [](auto& t) { t.enable(P::kPlacementGenerate, {{"Foo", 0}}); },
       "PlacementGeneratePlugin \"Foo\" does not exist"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.behaviour);
    profile.plugins = {};
    profile.plugin_config.clear();
    enable(P::kQueueSort, {{"Sort", 0}});
    enable(P::kMultiPoint, {{"B", 0}});
    c.arrange(*this);
    EXPECT_EQ(error(), c.message);
  }
}

TEST_F(ProfilePluginsTest, AFactorysErrorNamesThePlugin) {
  PluginEntry entry;
  entry.name = "Broken";
  entry.create = [](const config::PluginArgs&, const Handle&) -> Result<std::unique_ptr<Plugin>> {
    return fail(ErrorKind::kInvalid, "no such zone");
  };
  add(std::move(entry));
  enable(P::kMultiPoint, {{"Broken", 0}});
  EXPECT_EQ(error(), "initializing plugin \"Broken\": no such zone");
}

TEST_F(ProfilePluginsTest, AFactoryThatThrowsOrMakesNothingIsAnErrorToo) {
  PluginEntry throws;
  throws.name = "Throws";
  throws.create = [](const config::PluginArgs&, const Handle&) -> Result<std::unique_ptr<Plugin>> {
    throw std::runtime_error("out of luck");
  };
  add(std::move(throws));
  PluginEntry forgets;
  forgets.name = "Forgets";
  forgets.create = [](const config::PluginArgs&, const Handle&) -> Result<std::unique_ptr<Plugin>> {
    return nullptr;
  };
  add(std::move(forgets));
  enable(P::kMultiPoint, {{"Throws", 0}});
  EXPECT_EQ(error(), "initializing plugin \"Throws\": out of luck");
  profile.plugins.at(P::kMultiPoint).enabled = {{"Forgets", 0}};
  EXPECT_EQ(error(), "initializing plugin \"Forgets\": its factory made no plugin");
}

TEST_F(ProfilePluginsTest, AFactoryGetsItsArgumentsAndTheProfilesHandle) {
  std::string json, profile_name;
  PluginEntry entry;
  entry.name = "Curious";
  entry.create = [&](const config::PluginArgs& args,
                     const Handle& handle) -> Result<std::unique_ptr<Plugin>> {
    if (const auto* opaque = std::get_if<config::OpaqueArgs>(&args)) json = opaque->json;
    profile_name = handle.profile_name;
    return std::make_unique<Everywhere>("Curious");
  };
  add(std::move(entry));
  enable(P::kMultiPoint, {{"Curious", 0}});
  profile.plugin_config = {{"Curious", config::OpaqueArgs{"{\"a\":1}"}}};
  EXPECT_TRUE(make().has_value());
  EXPECT_EQ(json, "{\"a\":1}");
  EXPECT_EQ(profile_name, "mine");
}

TEST_F(ProfilePluginsTest, AProfileHasAtMost128Plugins) {
  for (int i = 0; i < 128; ++i) {
    const std::string name = "P" + std::to_string(i);
    knows<OnlyScores>(name);
    enable(P::kMultiPoint, {{name, 0}});
  }
  EXPECT_EQ(error(), "a profile can have at most 128 plugins");
}

// ---- group scheduling

TEST_F(ProfilePluginsTest, PluginsAreListedAtThePointsOfGroupsThatTheyExtend) {
  knows<ForGroups>("G");
  enable(P::kMultiPoint, {{"A", 0}, {"G", 3}});
  const Result<ProfilePlugins> plugins = make();
  ASSERT_TRUE(plugins.has_value()) << plugins.error().message;
  EXPECT_THAT(names(plugins->pod_group_post_filter), ElementsAre("G"));
  ASSERT_THAT(names(plugins->placement_score), ElementsAre("G"));
  EXPECT_EQ(plugins->placement_score.front().weight, 3);
  EXPECT_THAT(names(plugins->placement_generate), IsEmpty());
  enable(P::kPodGroupPostFilter, {{"G", 0}, {"G", 0}});
  EXPECT_EQ(error(), "plugin \"G\" already registered as \"PodGroupPostFilterPlugin\"");
}

// ---- plugins that are not built yet

TEST_F(ProfilePluginsTest, ADefaultThatIsNotBuiltIsLeftOut) {
  defaults = {{"A", 0}, {"Planned", 2}};
  enable(P::kMultiPoint, defaults);
  const Result<ProfilePlugins> plugins = make();
  ASSERT_TRUE(plugins.has_value()) << plugins.error().message;
  EXPECT_THAT(names(plugins->filter), ElementsAre("A"));
}

TEST_F(ProfilePluginsTest, AskingForAPluginThatIsNotBuiltIsAnErrorInOneLine) {
  const std::string expected =
      "plugin \"Planned\" is not available yet; remove it from the profile \"mine\""
      " (`berth plugins` shows which there are)";
  defaults = {{"A", 0}, {"Planned", 2}};
  enable(P::kMultiPoint, {{"A", 0}, {"Planned", 5}});  // with another weight than by default
  EXPECT_EQ(error(), expected);
  profile.plugins.at(P::kMultiPoint).enabled = defaults;
  enable(P::kFilter, {{"Planned", 0}});
  EXPECT_EQ(error(), expected);
  profile.plugins.at(P::kFilter).enabled.clear();
  enable(P::kPlacementScore, {{"Planned", 0}});
  EXPECT_EQ(error(), expected);
}

TEST(PluginTable, ANameIsTakenOnce) {
  PluginTable table;
  EXPECT_TRUE(table.add({"A", {}, "", 0, ""}).has_value());
  const Result<void> again = table.add({"A", {}, "", 0, ""});
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().message, "a plugin named A already exists");
  EXPECT_NE(table.find("A"), nullptr);
  EXPECT_EQ(table.find("B"), nullptr);
}

}  // namespace
}  // namespace berth
