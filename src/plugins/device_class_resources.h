// DeviceClassResources: which extended resources stand for devices (gate DRAExtendedResource).
//
// Every DeviceClass can be asked for as the resource deviceclass.resource.kubernetes.io/<class>,
// and under the name that its spec.extendedResourceName gives, if any. One for all profiles: of().
// World thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "api/devices.h"
#include "berth/handle.h"

namespace berth::plugins {

// Whether a resource of this name may be devices at all.
bool may_be_devices(std::string_view resource);

class DeviceClassResources {
 public:
  explicit DeviceClassResources(const Cluster& cluster) : cluster_(cluster) {}
  static std::shared_ptr<DeviceClassResources> of(const Handle& handle);

  // The class behind a resource; null when there is none. Valid until a DeviceClass changes.
  const DeviceClass* find(Symbol resource);

 private:
  void refresh();

  const Cluster& cluster_;
  std::uint64_t generation_ = 0;  // of the cluster's DeviceClasses when they were last looked at
  std::unordered_map<Symbol, Ref<const DeviceClass>> classes_;
  SymbolHold symbols_;
};

}  // namespace berth::plugins
