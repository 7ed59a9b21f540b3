#include "plugins/dynamic_resources/allocated_devices.h"

#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

namespace berth::plugins {
namespace {

// How many results there are per device: two claims with the same device are somebody's mistake,
// and the device is free when both are gone.
using Counts = boost::unordered_flat_map<DeviceId, std::uint32_t, std::hash<DeviceId>>;

void count_down(Counts& counts, const DeviceId& id) {
  const auto found = counts.find(id);
  if (found != counts.end() && --found->second == 0) counts.erase(found);
}

bool all_zero(const ResourceList& amounts) {
  for (const ResourceAmount& amount : amounts)
    if (!amount.amount.is_zero()) return false;
  return true;
}

// Names that are not there stay away.
void subtract(ResourceList& from, const ResourceList& amounts) {
  for (const ResourceAmount& amount : amounts) {
    const Quantity* consumed = from.find(amount.name);
    if (!consumed) continue;
    Quantity rest = *consumed;
    rest -= amount.amount;
    from.set(amount.name, std::move(rest));
  }
}

}  // namespace

struct AllocatedDevices::Devices {
  Counts exclusive;
  Counts shares;
  boost::unordered_flat_map<DeviceId, ResourceList, std::hash<DeviceId>> consumed;
};

AllocatedDevices::AllocatedDevices(bool consumable_capacity)
    : consumable_capacity_(consumable_capacity), devices_(std::make_unique<Devices>()) {}
AllocatedDevices::AllocatedDevices(const AllocatedDevices& other)
    : consumable_capacity_(other.consumable_capacity_),
      revision_(other.revision_),
      changes_(other.changes_),
      devices_(std::make_unique<Devices>(*other.devices_)) {}
AllocatedDevices::AllocatedDevices(AllocatedDevices&&) noexcept = default;
AllocatedDevices& AllocatedDevices::operator=(AllocatedDevices other) noexcept {
  std::swap(consumable_capacity_, other.consumable_capacity_);
  std::swap(revision_, other.revision_);
  std::swap(changes_, other.changes_);
  std::swap(devices_, other.devices_);
  return *this;
}
AllocatedDevices::~AllocatedDevices() = default;

void AllocatedDevices::add(const AllocationResult& allocation) {
  for (const DeviceRequestAllocationResult& result : allocation.results) {
    if (result.admin_access) continue;
    const DeviceId id = result.id();
    changed(id);
    if (!consumable_capacity_ || result.share_id.empty()) {
      ++devices_->exclusive[id];
      continue;
    }
    ++devices_->shares[id];
    if (!result.consumed_capacity.empty()) devices_->consumed[id].add(result.consumed_capacity);
  }
}

void AllocatedDevices::remove(const AllocationResult& allocation) {
  for (const DeviceRequestAllocationResult& result : allocation.results) {
    if (result.admin_access) continue;
    const DeviceId id = result.id();
    changed(id);
    if (!consumable_capacity_ || result.share_id.empty()) {
      count_down(devices_->exclusive, id);
      continue;
    }
    count_down(devices_->shares, id);
    const auto found = devices_->consumed.find(id);
    if (result.consumed_capacity.empty() || found == devices_->consumed.end()) continue;
    subtract(found->second, result.consumed_capacity);
    if (all_zero(found->second)) devices_->consumed.erase(found);
  }
}

void AllocatedDevices::changed(const DeviceId& id) {
  ++revision_;
  // Half of them go at a time.
  if (changes_.size() == 2 * kChangesKept)
    changes_.erase(changes_.begin(), changes_.begin() + kChangesKept);
  changes_.push_back(id);
}

std::optional<std::span<const DeviceId>> AllocatedDevices::changes_since(
    std::uint64_t revision) const {
  if (revision > revision_ || revision_ - revision > changes_.size()) return std::nullopt;
  return std::span(changes_).last(static_cast<std::size_t>(revision_ - revision));
}

bool AllocatedDevices::exclusive(const DeviceId& id) const {
  return devices_->exclusive.contains(id);
}

bool AllocatedDevices::any(const DeviceId& id) const {
  return devices_->exclusive.contains(id) || devices_->shares.contains(id) ||
         devices_->consumed.contains(id);
}

bool AllocatedDevices::shared(const DeviceId& id) const {
  return !devices_->shares.empty() && devices_->shares.contains(id);
}

const ResourceList* AllocatedDevices::consumed(const DeviceId& id) const {
  if (devices_->consumed.empty()) return nullptr;  // usually, and asked about every device
  const auto found = devices_->consumed.find(id);
  return found == devices_->consumed.end() ? nullptr : &found->second;
}

std::size_t AllocatedDevices::size() const {
  return devices_->exclusive.size() + devices_->shares.size();
}

}  // namespace berth::plugins
