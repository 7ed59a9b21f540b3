#include "plugins/coscheduling/resource_gap.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/names.h"

namespace berth::plugins::coscheduling {
namespace {

struct NeededResource {
  Symbol name;
  std::string_view text;
  Quantity amount;
};

// In the order of the names' texts.
std::vector<NeededResource> needed_resources(const Group& group, const Symbols& symbols) {
  std::vector<NeededResource> needs;
  for (const ResourceAmount& amount : *group.object->min_resources)
    if (amount.name != names::kPods)
      needs.push_back({amount.name, symbols.text(amount.name), amount.amount});
  needs.push_back(
      {names::kPods, symbols.text(names::kPods), Quantity::of(group.object->min_member)});
  std::ranges::sort(needs, {}, &NeededResource::text);
  return needs;
}

// What the group's own pods take, by row.
using OwnUsage = std::unordered_map<NodeRow, std::vector<Resources>>;
OwnUsage own_usage(const Group& group, const Cluster& cluster) {
  OwnUsage own;
  for (const auto& [name, member] : group.members) {
    const NodeRow row = cluster.row_of(member->uid());
    if (row == kNoRow) continue;
    const Ref<const Pod> placed = cluster.placed(member->uid());
    const bool resized = placed->extra() && placed->extra()->has_resources();
    own[row].push_back(
        (resized ? pod_usage(*placed) : pod_usage(placed->spec(), cluster.symbols())).requests);
  }
  return own;
}

class FreeResources {
 public:
  FreeResources(const Group& group, const Cluster& cluster)
      : nodes_(cluster.nodes()), own_(own_usage(group, cluster)) {}

  // May be negative. Parity: as an amount in thousandths for CPU, even of none.
  Quantity on(NodeRow row, Symbol resource) const {
    const auto free = [&](auto allocatable, auto requested, auto of_pod) {
      std::int64_t amount = allocatable - requested;
      if (const auto own = own_.find(row); own != own_.end())
        for (const Resources& usage : own->second) amount += of_pod(usage);
      return amount;
    };
    using enum Quantity::Format;
    if (resource == names::kCpu)
      return Quantity::of_milli(free(nodes_.allocatable_milli_cpu()[row],
                                     nodes_.requested_milli_cpu()[row],
                                     [](const Resources& usage) { return usage.milli_cpu; }));
    if (resource == names::kMemory)
      return Quantity::of(free(nodes_.allocatable_memory()[row], nodes_.requested_memory()[row],
                               [](const Resources& usage) { return usage.memory; }),
                          kBinarySI);
    if (resource == names::kEphemeralStorage)
      return Quantity::of(free(nodes_.allocatable_ephemeral_storage()[row],
                               nodes_.requested_ephemeral_storage()[row],
                               [](const Resources& usage) { return usage.ephemeral_storage; }),
                          kBinarySI);
    if (resource == names::kPods)
      return Quantity::of(free(nodes_.allocatable_pods()[row], nodes_.pod_counts()[row],
                               [](const Resources&) { return std::int64_t{1}; }),
                          kBinarySI);
    // Parity: a node that does not offer the resource has 0, whatever its pods request.
    const Resources& offered = nodes_.node(row).allocatable_resources;
    if (!offered.has_scalar(resource)) return Quantity();
    return Quantity::of(
        free(offered.scalar(resource), requested_scalar(row, resource),
             [resource](const Resources& usage) { return usage.scalar(resource); }));
  }

 private:
  std::int64_t requested_scalar(NodeRow row, Symbol resource) const {
    const ScalarView view = nodes_.scalar(resource);
    if (view.is_dense) return view.requested[row];
    const auto at = std::ranges::lower_bound(view.few, row, {}, &ScalarView::AtRow::row);
    return at != view.few.end() && at->row == row ? at->requested : 0;
  }

  const NodeTable& nodes_;
  const OwnUsage own_;
};

std::string_view format_name(Quantity::Format format) {
  switch (format) {
    case Quantity::Format::kDecimalSI: return "DecimalSI";
    case Quantity::Format::kBinarySI: return "BinarySI";
    case Quantity::Format::kDecimalExponent: break;
  }
  return "DecimalExponent";
}

// As Go prints the struct. Of a number that is too large for it upstream prints an address; the
// number is more useful.
std::string printed(const Quantity& amount) {
  const std::optional<Quantity::Decimal> decimal = amount.decimal();
  return decimal ? fmt::format("{{{{{} {}}} {{<nil>}}  {}}}", decimal->unscaled, decimal->scale,
                               format_name(amount.format()))
                 : fmt::format("{{{{0 0}} {{{}}}  {}}}", amount.to_string(),
                               format_name(amount.format()));
}

}  // namespace

std::optional<std::string> resource_gap(const Group& group, const Cluster& cluster) {
  std::vector<NeededResource> needs = needed_resources(group, cluster.symbols());
  const FreeResources free(group, cluster);
  for (const NodeRow row : cluster.nodes().order()) {
    if (!cluster.nodes().has_node(row)) continue;
    std::erase_if(needs, [&](NeededResource& need) {
      need.amount -= free.on(row, need.name);
      return need.amount.sign() <= 0;
    });
    if (needs.empty()) return std::nullopt;
  }
  std::string text;
  for (const NeededResource& need : needs)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", need.text, printed(need.amount));
  return "map[" + text + "]";
}

}  // namespace berth::plugins::coscheduling
