#include "kube/object_writes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode.h"
#include "api/devices.h"
#include "api/storage.h"
#include "api/testing/builders.h"
#include "base/testing/names.h"
#include "kube/testing/fake_api_client.h"

namespace berth::kube::testing {
namespace {

std::string volume_claim(const char* version, const char* annotations = "") {
  return std::string(R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":)") +
         R"({"name":"c","namespace":"ns","resourceVersion":")" + version + "\"" + annotations +
         R"(},"spec":{"unknown":"kept"}})";
}
std::string claim(const char* version, const char* finalizers = "", const char* status = "") {
  return std::string(R"({"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":)") +
         R"({"name":"c","namespace":"ns","uid":"u-c","resourceVersion":")" + version + "\"" +
         finalizers + R"(},"spec":{"unknown":"kept"})" + status + "}";
}

struct ObjectWritesTest : ::testing::Test {
  berth::testing::World world;
  VirtualLoop loop;
  FakeApiClient client{loop, BodyFormat::kProtobuf};
  ObjectWrites writes{client, world.interner};
  TaskSet tasks;

  template <typename T>
  static Task<void> keep(Task<Result<T>> task, std::optional<Result<T>>& into) {
    Result<T> result = co_await task;
    into = std::move(result);
  }
  template <typename T>
  Result<T> run(Task<Result<T>> task) {
    std::optional<Result<T>> outcome;
    tasks.spawn(keep(std::move(task), outcome));
    loop.run_until(loop.now());
    if (!outcome) return fail(ErrorKind::kInternal, "no answer yet");
    return *outcome;
  }
  template <typename T>
  Ref<T> decode(ObjectKind kind, const std::string& json) {
    const Result<AnyObject> object = decode_object(kind, json, world.interner, nullptr);
    return make_ref<T>(static_cast<const T&>(*std::get<Ref<const Object>>(object.value())));
  }
  Ref<const Object> selected(const char* version) {
    auto object =
        decode<PersistentVolumeClaim>(ObjectKind::kPersistentVolumeClaim, volume_claim(version));
    object->selected_node = object->symbols.intern("n1");
    return object;
  }
};

constexpr const char* kSelected = R"(,"annotations":{"volume.kubernetes.io/selected-node":"n1"})";
constexpr const char* kFinalizers = R"(,"finalizers":["f"])";

TEST_F(ObjectWritesTest, TheStoredObjectIsWrittenWithOurFieldsInIt) {
  client.script(answered(volume_claim("3")));
  client.script(answered(volume_claim("4", kSelected)));
  const Result<AnyObject> written = run(writes.update(selected("3"), WrittenPart::kObject));
  ASSERT_TRUE(written);
  EXPECT_EQ(std::get<Ref<const Object>>(*written)->resource_version, "4");
  EXPECT_THAT(client.requests(), ElementsAre("GET /api/v1/namespaces/ns/persistentvolumeclaims/c",
                                             "PUT /api/v1/namespaces/ns/persistentvolumeclaims/c"));
  EXPECT_EQ(client.calls()[1].body, volume_claim("3", kSelected));
  EXPECT_EQ(client.calls()[1].content_type, "application/json");
  EXPECT_EQ(client.calls()[1].accept, "application/json");
}

TEST_F(ObjectWritesTest, AVolumeHasNoNamespace) {
  client.script(refused(404, "NotFound", "persistentvolumes \"v\" not found"));
  auto volume = make_ref<PersistentVolume>(world.interner.hold());
  volume->name = "v";
  EXPECT_EQ(run(writes.update(volume, WrittenPart::kObject)).error(),
            (Error{ErrorKind::kNotFound, "persistentvolumes \"v\" not found"}));
  EXPECT_THAT(client.requests(), ElementsAre("GET /api/v1/persistentvolumes/v"));
}

TEST_F(ObjectWritesTest, AnotherVersionIsAConflictInTheServersWords) {
  client.script(answered(volume_claim("4")));
  EXPECT_EQ(run(writes.update(selected("3"), WrittenPart::kObject)).error(),
            (Error{ErrorKind::kConflict,
                   "Operation cannot be fulfilled on persistentvolumeclaims \"c\": the object has "
                   "been modified; please apply your changes to the latest version and try "
                   "again"}));
  EXPECT_EQ(client.calls().size(), 1U) << "nothing was written";
}

TEST_F(ObjectWritesTest, SomebodyWhoIsFasterBetweenReadAndWriteIsAConflictToo) {
  client.script(answered(volume_claim("3")));
  client.script(refused(409, "Conflict", "the object has been modified"));
  EXPECT_EQ(run(writes.update(selected("3"), WrittenPart::kObject)).error(),
            (Error{ErrorKind::kConflict, "the object has been modified"}));
}

TEST_F(ObjectWritesTest, OfTwoWritesInARowTheSecondNeedNotRead) {
  client.script(answered(claim("5")));
  client.script(answered(claim("6", kFinalizers)));
  client.script(answered(claim("7", kFinalizers, R"(,"status":{"reservedFor":[]})")));
  auto first = decode<ResourceClaim>(ObjectKind::kResourceClaim, claim("5"));
  first->finalizers = {"f"};
  const Result<AnyObject> second = run(writes.update(first, WrittenPart::kObject));
  ASSERT_TRUE(second);
  auto with_consumer = make_ref<ResourceClaim>(
      static_cast<const ResourceClaim&>(*std::get<Ref<const Object>>(*second)));
  with_consumer->status.reserved_for.push_back(
      {Symbol(), with_consumer->symbols.intern("pods"), "p", "u-p"});
  ASSERT_TRUE(run(writes.update(with_consumer, WrittenPart::kStatus)));
  constexpr const char* kPath = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c";
  EXPECT_THAT(client.requests(),
              ElementsAre(std::string("GET ") + kPath, std::string("PUT ") + kPath,
                          std::string("PUT ") + kPath + "/status"));
  EXPECT_EQ(client.calls()[2].body,
            claim("6", kFinalizers,
                  R"(,"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u-p"}]})"));
}

// What the last answer had is not asked again, but it is not believed either when the caller knows
// another version.
TEST_F(ObjectWritesTest, ANewerVersionThanTheLastAnswersIsRead) {
  client.script(answered(volume_claim("3")));
  client.script(answered(volume_claim("4", kSelected)));
  ASSERT_TRUE(run(writes.update(selected("3"), WrittenPart::kObject)));
  client.script(answered(volume_claim("9")));
  client.script(answered(volume_claim("10", kSelected)));
  ASSERT_TRUE(run(writes.update(selected("9"), WrittenPart::kObject)));
  EXPECT_EQ(client.calls().size(), 4U);
  EXPECT_EQ(client.calls()[3].body, volume_claim("9", kSelected));
}

TEST_F(ObjectWritesTest, AClaimIsCreatedUnderAGeneratedName) {
  client.script(answered(claim("1"), 201));
  auto made = make_ref<ResourceClaim>(world.interner.hold());
  made->namespace_name = made->symbols.intern("ns");
  made->generate_name = "p-extended-resources-";
  const Result<AnyObject> created = run(writes.create(made));
  ASSERT_TRUE(created);
  EXPECT_EQ(std::get<Ref<const Object>>(*created)->name, "c");
  EXPECT_THAT(client.requests(),
              ElementsAre("POST /apis/resource.k8s.io/v1/namespaces/ns/resourceclaims"));
  EXPECT_NE(client.calls()[0].body.find(R"("generateName":"p-extended-resources-")"),
            std::string::npos);
}

TEST_F(ObjectWritesTest, AClaimIsRemovedIfItIsStillTheSame) {
  const auto gone = decode<ResourceClaim>(ObjectKind::kResourceClaim, claim("1"));
  client.script(answered("{}"));
  EXPECT_TRUE(run(writes.remove(gone)));
  client.script(refused(409, "Conflict", "Precondition failed: UID"));
  EXPECT_EQ(run(writes.remove(gone)).error().kind, ErrorKind::kNotFound);
  client.script(no_answer("connection refused"));
  EXPECT_EQ(run(writes.remove(gone)).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(client.calls()[0].method, "DELETE");
  EXPECT_NE(client.calls()[0].body.find("u-c"), std::string::npos);
}

TEST_F(ObjectWritesTest, AReservationIsTakenBackWithUpstreamsPatch) {
  client.script(answered("{}"));
  const auto reserved = decode<ResourceClaim>(ObjectKind::kResourceClaim, claim("1"));
  EXPECT_TRUE(run(writes.unreserve(reserved, "u-p")));
  const ApiCall& call = client.calls()[0];
  EXPECT_EQ(call.method, "PATCH");
  EXPECT_EQ(call.path, "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status");
  EXPECT_EQ(call.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(call.body,
            R"({"metadata": {"uid": "u-c"}, "status": { "reservedFor": [ {"$patch": "delete", )"
            R"("uid": "u-p"} ] }})");
}

TEST_F(ObjectWritesTest, AFreshReadIsAsStored) {
  client.script(answered(claim("8", kFinalizers)));
  const Result<AnyObject> got = run(writes.get(ObjectKind::kResourceClaim, "ns", "c"));
  ASSERT_TRUE(got);
  EXPECT_EQ(static_cast<const ResourceClaim&>(*std::get<Ref<const Object>>(*got)).finalizers.size(),
            1U);
  client.script(answered("no JSON"));
  EXPECT_FALSE(run(writes.get(ObjectKind::kResourceClaim, "ns", "c")));
}

}  // namespace
}  // namespace berth::kube::testing
