// DynamicResources: how it is made, and what it finds out about a pod before nodes are looked at
// (volumes-dra-gang.md §10.1, §10.2, §13.1).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "berth/observer.h"
#include "config/feature_gates.h"
#include "plugins/arguments.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace berth::plugins {
namespace {

Outcome unresolvable(std::string reason) {
  return Outcome::of(Code::kUnschedulableAndUnresolvable, std::move(reason));
}

// How long the searches for one pod may take in all, and how long before others get their turn. A
// turn is half of what the world may be held, for it ends a little after its time.
constexpr Duration kAttemptTimeout = std::chrono::seconds(10);
constexpr Duration kTurn = std::chrono::milliseconds(5);

// Where an allocation can be used.
Result<NodeSelector> compile(const std::vector<NodeSelectorTerm>& terms, const Symbols& symbols) {
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const CompiledNodeTerm term(terms[i], symbols, fmt::format("nodeSelectorTerms[{}]", i));
    errors.insert(errors.end(), term.errors().begin(), term.errors().end());
  }
  if (!errors.empty()) return fail(aggregate(errors));
  return NodeSelector::compile(terms, symbols);
}

config::DynamicResourcesArgs defaults() {
  return {.filter_timeout = std::chrono::seconds(10), .binding_timeout = std::chrono::minutes(10)};
}

}  // namespace

DynamicResources::DynamicResources(const config::DynamicResourcesArgs& arguments,
                                   const Handle& handle)
    : handle_(handle),
      measurements_(handle.observer ? handle.observer->measuring() : nullptr),
      extended_resources_(handle.gates.enabled("DRAExtendedResource")),
      binding_conditions_(handle.gates.enabled("DRADeviceBindingConditions") &&
                          handle.gates.enabled("DRAResourceClaimDeviceStatus")),
      shares_in_group_(handle.gates.enabled("GenericWorkload")),
      prioritized_list_(handle.gates.enabled("DRAPrioritizedList")),
      filter_timeout_(handle.gates.enabled("DRASchedulerFilterTimeout")
                          ? arguments.filter_timeout.value_or(Duration{0})
                          : Duration{0}),
      binding_timeout_(arguments.binding_timeout.value_or(*defaults().binding_timeout)),
      tracker_(ClaimTracker::of(handle)),
      classes_(DeviceClassResources::of(handle)),
      pools_(std::make_unique<DevicePools>(handle.cluster.symbol_table(),
                                           AllocatorFeatures::of(handle.gates))),
      kept_(std::make_unique<KeptVerdicts>()),
      check_(KeptCheck::of(*handle.shared)),
      writes_(std::make_unique<ClaimWrites>(handle, tracker_, binding_conditions_)),
      waits_(handle) {}

Result<std::unique_ptr<Plugin>> DynamicResources::create(const config::PluginArgs& arguments,
                                                         const Handle& handle) {
  Result<config::DynamicResourcesArgs> args =
      typed_arguments<config::DynamicResourcesArgs>(arguments, "DynamicResourcesArgs");
  if (!args) return fail(args.error());
  if (std::holds_alternative<std::monostate>(arguments)) args = defaults();
  return std::make_unique<DynamicResources>(*args, handle);
}

Outcome DynamicResources::sign(const Pod& pod, std::vector<SignatureFragment>&) const {
  return pod.spec().resource_claims.empty()
             ? Outcome::success()
             : Outcome::unschedulable("pods with dra resource claims are not signable");
}

// ---- PreEnqueue

Outcome DynamicResources::pre_enqueue(const Pod& pod) const {
  if (pod.spec().resource_claims.empty()) return Outcome::success();
  const auto claims = claims_of(pod, *tracker_);
  return claims ? Outcome::success() : unresolvable(claims.error().message);
}

// ---- PreFilter

PreFilterResult DynamicResources::pre_filter(Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  Seen& seen = cycle.put(*this, Seen{});
  if (pod.spec().resource_claims.empty() && pod.spec().usage.requests.scalars.empty())
    return PreFilterResult::skip();

  auto claims = claims_of(pod, *tracker_);
  if (!claims) return unresolvable(std::move(claims.error().message));
  auto devices = std::make_unique<PodDevices>();
  for (Ref<const ResourceClaim>& claim : *claims)
    devices->claims.emplace_back().claim = std::move(claim);
  devices->extended = extended_resources_of(pod);
  if (devices->extended) {
    Ref<const ResourceClaim> claim = tracker_->extended_resource_claim_of(pod);
    if (!claim)
      claim = make_extended_resource_claim(pod, cycle.cluster().symbol_table(), handle_.random);
    devices->extended->in_memory_uid = claim->uid;
    devices->claims.emplace_back().claim = std::move(claim);
  }
  if (devices->claims.empty()) return PreFilterResult::skip();

  bool allocate = false;
  for (std::size_t i = 0; i < devices->claims.size(); ++i) {
    PodClaim& claim = devices->claims[i];
    const bool own = i < devices->own_claims();
    if (Outcome looked = look_at(claim, own && may_share(pod)); !looked.ok()) return looked;
    if (claim.decided()) continue;
    allocate = true;
    // What is asked for in the name of extended resources is not known before the node is.
    if (!own) continue;
    if (Outcome checked = check_requests(*claim.claim); !checked.ok()) return checked;
    // Parity: a claim that the pod names twice is allocated twice, each time on its own.
    const bool again =
        std::ranges::find(devices->to_allocate, claim.claim) != devices->to_allocate.end();
    devices->to_allocate.push_back(
        again ? Ref<const ResourceClaim>(make_ref<ResourceClaim>(*claim.claim)) : claim.claim);
  }
  if (allocate) {
    pools_->refresh(cycle.cluster());
    SearchBudget budget{.loop = &handle_.loop, .timeout = filter_timeout_};
    if (cycle.may_suspend) {
      budget.attempt_timeout = std::max(kAttemptTimeout, filter_timeout_);
      budget.turn = kTurn;
    }
    devices->turn = cycle.turn;
    devices->allocator.emplace(*pools_, tracker_->allocated(), cycle.cluster(), budget);
    // Nothing but the allocator has a say about nodes then, and nobody asks which devices it were.
    if (devices->to_allocate.size() == devices->claims.size() && !is_scored(*devices)) {
      kept_->refresh(cycle.cluster(), tracker_->allocated(), *pools_);
      devices->kept = &kept_->of(devices->to_allocate);
    }
  }
  seen.devices = std::move(devices);
  return PreFilterResult::success();
}

// Whether the pod asks for any resource that is devices, and what else it asks for beside it.
std::optional<ExtendedResources> DynamicResources::extended_resources_of(const Pod& pod) const {
  if (!extended_resources_) return std::nullopt;
  ExtendedResources extended;
  bool backed = false;
  for (const ScalarAmount& request : pod.spec().usage.requests.scalars) {
    if (request.amount == 0 || !may_be_devices(pod.text(request.name))) continue;
    extended.resources.push_back({request.name, classes_->find(request.name)});
    backed = backed || extended.resources.back().device_class != nullptr;
  }
  if (!backed) return std::nullopt;
  std::ranges::sort(extended.resources, {},
                    [&](const BackedResource& resource) { return pod.text(resource.name); });
  return extended;
}

// What does not depend on the node.
Outcome DynamicResources::look_at(PodClaim& claim, bool may_share) const {
  if (!claim.allocated()) {
    const ResourceClaim& asking = *claim.claim;
    if (!tracker_->pending(asking.uid)) return Outcome::success();
    // The pods of a group are placed together: what one of them is about to get is for all.
    if (may_share) claim.shared = tracker_->pending_claim(asking.uid);
    if (!claim.shared)
      return unresolvable(
          fmt::format("resource claim {} is in the process of being allocated", full_name(asking)));
  }
  const ResourceClaim& object = claim.shared ? *claim.shared : *claim.claim;
  if (const auto& terms = object.status.allocation->node_selector) {
    Result<NodeSelector> selector = compile(*terms, handle_.cluster.symbols());
    if (!selector) return Outcome::failure(std::move(selector.error().message));
    claim.available_on = std::move(*selector);
  }
  claim.skips_node_operations =
      std::ranges::any_of(object.status.allocation->results,
                          [](const auto& result) { return !result.skip_node_operations.empty(); });
  if (binding_conditions_) {
    const Result<bool> ready = is_ready_for_binding(object);
    const std::optional<WallTime> deadline = binding_deadline(object, binding_timeout_);
    claim.stuck = !ready || (!*ready && deadline && *deadline < handle_.loop.wall_now());
  }
  return Outcome::success();
}

Outcome DynamicResources::check_requests(const ResourceClaim& claim) const {
  const auto text = [&](Symbol symbol) { return claim.symbols.text(symbol); };
  const auto check_class = [&](Symbol class_name, const std::string& request) {
    if (class_name.empty())
      return Outcome::failure(fmt::format("request {}: unsupported request type", request));
    if (handle_.cluster.find(ObjectKind::kDeviceClass, "", text(class_name)))
      return Outcome::success();
    return unresolvable(
        fmt::format("request {}: device class {} does not exist", request, text(class_name)));
  };
  for (const DeviceRequest& request : claim.spec.requests) {
    const std::string name(text(request.name));
    if (request.exactly) {
      if (Outcome checked = check_class(request.exactly->device_class_name, name); !checked.ok())
        return checked;
      continue;
    }
    const auto refuse = [&](std::string_view why) {
      return unresolvable(
          fmt::format("resource claim {}, request {}: {}", full_name(claim), name, why));
    };
    if (request.first_available.empty()) return refuse("unknown request type");
    if (!prioritized_list_)
      return refuse("has subrequests, but the DRAPrioritizedList feature is disabled");
    for (const DeviceSubRequest& sub : request.first_available)
      if (Outcome checked =
              check_class(sub.device_class_name, fmt::format("{}/{}", name, text(sub.name)));
          !checked.ok())
        return checked;
  }
  return Outcome::success();
}

}  // namespace berth::plugins
