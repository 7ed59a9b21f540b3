#include "compare/idle_devices.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "api/devices.h"

namespace berth::compare {
namespace {

struct Taken {
  bool allocated = false;
  ResourceList consumed;
};

template <typename T>
const T* as(const AnyObject& any, ObjectKind kind) {
  const auto* object = std::get_if<Ref<const Object>>(&any);
  return object && (*object)->kind == kind ? static_cast<const T*>(object->get()) : nullptr;
}

double units_of(const Quantity& quantity) {
  return static_cast<double>(quantity.milli_value()) / 1000;
}

std::map<DeviceId, Taken> taken_devices(const std::vector<AnyObject>& objects) {
  std::map<DeviceId, Taken> taken;
  for (const AnyObject& any : objects) {
    const auto* claim = as<ResourceClaim>(any, ObjectKind::kResourceClaim);
    if (!claim || !claim->allocated()) continue;
    for (const DeviceRequestAllocationResult& result : claim->status.allocation->results) {
      if (result.admin_access) continue;
      Taken& device = taken[result.id()];
      device.allocated = true;
      device.consumed.add(result.consumed_capacity);
    }
  }
  return taken;
}

double idle_part(const Device& device, const Taken* taken) {
  if (!taken || !taken->allocated) return 1;
  if (!device.allow_multiple_allocations || device.capacity.empty()) return 0;
  double part = 1;
  for (const DeviceCapacity& capacity : device.capacity) {
    const Quantity* consumed = taken->consumed.find(capacity.name);
    const double all = units_of(capacity.value);
    if (!consumed || all <= 0) continue;
    part = std::min(part, std::max(0.0, 1 - units_of(*consumed) / all));
  }
  return part;
}

}  // namespace

DevicesByNode find_devices(const std::vector<AnyObject>& objects) {
  const std::map<DeviceId, Taken> taken = taken_devices(objects);
  // Of a pool only the newest generation counts.
  std::map<std::pair<Symbol, Symbol>, std::int64_t> newest;
  for (const AnyObject& any : objects)
    if (const auto* slice = as<ResourceSlice>(any, ObjectKind::kResourceSlice)) {
      std::int64_t& generation = newest[{slice->driver, slice->pool.name}];
      generation = std::max(generation, slice->pool.generation);
    }
  DevicesByNode by_node;
  for (const AnyObject& any : objects) {
    const auto* slice = as<ResourceSlice>(any, ObjectKind::kResourceSlice);
    if (!slice || slice->pool.generation != newest[{slice->driver, slice->pool.name}]) continue;
    for (const Device& device : slice->devices) {
      const DeviceNodeSelection& where =
          slice->per_device_node_selection.value_or(false) ? device.nodes : slice->nodes;
      const Symbol node = where.node_name.value_or(Symbol());
      DeviceAmounts& amounts = by_node[std::string(slice->symbols.text(node))]
                                      [std::string(slice->symbols.text(slice->driver))];
      const auto found = taken.find({slice->driver, slice->pool.name, device.name});
      amounts.all += 1;
      amounts.idle += idle_part(device, found == taken.end() ? nullptr : &found->second);
    }
  }
  return by_node;
}

}  // namespace berth::compare
