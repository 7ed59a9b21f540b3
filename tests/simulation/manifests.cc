#include "manifests.h"

#include <fmt/format.h>

namespace berth::simulation {

std::vector<std::string> class_manifests() {
  std::vector<std::string> manifests;
  for (const std::string_view mode : {"lazy", "local", "fast"})
    manifests.push_back(fmt::format(
        R"({{"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{{"name":"{}"}},)"
        R"("provisioner":"{}","volumeBindingMode":"{}"}})",
        mode, mode == "local" ? "kubernetes.io/no-provisioner" : "disk.example",
        mode == "fast" ? "Immediate" : "WaitForFirstConsumer"));
  manifests.emplace_back(
      R"({"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"gpu"},)"
      R"("spec":{"extendedResourceName":"example.com/gpu"}})");
  manifests.emplace_back(
      R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":)"
      R"("one","namespace":"default"},"spec":{"spec":{"devices":{"requests":[{"name":"r","exactly":)"
      R"({"deviceClassName":"gpu"}}]}}}})");
  return manifests;
}

std::vector<std::string> node_manifests(std::string_view name, std::string_view cpu) {
  return {fmt::format(R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","labels":{{)"
                      R"("kubernetes.io/hostname":"{0}"}}}},"status":{{"capacity":{{"cpu":"{1}",)"
                      R"("memory":"32Gi","pods":"30"}}}}}})",
                      name, cpu),
          fmt::format(
              R"({{"apiVersion":"storage.k8s.io/v1","kind":"CSINode","metadata":{{"name":"{}"}},)"
              R"("spec":{{"drivers":[]}}}})",
              name)};
}

std::string disk_manifest(std::string_view node) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"PersistentVolume","metadata":{{"name":"disk-{0}"}},"spec":{{)"
      R"("storageClassName":"local","capacity":{{"storage":"2Gi"}},"accessModes":)"
      R"(["ReadWriteOnce"],"hostPath":{{"path":"/x"}},"nodeAffinity":{{"required":{{)"
      R"("nodeSelectorTerms":[{{"matchExpressions":[{{"key":"kubernetes.io/hostname",)"
      R"("operator":"In","values":["{0}"]}}]}}]}}}}}},"status":{{"phase":"Available"}}}})",
      node);
}

std::string slice_manifest(std::string_view node, std::int64_t generation, int devices) {
  std::string list;
  for (int i = 0; i < devices; ++i)
    list += fmt::format("{}{{\"name\":\"dev-{}\"}}", i > 0 ? "," : "", i);
  return fmt::format(
      R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{{"name":)"
      R"("{0}-{1}"}},"spec":{{"driver":"gpu.example.com","nodeName":"{0}","pool":{{"name":"{0}",)"
      R"("generation":{1},"resourceSliceCount":1}},"devices":[{2}]}}}})",
      node, generation, list);
}

PodManifests pod_manifests(int number, Random& random, const PodTraits& traits) {
  PodManifests made;
  std::string spec = traits.spec;
  const auto append = [&spec](const std::string& text) {
    spec += (spec.empty() ? "" : ",") + text;
  };
  const std::uint64_t kind = random.below(6);
  if (kind <= 1) {
    append(R"("resourceClaims":[{"name":"dev","resourceClaimTemplateName":"one"}])");
  } else if (kind == 2) {
    made.shared_claims.push_back(fmt::format("shared-{}", random.below(3)));
    append(fmt::format(R"("resourceClaims":[{{"name":"dev","resourceClaimName":"{}"}}])",
                       made.shared_claims.front()));
  }
  // Devices can also be asked for as a resource: the scheduler makes the claim.
  const std::string_view device = kind == 5 ? R"("example.com/gpu":"1")" : "";
  if (kind == 3 || kind == 4 || random.chance(0.4)) {
    static constexpr const char* kClasses[] = {"lazy", "lazy", "local", "fast"};
    const std::string claim = fmt::format("data-{}-{}", number, number % 5);
    made.own_claims.push_back(fmt::format(
        R"({{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"{}",)"
        R"("namespace":"default"}},"spec":{{"storageClassName":"{}","accessModes":)"
        R"(["ReadWriteOnce"],"resources":{{"requests":{{"storage":"1Gi"}}}}}}}})",
        claim, kClasses[random.below(4)]));
    append(fmt::format(R"("volumes":[{{"name":"v","persistentVolumeClaim":{{"claimName":"{}"}}}}])",
                       claim));
  }
  made.summary = fmt::format("p{} {} {}", number, spec, device);
  append(fmt::format(R"("terminationGracePeriodSeconds":{})", random.below(10)));
  if (traits.priority) append(fmt::format(R"("priority":{})", 100 * random.below(3)));
  made.pod = fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p{}","namespace":"default",)"
      R"("labels":{{{}}}}},"spec":{{{},"containers":[{{"name":"c",)"
      R"("image":"i","resources":{{"requests":{{"cpu":"{}"}},"limits":{{{}}}}}}}]}}}})",
      number, traits.labels, spec, traits.cpu, device);
  return made;
}

std::string shared_claim_manifest(std::string_view name) {
  const int count = name.ends_with('1') ? 2 : 1;
  return fmt::format(
      R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{{"name":)"
      R"("{}","namespace":"default"}},"spec":{{"devices":{{"requests":[{{"name":"r",)"
      R"("exactly":{{"deviceClassName":"gpu","count":{}}}}}]}}}}}})",
      name, count);
}

}  // namespace berth::simulation
