#include "api/owned_fields.h"

#include <gtest/gtest.h>

#include "api/decode.h"
#include "api/devices.h"
#include "api/storage.h"
#include "api/testing/builders.h"

namespace berth {
namespace {

// Objects as an API server has them, with fields that we know nothing of.
constexpr std::string_view kVolume =
    R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"v","uid":"u-v",)"
    R"("resourceVersion":"7","managedFields":[{"manager":"m"}],"annotations":{"mine":"yes"}},)"
    R"("spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"mountOptions":["a"],)"
    R"("csi":{"driver":"d","volumeHandle":"h","secret":"s"}},"status":{"phase":"Available"}})";
constexpr std::string_view kVolumeClaim =
    R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c",)"
    R"("namespace":"ns","resourceVersion":"3"},"spec":{"accessModes":["ReadWriteOnce"],)"
    R"("dataSource":{"kind":"Snapshot"},"resources":{"requests":{"storage":"1Gi"}}},)"
    R"("status":{"phase":"Pending"}})";
constexpr std::string_view kStoredClaim =
    R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c",)"
    R"("namespace":"ns","uid":"u-c","resourceVersion":"5"},)"
    R"("spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu",)"
    R"("allocationMode":"ExactCount","count":1}}]},"later":1}})";
constexpr std::string_view kAllocatedClaim =
    R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c",)"
    R"("namespace":"ns","uid":"u-c","resourceVersion":"5","finalizers":["x"]},)"
    R"("spec":{"devices":{}},"status":{"allocation":{"devices":{"results":[{"request":"r",)"
    R"("driver":"d","pool":"p","device":"dev-1","later":true}]},"later":"kept"},)"
    R"("devices":[{"driver":"d","pool":"p","device":"dev-1","data":{"a":1}}],)"
    R"("reservedFor":[{"resource":"pods","name":"p0","uid":"u-0"}]}})";

struct OwnedFields : ::testing::Test {
  berth::testing::World world;

  template <typename T>
  Ref<T> decode(ObjectKind kind, std::string_view json) {
    Result<AnyObject> object = decode_object(kind, json, world.interner, nullptr);
    if (!object) throw std::runtime_error(object.error().message);
    return make_ref<T>(static_cast<const T&>(*std::get<Ref<const Object>>(*object)));
  }
  std::string laid(std::string_view stored, const Object& object,
                   WrittenPart part = WrittenPart::kObject) {
    Result<JsonValue> json = lay_over(parse_json(stored).value(), object, part, world.interner);
    return json ? to_json(*json) : json.error().message;
  }
  // Of a text that appears once.
  static std::string with(std::string text, std::string_view what, std::string_view replacement) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return at == std::string::npos ? text : text.replace(at, what.size(), replacement);
  }
};

TEST_F(OwnedFields, OfAVolumeClaimRefAndItsAnnotation) {
  const auto volume = decode<PersistentVolume>(ObjectKind::kPersistentVolume, kVolume);
  EXPECT_EQ(laid(kVolume, *volume), kVolume) << "nothing has changed";
  volume->bound_by_controller = true;
  volume->claim_ref = ClaimReference{volume->symbols.intern("ns"), "c", "u-c", "3"};
  std::string expected = with(std::string(kVolume), R"("mine":"yes")",
                              R"("mine":"yes","pv.kubernetes.io/bound-by-controller":"yes")");
  expected = with(expected, R"("secret":"s"})",
                  R"("secret":"s"},"claimRef":{"kind":"PersistentVolumeClaim","namespace":"ns",)"
                  R"("name":"c","uid":"u-c","apiVersion":"v1","resourceVersion":"3"})");
  EXPECT_EQ(laid(kVolume, *volume), expected);
}

TEST_F(OwnedFields, OfAVolumeClaimTheSelectedNode) {
  const auto claim =
      decode<PersistentVolumeClaim>(ObjectKind::kPersistentVolumeClaim, kVolumeClaim);
  EXPECT_EQ(laid(kVolumeClaim, *claim), kVolumeClaim);
  claim->selected_node = claim->symbols.intern("n1");
  const std::string selected =
      with(std::string(kVolumeClaim), R"("resourceVersion":"3")",
           R"("resourceVersion":"3","annotations":{"volume.kubernetes.io/selected-node":"n1"})");
  EXPECT_EQ(laid(kVolumeClaim, *claim), selected);
  claim->selected_node.reset();
  EXPECT_EQ(laid(selected, *claim), with(std::string(kVolumeClaim), R"("resourceVersion":"3")",
                                         R"("resourceVersion":"3","annotations":{})"));
}

TEST_F(OwnedFields, OfAClaimItsFinalizers) {
  const auto claim = decode<ResourceClaim>(ObjectKind::kResourceClaim, kStoredClaim);
  claim->finalizers = {"resource.kubernetes.io/delete-protection"};
  // A status is not written with the object.
  claim->status.reserved_for.push_back({Symbol(), claim->symbols.intern("pods"), "p", "u"});
  EXPECT_EQ(laid(kStoredClaim, *claim),
            with(std::string(kStoredClaim), R"("resourceVersion":"5")",
                 R"("resourceVersion":"5","finalizers":["resource.kubernetes.io/)"
                 R"(delete-protection"])"));
  const auto other = decode<ResourceClaim>(ObjectKind::kResourceClaim, kAllocatedClaim);
  other->finalizers.clear();
  EXPECT_EQ(laid(kAllocatedClaim, *other),
            with(std::string(kAllocatedClaim), R"(,"finalizers":["x"])", ""));
}

TEST_F(OwnedFields, OfAClaimsStatusAllocationAndReservations) {
  const auto claim = decode<ResourceClaim>(ObjectKind::kResourceClaim, kStoredClaim);
  SymbolHold& symbols = claim->symbols;
  AllocationResult allocation;
  DeviceRequestAllocationResult result;
  result.request = symbols.intern("r");
  result.driver = symbols.intern("d");
  result.pool = symbols.intern("p");
  result.device = symbols.intern("dev-2");
  allocation.results.push_back(result);
  claim->status.allocation = allocation;
  claim->status.reserved_for.push_back({Symbol(), symbols.intern("pods"), "p1", "u-1"});
  claim->finalizers = {"not with the status"};
  const std::string expected = with(
      std::string(kStoredClaim), R"("later":1})",
      R"("later":1},"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d",)"
      R"("pool":"p","device":"dev-2"}]}},"reservedFor":[{"resource":"pods","name":"p1",)"
      R"("uid":"u-1"}]})");
  EXPECT_EQ(laid(kStoredClaim, *claim, WrittenPart::kStatus), expected);
}

TEST_F(OwnedFields, AnAllocationThatStaysKeepsWhatWeDoNotKnow) {
  const auto claim = decode<ResourceClaim>(ObjectKind::kResourceClaim, kAllocatedClaim);
  claim->status.reserved_for.push_back({Symbol(), claim->symbols.intern("pods"), "p1", "u-1"});
  std::string expected = with(std::string(kAllocatedClaim), R"("uid":"u-0"})",
                              R"("uid":"u-0"},{"resource":"pods","name":"p1","uid":"u-1"})");
  EXPECT_EQ(laid(kAllocatedClaim, *claim, WrittenPart::kStatus), expected);
  // Also when it gets its time.
  claim->status.allocation->allocation_timestamp = WallTime{std::chrono::seconds(60)};
  expected = with(expected, R"("later":"kept")",
                  R"("later":"kept","allocationTimestamp":"1970-01-01T00:01:00Z")");
  EXPECT_EQ(laid(kAllocatedClaim, *claim, WrittenPart::kStatus), expected);
}

TEST_F(OwnedFields, DeallocationTakesEverythingAway) {
  const auto claim = decode<ResourceClaim>(ObjectKind::kResourceClaim, kAllocatedClaim);
  claim->status = {};
  std::string expected(kAllocatedClaim);
  expected.erase(expected.find(R"("status":{)"));
  EXPECT_EQ(laid(kAllocatedClaim, *claim, WrittenPart::kStatus), expected + R"("status":{}})");
}

TEST_F(OwnedFields, OverLeanObjectsItIsTheSame) {
  const auto stored = decode<PersistentVolume>(ObjectKind::kPersistentVolume, kVolume);
  auto wanted = make_ref<PersistentVolume>(*stored);
  wanted->bound_by_controller = true;
  wanted->claim_ref = ClaimReference{wanted->symbols.intern("ns"), "c", "u-c", "3"};
  wanted->capacity = Quantity();  // not the scheduler's to say
  const Ref<const Object> written = lay_over(*stored, *wanted, WrittenPart::kObject, "8");
  const auto& volume = static_cast<const PersistentVolume&>(*written);
  EXPECT_EQ(volume.resource_version, "8");
  EXPECT_EQ(volume.claim_ref, wanted->claim_ref);
  EXPECT_TRUE(volume.bound_by_controller);
  EXPECT_EQ(volume.capacity, stored->capacity);
  EXPECT_EQ(stored->resource_version, "7") << "the stored object is not changed";
  wanted = nullptr;
  EXPECT_EQ(volume.symbols.text(volume.claim_ref->namespace_name), "ns") << "it holds its symbols";
}

TEST_F(OwnedFields, OverLeanClaimsPartByPart) {
  const auto stored = decode<ResourceClaim>(ObjectKind::kResourceClaim, kAllocatedClaim);
  const auto wanted = make_ref<ResourceClaim>(*stored);
  wanted->finalizers.clear();
  wanted->status = {};
  const Ref<const Object> object = lay_over(*stored, *wanted, WrittenPart::kObject, "6");
  EXPECT_TRUE(static_cast<const ResourceClaim&>(*object).finalizers.empty());
  EXPECT_TRUE(static_cast<const ResourceClaim&>(*object).allocated());
  const Ref<const Object> status = lay_over(*stored, *wanted, WrittenPart::kStatus, "6");
  EXPECT_EQ(static_cast<const ResourceClaim&>(*status).finalizers.size(), 1U);
  EXPECT_EQ(static_cast<const ResourceClaim&>(*status).status, ResourceClaimStatus());
}

TEST_F(OwnedFields, RefusalsAreTheServersWords) {
  EXPECT_EQ(modified_meanwhile(ObjectKind::kResourceClaim, "c").message,
            "Operation cannot be fulfilled on resourceclaims.resource.k8s.io \"c\": the object has "
            "been modified; please apply your changes to the latest version and try again");
  EXPECT_EQ(no_such_object(ObjectKind::kPersistentVolume, "v").message,
            "persistentvolumes \"v\" not found");
}

}  // namespace
}  // namespace berth
