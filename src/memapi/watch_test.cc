#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

const std::string kWatchedPods(kPods);

std::string after_now(const Client& client) {
  return "&resourceVersion=" + std::to_string(client.server.version());
}

TEST(Watch, TellsWhatHappensInOrder) {
  Client client;
  const auto watch = client.send("GET", "/api/v1/pods?watch=true" + after_now(client));
  client.ask("POST", kWatchedPods, pod_json("p"));
  client.ask("PATCH", kWatchedPods + "/p", R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
  client.ask("DELETE", kWatchedPods + "/p");
  EXPECT_THAT(watch->events(), ElementsAre("ADDED p", "MODIFIED p", "DELETED p"));
  const JsonValue last = parse_json(watch->chunks.back()).value();
  EXPECT_EQ(text_at(last, "object.metadata.resourceVersion"),
            std::to_string(client.server.version()));
  EXPECT_EQ(text_at(last, "object.kind"), "Pod");
}

TEST(Watch, BeginsInThePast) {
  Client client;
  const std::string from = after_now(client);
  client.ask("POST", kWatchedPods, pod_json("a"));
  client.ask("POST", kWatchedPods, pod_json("b"));
  EXPECT_THAT(client.send("GET", "/api/v1/pods?watch=true" + from)->events(),
              ElementsAre("ADDED a", "ADDED b"));
}

TEST(Watch, WhoLeavesTheSelectionIsDeletedWhoEntersIsAdded) {
  Client client;
  client.ask("POST", kWatchedPods, pod_json("p"));
  const auto watch = client.send(
      "GET", "/api/v1/pods?watch=true&fieldSelector=status.phase!%3DSucceeded" + after_now(client));
  for (const char* phase : {"Succeeded", "Failed", "Running"}) {
    client.ask("PATCH", kWatchedPods + "/p/status",
               std::string(R"({"status":{"phase":")") + phase + R"("}})", kMergePatch);
  }
  EXPECT_THAT(watch->events(), ElementsAre("DELETED p", "ADDED p", "MODIFIED p"));
  // As it last was in the selection, with the version of the change that took it out.
  const JsonValue left = parse_json(watch->chunks[0]).value();
  EXPECT_EQ(text_at(left, "object.status.phase"), "Pending");
  EXPECT_EQ(text_at(left, "object.metadata.resourceVersion"),
            std::to_string(client.server.version() - 2));
}

TEST(Watch, InitialEventsEndWithABookmark) {
  Client client;
  client.ask("POST", kWatchedPods, pod_json("p"));
  const std::string options =
      "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks="
      "true";
  EXPECT_THAT(client.send("GET", "/api/v1/pods" + options)->events(),
              ElementsAre("ADDED p", "BOOKMARK (initial end)"));
  EXPECT_THAT(client.send("GET", "/api/v1/services" + options)->events(),
              ElementsAre("BOOKMARK (initial end)"));
}

TEST(Watch, WithoutAVersionTheStateComesFirst) {
  Client client;
  client.ask("POST", kWatchedPods, pod_json("p"));
  EXPECT_THAT(client.send("GET", "/api/v1/pods?watch=1")->events(), ElementsAre("ADDED p"));
  EXPECT_THAT(client.send("GET", "/api/v1/namespaces/kube-system/pods?watch=1")->events(),
              IsEmpty());
}

TEST(Watch, TooOldAVersionIsAnErrorInTheStream) {
  ApiServerOptions options;
  options.limits.history_bytes = 1;
  Client client(options);
  for (const char* name : {"a", "b", "c"}) client.ask("POST", kWatchedPods, pod_json(name));
  const auto watch = client.send("GET", "/api/v1/pods?watch=1&resourceVersion=1");
  EXPECT_EQ(watch->response.status, 200);
  ASSERT_EQ(watch->chunks.size(), 1u);
  EXPECT_THAT(watch->chunks[0], HasSubstr(R"("message":"too old resource version: 1 ()"));
  EXPECT_THAT(watch->chunks[0], HasSubstr(R"("code":410)"));
  EXPECT_TRUE(watch->ended);
  EXPECT_EQ(client.server.watchers(), 0u);
}

// As etcd does it. Whoever asks has seen a server that was set back since.
TEST(Watch, FromAVersionThatIsStillToComeOnlyLaterOnesAreTold) {
  Client client;
  const auto watch = client.send(
      "GET", "/api/v1/pods?watch=1&resourceVersion=" + std::to_string(client.server.version() + 2));
  for (const char* name : {"a", "b", "c"}) client.ask("POST", kWatchedPods, pod_json(name));
  EXPECT_THAT(watch->events(), ElementsAre("ADDED c"));
}

TEST(Watch, EndsWhenItsTimeIsOver) {
  Client client;
  const auto watch = client.send(
      "GET", "/api/v1/pods?watch=1&timeoutSeconds=10&allowWatchBookmarks=true" + after_now(client));
  client.loop.run_until(TimePoint{std::chrono::seconds(9)});
  EXPECT_THAT(watch->events(), ElementsAre("BOOKMARK"));
  EXPECT_FALSE(watch->ended);
  client.loop.run_until(TimePoint{std::chrono::seconds(10)});
  EXPECT_TRUE(watch->ended);
  EXPECT_EQ(client.server.watchers(), 0u);
}

TEST(Watch, BookmarksOnceAMinuteForThoseWhoWantThem) {
  Client client;
  client.server.start();
  const auto wants =
      client.send("GET", "/api/v1/pods?watch=1&allowWatchBookmarks=true" + after_now(client));
  const auto does_not = client.send("GET", "/api/v1/pods?watch=1" + after_now(client));
  client.loop.run_until(TimePoint{std::chrono::seconds(61)});
  EXPECT_THAT(wants->events(), ElementsAre("BOOKMARK"));
  EXPECT_THAT(does_not->events(), IsEmpty());
}

TEST(Watch, WhoDoesNotReadIsCut) {
  Client client;
  client.server.start();
  const auto watch = client.send("GET", "/api/v1/pods?watch=1" + after_now(client));
  watch->capacity = 1;
  for (const char* name : {"a", "b", "c"}) client.ask("POST", kWatchedPods, pod_json(name));
  EXPECT_EQ(watch->chunks.size(), 1u);
  client.loop.run_until(TimePoint{std::chrono::seconds(61)});
  EXPECT_EQ(client.server.watchers(), 0u);
}

TEST(Watch, WhoIsGoneIsForgotten) {
  Client client;
  const auto watch = client.send("GET", "/api/v1/pods?watch=1" + after_now(client));
  EXPECT_EQ(client.server.watchers(), 1u);
  watch->gone();
  EXPECT_EQ(client.server.watchers(), 0u);
}

TEST(Watch, AsATableOnlyTheFirstEventHasColumns) {
  Client client;
  const auto watch = client.send("GET", "/api/v1/pods?watch=1" + after_now(client), "", "",
                                 "application/json;as=Table;v=v1;g=meta.k8s.io");
  client.ask("POST", kWatchedPods, pod_json("a"));
  client.ask("POST", kWatchedPods, pod_json("b"));
  EXPECT_FALSE(
      items_at(parse_json(watch->chunks.at(0)).value(), "object.columnDefinitions").empty());
  EXPECT_THAT(watch->chunks.at(1), HasSubstr(R"("columnDefinitions":null)"));
}

TEST(Watch, ABookmarkAsATableIsARowOfTheLittleThatItSays) {
  Client client;
  const auto watch = client.send("GET",
                                 "/api/v1/configmaps?watch=1&allowWatchBookmarks=true&"
                                 "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                                 "includeObject=None",
                                 "", "", "application/json;as=Table;v=v1;g=meta.k8s.io");
  ASSERT_EQ(watch->chunks.size(), 1U);
  const JsonValue event = parse_json(watch->chunks[0]).value();
  EXPECT_EQ(text_at(event, "type"), "BOOKMARK");
  EXPECT_FALSE(items_at(event, "object.columnDefinitions").empty());
  const JsonValue& row = items_at(event, "object.rows").at(0);
  EXPECT_EQ(text_at(row, "object.kind"), "PartialObjectMetadata");
  EXPECT_EQ(items_at(row, "cells").size(), items_at(event, "object.columnDefinitions").size());
}

}  // namespace
}  // namespace berth::memapi::testing
