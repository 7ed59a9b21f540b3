// What a server may say instead of an answer, and what is asked for then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "kube/reflector.h"
#include "kube/testing/reflector_rig.h"

namespace berth::kube::testing {
namespace {

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

class RefusedInEitherFormat : public ::testing::TestWithParam<BodyFormat> {};
INSTANTIATE_TEST_SUITE_P(, RefusedInEitherFormat,
                         ::testing::Values(BodyFormat::kJson, BodyFormat::kProtobuf),
                         [](const auto& each) {
                           return each.param == BodyFormat::kJson ? "Json" : "Protobuf";
                         });

// ---- versions that the server does not have

struct Expiry {
  const char* what;
  bool as_event;
  int code;
  const char* reason;
};

class WhenExpired : public ::testing::TestWithParam<Expiry> {};
INSTANTIATE_TEST_SUITE_P(, WhenExpired,
                         ::testing::Values(Expiry{"Code", false, 410, "Gone"},
                                           Expiry{"Event", true, 410, "Expired"},
                                           Expiry{"ReasonAlone", true, 0, "Expired"}),
                         [](const auto& each) { return each.param.what; });

TEST_P(WhenExpired, ListsAgainAtTheLastVersionAndThenAtNone) {
  Rig rig;
  rig.sync({pod_json("same", 3), pod_json("changed", 4), pod_json("gone", 5), pod_json("anew", 6)});
  rig.pass(minutes(6));
  rig.end();
  const Expiry& expiry = GetParam();
  if (expiry.as_event) {
    rig.watch(rig.words.event("ERROR", status_json(expiry.code, expiry.reason, "too old")));
  } else {
    rig.refuse(expiry.code, expiry.reason, "too old");
  }
  rig.next_request();
  EXPECT_THAT(rig.path(),
              AllOf(HasSubstr("&resourceVersion=10&"), HasSubstr("&sendInitialEvents=true&")));
  if (expiry.as_event) {
    rig.watch(rig.words.event("ERROR", status_json(expiry.code, expiry.reason, "too old")));
  } else {
    rig.refuse(expiry.code, expiry.reason, "too old");
  }
  EXPECT_THAT(rig.path(),
              AllOf(Not(HasSubstr("resourceVersion=")), HasSubstr("&sendInitialEvents=true&")));
  rig.watch(rig.words.event("ADDED", pod_json("same", 3)) +
            rig.words.event("ADDED", pod_json("changed", 60)) +
            rig.words.event("ADDED", pod_json("anew", 61, "another-uid")) +
            rig.words.event("ADDED", pod_json("new", 62)) + rig.words.bookmark("Pod", 70, true));
  EXPECT_THAT(rig.taken(), ElementsAre("~changed@60", "-anew@6", "+anew@61", "+new@62", "-gone@5"));
  rig.pass(minutes(6));
  rig.end();
  EXPECT_THAT(rig.path(), HasSubstr("&resourceVersion=70&"));
}

TEST(Reflector, AVersionBeyondTheServersIsGivenUp) {
  Rig rig;
  rig.sync({pod_json("a", 3), pod_json("b", 9)});
  rig.pass(minutes(6));
  rig.end();
  constexpr std::string_view kTooLarge =
      R"({"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}]})";
  rig.refuse(504, "Timeout", "Timeout: Too large resource version: 10, current: 5", kTooLarge);
  rig.next_request();
  rig.refuse(504, "Timeout", "Timeout: Too large resource version: 10, current: 5", kTooLarge);
  EXPECT_THAT(rig.path(), Not(HasSubstr("resourceVersion=")));
  // The store was set back: its word counts, older as it is.
  rig.watch(rig.words.event("ADDED", pod_json("a", 2)) + rig.words.bookmark("Pod", 5, true));
  EXPECT_THAT(rig.taken(), ElementsAre("-a@3", "+a@2", "-b@9"));
  rig.say(rig.words.event("MODIFIED", pod_json("a", 6)));
  EXPECT_THAT(rig.taken(), ElementsAre("~a@6"));
}

TEST(Reflector, APlainListAtAnExpiredVersionIsAskedForWithoutOne) {
  Rig rig(BodyFormat::kProtobuf, {kNodes}, {.streaming_lists = false});
  rig.answer_list(rig.words.list("Node", 10, {node_json("a", 3)}));
  rig.refuse(410, "Expired", "too old");
  rig.next_request();
  EXPECT_EQ(rig.path(), "/api/v1/nodes?resourceVersion=10");
  rig.refuse(410, "Expired", "too old");
  EXPECT_EQ(rig.path(), "/api/v1/nodes?limit=500");
  rig.answer_list(rig.words.list("Node", 90, {node_json("b", 80)}));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@3", "+b@80", "-a@3"));
}

TEST(Reflector, AServerThatHasNoVersionAtAllIsNotAskedWithoutPause) {
  Rig rig;
  for (int i = 0; i < 20; ++i) {
    rig.refuse(410, "Expired", "too old");
    if (rig.stream().ended()) rig.next_request();
  }
  EXPECT_GT(rig.loop.now().since_start, seconds(60));
}

// ---- other refusals

TEST(Reflector, TooManyRequestsMeansLater) {
  Rig rig;
  rig.refuse(429, "TooManyRequests", "wait", R"({"retryAfterSeconds":7})");
  EXPECT_GE(rig.next_request(), seconds(7));
  EXPECT_THAT(rig.path(), HasSubstr("&sendInitialEvents=true&"));
  rig.sync({pod_json("a", 3)});
  rig.pass(minutes(6));
  rig.end();
  rig.refuse(429, "TooManyRequests", "wait", R"({"retryAfterSeconds":9})");
  EXPECT_GE(rig.next_request(), seconds(9));
  EXPECT_THAT(rig.path(), AllOf(HasSubstr("&resourceVersion=10&"), Not(HasSubstr("sendInitial"))));
}

TEST(Reflector, InternalErrorsAreBorneForAWhile) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  rig.pass(minutes(6));
  rig.end();
  const TimePoint since = rig.loop.now();
  const std::string error = rig.words.event("ERROR", status_json(500, "InternalError", "etcd"));
  while (rig.path().find("sendInitialEvents") == std::string::npos &&
         rig.loop.now() - since < minutes(10)) {
    rig.watch(error);
    rig.next_request();
  }
  EXPECT_GE(rig.loop.now() - since, minutes(1));
  EXPECT_LT(rig.loop.now() - since, minutes(5));
  EXPECT_THAT(rig.path(), HasSubstr("&resourceVersion=10&"));
}

TEST(Reflector, NonsenseIsFollowedByANewList) {
  Rig rig;
  rig.sync({pod_json("a", 3)});
  rig.pass(minutes(6));
  rig.end();
  rig.stream().begin(200, "text/html");
  rig.settle();
  rig.next_request();
  EXPECT_THAT(rig.path(), HasSubstr("&sendInitialEvents=true&"));
  EXPECT_THAT(rig.log_text, HasSubstr("content type \\\"text/html\\\" cannot be read"));
}

TEST(Reflector, AForbiddenKindIsNamedOnceAndAskedForUntilItIsGranted) {
  const WatchedKind classes{
      ObjectKind::kStorageClass,      "storage.k8s.io/v1", "StorageClass", "storageclasses", "",
      {"VolumeBinding", "VolumeZone"}};
  Rig rig(BodyFormat::kProtobuf, {classes});
  bool told = false;
  rig.reflectors->on_synced([&told] { told = true; });
  constexpr std::string_view kForbidden =
      "storageclasses.storage.k8s.io is forbidden: User \\\"x\\\" cannot list resource";
  for (int i = 0; i < 3; ++i) {
    rig.refuse(403, "Forbidden", kForbidden);  // the streaming list
    rig.refuse(403, "Forbidden", kForbidden);  // the plain one
    EXPECT_THAT(rig.reflectors->unsynced(),
                ElementsAre("storageclasses.storage.k8s.io: storageclasses.storage.k8s.io is "
                            "forbidden: User \"x\" cannot list resource"));
    rig.next_request();
  }
  const std::string line = "Not allowed to list and watch a resource that scheduling needs";
  const std::size_t first = rig.log_text.find(line);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(rig.log_text.find(line, first + 1), std::string::npos);
  EXPECT_THAT(rig.log_text.substr(first), HasSubstr("resource=\"storageclasses.storage.k8s.io\" "
                                                    "neededBy=[\"VolumeBinding\",\"VolumeZone\"]"));
  EXPECT_THAT(rig.log_text, HasSubstr("failed to list *v1.StorageClass: "));
  EXPECT_FALSE(told);
  rig.watch(rig.words.bookmark("StorageClass", 10, true, "storage.k8s.io/v1"));
  EXPECT_TRUE(rig.reflectors->synced());
  EXPECT_TRUE(told);
  EXPECT_THAT(rig.reflectors->unsynced(), IsEmpty());
}

// ---- custom resources

const WatchedKind kCranes = other_kind("cranes.v1.example.com", {"Harbour"});

std::string crane(const char* name, int version) {
  return fmt::format(
      R"({{"apiVersion":"example.com/v1","kind":"Crane","metadata":{{"name":"{}","namespace":"port","resourceVersion":"{}"}}}})",
      name, version);
}

TEST(Reflector, ACustomResourceThatIsNotThereYetKeepsNobodyWaitingAndComesWhenItComes) {
  Rig rig(BodyFormat::kJson, {kCranes});
  EXPECT_THAT(rig.path(), HasSubstr("/apis/example.com/v1/cranes?"));
  EXPECT_EQ(rig.stream().call().accept, "application/json");
  rig.refuse(404, "NotFound", "the server could not find the requested resource");
  rig.refuse(404, "NotFound", "the server could not find the requested resource");
  EXPECT_TRUE(rig.reflectors->synced());
  const std::string line = "The API server does not have a resource yet that plugins read";
  const std::size_t first = rig.log_text.find(line);
  ASSERT_NE(first, std::string::npos);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rig.next_request(), seconds(5));
    rig.refuse(404, "NotFound", "still not");
    rig.refuse(404, "NotFound", "still not");
  }
  EXPECT_EQ(rig.log_text.find(line, first + 1), std::string::npos) << "it is said once";
  rig.next_request();
  rig.watch(rig.words.event("ADDED", crane("a", 3)) +
            rig.words.bookmark("Crane", 10, true, "example.com/v1"));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@3"));
}

TEST(Reflector, ACustomResourceThatGoesTakesItsObjectsWithIt) {
  Rig rig(BodyFormat::kJson, {kCranes});
  rig.watch(rig.words.event("ADDED", crane("a", 3)) +
            rig.words.bookmark("Crane", 10, true, "example.com/v1"));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@3"));
  rig.pass(minutes(6));
  rig.end();
  rig.refuse(404, "NotFound", "gone");  // the watch
  rig.next_request();
  rig.refuse(404, "NotFound", "gone");
  rig.refuse(404, "NotFound", "gone");
  EXPECT_THAT(rig.taken(), ElementsAre("-a@3"));
  EXPECT_TRUE(rig.reflectors->synced());
}

TEST(Reflector, AnyOtherKindThatIsNotThereIsWaitedFor) {
  Rig rig;
  rig.refuse(404, "NotFound", "no pods");
  rig.refuse(404, "NotFound", "no pods");
  EXPECT_FALSE(rig.reflectors->synced());
}

TEST_P(RefusedInEitherFormat, AnObjectThatCannotBeReadIsNamedAndTheOthersGoOn) {
  Rig rig(GetParam());
  rig.watch(rig.words.unreadable_pod_event("ADDED", "odd", 4) +
            rig.words.event("ADDED", pod_json("a", 5)) + rig.words.bookmark("Pod", 10, true));
  EXPECT_THAT(rig.taken(), ElementsAre("+a@5"));
  EXPECT_THAT(rig.log_text, HasSubstr("An object cannot be read and is passed over"));
  EXPECT_THAT(rig.log_text, HasSubstr("object=\"default/odd\""));
  // It counts for where the watch is.
  rig.say(rig.words.unreadable_pod_event("MODIFIED", "odd", 15));
  rig.pass(minutes(6));
  rig.end();
  EXPECT_THAT(rig.path(), HasSubstr("&resourceVersion=15&"));
}

TEST_P(RefusedInEitherFormat, WhatWasKnownOfAnObjectThatCannotBeReadStaysUntilItGoes) {
  telemetry::Registry registry;
  telemetry::WatchMetrics metrics(registry);
  Rig rig(GetParam(), {kPods}, {.metrics = &metrics});
  rig.sync({pod_json("a", 5)});
  for (const std::uint64_t version : {11U, 12U, 13U})
    rig.say(rig.words.unreadable_pod_event("MODIFIED", "a", version));
  EXPECT_THAT(rig.taken(), IsEmpty());
  EXPECT_EQ(metrics.undecodable_objects.counter({"pods"}).value(), 3U);
  EXPECT_EQ(occurrences(rig.log_text, "An object cannot be read"), 1U) << rig.log_text;
  rig.say(rig.words.unreadable_pod_event("DELETED", "a", 14));
  EXPECT_THAT(rig.taken(), ElementsAre("-a@5"));
}

}  // namespace
}  // namespace berth::kube::testing
