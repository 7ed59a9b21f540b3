#include "plugins/dynamic_resources/kept_verdicts.h"

#include <algorithm>
#include <optional>

#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::plugins {
namespace {

void mix(std::size_t& hash, std::size_t value) { hash = hash * 0x9e3779b97f4a7c15U + value; }

void mix_request(std::size_t& hash, const ExactDeviceRequest& request) {
  mix(hash, request.device_class_name.id);
  mix(hash, static_cast<std::size_t>(request.count));
  if (!request.capacity) return;
  for (const ResourceAmount& amount : *request.capacity) mix(hash, amount.amount.hash());
}

// Claims that ask for the same have the same hash.
std::size_t hash_of_shape(std::span<const Ref<const ResourceClaim>> claims) {
  std::size_t hash = claims.size();
  for (const Ref<const ResourceClaim>& claim : claims)
    for (const DeviceRequest& request : claim->spec.requests) {
      mix(hash, request.name.id);
      if (request.exactly) mix_request(hash, *request.exactly);
    }
  return hash;
}

}  // namespace

bool KeptVerdicts::Shape::is_of(std::span<const Ref<const ResourceClaim>> claims) const {
  return std::ranges::equal(claims_, claims,
                            [](const auto& a, const auto& b) { return a->spec == b->spec; });
}

void KeptVerdicts::Shape::keep(NodeRow row, Verdict verdict) {
  if (row >= found_.size()) {
    const std::size_t rows = std::max<std::size_t>(owner_.rows_.size(), row + std::size_t{1});
    found_.resize(rows);
    verdicts_.resize(rows);
  }
  found_[row] = owner_.changes_;
  verdicts_[row] = verdict;
}

std::size_t KeptVerdicts::Shape::bytes() const {
  constexpr std::size_t kOfRequest = 1024;  // about
  std::size_t total = sizeof(*this) + found_.capacity() * sizeof(std::uint64_t) +
                      verdicts_.capacity() * sizeof(Verdict);
  for (const Ref<const ResourceClaim>& claim : claims_)
    total += claim->spec.requests.size() * kOfRequest;
  return total;
}

void KeptVerdicts::row_changed(NodeRow row) {
  if (row >= rows_.size()) rows_.resize(row + std::size_t{1});
  rows_[row] = ++changes_;
}

// False where it is not known which nodes have changed.
bool KeptVerdicts::follow_nodes(const NodeTable& nodes) {
  const auto changed = nodes.changes_since(position_);
  position_ = nodes.log_end();
  if (!changed) return false;
  for (const ChangedRow& change : *changed)
    if ((change.changes & ~static_cast<unsigned>(RowChange::kPods)) != 0) row_changed(change.row);
  return true;
}

// The same of devices.
bool KeptVerdicts::follow_devices(const Cluster& cluster, const AllocatedDevices& allocated,
                                  const DevicePools& pools) {
  const auto changed = allocated.changes_since(allocated_);
  allocated_ = allocated.revision();
  if (!changed) return false;
  for (const DeviceId& device : *changed) {
    const std::optional<Symbol> node = pools.only_node(device.driver, device.pool);
    if (!node) return false;
    if (const NodeRow row = node->empty() ? kNoRow : cluster.nodes().find(*node); row != kNoRow)
      row_changed(row);
  }
  return true;
}

void KeptVerdicts::refresh(const Cluster& cluster, const AllocatedDevices& allocated,
                           const DevicePools& pools) {
  shapes_.begin_cycle();
  const std::uint64_t slices = cluster.generation(ObjectKind::kResourceSlice);
  const std::uint64_t classes = cluster.generation(ObjectKind::kDeviceClass);
  const std::uint64_t taint_rules = cluster.generation(ObjectKind::kDeviceTaintRule);
  const bool same = slices == slices_ && classes == classes_ && taint_rules == taint_rules_;
  slices_ = slices;
  classes_ = classes;
  taint_rules_ = taint_rules;
  const bool nodes_known = follow_nodes(cluster.nodes());
  const bool devices_known = follow_devices(cluster, allocated, pools);
  if (!same || !nodes_known || !devices_known) all_changed();
  if (rows_.size() < cluster.nodes().rows()) rows_.resize(cluster.nodes().rows());
}

KeptVerdicts::Shape& KeptVerdicts::of(std::span<const Ref<const ResourceClaim>> claims) {
  const std::size_t hash = hash_of_shape(claims);
  if (Shape* known = shapes_.find(hash, [&](const Shape& shape) { return shape.is_of(claims); }))
    return *known;
  return shapes_.insert(hash, std::make_unique<Shape>(*this, claims));
}

}  // namespace berth::plugins
