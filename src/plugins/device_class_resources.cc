#include "plugins/device_class_resources.h"

#include <string>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kImplicitPrefix = "deviceclass.resource.kubernetes.io/";

// Of two classes that state the same name the younger one has it, among twins the one that comes
// first in the alphabet.
// Parity: upstream takes classes in as they come, so that a class that loses the name it states may
// lose its own as well, depending on the order. Here the order does not count, and nobody does.
bool goes_before(const DeviceClass& a, const DeviceClass& b) {
  if (a.creation_time != b.creation_time) return a.creation_time > b.creation_time;
  return a.name < b.name;
}

}  // namespace

bool may_be_devices(std::string_view resource) {
  return resource.starts_with(kImplicitPrefix) || is_extended_resource(resource);
}

std::shared_ptr<DeviceClassResources> DeviceClassResources::of(const Handle& handle) {
  return handle.shared->get<DeviceClassResources>(
      [&handle] { return std::make_shared<DeviceClassResources>(handle.cluster); });
}

const DeviceClass* DeviceClassResources::find(Symbol resource) {
  if (generation_ != cluster_.generation(ObjectKind::kDeviceClass)) refresh();
  const auto found = classes_.find(resource);
  return found == classes_.end() ? nullptr : found->second.get();
}

void DeviceClassResources::refresh() {
  SymbolHold symbols(cluster_.symbol_table());
  classes_.clear();
  for (const Ref<const Object>& object : cluster_.list(ObjectKind::kDeviceClass)) {
    const Ref<const DeviceClass> device_class(static_cast<const DeviceClass*>(object.get()));
    if (const Symbol stated = device_class->extended_resource_name; !stated.empty()) {
      Ref<const DeviceClass>& holder = classes_[stated];
      if (!holder || goes_before(*device_class, *holder)) holder = device_class;
    }
    classes_[symbols.intern(std::string(kImplicitPrefix) + device_class->name)] = device_class;
  }
  symbols_ = std::move(symbols);
  generation_ = cluster_.generation(ObjectKind::kDeviceClass);
}

}  // namespace berth::plugins
