// AllocatedDevices: which devices of the cluster are taken, by the claims that have an allocation.
//
// The plugin keeps one, adds the allocation of a claim when it sees or makes it and removes it when
// it is gone; the allocator asks. Devices that were given for admin access are not counted. Symbols
// of what was added must stay held until it is removed. World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/devices.h"

namespace berth::plugins {

class AllocatedDevices {
 public:
  // `consumable_capacity`: devices may be shared (DRAConsumableCapacity); without it whoever has a
  // device has all of it.
  explicit AllocatedDevices(bool consumable_capacity);
  AllocatedDevices(const AllocatedDevices&);
  AllocatedDevices(AllocatedDevices&&) noexcept;
  AllocatedDevices& operator=(AllocatedDevices) noexcept;
  ~AllocatedDevices();

  void add(const AllocationResult& allocation);
  void remove(const AllocationResult& allocation);

  // Whether the device is allocated exclusively.
  bool exclusive(const DeviceId& id) const;
  // Whether the device, or a share of it, is allocated.
  bool any(const DeviceId& id) const;
  // Whether a share of the device is allocated.
  bool shared(const DeviceId& id) const;
  // What all shares of the device consume together; null when nothing is known to be consumed.
  const ResourceList* consumed(const DeviceId& id) const;

  // How many devices are allocated, exclusively or in shares.
  std::size_t size() const;
  // Grows with every change of a device.
  std::uint64_t revision() const { return revision_; }
  // Which devices have changed since, in order; nullopt: too many.
  std::optional<std::span<const DeviceId>> changes_since(std::uint64_t revision) const;

 private:
  struct Devices;
  void changed(const DeviceId& id);

  static constexpr std::size_t kChangesKept = 4096;
  bool consumable_capacity_;
  std::uint64_t revision_ = 0;
  std::vector<DeviceId> changes_;  // the last ones
  std::unique_ptr<Devices> devices_;
};

}  // namespace berth::plugins
