// DynamicResources: which claim keeps a pod off a node, and which of its requests.
#include "plugins/obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/pod_claims.h"

namespace berth::plugins {
namespace {

std::string devices_text(std::int64_t count) {
  return fmt::format("{} device{}", count, count == 1 ? "" : "s");
}

// ---- claims that reject the pod

// Why an entry of the pod's spec has no claim that can be used.
Obstacle entry_obstacle(const Pod& pod, const PodResourceClaim& entry, Error error) {
  const std::string name(pod.text(entry.name)), claim(pod.text(entry.claim_name));
  Obstacle obstacle{.code = "ClaimNotFound",
                    .reason = std::move(error.message),
                    .subject = name,
                    .text = {},
                    .facts = {{"podClaim", name}}};
  std::string which = fmt::format("claim {} of the pod", name);
  if (!claim.empty()) {
    which = fmt::format("claim {}/{}", pod.namespace_name(), claim);
    obstacle.facts["claim"] = fmt::format("{}/{}", pod.namespace_name(), claim);
  } else if (!entry.template_name.empty()) {
    which += fmt::format(" (from template {})", pod.text(entry.template_name));
    obstacle.facts["template"] = pod.text(entry.template_name);
  }
  const bool is_named = !claim.empty() || !entry.template_name.empty();
  if (error.kind == ErrorKind::kGone) {
    obstacle.code = "ClaimTerminating";
    obstacle.text = which + " is being deleted";
  } else if (!is_named) {
    obstacle.code = "ClaimNameMissing";
    obstacle.text = which + " names neither a claim nor a template";
  } else if (error.kind == ErrorKind::kInvalid) {
    obstacle.code = "ClaimOfAnotherPod";
    obstacle.text = which + " was not created for this pod";
  } else if (error.kind == ErrorKind::kNotFound) {
    obstacle.code = "ClaimNotCreated";
    obstacle.text = which + " has not been created yet";
  } else {
    obstacle.text = which + " does not exist";
  }
  return obstacle;
}

Obstacle claim_rejected(std::string code, const ResourceClaim& claim, std::string reason,
                        std::string_view what) {
  return {.code = std::move(code),
          .reason = std::move(reason),
          .subject = full_name(claim),
          .text = fmt::format("claim {} {}", full_name(claim), what),
          .facts = {{"claim", full_name(claim)}}};
}

// The first DeviceClass that the claim asks for and that does not exist; empty: none.
std::string missing_class(const ResourceClaim& claim, const Cluster& cluster) {
  const auto is_missing = [&](Symbol name) {
    return !name.empty() && !cluster.find(ObjectKind::kDeviceClass, "", claim.symbols.text(name));
  };
  for (const DeviceRequest& request : claim.spec.requests) {
    if (request.exactly && is_missing(request.exactly->device_class_name))
      return std::string(claim.symbols.text(request.exactly->device_class_name));
    for (const DeviceSubRequest& alternative : request.first_available)
      if (is_missing(alternative.device_class_name))
        return std::string(claim.symbols.text(alternative.device_class_name));
  }
  return {};
}

Obstacle request_rejected(const ResourceClaim& claim, const std::string& sentence,
                          const Cluster& cluster) {
  const std::string device_class = missing_class(claim, cluster);
  if (device_class.empty())
    return claim_rejected("InvalidDeviceRequest", claim, sentence,
                          "cannot be allocated: " + sentence);
  Obstacle obstacle = claim_rejected(
      "DeviceClassNotFound", claim, sentence,
      fmt::format("asks for devices of class {}, which does not exist", device_class));
  obstacle.facts["deviceClass"] = device_class;
  return obstacle;
}

// ---- claims that are allocated

std::optional<Obstacle> unusable(const PodClaim& claim, const Node& node, const Symbols& symbols,
                                 std::string_view reason) {
  const std::string said(reason);
  switch (use_of(claim, node, symbols)) {
    case ClaimUse::kPossible: return std::nullopt;
    case ClaimUse::kNotReady:
      return claim_rejected("DevicesNotReady", *claim.claim, said,
                            "has devices that failed, or took too long, to get ready");
    case ClaimUse::kNeedsFeature: {
      Obstacle obstacle =
          claim_rejected("FeatureNotDeclared", *claim.claim, said,
                         fmt::format("needs feature {}, which the node's kubelet does not declare",
                                     kOptionalNodeOperations));
      obstacle.facts["feature"] = kOptionalNodeOperations;
      return obstacle;
    }
    case ClaimUse::kElsewhere: break;
  }
  const std::vector<NodeSelectorTerm>& terms = *claim.claim->status.allocation->node_selector;
  const TermMismatch mismatch =
      mismatch_of(terms, node, symbols, [&](const NodeSelectorTerm& term) {
        return CompiledNodeTerm(term, symbols, {}).matches(node, symbols);
      });
  Obstacle obstacle = claim_rejected("ClaimAllocatedElsewhere", *claim.claim, said,
                                     "is allocated elsewhere: " + mismatch.text);
  obstacle.facts["requirements"] = fmt::format("{}", fmt::join(mismatch.requirements, "; "));
  return obstacle;
}

// ---- claims that are to be allocated

// The requests of one node's search for devices, and why there are not enough.
class RequestObstacles {
 public:
  RequestObstacles(const NodeJudgement& judgement, const Symbols& symbols, std::string_view reason)
      : judgement_(judgement), symbols_(symbols), reason_(reason) {}

  // One for each request that cannot be met by itself.
  void add(std::span<const RequestSupply> supplies) {
    for (std::size_t i = 0; i < supplies.size() && all_.size() < kMostObstacles;) {
      // Of a request with alternatives the one with the least missing is described.
      const std::size_t first = i;
      const RequestSupply* nearest = &supplies[i];
      bool suffices = false;
      for (; i < supplies.size() && is_alternative(supplies[first], supplies[i], i == first); ++i) {
        suffices = suffices || supplies[i].suffices();
        if (missing(supplies[i]) < missing(*nearest)) nearest = &supplies[i];
      }
      if (!suffices) add(*nearest, i - first);
    }
  }

  std::vector<Obstacle> take() && { return std::move(all_); }

 private:
  // Whether both are subrequests of one request.
  bool is_alternative(const RequestSupply& first, const RequestSupply& other, bool is_first) const {
    return is_first ||
           (first.subrequest >= 0 && other.subrequest > 0 && other.claim == first.claim);
  }

  static std::int64_t missing(const RequestSupply& supply) {
    const std::int64_t wanted =
        supply.all ? std::max<std::int64_t>(supply.selected(), 1) : supply.wanted;
    return wanted - supply.free;
  }

  // What is in the way of most devices, as a code and a clause.
  static std::pair<std::string, std::string> cause_of(const RequestSupply& supply) {
    if (supply.devices == 0) return {"NoDevices", "the node has none at all"};
    const std::int64_t needed = supply.all ? 1 : supply.wanted;
    if (supply.selected() < needed && supply.not_selected == 0)
      return {"TooFewDevices", fmt::format("the node has {}", supply.devices)};
    if (supply.selected() < needed)
      return {"DeviceSelectorMismatch",
              fmt::format("{} of {} here {} selected", supply.selected(), supply.devices,
                          supply.selected() == 1 ? "is" : "are")};
    const std::pair<std::int64_t, std::pair<std::string, std::string>> causes[] = {
        {supply.in_use, {"DevicesInUse", "in use"}},
        {supply.without_capacity, {"DeviceCapacityExceeded", "without enough capacity left"}},
        {supply.without_counters,
         {"DeviceCountersExhausted", "without enough of a shared counter"}},
        {supply.tainted, {"DeviceTainted", "tainted"}},
    };
    std::string code, clause = fmt::format("{} free of {}", supply.free, supply.selected());
    std::int64_t most = 0;
    for (const auto& [count, cause] : causes) {
      if (count == 0) continue;
      clause += fmt::format(", {} {}", count, cause.second);
      if (count > most) {
        most = count;
        code = cause.first;
      }
    }
    return {code, clause};
  }

  // Of an extended resource its name is what the pod says; its claim exists in memory only.
  std::string name_of(const ResourceClaim& claim, std::string_view request) const {
    if (is_in_memory(claim) && judgement_.variant)
      for (const ContainerExtendedResourceRequest& mapping : judgement_.variant->mappings)
        if (mapping.request_name == request)
          return fmt::format("extended resource {}", mapping.resource_name);
    return fmt::format("request {} of claim {}", request, full_name(claim));
  }

  void add(const RequestSupply& supply, std::size_t alternatives) {
    const ResourceClaim& claim = *(*judgement_.claims)[supply.claim];
    const std::string request(symbols_.text(supply.request));
    const std::string class_name(symbols_.text(supply.device_class));
    auto [code, clause] = cause_of(supply);
    Obstacle& obstacle = all_.emplace_back();
    obstacle.code = std::move(code);
    obstacle.reason = reason_;
    obstacle.subject = name_of(claim, request);
    const std::string wanted = supply.all ? "all devices" : devices_text(supply.wanted);
    obstacle.text =
        fmt::format("{}: needs {} of class {}, {}", obstacle.subject, wanted, class_name, clause);
    if (alternatives > 1)
      obstacle.text += fmt::format(" (the nearest of {} alternatives)", alternatives);
    obstacle.facts = {{"claim", full_name(claim)},
                      {"request", request},
                      {"deviceClass", class_name},
                      {"requested", supply.all ? "all" : std::to_string(supply.wanted)},
                      {"devices", std::to_string(supply.devices)},
                      {"selected", std::to_string(supply.selected())},
                      {"inUse", std::to_string(supply.in_use)},
                      {"free", std::to_string(supply.free)}};
    if (supply.tainted > 0) obstacle.facts["tainted"] = std::to_string(supply.tainted);
    obstacle.distance = missing_part(supply.wanted, supply.free);
  }

  const NodeJudgement& judgement_;
  const Symbols& symbols_;
  const std::string reason_;
  std::vector<Obstacle> all_;
};

// The first of the claims that makes it impossible to allocate them all.
const ResourceClaim& first_impossible(Allocator& allocator, const Node& node,
                                      std::span<const Ref<const ResourceClaim>> claims) {
  for (std::size_t count = 1; count < claims.size(); ++count)
    if (!allocator.allocate(node, claims.first(count)).allocated()) return *claims[count - 1];
  return *claims.back();
}

// The requests could be met one by one, but those of the claims up to this one not together.
Obstacle combination_obstacle(const ResourceClaim& claim, std::string_view reason) {
  const bool has_constraints = !claim.spec.constraints.empty();
  return claim_rejected(
      "DeviceCombinationImpossible", claim, std::string(reason),
      fmt::format("gets no devices: there are enough for each request, but not for all together{}",
                  has_constraints ? " under its constraints" : ""));
}

// Which of the extended resources there is neither on the node nor as devices.
std::vector<Obstacle> missing_resources(const ExtendedResources& extended, const Node& node,
                                        const Symbols& symbols, std::string_view reason) {
  std::vector<Obstacle> all;
  for (const BackedResource& resource : extended.resources) {
    if (source_of(resource, node.allocatable_resources) != ResourceSource::kNone) continue;
    const std::string name(symbols.text(resource.name));
    all.push_back(
        {.code = "ResourceNotOffered",
         .reason = std::string(reason),
         .subject = name,
         .text = fmt::format("the node does not offer {}, and no device class does", name),
         .facts = {{"resource", name}}});
  }
  return all;
}

}  // namespace

// Of a pod that PreFilter rejects.
std::vector<Obstacle> DynamicResources::obstacles_of_pod(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  std::vector<PodClaim> claims;
  for (const PodResourceClaim& entry : pod.spec().resource_claims) {
    Result<Ref<const ResourceClaim>> found = claim_of_entry(pod, entry, *tracker_);
    if (!found) return {entry_obstacle(pod, entry, std::move(found.error()))};
    if (*found) claims.emplace_back().claim = std::move(*found);
  }
  const std::size_t own = claims.size();
  if (Ref<const ResourceClaim> extended = tracker_->extended_resource_claim_of(pod))
    claims.emplace_back().claim = std::move(extended);
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const ResourceClaim& claim = *claims[i].claim;
    if (const Outcome looked = look_at(claims[i], i < own && may_share(cycle.pod()));
        looked.rejected())
      return {claim_rejected("ClaimBeingAllocated", claim, looked.message(),
                             "is being allocated for another pod")};
    if (i >= own || claims[i].allocated()) continue;
    if (const Outcome checked = check_requests(claim); checked.rejected())
      return {request_rejected(claim, checked.message(), cycle.cluster())};
  }
  return {};
}

std::vector<Obstacle> DynamicResources::obstacles(const Cycle& cycle, NodeRow row) const {
  if (row == kNoRow) return obstacles_of_pod(cycle);
  const Seen* seen = cycle.find<Seen>(*this);
  if (!seen || !seen->devices) return {};
  PodDevices& devices = *seen->devices;
  const Node& node = cycle.nodes().node(row);
  const Symbols& symbols = cycle.symbols();
  NodeJudgement fresh;
  const auto known = devices.judged.find(row);
  if (known == devices.judged.end()) judge(cycle, devices, row, fresh);
  const NodeJudgement& judgement = known == devices.judged.end() ? fresh : known->second;
  if (!is_rejected(judgement.code)) return {};
  if (judgement.reason == Status::kListed)
    return {{.code = "InvalidResourcePools",
             .reason = judgement.text,
             .subject = {},
             .text = "some resource pool that the node draws from is invalid",
             .facts = {}}};
  const std::string_view reason = reasons()[judgement.reason];
  std::vector<Obstacle> all;
  switch (judgement.reason) {
    case kLeftOver:
      return {claim_rejected("ClaimLeftOver", *devices.claims.back().claim, std::string(reason),
                             "for extended resources is left over from an earlier attempt")};
    case kDoesNotFit: return missing_resources(*devices.extended, node, symbols, reason);
    case kNotAvailable:
      for (const PodClaim& claim : devices.claims)
        if (std::optional<Obstacle> one = unusable(claim, node, symbols, reason))
          all.push_back(*std::move(one));
      return all;
    default: break;
  }
  RequestObstacles requests(judgement, symbols, reason);
  requests.add(devices.allocator->supply(node, *judgement.claims));
  all = std::move(requests).take();
  if (all.empty())
    all.push_back(combination_obstacle(
        first_impossible(*devices.allocator, node, *judgement.claims), reason));
  return all;
}

}  // namespace berth::plugins
