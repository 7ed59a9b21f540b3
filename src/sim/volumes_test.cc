// Pods with volumes and devices, from their arrival to their node: the scheduler, the controllers
// and the simulator's API server together.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/devices.h"
#include "api/storage.h"
#include "base/testing/names.h"
#include "sim/simulation.h"
#include "sim/testing/simulated.h"

namespace berth::sim::testing {
namespace {

std::string storage_class(const std::string& name, const std::string& mode,
                          const std::string& provisioner = "disk.example.com") {
  return fmt::format(
      "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {}}}\n"
      "provisioner: {}\nvolumeBindingMode: {}\n",
      name, provisioner, mode);
}
std::string claim(const std::string& name, const std::string& class_name) {
  return fmt::format(
      "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {}}}\nspec:\n"
      "  storageClassName: {}\n  accessModes: [ReadWriteOnce]\n"
      "  resources: {{requests: {{storage: 1Gi}}}}\n",
      name, class_name);
}
std::string volume(const std::string& name, const std::string& class_name,
                   const std::string& node_name) {
  return fmt::format(
      "---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {{name: {}}}\nspec:\n"
      "  storageClassName: {}\n  accessModes: [ReadWriteOnce]\n  capacity: {{storage: 2Gi}}\n"
      "  hostPath: {{path: /x}}\n  nodeAffinity: {{required: {{nodeSelectorTerms: [{{"
      "matchExpressions: [{{key: name, operator: In, values: [{}]}}]}}]}}}}\n",
      name, class_name, node_name);
}
std::string pod_with(const std::string& name, const std::string& claim_name) {
  return pod(
      name, "1",
      fmt::format("volumes: [{{name: v, persistentVolumeClaim: {{claimName: {}}}}}]", claim_name));
}

const PersistentVolumeClaim& claim_in(const Simulated& run, const char* name) {
  return static_cast<const PersistentVolumeClaim&>(
      *run.simulation->cluster().object(ObjectKind::kPersistentVolumeClaim, "default", name));
}

TEST(SimulatedVolumes, AWaitingClaimIsProvisionedForTheChosenNode) {
  const Simulated run(node("n1") + storage_class("lazy", "WaitForFirstConsumer") +
                      claim("data", "lazy") + pod_with("p", "data"));
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_TRUE(claim_in(run, "data").fully_bound());
  EXPECT_GE(run.report.duration, 1s) << "the provisioner took its time";
  EXPECT_EQ(run.find("p")->attempts, 1);
}

TEST(SimulatedVolumes, AVolumeThatIsThereIsTakenWhereItIs) {
  const Simulated run(
      node("n1") + node("n2") +
      storage_class("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner") +
      volume("v", "local", "n2") + claim("data", "local") + pod_with("p", "data"));
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.stands("p"), "Bound n2");
  EXPECT_EQ(claim_in(run, "data").volume_name, "v");
}

TEST(SimulatedVolumes, AnImmediateClaimIsBoundBeforeItsPodIsScheduled) {
  const Simulated run(node("n1") + storage_class("fast", "Immediate") + claim("data", "fast") +
                      pod_with("p", "data"));
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_GT(run.find("p")->attempts, 1) << "too early, the first time";
}

TEST(SimulatedVolumes, AProvisionerThatFailsCostsAnAttempt) {
  const Simulated run(node("n1") + storage_class("lazy", "WaitForFirstConsumer") +
                          claim("data", "lazy") + pod_with("p", "data"),
                      "volumes: {rules: [{claims: data, outcome: fail, times: 2}]}");
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_EQ(run.find("p")->attempts, 3);
  EXPECT_TRUE(run.happened("binding volumes: provisioning failed for PVC \\\"data\\\""))
      << run.report.timeline.back();
}

TEST(SimulatedVolumes, AProvisionerThatAlwaysFailsTriesAgainEverySecond) {
  const Simulated run(node("n1") + storage_class("fast", "Immediate") + claim("data", "fast"),
                      "volumes: {provision: 0s, rules: [{claims: data, outcome: fail}]}", 1min);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(claim_in(run, "data").volume_name, "");
  const Simulated later(node("n1") + storage_class("fast", "Immediate") + claim("data", "fast"),
                        "volumes: {provision: 0s, rules: [{claims: data, outcome: fail, times: "
                        "3}]}");
  EXPECT_NE(claim_in(later, "data").volume_name, "");
}

TEST(SimulatedVolumes, AProvisionerThatNeverAnswersCostsItsTimeOut) {
  const Simulated run(node("n1") + storage_class("lazy", "WaitForFirstConsumer") +
                          claim("data", "lazy") + pod_with("p", "data") + pod("other"),
                      "volumes: {rules: [{claims: data, outcome: never}]}", 15min);
  EXPECT_EQ(run.stands("other"), "Bound n1") << "nobody else waits";
  EXPECT_TRUE(run.happened("binding volumes: context deadline exceeded"));
}

TEST(SimulatedVolumes, AWriteThatFailsIsTriedAgain) {
  const Simulated run(node("n1") + storage_class("lazy", "WaitForFirstConsumer") +
                          claim("data", "lazy") + pod_with("p", "data"),
                      "faults: [{call: update, objects: data, times: 1, error: Conflict}]");
  EXPECT_EQ(run.stands("p"), "Bound n1");
  EXPECT_EQ(run.find("p")->attempts, 2);
}

// ---- devices

std::string devices(const std::string& node_name, int count) {
  std::string list;
  for (int i = 0; i < count; ++i) list += fmt::format("  - {{name: dev-{}}}\n", i);
  return fmt::format(
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {{name: {0}-slice}}\n"
      "spec:\n  driver: gpu.example.com\n  nodeName: {0}\n"
      "  pool: {{name: {0}, generation: 1, resourceSliceCount: 1}}\n  devices:\n{1}",
      node_name, list);
}
const std::string kDeviceClass =
    "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n";
const std::string kTemplate =
    "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: one-gpu}\n"
    "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n";
std::string pod_with_device(const std::string& name) {
  return pod(name, "1", "resourceClaims: [{name: dev, resourceClaimTemplateName: one-gpu}]");
}

TEST(SimulatedDevices, EachPodGetsADeviceOfItsOwn) {
  const Simulated run(node("n1") + node("n2") + devices("n2", 2) + kDeviceClass + kTemplate +
                      pod_with_device("a") + pod_with_device("b") + pod_with_device("c"));
  ASSERT_EQ(run.error, "");
  std::string stands;
  for (const char* name : {"a", "b", "c"}) stands += run.stands(name) + ", ";
  EXPECT_EQ(std::ranges::count(stands, '2'), 2) << stands;
  EXPECT_THAT(stands, HasSubstr("Pending"));
  std::set<std::pair<std::string, std::string>> given;
  for (const Ref<const Object>& object :
       run.simulation->cluster().objects(ObjectKind::kResourceClaim)) {
    const auto& of_pod = static_cast<const ResourceClaim&>(*object);
    if (!of_pod.allocated()) continue;
    EXPECT_EQ(of_pod.status.reserved_for.size(), 1U);
    for (const DeviceRequestAllocationResult& result : of_pod.status.allocation->results)
      EXPECT_TRUE(given
                      .emplace(std::string(of_pod.symbols.text(result.pool)),
                               std::string(of_pod.symbols.text(result.device)))
                      .second);
  }
  EXPECT_EQ(given.size(), 2U);
}

TEST(SimulatedDevices, ADeviceThatIsFreeAgainGoesToThePodThatWaits) {
  const Simulated run(
      node("n1") + devices("n1", 1) + kDeviceClass + kTemplate + pod_with_device("a"),
      "events:\n- at: 5s\n  create:\n    {apiVersion: v1, kind: Pod, metadata: "
      "{name: b}, spec: {resourceClaims: [{name: dev, resourceClaimTemplateName: "
      "one-gpu}], containers: [{name: c, image: c}]}}\n"
      "- {at: 60s, finish: a}\n");
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.stands("b"), "Bound n1");
  EXPECT_GT(run.find("b")->bound->since_start, 60s);
}

TEST(SimulatedDevices, AConflictIsReadAndWrittenAgain) {
  const Simulated run(
      node("n1") + devices("n1", 1) + kDeviceClass + kTemplate + pod_with_device("a"),
      "faults: [{call: updateStatus, times: 2, error: Conflict}]");
  EXPECT_EQ(run.stands("a"), "Bound n1");
  EXPECT_EQ(run.find("a")->attempts, 1) << "until its claim is there it is gated";
}

}  // namespace
}  // namespace berth::sim::testing
