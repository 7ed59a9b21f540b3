// DynamicResources: which nodes have the devices, and which have those that the pod would rather
// have (volumes-dra-gang.md §10.3, §10.5, §13.2).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/normalize.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kReasons[] = {
    "cannot schedule extended resource claim",
    "cannot fit resource",
    "cannot allocate all claims",
    "resourceclaim not available on the node",
};

bool declares(const Node& node, std::string_view feature, const Symbols& symbols) {
  return std::ranges::any_of(node.declared_features,
                             [&](Symbol declared) { return symbols.text(declared) == feature; });
}

// A request with a list of at most so many alternatives scores this much for the first.
constexpr Score kFirstAlternative = 8;

// A search of so many steps is not repeated in Reserve: some tens of microseconds.
constexpr std::uint64_t kStepsWorthKeeping = 256;

// The rows, in the order in which upstream would look at them.
std::vector<NodeRow> rows_in_order(const NodeTable& nodes, const NodeSet& feasible) {
  std::vector<NodeRow> rows;
  const std::size_t count = feasible.count();
  rows.reserve(count);
  if (count > 1)
    for (const NodeRow row : nodes.order())
      if (feasible.contains(row)) rows.push_back(row);
  if (rows.size() == count) return rows;
  rows.clear();
  feasible.for_each([&](NodeRow row) { rows.push_back(row); });
  return rows;
}

Score score_of(const DeviceRequest& request, std::size_t alternative) {
  return alternative < request.first_available.size()
             ? kFirstAlternative - static_cast<Score>(alternative)
             : 0;
}

// Of a claim that was allocated before.
Score score_of(const ResourceClaim& claim) {
  Score score = 0;
  for (const DeviceRequest& request : claim.spec.requests)
    for (std::size_t i = 0; i < request.first_available.size(); ++i) {
      const std::string chosen = fmt::format("{}/{}", claim.symbols.text(request.name),
                                             claim.symbols.text(request.first_available[i].name));
      if (std::ranges::any_of(claim.status.allocation->results, [&](const auto& result) {
            return claim.symbols.text(result.request) == chosen;
          }))
        score += score_of(request, i);
    }
  return score;
}

bool has_alternatives(const ResourceClaim& claim) {
  return std::ranges::any_of(claim.spec.requests, [](const DeviceRequest& request) {
    return !request.exactly && !request.first_available.empty();
  });
}

}  // namespace

ClaimUse use_of(const PodClaim& claim, const Node& node, const Symbols& symbols) {
  if (claim.stuck) return ClaimUse::kNotReady;
  if (claim.available_on && !claim.available_on->matches(node, symbols))
    return ClaimUse::kElsewhere;
  if (claim.skips_node_operations && !declares(node, kOptionalNodeOperations, symbols))
    return ClaimUse::kNeedsFeature;
  return ClaimUse::kPossible;
}

ResourceSource source_of(const BackedResource& resource, const Resources& allocatable) {
  if (resource.device_class && allocatable.scalar(resource.name) == 0)
    return ResourceSource::kDevices;
  return allocatable.has_scalar(resource.name) ? ResourceSource::kDevicePlugin
                                               : ResourceSource::kNone;
}

std::span<const std::string_view> DynamicResources::reasons() const { return kReasons; }

// ---- Filter

// Whether some node may have devices that the pod would rather have.
bool DynamicResources::is_scored(const PodDevices& devices) const {
  return prioritized_list_ && devices.allocator &&
         std::ranges::any_of(devices.claims,
                             [](const PodClaim& claim) { return has_alternatives(*claim.claim); });
}

void DynamicResources::filter(const Cycle& cycle, FilterPass& pass) const {
  const Seen* seen = cycle.find<Seen>(*this);
  if (!seen) return pass.fail_all({"not found"});
  if (!seen->devices) return;
  PodDevices& devices = *seen->devices;
  if (devices.allocator && devices.turn != cycle.turn) devices.allocator->start_turn();
  devices.turn = cycle.turn;
  if (is_scored(devices)) devices.scores.resize(cycle.nodes().rows());
  const NodeSet* rows = &pass.feasible();
  NodeSet unknown;
  // One row alone is a trial, or may be the node that is chosen: Reserve goes by its judgement.
  if (devices.kept && rows->count() > 1) {
    reject_from_kept(devices, cycle, pass, unknown);
    rows = &unknown;
  }
  find_in_order(cycle, devices, rows_in_order(pass.nodes(), *rows), pass);
}

// Rejects the rows that are known to have no devices. `unknown` are those of which nothing is known.
void DynamicResources::reject_from_kept(PodDevices& devices, const Cycle& cycle, FilterPass& pass,
                                        NodeSet& unknown) const {
  if (check_->on) {  // every row is judged, and compared
    unknown = pass.feasible();
    return;
  }
  unknown.reserve_rows(cycle.nodes().rows());
  pass.feasible().for_each([&](NodeRow row) {
    switch (devices.kept->at(row)) {
      case KeptVerdicts::Verdict::kAllocated: break;
      case KeptVerdicts::Verdict::kImpossible:
        pass.reject(row, Code::kUnschedulableAndUnresolvable, kNotAllocated);
        break;
      case KeptVerdicts::Verdict::kUnknown: unknown.insert(row);
    }
  });
}

void DynamicResources::keep(KeptVerdicts::Shape& shape, NodeRow row,
                            const NodeJudgement& judgement) const {
  using Verdict = KeptVerdicts::Verdict;
  Verdict verdict = Verdict::kUnknown;
  if (judgement.allocation.verdict == NodeAllocation::Verdict::kImpossible)
    verdict = Verdict::kImpossible;
  // Reserve repeats the search on the node that is chosen, whatever it takes.
  if (judgement.allocation.allocated() && judgement.allocation.steps <= kStepsWorthKeeping)
    verdict = Verdict::kAllocated;
  const Verdict known = shape.at(row);
  if (check_->on && known != Verdict::kUnknown && known != verdict && !check_->difference)
    check_->difference = fmt::format("row {}: whether there are devices was {}, and is {} now", row,
                                     std::to_underlying(known), std::to_underlying(verdict));
  if (verdict != Verdict::kUnknown) shape.keep(row, verdict);
}

void DynamicResources::find_in_order(const Cycle& cycle, PodDevices& devices,
                                     const std::vector<NodeRow>& rows, FilterPass& pass) const {
  const bool scored = !devices.scores.empty();
  NodeJudgement fresh;
  for (const NodeRow row : rows) {
    const auto known = devices.judged.find(row);
    const NodeJudgement* judgement = known == devices.judged.end() ? nullptr : &known->second;
    if (!judgement) {
      judge(cycle, devices, row, fresh);
      if (fresh.unfinished) {
        pass.defer(row);
        continue;
      }
      if (devices.kept) keep(*devices.kept, row, fresh);
      judgement = &fresh;
      // One row alone is a trial, of which there may be one for every pod on the node.
      if (rows.size() == 1 || fresh.allocation.steps > kStepsWorthKeeping)
        judgement = &devices.judged.emplace(row, std::move(fresh)).first->second;
    }
    if (judgement->code == Code::kSuccess) {
      if (scored) devices.scores[row] = score_of(devices, judgement->allocation);
    } else if (judgement->reason != Status::kListed) {
      pass.reject(row, judgement->code, judgement->reason);
    } else {
      pass.reject(row, judgement->code, std::vector<std::string>{judgement->text});
      // The attempt ends with the first error; the verdicts of other nodes do not matter.
      if (judgement->code == Code::kError) return;
    }
  }
}

void DynamicResources::judge(const Cycle& cycle, PodDevices& devices, NodeRow row,
                             NodeJudgement& judgement) const {
  judgement.start_over();
  if (devices.extended) {
    judgement.variant = variant_for(cycle, devices, row, judgement);
    if (judgement.code != Code::kSuccess) return;
    // A device plugin has it all.
    if (!judgement.variant && devices.own_claims() == 0) return;
  }
  const Node& node = cycle.nodes().node(row);
  if (devices.allocator) {
    judgement.claims = judgement.variant ? &judgement.variant->to_allocate : &devices.to_allocate;
    devices.allocator->allocate(node, *judgement.claims, judgement.allocation);
    judgement.take_verdict(node.name);
    if (judgement.unfinished || judgement.code != Code::kSuccess) return;
  }
  // Only where everything else would work out: releasing these claims is then what helps.
  for (std::size_t i = 0; i < devices.claims.size(); ++i) {
    const PodClaim& claim = devices.claims[i];
    if (use_of(claim, node, cycle.symbols()) == ClaimUse::kPossible) continue;
    devices.unavailable.insert(i);
    judgement.reject(kNotAvailable);
  }
}

// What the claim for extended resources asks for on this node; null: nothing that is to be done
// here.
const ExtendedClaimVariant* DynamicResources::variant_for(const Cycle& cycle, PodDevices& devices,
                                                          NodeRow row,
                                                          NodeJudgement& judgement) const {
  const ResourceClaim& claim = *devices.claims.back().claim;
  if (!claim.spec.requests.empty()) {  // from an earlier attempt; PostFilter removes it
    judgement.reject(kLeftOver);
    return nullptr;
  }
  ExtendedResources& extended = *devices.extended;
  const Resources& allocatable = cycle.nodes().node(row).allocatable_resources;
  std::string by_devices(extended.resources.size(), ' ');
  bool any = false;
  for (std::size_t i = 0; i < extended.resources.size(); ++i) {
    const BackedResource& resource = extended.resources[i];
    switch (source_of(resource, allocatable)) {
      case ResourceSource::kDevices:
        by_devices[i] = 'x';
        any = true;
        break;
      case ResourceSource::kDevicePlugin: break;
      case ResourceSource::kNone: judgement.reject(kDoesNotFit); return nullptr;
    }
  }
  if (devices.own_claims() == 0 && !any) return nullptr;
  if (claim.allocated()) return nullptr;
  const auto [found, is_new] = extended.variants.try_emplace(by_devices);
  ExtendedClaimVariant& variant = found->second;
  if (is_new) {
    std::vector<BackedResource> resources;
    for (std::size_t i = 0; i < by_devices.size(); ++i)
      if (by_devices[i] == 'x') resources.push_back(extended.resources[i]);
    Ref<ResourceClaim> asking = make_ref<ResourceClaim>(claim);
    ExtendedResourceRequests requests = requests_for(cycle.pod(), resources, asking->symbols);
    asking->spec.requests = std::move(requests.requests);
    variant.claim = std::move(asking);
    variant.to_allocate = devices.to_allocate;
    variant.to_allocate.push_back(variant.claim);
    variant.mappings = std::move(requests.mappings);
  }
  return &variant;
}

void NodeJudgement::take_verdict(std::string_view node_name) {
  switch (allocation.verdict) {
    case NodeAllocation::Verdict::kAllocated: break;
    case NodeAllocation::Verdict::kImpossible: reject(kNotAllocated); break;
    case NodeAllocation::Verdict::kNodeFailure:
      code = Code::kUnschedulableAndUnresolvable;
      reason = Status::kListed;
      text = allocation.message;
      break;
    case NodeAllocation::Verdict::kTimedOut:
      fail(fmt::format("node {}: timed out trying to allocate devices", node_name));
      break;
    case NodeAllocation::Verdict::kError: fail(allocation.message); break;
    case NodeAllocation::Verdict::kUnfinished: unfinished = true; break;
  }
}

// ---- Score

// The earlier the alternative, the better; claims that were allocated before count as well.
Score DynamicResources::score_of(const PodDevices& devices,
                                 const NodeAllocation& allocation) const {
  Score score = 0;
  std::size_t next = 0;
  for (const PodClaim& claim : devices.claims) {
    if (claim.decided()) {
      score += plugins::score_of(claim.shared ? *claim.shared : *claim.claim);
    } else if (allocation.allocated() && next < allocation.claims.size()) {
      const ClaimAllocation& allocated = allocation.claims[next++];
      for (std::size_t r = 0; r < claim.claim->spec.requests.size(); ++r)
        if (r < allocated.subrequests.size() && allocated.subrequests[r] >= 0)
          score += plugins::score_of(claim.claim->spec.requests[r],
                                     static_cast<std::size_t>(allocated.subrequests[r]));
    }
  }
  return score;
}

// Without devices all rows are alike.
bool DynamicResources::score_keys(Cycle& cycle, RowKeys&) const {
  const Seen* seen = cycle.find<Seen>(*this);
  return !seen || !seen->devices;
}

Outcome DynamicResources::score(const Cycle& cycle, const NodeSet& feasible,
                                std::span<Score> by_row) const {
  const Seen* seen = cycle.find<Seen>(*this);
  const std::vector<Score>* scores =
      seen && seen->devices && !seen->devices->scores.empty() ? &seen->devices->scores : nullptr;
  feasible.for_each(
      [&](NodeRow row) { by_row[row] = scores && row < scores->size() ? (*scores)[row] : 0; });
  return Outcome::success();
}

Outcome DynamicResources::normalize(const Cycle&, const NodeSet& feasible,
                                    std::span<Score> by_row) const {
  default_normalize(Prefer::kHighest, feasible, by_row);
  return Outcome::success();
}

}  // namespace berth::plugins
