#include "plugins/node_resources/request.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/feature_gates.h"
#include "plugins/signature.h"

namespace berth::plugins {

RequestGates RequestGates::of(const config::FeatureGates& gates) {
  return {.pod_level_resources = gates.enabled("PodLevelResources"),
          .pod_level_status = gates.enabled("InPlacePodLevelResourcesVerticalScaling"),
          .in_place_scaling = gates.enabled("InPlacePodVerticalScaling")};
}

Resources incoming_request(const Pod& pod, bool pod_level) {
  if (!pod_level) return to_request(pod_requests(pod.spec(), {.pod_level = false}), pod.symbols());
  // What a pod with this spec takes from a node has been added up already, when the spec was first
  // seen.
  Resources request = pod.spec().usage.requests;
  request.milli_cpu = std::max<std::int64_t>(request.milli_cpu, 0);
  request.memory = std::max<std::int64_t>(request.memory, 0);
  request.ephemeral_storage = std::max<std::int64_t>(request.ephemeral_storage, 0);
  for (ScalarAmount& scalar : request.scalars)
    scalar.amount = std::max<std::int64_t>(scalar.amount, 0);
  return request;
}

Outcome sign_request(const Pod& pod, bool pod_level, DeviceClassResources* classes,
                     std::vector<SignatureFragment>& fragments) {
  Resources request = incoming_request(pod, pod_level);
  if (classes && std::ranges::any_of(request.scalars, [&](const ScalarAmount& scalar) {
        return scalar.amount != 0 && classes->find(scalar.name);
      }))
    return Outcome::unschedulable(
        "signature disabled when dra extended resources are used in the cluster");
  std::ranges::sort(request.scalars, {}, [&](const ScalarAmount& s) { return pod.text(s.name); });
  std::string value =
      fmt::format("{} {} {}", request.milli_cpu, request.memory, request.ephemeral_storage);
  for (const ScalarAmount& scalar : request.scalars)
    value += fmt::format(" {}={}", delimited(pod.text(scalar.name)), scalar.amount);
  fragments.push_back({"v1.Pod.Spec.ContainerRequestsAndOverheads()", std::move(value)});
  return Outcome::success();
}

std::vector<ScalarAmount> scalars_by_text(const Resources& request, const Symbols& symbols) {
  std::vector<ScalarAmount> scalars;
  std::ranges::copy_if(request.scalars, std::back_inserter(scalars),
                       [](const ScalarAmount& scalar) { return scalar.amount > 0; });
  std::ranges::sort(scalars, {}, [&](const ScalarAmount& s) { return symbols.text(s.name); });
  return scalars;
}

}  // namespace berth::plugins
