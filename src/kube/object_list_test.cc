#include "kube/object_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "base/testing/names.h"
#include "berth/pod.h"
#include "kube/testing/fake_api_client.h"

namespace berth::kube::testing {
namespace {

const WatchedKind kServices{ObjectKind::kService, "v1", "Service", "services", "", {}};
const WatchedKind kPods{ObjectKind::kPod, "v1", "Pod", "pods", "status.phase!=Failed", {}};
const WatchedKind kJobs{ObjectKind::kJob, "batch/v1", "Job", "jobs", "", {}};

std::string service(std::string_view name) {
  return fmt::format(R"({{"metadata":{{"name":"{}","namespace":"shop","uid":"u"}}}})", name);
}

std::string page(std::string_view kind, const std::vector<std::string>& items,
                 std::string_view next = "", std::string_view version = "7") {
  return fmt::format(
      R"({{"kind":"{}","apiVersion":"v1","metadata":{{"resourceVersion":"{}","continue":"{}"}},)"
      R"("items":[{}]}})",
      kind, version, next, fmt::join(items, ","));
}

class ObjectListTest : public ::testing::Test {
 protected:
  std::expected<ObjectList, ApiFailure> list(const WatchedKind& kind, std::size_t page_size = 500) {
    std::optional<std::expected<ObjectList, ApiFailure>> result;
    TaskSet tasks;
    tasks.spawn(
        keep(list_objects(client, kind, {.where = "https://h", .page_size = page_size}, interner),
             result));
    loop.run_until(loop.now());
    if (!result) return std::unexpected(ApiFailure{{ErrorKind::kTimeout, "it never ended"}, {}});
    return *std::move(result);
  }
  static Task<void> keep(Task<std::expected<ObjectList, ApiFailure>> task,
                         std::optional<std::expected<ObjectList, ApiFailure>>& result) {
    result = co_await task;
  }
  static std::vector<std::string> names(const ObjectList& list) {
    std::vector<std::string> out;
    for (const ManifestObject& object : list.objects) out.push_back(object.name);
    return out;
  }

  VirtualLoop loop;
  FakeApiClient client{loop};
  Interner interner;
};

TEST_F(ObjectListTest, AnObjectIsAsAManifestHasIt) {
  client.script(answered(page("PodList", {R"({"metadata":{"name":"p","namespace":"shop",)"
                                          R"("managedFields":[{"manager":"m"}]},)"
                                          R"("spec":{"nodeName":"n1","unknown":[1, 2]}})"})));
  const auto listed = list(kPods);
  ASSERT_TRUE(listed) << listed.error().error.message;
  ASSERT_THAT(listed->objects, SizeIs(1));
  const ManifestObject& pod = listed->objects[0];
  EXPECT_EQ(pod.kind, ObjectKind::kPod);
  EXPECT_EQ(pod.api_version, "v1");
  EXPECT_EQ(pod.kind_text, "Pod");
  EXPECT_EQ(pod.namespace_name, "shop");
  EXPECT_EQ(pod.name, "p");
  EXPECT_EQ(pod.where, "https://h");
  EXPECT_EQ(std::get<Ref<const Pod>>(pod.object)->name(), "p");
  EXPECT_EQ(pod.json,
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"shop",)"
            R"("managedFields":[{"manager":"m"}]},"spec":{"nodeName":"n1","unknown":[1, 2]}})");
  // What was read is what read_manifest() reads from the same text.
  const auto manifest = read_manifest(pod.json, "f", interner);
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->at(0).json, pod.json);
  EXPECT_EQ(listed->resource_version, "7");
}

TEST_F(ObjectListTest, AnObjectThatSaysWhatItIsStaysAsItIs) {
  const std::string job =
      R"({ "apiVersion":"batch/v1","metadata":{"name":"j","namespace":"a"},"kind":"Job"})";
  client.script(answered(page("JobList", {job})));
  const auto listed = list(kJobs);
  ASSERT_TRUE(listed) << listed.error().error.message;
  EXPECT_EQ(listed->objects.at(0).json, job);
  // Workloads are not decoded.
  EXPECT_TRUE(std::holds_alternative<std::monostate>(listed->objects.at(0).object));
}

TEST_F(ObjectListTest, AListWithoutObjects) {
  for (const char* items : {R"(,"items":null})", R"(,"items":[]})", "}"}) {
    client.script(answered(R"({"kind":"ServiceList","metadata":{"resourceVersion":"3"})" +
                           std::string(items)));
    const auto listed = list(kServices);
    ASSERT_TRUE(listed) << items;
    EXPECT_THAT(listed->objects, IsEmpty());
    EXPECT_EQ(listed->resource_version, "3");
  }
}

TEST_F(ObjectListTest, AsksForPagesUntilThereAreNoMore) {
  client.script(answered(page("ServiceList", {service("a"), service("b")}, "to&ken")));
  client.script(answered(page("ServiceList", {service("c")}, "other")));
  client.script(answered(page("ServiceList", {service("d")})));
  const auto listed = list(kServices, 2);
  ASSERT_TRUE(listed) << listed.error().error.message;
  EXPECT_THAT(names(*listed), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(client.requests(), ElementsAre("GET /api/v1/services?limit=2",
                                             "GET /api/v1/services?continue=to%26ken&limit=2",
                                             "GET /api/v1/services?continue=other&limit=2"));
  for (const ApiCall& call : client.calls()) EXPECT_EQ(call.accept, "application/json");
}

TEST_F(ObjectListTest, AsksForWhatTheKindIsRestrictedTo) {
  client.script(answered(page("PodList", {})));
  ASSERT_TRUE(list(kPods));
  EXPECT_THAT(client.requests(),
              ElementsAre("GET /api/v1/pods?fieldSelector=status.phase%21%3DFailed&limit=500"));
}

TEST_F(ObjectListTest, PagesThatTookTooLongAreAskedForAllAtOnce) {
  client.script(answered(page("ServiceList", {service("a"), service("b")}, "token", "7")));
  client.script(refused(410, "Expired", "The provided continue parameter is too old"));
  client.script(answered(page("ServiceList", {service("b"), service("c")}, "", "9")));
  const auto listed = list(kServices, 2);
  ASSERT_TRUE(listed) << listed.error().error.message;
  EXPECT_THAT(names(*listed), ElementsAre("b", "c"));
  EXPECT_EQ(listed->resource_version, "9");
  EXPECT_EQ(client.requests().back(), "GET /api/v1/services");
}

TEST_F(ObjectListTest, WhatExpiresWithoutPagesIsAnError) {
  client.script(refused(410, "Expired", "too old"));
  const auto first = list(kServices);
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().status.code, 410);
  // A server that cuts the whole list into pages, and forgets them too, is not asked for ever.
  client.script(answered(page("ServiceList", {service("a")}, "token")));
  client.script(refused(410, "Expired", "too old"));
  client.script(answered(page("ServiceList", {service("a")}, "token")));
  client.script(refused(410, "Expired", "still too old"));
  const auto second = list(kServices);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().error.message, "still too old");
}

TEST_F(ObjectListTest, ARefusalIsTheResult) {
  struct Row {
    int code;
    const char* reason;
  };
  for (const Row& row : {Row{404, "NotFound"}, Row{403, "Forbidden"}, Row{401, "Unauthorized"},
                         Row{500, "InternalError"}}) {
    client.script(answered(page("ServiceList", {service("a")}, "token")));
    client.script(refused(row.code, row.reason, "no"));
    const auto listed = list(kServices);
    ASSERT_FALSE(listed) << row.code;
    EXPECT_EQ(listed.error().status.code, row.code);
  }
  client.script(no_answer("connection refused"));
  EXPECT_EQ(list(kServices).error().error.message, "connection refused");
}

TEST_F(ObjectListTest, WhatIsNoListOfTheKindIsAnError) {
  struct Row {
    std::string body, message;
  };
  for (const Row& row : {
           Row{page("PodList", {}), "the answer is no ServiceList, but of kind \"PodList\""},
           Row{"{}", "the answer is no ServiceList, but of kind \"\""},
           Row{R"({"kind":"ServiceList","items":{}})",
               "the answer is no ServiceList: items: expected a list, got a map"},
       }) {
    client.script(answered(row.body));
    const auto listed = list(kServices);
    ASSERT_FALSE(listed) << row.body;
    EXPECT_EQ(listed.error().error.message, row.message);
    EXPECT_EQ(listed.error().status.code, 200);
  }
  for (const std::string body : {"", "<html>", R"({"kind":"ServiceList","items":[{"met)"}) {
    client.script(answered(body));
    const auto listed = list(kServices);
    ASSERT_FALSE(listed) << body;
    EXPECT_THAT(listed.error().error.message, StartsWith("the answer is no ServiceList: "));
  }
}

TEST_F(ObjectListTest, AnObjectThatCannotBeDecodedIsLeftOutAndNamed) {
  client.script(answered(
      page("PodList", {R"({"metadata":{"name":"odd","namespace":"a"},"spec":{"priority":"high"}})",
                       R"({"metadata":{"name":"good","namespace":"a"},"spec":{}})"})));
  const auto listed = list(kPods);
  ASSERT_TRUE(listed) << listed.error().error.message;
  EXPECT_THAT(names(*listed), ElementsAre("good"));
  EXPECT_THAT(listed->undecodable, ElementsAre(StartsWith("Pod a/odd: spec.priority: ")));
}

}  // namespace
}  // namespace berth::kube::testing
