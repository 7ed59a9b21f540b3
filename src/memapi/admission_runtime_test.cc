// RuntimeClasses and LimitRanges at the door. Texts as kube-apiserver gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

constexpr const char* kRuntimes = "/apis/node.k8s.io/v1/runtimeclasses";
constexpr const char* kRanges = "/api/v1/namespaces/default/limitranges";
constexpr const char* kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";

std::string pod_with(std::string_view resources, std::string_view more = "") {
  return R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":)" +
         std::string(resources) + "}]" + std::string(more) + "}}";
}

struct RuntimeClassTest : public ::testing::Test {
  RuntimeClassTest() {
    client.ask("POST", kRuntimes,
               R"({"metadata":{"name":"vm"},"handler":"vm","overhead":{"podFixed":{"cpu":"250m"}},)"
               R"("scheduling":{"nodeSelector":{"vm":"yes"},"tolerations":[{"key":"vm"}]}})");
    EXPECT_EQ(client.code, 201);
  }
  Client client;
};

TEST_F(RuntimeClassTest, GivesPodsItsOverheadAndPlaces) {
  const JsonValue pod =
      client.ask("POST", std::string(kPods), pod_with("{}", R"(,"runtimeClassName":"vm")"));
  EXPECT_EQ(text_at(pod, "spec.overhead.cpu"), "250m");
  EXPECT_EQ(text_at(pod, "spec.nodeSelector.vm"), "yes");
  EXPECT_EQ(text_at(items_at(pod, "spec.tolerations")[0], "key"), "vm");
}

TEST_F(RuntimeClassTest, RefusesPodsThatSayOtherwise) {
  struct Case {
    const char* spec;
    const char* message;
  };
  for (const Case& one :
       {Case{R"(,"runtimeClassName":"no")",
             "pods \"p\" is forbidden: pod rejected: RuntimeClass \"no\" not found"},
        Case{R"(,"overhead":{"cpu":"1"})",
             "pods \"p\" is forbidden: pod rejected: Pod Overhead set without corresponding "
             "RuntimeClass defined Overhead"},
        Case{R"(,"runtimeClassName":"vm","overhead":{"cpu":"1"})",
             "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's "
             "defined Overhead"},
        Case{R"(,"runtimeClassName":"vm","nodeSelector":{"vm":"no"})",
             "pods \"p\" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; "
             "pod.spec.nodeSelector[vm] = no"}}) {
    EXPECT_EQ(client.message("POST", std::string(kPods), pod_with("{}", one.spec)), one.message);
    EXPECT_EQ(client.code, 403);
  }
}

struct LimitRangeTest : public ::testing::Test {
  void limit(std::string_view limits) {
    client.ask("POST", kRanges,
               R"({"metadata":{"name":"l"},"spec":{"limits":[)" + std::string(limits) + "]}}");
    ASSERT_EQ(client.code, 201);
  }
  Client client;
};

TEST_F(LimitRangeTest, FillsInWhatContainersDoNotSay) {
  limit(
      R"({"type":"Container","default":{"cpu":"1","memory":"1Gi"},"defaultRequest":{"cpu":"100m"}})");
  const JsonValue pod =
      client.ask("POST", std::string(kPods), pod_with(R"({"limits":{"cpu":"2"}})"));
  const JsonValue& container = items_at(pod, "spec.containers")[0];
  EXPECT_EQ(text_at(container, "resources.limits.cpu"), "2");
  EXPECT_EQ(text_at(container, "resources.requests.cpu"), "2");
  EXPECT_EQ(text_at(container, "resources.limits.memory"), "1Gi");
  EXPECT_EQ(text_at(container, "resources.requests.memory"), "1Gi");
  EXPECT_EQ(at(pod, "metadata.annotations")->members[0].value.text,
            "LimitRanger plugin set: memory request for container c; memory limit for container c");
}

TEST_F(LimitRangeTest, RefusesWhatIsOutOfBounds) {
  limit(
      R"({"type":"Container","max":{"cpu":"1"}},{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"}})");
  EXPECT_EQ(client.message("POST", std::string(kPods), pod_with(R"({"limits":{"cpu":"2"}})")),
            "pods \"p\" is forbidden: maximum cpu usage per Container is 1, but limit is 2");
  EXPECT_EQ(client.code, 403);
  EXPECT_EQ(
      client.message("POST", kClaims,
                     R"({"metadata":{"name":"v"},"spec":{"accessModes":["ReadWriteOnce"],)"
                     R"("resources":{"requests":{"storage":"1Mi"}}}})"),
      "persistentvolumeclaims \"v\" is forbidden: minimum storage usage per PersistentVolumeClaim "
      "is 1Gi, but request is 1Mi");
}

TEST_F(LimitRangeTest, CountsTheContainersOfAPodTogether) {
  limit(R"({"type":"Pod","max":{"cpu":"1"}})");
  EXPECT_EQ(client.message("POST", std::string(kPods),
                           R"({"metadata":{"name":"p"},"spec":{"containers":[)"
                           R"({"name":"a","image":"i","resources":{"limits":{"cpu":"600m"}}},)"
                           R"({"name":"b","image":"i","resources":{"limits":{"cpu":"600m"}}}]}})"),
            "pods \"p\" is forbidden: maximum cpu usage per Pod is 1, but limit is 1200m");
}

}  // namespace
}  // namespace berth::memapi::testing
