#include "ui/live_feed.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "api/devices.h"
#include "engine/testing/engine_fixture.h"
#include "framework/observers.h"
#include "wire/json_tree.h"

namespace berth::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ui::LiveFeed;

std::string text_of(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value ? value->text : "";
}

// An engine whose deltas and observer's calls go to a feed, too.
class LiveFeedTest : public EngineTest {
 protected:
  LiveFeedTest() {
    permit("Hold", 10min);
    profile("default-scheduler", {"OneEach"});
    profile("holding", {"OneEach", "Hold"});
    Result<std::unique_ptr<Engine>> made_engine =
        Engine::make(loop, world.interner, table, api, observers, std::move(options));
    EXPECT_TRUE(made_engine);
    engine = std::move(*made_engine);
    feed.follow(*engine);
    engine->start();
  }
  ~LiveFeedTest() override { feed.let_go(); }

  void apply(DeltaType type, AnyObject object) {
    feed.changed({type, object});
    engine->apply({type, std::move(object)});
    loop.run_until(loop.now());
  }
  Ref<const Node> add_node(const std::string& name) {
    Ref<const Node> built = world.node(name).cpu("4").zone("a");
    apply(DeltaType::kAdded, Ref<const Object>(built));
    return built;
  }
  // Also in the API server, so that it can be bound; what that shows does not reach the feed.
  Ref<const Pod> add_pod(const PodBuilder& builder) {
    Ref<const Pod> built = builder;
    feed.changed({DeltaType::kAdded, built});
    api.engine = engine.get();
    api.create_pod(built);
    loop.run_until(loop.now());
    return built;
  }

  // Asks for a snapshot and waits for it; null if there is none.
  std::shared_ptr<const std::string> take() {
    std::optional<std::shared_ptr<const std::string>> taken;
    feed.snapshot([&taken](std::shared_ptr<const std::string> json) { taken = std::move(json); });
    // It is written on a thread of its own.
    for (int i = 0; i < 10'000 && !taken; ++i) {
      loop.run_until(loop.now());
      std::promise<void> pause;
      if (!taken) static_cast<void>(pause.get_future().wait_for(std::chrono::milliseconds(1)));
    }
    return taken.value_or(nullptr);
  }
  JsonValue snapshot() {
    const std::shared_ptr<const std::string> json = take();
    return json ? parse_json(*json).value_or(JsonValue::object()) : JsonValue::object();
  }
  std::string cursor() { return text_of(snapshot(), "cursor"); }
  // "what pod node" of each change since then; moves the cursor on.
  std::vector<std::string> changes(std::string& since) {
    const std::optional<std::string> json = feed.changes_since(since);
    if (!json) return {"take a snapshot"};
    const JsonValue answer = *parse_json(*json);
    since = text_of(answer, "cursor");
    std::vector<std::string> all;
    for (const JsonValue& change : answer.find("changes")->items)
      all.push_back(fmt::format("{} {} {}", text_of(change, "what"), text_of(change, "pod"),
                                text_of(change, "node")));
    return all;
  }
  // Where the pod of that name is, as the snapshot has it: "place node".
  static std::string place_of(const JsonValue& snapshot, std::string_view name) {
    for (const JsonValue& pod : snapshot.find("pods")->items) {
      if (text_of(pod, "name") != name) continue;
      const JsonValue* node = pod.find("node");
      const std::string where =
          node ? text_of(snapshot.find("nodes")->items[std::stoul(node->text)], "name") : "";
      return text_of(pod, "place") + (where.empty() ? "" : " " + where);
    }
    return "not there";
  }

  LiveFeed feed{loop, 7};
  Observers observers{{&observer, &feed}};
};

TEST_F(LiveFeedTest, RecordsNothingBeforeSomebodyAsks) {
  add_node("n1");
  add_pod(world.pod("a").uid("u-a"));
  EXPECT_FALSE(feed.recording());
  EXPECT_EQ(feed.changes_since("7.1-0"), std::nullopt);
  cursor();
  EXPECT_TRUE(feed.recording());
}

TEST_F(LiveFeedTest, ASnapshotSaysWhereEveryPodIs) {
  add_node("n1");
  add_pod(world.pod("bound").uid("u1"));
  add_node("n2");
  add_pod(world.pod("held").uid("u2").scheduler("holding"));
  add_pod(world.pod("pending").uid("u3"));
  add_pod(world.pod("foreign").uid("u4").scheduler("somebody-else"));
  Ref<const Pod> lost = world.pod("lost").uid("u5").on("never-seen");
  apply(DeltaType::kAdded, lost);
  const JsonValue now = snapshot();
  EXPECT_EQ(place_of(now, "bound"), "bound n1");
  EXPECT_EQ(place_of(now, "held"), "waiting n2");
  EXPECT_EQ(place_of(now, "pending"), "unschedulable");
  EXPECT_EQ(place_of(now, "foreign"), "created");
  EXPECT_EQ(place_of(now, "lost"), "bound never-seen");
  EXPECT_EQ(now.find("nodes")->items.size(), 3u);
}

TEST_F(LiveFeedTest, AfterASnapshotComesWhatHasChangedSince) {
  std::string since = cursor();
  EXPECT_THAT(changes(since), IsEmpty());
  const Ref<const Node> node = add_node("n1");
  EXPECT_THAT(changes(since), ElementsAre("nodeAdded  n1"));
  const Ref<const Pod> pod = add_pod(world.pod("a").uid("u-a"));
  EXPECT_THAT(changes(since),
              ElementsAre("created u-a ", "queued u-a ", "attempt u-a ", "decided u-a n1"));
  apply(DeltaType::kUpdated, with_node(*pod, "n1"));
  apply(DeltaType::kDeleted, with_node(*pod, "n1"));
  apply(DeltaType::kDeleted, Ref<const Object>(node));
  EXPECT_THAT(changes(since), ElementsAre("deleted u-a ", "nodeRemoved  n1"));
  EXPECT_THAT(changes(since), IsEmpty());
}

TEST_F(LiveFeedTest, AHeartbeatIsNoChange) {
  add_node("n1");
  std::string since = cursor();
  apply(DeltaType::kUpdated,
        Ref<const Object>(Ref<const Node>(world.node("n1").cpu("4").zone("a"))));
  EXPECT_THAT(changes(since), IsEmpty());
  apply(DeltaType::kUpdated,
        Ref<const Object>(Ref<const Node>(world.node("n1").cpu("8").zone("a"))));
  EXPECT_THAT(changes(since), ElementsAre("nodeChanged  n1"));
}

TEST_F(LiveFeedTest, DevicesAreAResourceOfTheirNode) {
  add_node("n1");
  auto slice = make_ref<ResourceSlice>(world.interner.hold());
  slice->name = "s1";
  slice->driver = slice->symbols.intern("gpu.example.com");
  slice->pool.name = slice->symbols.intern("n1");
  slice->nodes.node_name = slice->symbols.intern("n1");
  slice->devices.emplace_back().name = slice->symbols.intern("a");
  const Ref<const Object> shown = Ref<const ResourceSlice>(std::move(slice));
  apply(DeltaType::kAdded, shown);
  std::string since = cursor();
  EXPECT_THAT(*take(), HasSubstr("\"devices gpu.example.com\": 1"));
  apply(DeltaType::kDeleted, shown);
  EXPECT_THAT(changes(since), ElementsAre("nodeChanged  n1"));
}

TEST_F(LiveFeedTest, WhatMayHaveBeenForgottenIsNotAnswered) {
  const std::string since = cursor();
  EXPECT_TRUE(feed.changes_since(since));
  for (const char* wrong : {"", "x", "7.1", "7.1-", "7.1-x", "7.1--1", "7.1-99", "8.1-0", "7.2-0",
                            "7.1-99999999999999999999999"})
    EXPECT_EQ(feed.changes_since(wrong), std::nullopt) << wrong;
  for (std::size_t i = 0; i <= LiveFeed::kMostChanges; ++i) feed.internal_error("x");
  EXPECT_EQ(feed.changes_since(since), std::nullopt);
}

TEST_F(LiveFeedTest, ALongAnswerComesInParts) {
  std::string since = cursor();
  const std::string text(10'000, 'x');
  for (int i = 0; i < 300; ++i) feed.internal_error(text);
  std::size_t count = 0;
  for (int i = 0; i < 10 && count < 300; ++i) {
    const std::optional<std::string> json = feed.changes_since(since);
    ASSERT_TRUE(json);
    EXPECT_LE(json->size(), LiveFeed::kMostAnswered + 20'000);
    EXPECT_THAT(json->substr(0, 100), HasSubstr(count + 100 < 300 ? "\"isAll\": false" : "isAll"));
    count += changes(since).size();
  }
  EXPECT_EQ(count, 300u);
}

TEST_F(LiveFeedTest, RecordingEndsWhenNobodyAsksAnyMore) {
  std::string since = cursor();
  run_to(20s);
  EXPECT_TRUE(feed.recording());
  EXPECT_THAT(changes(since), IsEmpty());
  run_to(45s);
  EXPECT_TRUE(feed.recording());
  run_to(61s);
  EXPECT_FALSE(feed.recording());
  EXPECT_THAT(changes(since), ElementsAre("take a snapshot"));
  // Later cursors are others.
  EXPECT_NE(cursor(), since);
  EXPECT_EQ(feed.changes_since(since), std::nullopt);
}

TEST_F(LiveFeedTest, ThoseWhoAskAtTheSameTimeShareASnapshot) {
  add_node("n1");
  const std::shared_ptr<const std::string> first = take();
  EXPECT_EQ(take(), first);
  run_to(2s);
  EXPECT_NE(take(), first);
}

TEST_F(LiveFeedTest, ManyPodsAreCollectedInSlices) {
  add_node("n1");
  for (int i = 0; i < 2000; ++i)
    apply(DeltaType::kAdded, Ref<const Pod>(world.pod(fmt::format("p{}", i))
                                                .uid(fmt::format("u{}", i))
                                                .scheduler("somebody-else")));
  std::optional<bool> taken;
  feed.snapshot([&](const auto& json) { taken = json != nullptr; });
  int other_turns = 0;
  std::function<void()> other = [&] {
    if (++other_turns < 3) loop.post([&] { other(); });
  };
  other();
  EXPECT_EQ(snapshot().find("pods")->items.size(), 2000u);
  EXPECT_EQ(taken, true);
  EXPECT_EQ(other_turns, 3);
}

TEST_F(LiveFeedTest, WithoutAnEngineThereIsNoSnapshot) {
  feed.let_go();
  EXPECT_EQ(take(), nullptr);
}

}  // namespace
}  // namespace berth::testing
