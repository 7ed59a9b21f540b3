// Lists and watches that work, or are cut, and go on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "kube/reflector.h"
#include "kube/testing/reflector_rig.h"

namespace berth::kube::testing {
namespace {

class InEitherFormat : public ::testing::TestWithParam<BodyFormat> {};
INSTANTIATE_TEST_SUITE_P(, InEitherFormat,
                         ::testing::Values(BodyFormat::kJson, BodyFormat::kProtobuf),
                         [](const auto& each) {
                           return each.param == BodyFormat::kJson ? "Json" : "Protobuf";
                         });

constexpr std::string_view kSelector =
    "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

// ---- lists

TEST(Reflector, FirstAsksForAStreamingList) {
  Rig rig;
  ASSERT_EQ(rig.client.streams(), 1U);
  EXPECT_THAT(rig.path(),
              MatchesRegex(fmt::format(
                  "/api/v1/pods\\?allowWatchBookmarks=true&{}&resourceVersionMatch=NotOlderThan"
                  "&sendInitialEvents=true&timeout=[0-9]m[0-9]+s&timeoutSeconds=[345][0-9][0-9]"
                  "&watch=true",
                  kSelector)));
  EXPECT_GT(rig.stream().call().timeout, seconds(300));
}

TEST_P(InEitherFormat, AStreamingListCountsWhenItIsWholeAndGoesOnAsTheWatch) {
  Rig rig(GetParam());
  rig.watch(rig.words.event("ADDED", pod_json("a", 3)) +
            rig.words.event("ADDED", pod_json("b", 4)));
  rig.say(rig.words.bookmark("Pod", 5));
  EXPECT_THAT(rig.taken(), IsEmpty());
  EXPECT_FALSE(rig.reflectors->synced());
  EXPECT_THAT(rig.reflectors->unsynced(), ElementsAre("pods"));
  rig.say(rig.words.bookmark("Pod", 10, true) + rig.words.event("MODIFIED", pod_json("a", 11)));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@3", "+b@4", "~a@11"));
  EXPECT_TRUE(rig.reflectors->synced());
  rig.say(rig.words.event("DELETED", pod_json("b", 12)));
  EXPECT_THAT(rig.taken(), ElementsAre("-b@12"));
  EXPECT_EQ(rig.client.streams(), 1U);
}

TEST_P(InEitherFormat, AServerWithoutStreamingListsIsAskedForPages) {
  Rig rig(GetParam());
  rig.refuse(422, "Invalid", "sendInitialEvents is forbidden");
  EXPECT_EQ(rig.path(), fmt::format("/api/v1/pods?{}&limit=500&resourceVersion=0", kSelector));
  rig.answer_list(rig.words.list("Pod", 10, {pod_json("a", 3), pod_json("b", 4)}, "next page"));
  EXPECT_EQ(rig.path(), fmt::format("/api/v1/pods?continue=next%20page&{}&limit=500", kSelector));
  EXPECT_THAT(rig.taken(), IsEmpty());
  rig.answer_list(rig.words.list("Pod", 10, {pod_json("c", 5)}));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@3", "+b@4", "+c@5"));
  EXPECT_TRUE(rig.reflectors->synced());
  EXPECT_THAT(rig.path(), MatchesRegex(fmt::format(
                              "/api/v1/pods\\?allowWatchBookmarks=true&{}&resourceVersion=10"
                              "&timeout=[0-9]m[0-9]+s&timeoutSeconds=[345][0-9][0-9]&watch=true",
                              kSelector)));
  rig.watch(rig.words.event("DELETED", pod_json("a", 12)));
  EXPECT_THAT(rig.taken(), ElementsAre("-a@12"));
}

TEST(Reflector, TheGateTurnsStreamingListsOff) {
  Rig rig(BodyFormat::kProtobuf, {kNodes}, {.streaming_lists = false});
  EXPECT_EQ(rig.path(), "/api/v1/nodes?limit=500&resourceVersion=0");
}

TEST(Reflector, AListWhosePagesExpireIsAskedForInOne) {
  Rig rig(BodyFormat::kProtobuf, {kNodes}, {.streaming_lists = false});
  rig.answer_list(rig.words.list("Node", 10, {node_json("a", 3), node_json("gone", 4)}, "t"));
  rig.refuse(410, "Expired", "The provided continue parameter is too old");
  EXPECT_EQ(rig.path(), "/api/v1/nodes?resourceVersion=0");
  rig.answer_list(rig.words.list("Node", 20, {node_json("a", 3), node_json("b", 15)}));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@3", "+b@15"));
  EXPECT_THAT(rig.path(), HasSubstr("&resourceVersion=20&"));
}

TEST(Reflector, AListThatBreaksOffIsTriedAgainAndLeavesNoTrace) {
  Rig rig(BodyFormat::kProtobuf, {kNodes}, {.streaming_lists = false});
  rig.stream().begin(200, rig.words.body_type());
  const std::string body = rig.words.list("Node", 10, {node_json("a", 3), node_json("b", 4)});
  rig.stream().chunk(std::string_view(body).substr(0, body.size() - 10));
  rig.end();
  EXPECT_THAT(rig.taken(), IsEmpty());
  EXPECT_THAT(rig.reflectors->unsynced(), ElementsAre("nodes: the list broke off"));
  rig.next_request();
  rig.answer_list(rig.words.list("Node", 12, {node_json("a", 3)}));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@3"));
}

// ---- resuming

TEST_P(InEitherFormat, AWatchThatEndsGoesOnFromTheLastVersion) {
  Rig rig(GetParam());
  rig.sync({pod_json("a", 3)});
  rig.say(rig.words.event("ADDED", pod_json("b", 11)));
  rig.pass(minutes(6));
  rig.end();
  EXPECT_THAT(rig.path(), AllOf(HasSubstr("&resourceVersion=11&"), Not(HasSubstr("sendInitial"))));
  rig.watch(rig.words.bookmark("Pod", 500));
  rig.pass(minutes(6));
  rig.end(fail(ErrorKind::kUnavailable, "connection reset by peer"));
  EXPECT_THAT(rig.path(), HasSubstr("&resourceVersion=500&"));
  EXPECT_THAT(rig.taken(), ElementsAre("+b@11"));
}

TEST_P(InEitherFormat, AnEventThatWasCutComesAgainAndNothingComesTwice) {
  Rig rig(GetParam());
  rig.sync({pod_json("a", 3)});
  const std::string cut = rig.words.event("ADDED", pod_json("c", 13));
  rig.say(rig.words.event("ADDED", pod_json("b", 11)) +
          rig.words.event("DELETED", pod_json("b", 12)) + cut.substr(0, cut.size() / 2));
  rig.end(fail(ErrorKind::kUnavailable, "connection reset by peer"));
  EXPECT_THAT(rig.path(), HasSubstr("&resourceVersion=12&"));
  // A server that tells more than it was asked for.
  rig.watch(rig.words.event("ADDED", pod_json("b", 11)) +
            rig.words.event("DELETED", pod_json("b", 12)) + cut + cut);
  EXPECT_THAT(rig.taken(), ElementsAre("+b@11", "-b@12", "+c@13"));
}

TEST(Reflector, WithoutAnAnswerItTriesAgainFromTheSameVersion) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  rig.pass(minutes(3));
  rig.end();
  Duration longest = milliseconds(800);
  for (int i = 0; i < 8; ++i) {
    rig.stream().end(fail(ErrorKind::kUnavailable, "connection refused"));
    const Duration delay = rig.next_request();
    EXPECT_GE(delay, longest);
    EXPECT_LT(delay, 2 * longest);
    EXPECT_THAT(rig.path(), AllOf(HasSubstr("&resourceVersion=10&"), Not(HasSubstr("sendIni"))));
    longest = std::min<Duration>(2 * longest, seconds(30));
  }
  // Two minutes of health, and the next trouble is the first again.
  rig.watch(rig.words.bookmark("Pod", 20));
  rig.pass(minutes(3));
  rig.end();
  rig.stream().end(fail(ErrorKind::kUnavailable, "connection refused"));
  EXPECT_LT(rig.next_request(), milliseconds(1600));
  EXPECT_THAT(rig.taken(), IsEmpty());
}

TEST(Reflector, AVeryShortWatchWithoutEventsIsAnError) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  rig.pass(seconds(5));
  rig.end();
  rig.watch("");
  rig.end();
  EXPECT_GE(rig.next_request(), milliseconds(800));
  EXPECT_THAT(rig.path(),
              AllOf(HasSubstr("&resourceVersion=10&"), HasSubstr("&sendInitialEvents=true&")));
}

TEST(Reflector, WatchesThatOnlyEndAreNotAskedForWithoutPause) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  for (std::uint64_t i = 0; i < 20; ++i) {
    rig.watch(rig.words.bookmark("Pod", 11 + i));
    rig.end();
    if (rig.stream().ended()) rig.next_request();
  }
  EXPECT_GT(rig.loop.now().since_start, seconds(60));
}

TEST(Reflector, WatchesThatEndSoonAfterManyEventsAreAskedForAgainAtOnce) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  std::uint64_t version = 10;
  for (int i = 0; i < 20; ++i) {
    std::string many;
    for (const std::uint64_t last = version + 50; version < last;) {
      ++version;
      many += rig.words.event("ADDED", pod_json("p" + std::to_string(version), version));
    }
    rig.watch(many);
    rig.end();
    ASSERT_FALSE(rig.stream().ended()) << "round " << i;
  }
  EXPECT_EQ(rig.loop.now().since_start, seconds(0));
}

}  // namespace
}  // namespace berth::kube::testing
