#include "plugins/dynamic_resources/dynamic_resources.h"

#include <fmt/format.h>

#include "config/feature_gates.h"
#include "plugins/arguments.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

// That PreFilter has seen the pod.
struct Seen {};

// The first resource that the pod requests from a DeviceClass; empty when there is none.
Symbol resource_of_a_device_class(const Pod& pod, const Cluster& cluster) {
  const std::vector<ScalarAmount>& requests = pod.spec().usage.requests.scalars;
  if (requests.empty()) return {};
  const std::vector<Ref<const Object>> classes = cluster.list(ObjectKind::kDeviceClass);
  for (const ScalarAmount& request : requests) {
    if (request.amount == 0) continue;
    const std::string_view name = pod.text(request.name);
    for (const Ref<const Object>& object : classes) {
      const auto& device_class = static_cast<const DeviceClass&>(*object);
      // Every class has a resource name of its own, beside the one that it may state.
      const bool implicit = name.starts_with(kImplicitPrefix) &&
                            name.substr(kImplicitPrefix.size()) == device_class.name;
      if (implicit || device_class.extended_resource_name == request.name) return request.name;
    }
  }
  return {};
}

Outcome not_judged_yet(std::string_view what) {
  return Outcome::of(Code::kUnschedulableAndUnresolvable,
                     fmt::format("{} cannot be judged by DynamicResources yet", what));
}

}  // namespace

Result<std::unique_ptr<Plugin>> DynamicResources::create(const config::PluginArgs& arguments,
                                                         const Handle& handle) {
  const auto args =
      typed_arguments<config::DynamicResourcesArgs>(arguments, "DynamicResourcesArgs");
  if (!args) return fail(args.error());
  return std::make_unique<DynamicResources>(handle.gates.enabled("DRAExtendedResource"));
}

PreFilterResult DynamicResources::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  cycle.put(*this, Seen{});
  if (!pod.spec().resource_claims.empty())
    return not_judged_yet(
        fmt::format("resource claim \"{}\"", pod.text(pod.spec().resource_claims.front().name)));
  if (extended_resources_) {
    const Symbol resource = resource_of_a_device_class(pod, cycle.cluster());
    if (!resource.empty())
      return not_judged_yet(
          fmt::format("resource \"{}\", which a DeviceClass provides,", pod.text(resource)));
  }
  return Outcome::skip();
}

Task<PostFilterResult> DynamicResources::post_filter(Cycle& cycle, const Diagnosis&) const {
  PostFilterResult result;
  // Parity: where another plugin's PreFilter ended the pod's attempt before this one's turn, there
  // is nothing to read, and that is an error.
  result.outcome = cycle.find<Seen>(*this) ? Outcome::unschedulable("no new claims to deallocate")
                                           : Outcome::failure("not found");
  co_return result;
}

Outcome DynamicResources::score(const Cycle&, const NodeSet& feasible,
                                std::span<Score> by_row) const {
  feasible.for_each([&](NodeRow row) { by_row[row] = 0; });  // no devices, nothing to prefer
  return Outcome::success();
}

PreBindPreFlight DynamicResources::pre_bind_pre_flight(Cycle&, std::string_view) const {
  return {.outcome = Outcome::skip(), .allow_parallel = true};
}

Task<Outcome> DynamicResources::pre_bind(Cycle&, std::string_view, CancelToken) const {
  co_return Outcome::success();
}

std::optional<std::vector<EventRegistration>> DynamicResources::events_to_register() const {
  // Without hints, every such event may help.
  constexpr std::uint32_t kAddOrUpdate = action::kAdd | action::kUpdate;
  constexpr std::uint32_t kNodeChange =
      action::kAdd | action::kUpdateNodeLabel | action::kUpdateNodeAllocatable;
  return {{{{EventResource::kNode, kNodeChange, {}}, {}},
           {{EventResource::kResourceClaim, kAddOrUpdate, {}}, {}},
           {{EventResource::kPod, action::kUpdatePodGeneratedResourceClaim, {}}, {}},
           {{EventResource::kDeviceClass, kAddOrUpdate, {}}, {}},
           {{EventResource::kResourceSlice, kAddOrUpdate, {}}, {}}}};
}

Outcome DynamicResources::sign(const Pod& pod, std::vector<SignatureFragment>&) const {
  return pod.spec().resource_claims.empty()
             ? Outcome::success()
             : Outcome::unschedulable("pods with dra resource claims are not signable");
}

}  // namespace berth::plugins
