#include "plugins/volume_binding/provisioning.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/go_quote.h"
#include "plugins/storage_objects.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// One term of allowedTopologies; nullopt: it makes no sense and counts for nothing.
std::optional<std::vector<Requirement>> compiled(const std::vector<TopologyRequirement>& term,
                                                 const Symbols& symbols) {
  std::vector<Requirement> requirements;
  for (const TopologyRequirement& written : term) {
    const SelectorRequirement one_of{written.key, SelectorOperator::kIn, {}, written.values};
    Result<Requirement> requirement = compile_requirement(one_of, symbols, {});
    if (!requirement) return std::nullopt;
    requirements.push_back(*std::move(requirement));
  }
  return requirements;
}

}  // namespace

// ---- free space ---------------------------------------------------------------------------------

Ref<const CSIStorageCapacity> StorageCapacities::OfClass::find(std::int64_t size,
                                                               const LabelSet& labels,
                                                               const Symbols& symbols) const {
  Ref<const CSIStorageCapacity> found;
  index_.any(labels, [&](LabelIndex::Entry entry) {
    const Reachable& reachable = capacities_[entry];
    const Quantity* limit = reachable.capacity->limit();
    if (limit == nullptr || limit->value() < size || !reachable.from.matches(labels, symbols))
      return false;
    found = reachable.capacity;
    return true;
  });
  return found;
}

std::shared_ptr<const StorageCapacities::OfClass> StorageCapacities::of(Symbol storage_class) {
  if (generation_ != cluster_.generation(ObjectKind::kCSIStorageCapacity)) refresh();
  const auto found = classes_.find(storage_class);
  return found == classes_.end() ? nullptr : found->second;
}

void StorageCapacities::refresh() {
  generation_ = cluster_.generation(ObjectKind::kCSIStorageCapacity);
  classes_.clear();
  for (const Ref<const Object>& object : cluster_.list(ObjectKind::kCSIStorageCapacity)) {
    const Ref<const CSIStorageCapacity> capacity(
        static_cast<const CSIStorageCapacity*>(object.get()));
    if (!capacity->node_topology) continue;
    Result<Selector> from = Selector::compile(capacity->node_topology, cluster_.symbols());
    if (!from) continue;
    std::shared_ptr<OfClass>& of_class = classes_[capacity->storage_class];
    if (!of_class) of_class = std::make_shared<OfClass>();
    of_class->index_.add(*from, static_cast<LabelIndex::Entry>(of_class->capacities_.size()));
    of_class->capacities_.push_back({capacity, *std::move(from)});
  }
  for (auto& [name, of_class] : classes_) of_class->index_.finish();
}

// ---- provisioning -------------------------------------------------------------------------------

Provisioning::Provisioning(const PersistentVolumeClaim& claim, const Cluster& cluster,
                           StorageCapacities& capacities) {
  const std::string_view class_name = claim.symbols.text(claim.storage_class);
  if (class_name.empty()) {
    error_ = fmt::format(
        "no class for claim {}",
        go_quoted(fmt::format("{}/{}", claim.symbols.text(claim.namespace_name), claim.name)));
    return;
  }
  const Result<Ref<const StorageClass>> found = find_storage_class(cluster, class_name);
  if (!found) {
    error_ = fmt::format("failed to find storage class {}", go_quoted(class_name));
    return;
  }
  const StorageClass& storage_class = **found;
  const std::string_view provisioner = storage_class.symbols.text(storage_class.provisioner);
  possible_ = !provisioner.empty() && provisioner != kNoProvisioner;
  if (!possible_) return;

  any_topology_ = storage_class.allowed_topologies.empty();
  for (const std::vector<TopologyRequirement>& written : storage_class.allowed_topologies) {
    if (written.empty()) continue;
    if (auto term = compiled(written, cluster.symbols())) topologies_.push_back(*std::move(term));
  }

  if (!claim.request) return;
  const Ref<const CSIDriver> driver = find_csi_driver(cluster, provisioner);
  space_counts_ = driver && driver->storage_capacity;
  if (!space_counts_) return;
  size_ = claim.request->value();
  capacities_ = capacities.of(claim.storage_class);
}

Provisioning::Answer Provisioning::on(const Node& node, const Symbols& symbols) const {
  if (!error_.empty()) return {Verdict::kError, {}};
  if (!possible_ || !topology_allows(node.labels, symbols)) return {Verdict::kNotHere, {}};
  if (!space_counts_) return {};
  Answer answer;
  if (capacities_) answer.capacity = capacities_->find(size_, node.labels, symbols);
  if (!answer.capacity) answer.verdict = Verdict::kNoSpace;
  return answer;
}

bool Provisioning::topology_allows(const LabelSet& labels, const Symbols& symbols) const {
  if (any_topology_) return true;
  return std::ranges::any_of(topologies_, [&](const std::vector<Requirement>& term) {
    return std::ranges::all_of(
        term, [&](const Requirement& requirement) { return requirement.matches(labels, symbols); });
  });
}

}  // namespace berth::plugins
