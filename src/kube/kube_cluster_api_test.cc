#include "kube/kube_cluster_api.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "api/kinds.h"
#include "api/proto_json.h"
#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "kube/testing/fake_api_client.h"

namespace berth::kube::testing {
namespace {

constexpr std::string_view kUid = "3b39e09b-c3ab-45e2-945f-cfbbbe88b9c0";

class KubeClusterApiTest : public ::testing::Test {
 protected:
  Ref<const Pod> pod() { return world.pod("a").uid(std::string(kUid)); }

  template <typename T>
  std::optional<Result<T>> run(Task<Result<T>> task, Duration limit = seconds(5)) {
    const auto outcome = std::make_shared<std::optional<Result<T>>>();
    tasks.spawn(keep(std::move(task), outcome));
    loop.run_until(loop.now() + limit);
    return *outcome;
  }
  template <typename T>
  static Task<void> keep(Task<Result<T>> task, std::shared_ptr<std::optional<Result<T>>> into) {
    Result<T> result = co_await task;
    *into = std::move(result);
  }

  static PodStatusPatch nominate() { return {.nominated_node_name = "n1"}; }

  berth::testing::World world;
  VirtualLoop loop;
  FakeApiClient client{loop};
  FakeApiClient protobuf_client{loop, BodyFormat::kProtobuf};
  FakeApiClient events_client{loop};
  std::string log_text;
  EventRecorder events{
      loop, events_client, Random(1),
      EventRecorderOptions{.hostname = "vm",
                           .component = "default-scheduler",
                           .log = telemetry::Log(std::make_shared<telemetry::LogOutput>(
                               telemetry::LogOptions{}, [] { return WallTime{}; },
                               std::make_unique<telemetry::StringSink>(log_text)))}};
  KubeClusterApi api{loop, client, world.interner, events, Random(7)};
  KubeClusterApi protobuf_api{loop, protobuf_client, world.interner, events, Random(7)};
  TaskSet tasks;
};

TEST_F(KubeClusterApiTest, ABindingIsWhatUpstreamSends) {
  client.script(answered(R"({"kind":"Status","status":"Success"})", 201));
  EXPECT_TRUE(run(api.bind(pod(), "n1")).value());
  ASSERT_EQ(client.calls().size(), 1u);
  const ApiCall& call = client.calls()[0];
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.path, "/api/v1/namespaces/default/pods/a/binding");
  EXPECT_EQ(call.content_type, "application/json");
  EXPECT_EQ(call.urgency, Urgency::kHigh);
  EXPECT_EQ(call.body,
            R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"a","namespace":"default",)"
            R"("uid":"3b39e09b-c3ab-45e2-945f-cfbbbe88b9c0"},"target":{"kind":"Node",)"
            R"("name":"n1"}})");
}

TEST_F(KubeClusterApiTest, BodiesAreInTheFormatOfTheClient) {
  protobuf_client.script(answered("", 201));
  protobuf_client.script(answered(""));
  EXPECT_TRUE(run(protobuf_api.bind(pod(), "n1")).value());
  EXPECT_TRUE(run(protobuf_api.evict(pod())).value());
  client.script(answered("", 201));
  client.script(answered(""));
  EXPECT_TRUE(run(api.bind(pod(), "n1")).value());
  EXPECT_TRUE(run(api.evict(pod())).value());
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(protobuf_client.calls().at(i).content_type, kProtoContentType);
    EXPECT_EQ(envelope_to_json(protobuf_client.calls().at(i).body), client.calls().at(i).body);
  }
}

// The pod as the server has it.
ApiResult stored(std::string_view uid, std::string_view node) {
  return answered(fmt::format(
      R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"a","namespace":"default",)"
      R"("uid":"{}"}},"spec":{{"nodeName":"{}","containers":[{{"name":"c"}}]}}}})",
      uid, node));
}

TEST_F(KubeClusterApiTest, ABindingIsTriedFourTimesWhereThatCanHelp) {
  struct Case {
    ApiResult answer;
    std::size_t tries;
  };
  const Case cases[] = {
      {refused(500, "InternalError", "x"), 4},
      {refused(500, "", "x"), 4},
      {refused(503, "ServiceUnavailable", "x"), 4},
      {no_answer("dial tcp 127.0.0.1:6443: connect: connection refused"), 4},
      {refused(409, "Conflict", "x"), 1},
      {refused(409, "", "x"), 1},
      {refused(404, "NotFound", R"(pods "a" not found)"), 1},
      {refused(403, "Forbidden", "x"), 1},
      {refused(504, "Timeout", "x"), 1},
      {no_answer("context deadline exceeded", ErrorKind::kTimeout), 1},
      {no_answer("connection reset by peer"), 1},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.answer.error().status.reason + test.answer.error().error.message);
    std::size_t tries = 0;
    client.set_responder([&](const ApiCall& call) -> std::optional<ApiResult> {
      if (call.method == "GET") return stored(kUid, "");
      ++tries;
      return test.answer;
    });
    const auto bound = run(api.bind(pod(), "n1"), seconds(6));
    ASSERT_TRUE(bound && !*bound);
    EXPECT_EQ(bound->error(), test.answer.error().error);
    EXPECT_EQ(tries, test.tries);
  }
}

TEST_F(KubeClusterApiTest, ALaterTryOfABindingMaySucceed) {
  client.script(no_answer("dial tcp 127.0.0.1:6443: connect: connection refused"));
  client.script(refused(503, "ServiceUnavailable", "x"));
  client.script(answered("", 201));
  EXPECT_TRUE(run(api.bind(pod(), "n1")).value());
  const std::string post = "POST /api/v1/namespaces/default/pods/a/binding";
  EXPECT_THAT(client.requests(), ElementsAre(post, post, post)) << "nothing has to be looked up";
}

// The pod is read, whatever the last try was answered: an earlier one may have bound it.
TEST_F(KubeClusterApiTest, ABindingThatAnEarlierTryMayHaveDoneIsLookedUp) {
  const ApiResult internal = refused(500, "InternalError", "etcd");
  for (const ApiResult& then : {internal, refused(409, "Conflict", "pod a is already assigned"),
                                no_answer("connection refused"), refused(403, "Forbidden", "x")}) {
    for (const bool done : {true, false}) {
      bool first = true;
      client.set_responder([&](const ApiCall& call) -> std::optional<ApiResult> {
        if (call.method == "GET") return stored(kUid, done ? "n1" : "");
        return std::exchange(first, false) ? internal : then;
      });
      const auto bound = run(api.bind(pod(), "n1"), seconds(4));
      ASSERT_TRUE(bound);
      EXPECT_EQ(bound->has_value(), done);
      if (!done) {
        EXPECT_EQ(bound->error(), then.error().error);
      }
    }
  }
}

// No answer and a conflict with ourselves may both hide a success.
TEST_F(KubeClusterApiTest, ABindingOfWhichNobodyKnowsIsLookedUp) {
  const ApiResult lost = no_answer("Post \"https://k/binding\": unexpected EOF");
  const ApiResult conflict = refused(409, "Conflict", "pod a is already assigned");
  struct Case {
    ApiResult answer;
    ApiResult read;
    bool bound;
  };
  const Case cases[] = {
      {lost, stored(kUid, "n1"), true},
      {lost, stored(kUid, "n2"), false},
      {lost, stored(kUid, ""), false},
      {lost, stored("another", "n1"), false},
      {lost, refused(404, "NotFound", "gone"), false},
      {no_answer("context deadline exceeded", ErrorKind::kTimeout), stored(kUid, "n1"), true},
      {conflict, stored(kUid, "n1"), true},
      {conflict, stored(kUid, "n2"), false},
      {refused(504, "Timeout", "etcd"), stored(kUid, "n1"), true},
  };
  for (const Case& test : cases) {
    client.script(test.answer);
    client.script(test.read);
    // Without an answer it may still be under way: then the look comes later.
    const bool answered = test.answer.error().status.code != 0;
    const auto bound = run(api.bind(pod(), "n1"), answered ? seconds(4) : seconds(6));
    ASSERT_TRUE(bound);
    EXPECT_EQ(bound->has_value(), test.bound);
    if (!*bound) {
      EXPECT_EQ(bound->error(), test.answer.error().error);
    }
    EXPECT_EQ(client.requests().back(), "GET /api/v1/namespaces/default/pods/a");
  }
}

TEST_F(KubeClusterApiTest, ABindingThatNobodyCanLookUpHasFailed) {
  client.set_responder([](const ApiCall&) { return no_answer("unexpected EOF"); });
  const auto bound = run(api.bind(pod(), "n1"), seconds(35));
  ASSERT_TRUE(bound);
  EXPECT_FALSE(*bound);
  EXPECT_EQ(client.calls().size(), 6U);
}

TEST_F(KubeClusterApiTest, AStatusIsPatched) {
  client.script(answered());
  EXPECT_TRUE(run(api.patch_status(pod(), nominate())).value());
  ASSERT_EQ(client.calls().size(), 1u);
  const ApiCall& call = client.calls()[0];
  EXPECT_EQ(call.method, "PATCH");
  EXPECT_EQ(call.path, "/api/v1/namespaces/default/pods/a/status");
  EXPECT_EQ(call.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(call.urgency, Urgency::kNormal);
  EXPECT_EQ(call.body, R"({"status":{"nominatedNodeName":"n1"}})");
}

TEST_F(KubeClusterApiTest, TheVersionIsThePreconditionAndTheAnswer) {
  client.script(answered(R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"8"}})"));
  PodStatusPatch patch = nominate();
  patch.version = "7";
  const auto patched = run(api.patch_status(pod(), patch));
  EXPECT_EQ(patched.value().value(), "8");
  EXPECT_EQ(client.calls()[0].body,
            R"({"metadata":{"resourceVersion":"7"},"status":{"nominatedNodeName":"n1"}})");

  client.set_responder(
      [](const ApiCall&) { return std::optional(refused(409, "Conflict", "modified")); });
  const auto refused_patch = run(api.patch_status(pod(), patch));
  EXPECT_EQ(refused_patch->error().kind, ErrorKind::kConflict);
  EXPECT_EQ(client.calls().size(), 2u) << "the same version will not do in a moment either";
}

TEST_F(KubeClusterApiTest, TheVersionInAProtobufAnswerIsFoundToo) {
  const Result<std::string> message = json_to_envelope(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","resourceVersion":"8"}})");
  ASSERT_TRUE(message) << message.error().message;
  client.script(answered(*message, 200, "application/vnd.kubernetes.protobuf"));
  EXPECT_EQ(run(api.patch_status(pod(), nominate())).value().value(), "8");
}

TEST_F(KubeClusterApiTest, NothingIsSentWhenNothingChanges) {
  EXPECT_TRUE(run(api.patch_status(world.pod("a").nominated("n1"), nominate())).value());
  EXPECT_TRUE(client.calls().empty());
}

TEST_F(KubeClusterApiTest, AStatusIsTriedFourTimesWhereThatCanHelp) {
  struct Case {
    ApiResult answer;
    std::size_t tries;
  };
  const Case cases[] = {
      {refused(409, "Conflict", "x"), 4},
      {refused(500, "InternalError", "x"), 4},
      {refused(500, "", "x"), 4},
      {refused(503, "ServiceUnavailable", "x"), 4},
      {no_answer("dial tcp 127.0.0.1:6443: connect: connection refused"), 4},
      {no_answer("GET https://127.0.0.1:6443: cannot connect: Connection refused"), 4},
      {no_answer("connection reset by peer"), 1},
      {no_answer("context deadline exceeded", ErrorKind::kTimeout), 1},
      {refused(404, "NotFound", "x"), 1},
      {refused(403, "Forbidden", "x"), 1},
      {refused(409, "AlreadyExists", "x"), 1},
      {refused(504, "Timeout", "x"), 1},
      {refused(422, "Invalid", "x"), 1},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.answer.error().status.reason + test.answer.error().error.message);
    const std::size_t before = client.calls().size();
    client.set_responder([&](const ApiCall&) { return std::optional(test.answer); });
    const auto patched = run(api.patch_status(pod(), nominate()));
    ASSERT_TRUE(patched && !*patched);
    EXPECT_EQ(patched->error(), test.answer.error().error);
    EXPECT_EQ(client.calls().size(), before + test.tries);
  }
}

TEST_F(KubeClusterApiTest, ThePausesBetweenTriesGrow) {
  std::vector<Duration> times;
  const TimePoint start = loop.now();
  client.set_responder([&](const ApiCall&) {
    times.push_back(loop.now() - start);
    return std::optional(times.size() < 4 ? refused(409, "Conflict", "x") : answered());
  });
  EXPECT_TRUE(run(api.patch_status(pod(), nominate())).value());
  ASSERT_EQ(times.size(), 4u);
  EXPECT_THAT(times[1] - times[0], AllOf(Ge(milliseconds(10)), Le(milliseconds(11))));
  EXPECT_THAT(times[2] - times[1], AllOf(Ge(milliseconds(50)), Le(milliseconds(55))));
  EXPECT_THAT(times[3] - times[2], AllOf(Ge(milliseconds(250)), Le(milliseconds(275))));
}

TEST_F(KubeClusterApiTest, AVictimIsDeletedByItsUid) {
  client.script(answered());
  EXPECT_TRUE(run(api.evict(pod())).value());
  ASSERT_EQ(client.calls().size(), 1u);
  const ApiCall& call = client.calls()[0];
  EXPECT_EQ(call.method, "DELETE");
  EXPECT_EQ(call.path, "/api/v1/namespaces/default/pods/a");
  EXPECT_EQ(call.content_type, "application/json");
  EXPECT_EQ(call.body, R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":)"
                       R"({"uid":"3b39e09b-c3ab-45e2-945f-cfbbbe88b9c0"}})");
}

TEST_F(KubeClusterApiTest, AVictimThatIsGoneIsNotFound) {
  for (const ApiResult& answer : {refused(404, "NotFound", R"(pods "a" not found)"),
                                  refused(409, "Conflict", "the UID in the precondition (…)")}) {
    client.script(answer);
    const auto evicted = run(api.evict(pod()));
    ASSERT_TRUE(evicted && !*evicted);
    EXPECT_EQ(evicted->error().kind, ErrorKind::kNotFound);
  }
  client.script(refused(403, "Forbidden", "no"));
  const auto forbidden = run(api.evict(pod()));
  ASSERT_TRUE(forbidden && !*forbidden);
  EXPECT_EQ(forbidden->error(), (Error{ErrorKind::kForbidden, "no"}));
}

Task<void> keep_object(Task<Result<AnyObject>> task, std::string& message) {
  const Result<AnyObject> result = co_await task;
  message = result ? "written" : result.error().message;
}

TEST_F(KubeClusterApiTest, PodsAndNodesAreNotWrittenAsAWhole) {
  std::string message;
  tasks.spawn(keep_object(api.update(AnyObject(pod())), message));
  EXPECT_EQ(message, "a Pod is not written as a whole");
  const Ref<const Object> node = world.node("n1").build();
  tasks.spawn(keep_object(api.update(AnyObject(node)), message));
  EXPECT_EQ(message, "a Node is not written");
  tasks.spawn(keep_object(api.create(AnyObject(node)), message));
  EXPECT_EQ(message, "a Node is not written");
  EXPECT_TRUE(client.calls().empty());
}

TEST_F(KubeClusterApiTest, EventsGoToTheirOwnClient) {
  events_client.answer(answered());
  PodEvent event;
  event.pod = pod();
  event.reason = "Scheduled";
  api.record(std::move(event));
  loop.run_until(loop.now());
  EXPECT_TRUE(client.calls().empty());
  EXPECT_THAT(events_client.requests(),
              ElementsAre("GET /apis/events.k8s.io/v1",
                          "POST /apis/events.k8s.io/v1/namespaces/default/events"));
}

TEST_F(KubeClusterApiTest, ACallThatNobodyWaitsForIsGivenUp) {
  const auto outcome = std::make_shared<std::optional<Result<void>>>();
  {
    TaskSet short_lived;
    short_lived.spawn(keep(api.bind(pod(), "n1"), outcome));
    EXPECT_EQ(client.waiting(), 1u);
  }
  EXPECT_EQ(client.given_up(), 1u);
  EXPECT_FALSE(*outcome);
}

}  // namespace
}  // namespace berth::kube::testing
