// Volumes and the claims for them, and claims for devices: what their controllers do.
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "control_plane/testing/small_cluster.h"

namespace berth::control_plane::testing {
namespace {

const std::string kVolumes = "/api/v1/persistentvolumes";
const std::string kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";
const std::string kClasses = "/apis/storage.k8s.io/v1/storageclasses";
const std::string kDevices = "/apis/resource.k8s.io/v1/namespaces/default/";
const std::string kVolumePods = "/api/v1/namespaces/default/pods";

std::string class_json(std::string_view name, std::string_view mode,
                       std::string_view annotations = "{}",
                       std::string_view provisioner = "disk.example.com") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","annotations":{}}},"provisioner":"{}","volumeBindingMode":"{}"}})",
      name, annotations, provisioner, mode);
}
std::string claim_json(std::string_view name, std::string_view storage_class,
                       std::string_view annotations = "{}") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","annotations":{}}},"spec":{{"storageClassName":"{}",)"
      R"("accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
      name, annotations, storage_class);
}
std::string volume_json(std::string_view name, std::string_view storage_class,
                        std::string_view size, std::string_view more = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"storageClassName":"{}","capacity":{{"storage":)"
      R"("{}"}},"accessModes":["ReadWriteOnce"],"hostPath":{{"path":"/x"}}{}}}}})",
      name, storage_class, size, more);
}

struct Volumes : ::testing::Test {
  SmallCluster cluster;

  std::string phase(const std::string& path) {
    return std::string(text_at(cluster.get(path), "status.phase"));
  }
  std::string volume_of(const std::string& claim) {
    return std::string(text_at(cluster.get(kClaims + "/" + claim), "spec.volumeName"));
  }
  bool has_annotation(const std::string& path, std::string_view name) {
    const JsonValue object = cluster.get(path);
    const JsonValue* annotations = at(object, "metadata.annotations");
    return annotations && annotations->find(name);
  }
  void select_node(const std::string& claim, const std::string& node) {
    cluster.merge(
        kClaims + "/" + claim,
        R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":")" + node + R"("}}})");
  }
};

TEST_F(Volumes, AnImmediateClaimGetsTheSmallestVolumeThatFits) {
  cluster.post(kVolumes, volume_json("big", "manual", "10Gi"));
  cluster.post(kVolumes, volume_json("right", "manual", "2Gi"));
  cluster.post(kVolumes, volume_json("small", "manual", "1Mi"));
  EXPECT_EQ(phase(kVolumes + "/right"), "Available");
  cluster.post(kClaims, claim_json("data", "manual"));
  EXPECT_EQ(volume_of("data"), "right");
  EXPECT_EQ(phase(kClaims + "/data"), "Bound");
  EXPECT_EQ(phase(kVolumes + "/right"), "Bound");
  EXPECT_TRUE(has_annotation(kClaims + "/data", "pv.kubernetes.io/bind-completed"));
  EXPECT_EQ(text_at(cluster.get(kVolumes + "/right"), "spec.claimRef.name"), "data");
  EXPECT_EQ(text_at(cluster.get(kClaims + "/data"), "status.capacity.storage"), "2Gi");
}

TEST_F(Volumes, AVolumeThatComesLaterIsFound) {
  cluster.post(kClaims, claim_json("data", "manual"));
  EXPECT_EQ(phase(kClaims + "/data"), "Pending");
  cluster.post(kVolumes, volume_json("v", "manual", "1Gi"));
  EXPECT_EQ(phase(kClaims + "/data"), "Bound");
}

TEST_F(Volumes, AnImmediateClassIsProvisioned) {
  cluster.post(kClasses, class_json("fast", "Immediate"));
  cluster.post(kClaims, claim_json("data", "fast"));
  EXPECT_EQ(phase(kClaims + "/data"), "Pending");
  cluster.pass(1s);
  EXPECT_EQ(phase(kClaims + "/data"), "Bound");
  const JsonValue volume = cluster.get(kVolumes + "/" + volume_of("data"));
  EXPECT_EQ(text_at(volume, "spec.csi.driver"), "disk.example.com");
  EXPECT_EQ(text_at(volume, "spec.capacity.storage"), "1Gi");
  EXPECT_EQ(at(volume, "spec.nodeAffinity"), nullptr);
}

TEST_F(Volumes, AClassThatWaitsIsProvisionedWhereTheSchedulerSays) {
  cluster.add_node("n1");
  cluster.post(kClasses, class_json("lazy", "WaitForFirstConsumer"));
  cluster.post(kVolumes, volume_json("free", "lazy", "5Gi"));
  cluster.post(kClaims, claim_json("data", "lazy"));
  cluster.pass(1min);
  EXPECT_EQ(phase(kClaims + "/data"), "Pending") << "also not bound to a volume that would do";
  select_node("data", "n1");
  cluster.pass(1s);
  EXPECT_EQ(phase(kClaims + "/data"), "Bound");
  const JsonValue volume = cluster.get(kVolumes + "/" + volume_of("data"));
  const auto& terms = items_at(volume, "spec.nodeAffinity.required.nodeSelectorTerms");
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_EQ(to_json(terms[0]),
            R"({"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In",)"
            R"("values":["n1"]}]})");
}

TEST_F(Volumes, AVolumeThatTheSchedulerChoseIsBound) {
  cluster.post(kClasses,
               class_json("local", "WaitForFirstConsumer", "{}", "kubernetes.io/no-provisioner"));
  cluster.post(kVolumes, volume_json("v", "local", "5Gi"));
  cluster.post(kClaims, claim_json("data", "local"));
  const std::string uid(text_at(cluster.get(kClaims + "/data"), "metadata.uid"));
  cluster.merge(kVolumes + "/v",
                R"({"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"default",)"
                R"("name":"data","uid":")" +
                    uid + R"("}}})");
  EXPECT_EQ(volume_of("data"), "v");
  EXPECT_EQ(phase(kClaims + "/data"), "Bound");
}

TEST_F(Volumes, AProvisionerThatFailsGivesTheNodeBack) {
  cluster.add_node("n1");
  cluster.post(kClasses,
               class_json("lazy", "WaitForFirstConsumer", R"({"berth/provision-failures":"1"})"));
  cluster.post(kClaims, claim_json("data", "lazy"));
  select_node("data", "n1");
  cluster.pass(1s);
  EXPECT_FALSE(has_annotation(kClaims + "/data", "volume.kubernetes.io/selected-node"));
  EXPECT_EQ(phase(kClaims + "/data"), "Pending");
  select_node("data", "n1");
  cluster.pass(1s);
  EXPECT_EQ(phase(kClaims + "/data"), "Bound") << "the second try";
}

TEST_F(Volumes, AProvisionerMayBeSlowOrNeverAnswer) {
  cluster.add_node("n1");
  cluster.post(kClasses, class_json("lazy", "WaitForFirstConsumer"));
  cluster.post(kClaims, claim_json("slow", "lazy", R"({"berth/provision-after":"30s"})"));
  cluster.post(kClaims, claim_json("never", "lazy", R"({"berth/provision":"never"})"));
  select_node("slow", "n1");
  select_node("never", "n1");
  cluster.pass(29s);
  EXPECT_EQ(phase(kClaims + "/slow"), "Pending");
  cluster.pass(2s);
  EXPECT_EQ(phase(kClaims + "/slow"), "Bound");
  cluster.pass(10min);
  EXPECT_EQ(phase(kClaims + "/never"), "Pending");
}

TEST_F(Volumes, WhatBecomesOfAVolumeItsPolicySays) {
  cluster.post(kClasses, class_json("fast", "Immediate"));
  cluster.post(kClaims, claim_json("made", "fast"));
  cluster.pass(1s);
  const std::string made = volume_of("made");
  cluster.post(kVolumes, volume_json("kept", "manual", "1Gi"));
  cluster.post(kClaims, claim_json("data", "manual"));
  cluster.remove(kClaims + "/made");
  cluster.remove(kClaims + "/data");
  cluster.get(kVolumes + "/" + made);
  EXPECT_EQ(cluster.code, 404);
  EXPECT_EQ(phase(kVolumes + "/kept"), "Released");
}

TEST_F(Volumes, AClaimWhoseVolumeGoesIsLost) {
  cluster.post(kVolumes, volume_json("v", "manual", "1Gi"));
  cluster.post(kClaims, claim_json("data", "manual"));
  cluster.remove(kVolumes + "/v");
  EXPECT_EQ(phase(kClaims + "/data"), "Lost");
}

TEST_F(Volumes, AnEphemeralVolumeHasAClaimThatGoesWithThePod) {
  cluster.post(kVolumePods,
               pod_json("p", R"(,"volumes":[{"name":"scratch","ephemeral":)"
                             R"({"volumeClaimTemplate":{"metadata":{"labels":{"a":"b"}},)"
                             R"("spec":{"storageClassName":"fast","accessModes":)"
                             R"(["ReadWriteOnce"],"resources":{"requests":{"storage":)"
                             R"("1Gi"}}}}}}])"));
  const JsonValue claim = cluster.get(kClaims + "/p-scratch");
  EXPECT_EQ(cluster.code, 200);
  EXPECT_EQ(text_at(claim, "metadata.labels.a"), "b");
  EXPECT_EQ(text_at(*controller_of(claim), "name"), "p");
  cluster.remove(kVolumePods + "/p", R"({"gracePeriodSeconds":0})");
  cluster.pass(1s);
  cluster.get(kClaims + "/p-scratch");
  EXPECT_EQ(cluster.code, 404);
}

// ---- claims for devices

struct ResourceClaims : ::testing::Test {
  SmallCluster cluster;

  void add_template() {
    cluster.post(
        kDevices + "resourceclaimtemplates",
        R"({"metadata":{"name":"gpu"},"spec":{"metadata":{"labels":{"a":"b"}},"spec":)"
        R"({"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}}}})");
  }
  void add_pod(const std::string& name = "p") {
    cluster.post(kVolumePods, pod_json(name, R"(,"resourceClaims":[{"name":"dev",)"
                                             R"("resourceClaimTemplateName":"gpu"}])"));
  }
  std::string claim_of(const std::string& pod) {
    const JsonValue object = cluster.get(kVolumePods + "/" + pod);
    const auto& statuses = items_at(object, "status.resourceClaimStatuses");
    return statuses.empty() ? "" : std::string(text_at(statuses[0], "resourceClaimName"));
  }
  std::string path(const std::string& claim) { return kDevices + "resourceclaims/" + claim; }
  // What a scheduler would write.
  void allocate(const std::string& claim, const std::string& pod) {
    const std::string uid(text_at(cluster.get(kVolumePods + "/" + pod), "metadata.uid"));
    cluster.merge(path(claim), R"({"metadata":{"finalizers":)"
                               R"(["resource.kubernetes.io/delete-protection"]}})");
    cluster.merge(path(claim) + "/status",
                  R"({"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d",)"
                  R"("pool":"n1","device":"dev-1"}]}},"reservedFor":[{"resource":"pods","name":")" +
                      pod + R"(","uid":")" + uid + R"("}]}})");
  }
};

TEST_F(ResourceClaims, APodThatNamesATemplateGetsAClaimOfItsOwn) {
  add_pod();
  EXPECT_EQ(claim_of("p"), "") << "no template yet";
  add_template();
  const std::string name = claim_of("p");
  ASSERT_NE(name, "");
  const JsonValue claim = cluster.get(path(name));
  EXPECT_TRUE(name.starts_with("p-dev-"));
  EXPECT_EQ(text_at(claim, "metadata.labels.a"), "b");
  EXPECT_EQ(text_at(*controller_of(claim), "kind"), "Pod");
  EXPECT_EQ(items_at(claim, "spec.devices.requests").size(), 1U);
}

TEST_F(ResourceClaims, AClaimGoesWithItsPodAlsoWhenItIsAllocated) {
  add_template();
  add_pod();
  const std::string name = claim_of("p");
  allocate(name, "p");
  ASSERT_EQ(items_at(cluster.get(path(name)), "status.reservedFor").size(), 1U);
  cluster.remove(kVolumePods + "/p", R"({"gracePeriodSeconds":0})");
  cluster.pass(1s);
  cluster.get(path(name));
  EXPECT_EQ(cluster.code, 404);
}

TEST_F(ResourceClaims, ASharedClaimIsFreeWhenItsLastPodHasGone) {
  cluster.post(kDevices + "resourceclaims",
               R"({"metadata":{"name":"shared"},"spec":{"devices":{"requests":[{"name":"r",)"
               R"("exactly":{"deviceClassName":"gpu"}}]}}})");
  cluster.post(kVolumePods, pod_json("p", R"(,"resourceClaims":[{"name":"dev","resourceClaimName":)"
                                          R"("shared"}])"));
  allocate("shared", "p");
  EXPECT_NE(at(cluster.get(path("shared")), "status.allocation"), nullptr);
  cluster.remove(kVolumePods + "/p", R"({"gracePeriodSeconds":0})");
  const JsonValue claim = cluster.get(path("shared"));
  EXPECT_EQ(cluster.code, 200);
  EXPECT_EQ(at(claim, "status.allocation"), nullptr);
  EXPECT_TRUE(items_at(claim, "status.reservedFor").empty());
  EXPECT_TRUE(items_at(claim, "metadata.finalizers").empty());
}

TEST_F(ResourceClaims, APodThatIsStillThereKeepsItsReservation) {
  add_template();
  add_pod();
  const std::string name = claim_of("p");
  allocate(name, "p");
  cluster.pass(1min);
  EXPECT_EQ(items_at(cluster.get(path(name)), "status.reservedFor").size(), 1U);
  // A user deletes the claim: it waits for the pod.
  cluster.remove(path(name));
  cluster.get(path(name));
  EXPECT_EQ(cluster.code, 200);
}

}  // namespace
}  // namespace berth::control_plane::testing
