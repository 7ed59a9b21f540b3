#include "app/pod_group_controller.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/names.h"
#include "kube/testing/fake_api_client.h"
#include "telemetry/log.h"

namespace berth::app {
namespace {

// An API server that is played: its streams for pods and PodGroups, and the patches it gets.
struct PodGroupControllerTest : ::testing::Test {
  VirtualLoop loop;
  Interner interner;
  kube::testing::FakeApiClient client{loop};
  std::string log_text;
  PodGroupController controller{loop, client, interner, Random(7),
                                telemetry::Log(std::make_shared<telemetry::LogOutput>(
                                    telemetry::LogOptions{}, [this] { return loop.wall_now(); },
                                    std::make_unique<telemetry::StringSink>(log_text)))};
  int version = 10;

  void settle() { loop.run_until(loop.now()); }
  kube::testing::FakeApiClient::Stream& stream_of(std::string_view resource) {
    for (std::size_t i = client.streams(); i-- > 0;)
      if (client.stream_at(i).call().path.find(resource) != std::string::npos)
        return client.stream_at(i);
    ADD_FAILURE() << "nobody watches " << resource;
    return client.last_stream();
  }
  void begin() {
    controller.start();
    settle();
    for (const char* resource : {"/pods?", "/podgroups?"}) {
      stream_of(resource).begin();
      say(resource, R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9",)"
                    R"("annotations":{"k8s.io/initial-events-end":"true"}}}})");
    }
  }
  void say(std::string_view resource, const std::string& event) {
    stream_of(resource).chunk(event + "\n");
    settle();
  }
  void group(std::string_view type, const std::string& status, int min_member = 2) {
    say("/podgroups?",
        fmt::format(
            R"({{"type":"{}","object":{{"apiVersion":"scheduling.x-k8s.io/v1alpha1","kind":"PodGroup",)"
            R"("metadata":{{"name":"gang","namespace":"ml","resourceVersion":"{}"}},)"
            R"("spec":{{"minMember":{}}},"status":{}}}}})",
            type, ++version, min_member, status));
  }
  void pod(std::string_view type, const std::string& name, const std::string& phase) {
    say("/pods?",
        fmt::format(
            R"({{"type":"{}","object":{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}",)"
            R"("namespace":"ml","uid":"{}","resourceVersion":"{}",)"
            R"("labels":{{"scheduling.x-k8s.io/pod-group":"gang"}},)"
            R"("ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"train",)"
            R"("uid":"j","controller":true}}]}},)"
            R"("spec":{{"containers":[{{"name":"c"}}]}},"status":{{"phase":"{}"}}}}}})",
            type, name, name, ++version, phase));
  }
  // The status that is written next, which the server then has and shows.
  std::string written() {
    settle();
    if (client.waiting() == 0) return "nothing";
    const kube::ApiCall call = client.waiting_call();
    EXPECT_EQ(call.method, "PATCH");
    EXPECT_EQ(call.path, "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/ml/podgroups/gang/status");
    EXPECT_EQ(call.content_type, "application/merge-patch+json");
    client.answer(kube::testing::answered());
    settle();
    return call.body;
  }
};

TEST_F(PodGroupControllerTest, FollowsAGroupFromItsFirstPodToItsEnd) {
  begin();
  EXPECT_THAT(stream_of("/pods?").call().path,
              AllOf(HasSubstr("labelSelector=scheduling.x-k8s.io%2Fpod-group"),
                    Not(HasSubstr("fieldSelector"))));
  group("ADDED", "{}");
  EXPECT_EQ(
      written(),
      R"({"status":{"phase":"Pending","occupiedBy":null,"running":null,"succeeded":null,"failed":null}})");
  group("MODIFIED", R"({"phase":"Pending"})");
  EXPECT_EQ(written(), "nothing");
  pod("ADDED", "a", "Pending");
  EXPECT_EQ(written(), "nothing") << "two are wanted";
  pod("ADDED", "b", "Pending");
  EXPECT_THAT(written(), HasSubstr(R"("phase":"Scheduling","occupiedBy":"ml/train")"));
  group("MODIFIED", R"({"phase":"Scheduling","occupiedBy":"ml/train"})");
  EXPECT_EQ(written(), "nothing");
  pod("MODIFIED", "a", "Running");
  EXPECT_THAT(written(), HasSubstr(R"("phase":"Scheduling","occupiedBy":"ml/train","running":1)"));
  group("MODIFIED", R"({"phase":"Scheduling","occupiedBy":"ml/train","running":1})");
  pod("MODIFIED", "b", "Running");
  EXPECT_THAT(written(), HasSubstr(R"("phase":"Running","occupiedBy":"ml/train","running":2)"));
  group("MODIFIED", R"({"phase":"Running","occupiedBy":"ml/train","running":2})");
  pod("MODIFIED", "a", "Succeeded");
  EXPECT_THAT(written(), HasSubstr(R"("running":1,"succeeded":1)"));
  group("MODIFIED", R"({"phase":"Running","occupiedBy":"ml/train","running":1,"succeeded":1})");
  pod("MODIFIED", "b", "Succeeded");
  EXPECT_THAT(written(), HasSubstr(R"("phase":"Finished")"));
  group("MODIFIED", R"({"phase":"Finished","occupiedBy":"ml/train","succeeded":2})");
  pod("DELETED", "a", "Succeeded");
  EXPECT_EQ(written(), "nothing") << "it has ended";
}

TEST_F(PodGroupControllerTest, TriesAgainWhatIsRefused) {
  begin();
  group("ADDED", "{}");
  client.answer(kube::testing::refused(500, "InternalError", "etcd"));
  settle();
  EXPECT_THAT(log_text, HasSubstr("The status of a PodGroup could not be written"));
  EXPECT_EQ(client.waiting(), 0U);
  loop.run_until(loop.now() + 5s);
  EXPECT_THAT(written(), HasSubstr("Pending"));
}

TEST_F(PodGroupControllerTest, SaysNothingOfAGroupThatIsGone) {
  begin();
  group("ADDED", "{}");
  client.answer(kube::testing::refused(404, "NotFound", "gone"));
  settle();
  group("DELETED", "{}");
  loop.run_until(loop.now() + 60s);
  EXPECT_EQ(written(), "nothing");
  EXPECT_THAT(log_text, Not(HasSubstr("could not be written")));
}

TEST_F(PodGroupControllerTest, WritesNothingAfterItWasStopped) {
  begin();
  controller.stop();
  EXPECT_EQ(client.waiting(), 0U);
  loop.run_until(loop.now() + 60s);
  EXPECT_EQ(client.waiting(), 0U);
}

}  // namespace
}  // namespace berth::app
