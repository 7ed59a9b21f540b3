#include "page/node_devices.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

namespace berth::page {

const DevicesByDriver* NodeDevices::on(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

NodeDevices::Keys NodeDevices::keys_of(const ResourceSlice& slice) {
  const Symbols& symbols = *slice.symbols.table();
  const bool is_per_device = slice.per_device_node_selection.value_or(false);
  Keys keys;
  for (const berth::Device& device : slice.devices) {
    const std::optional<Symbol> node =
        is_per_device ? device.nodes.node_name : slice.nodes.node_name;
    if (!node || node->empty()) continue;
    std::string driver(symbols.text(slice.driver));
    keys.push_back(
        fmt::format("{}/{}/{}", driver, symbols.text(slice.pool.name), symbols.text(device.name)));
    Device& known = devices_[keys.back()];
    // While it is counted it stays where it is.
    if (known.slices == 0) {
      known.node = symbols.text(*node);
      known.driver = std::move(driver);
    }
  }
  return keys;
}

NodeDevices::Keys NodeDevices::keys_of(const ResourceClaim& claim) {
  Keys keys;
  if (!claim.status.allocation) return keys;
  const Symbols& symbols = *claim.symbols.table();
  for (const DeviceRequestAllocationResult& result : claim.status.allocation->results)
    if (!result.admin_access)
      keys.push_back(fmt::format("{}/{}/{}", symbols.text(result.driver), symbols.text(result.pool),
                                 symbols.text(result.device)));
  return keys;
}

void NodeDevices::add(Device& device, int Device::* count, int change,
                      std::set<std::string>& nodes) {
  const bool was_there = device.slices > 0, was_allocated = device.claims > 0;
  device.*count += change;
  const bool is_there = device.slices > 0, is_allocated = device.claims > 0;
  if (was_there == is_there && (!is_there || was_allocated == is_allocated)) return;
  DevicesByDriver& drivers = nodes_[device.node];
  DeviceCounts& counts = drivers[device.driver];
  counts.all += int{is_there} - int{was_there};
  counts.allocated += int{is_there && is_allocated} - int{was_there && was_allocated};
  if (counts.all == 0) drivers.erase(device.driver);
  if (drivers.empty()) nodes_.erase(device.node);
  nodes.insert(device.node);
}

std::set<std::string> NodeDevices::replace(std::map<std::string, Keys>& objects,
                                           const std::string& name, Keys keys,
                                           int Device::* count) {
  std::set<std::string> nodes;
  Keys& known = objects[name];
  for (const std::string& key : keys) add(devices_[key], count, 1, nodes);
  for (const std::string& key : known) {
    Device& device = devices_[key];
    add(device, count, -1, nodes);
    if (device.slices == 0 && device.claims == 0) devices_.erase(key);
  }
  if (keys.empty())
    objects.erase(name);
  else
    known = std::move(keys);
  return nodes;
}

std::set<std::string> NodeDevices::changed(const Delta& delta) {
  const auto* any = std::get_if<Ref<const Object>>(&delta.object);
  if (!any) return {};
  const Object& object = **any;
  const bool is_gone = delta.type == DeltaType::kDeleted;
  if (object.kind == ObjectKind::kResourceSlice)
    return replace(slices_, object.name,
                   is_gone ? Keys() : keys_of(static_cast<const ResourceSlice&>(object)),
                   &Device::slices);
  if (object.kind == ObjectKind::kResourceClaim)
    return replace(
        claims_, fmt::format("{}/{}", object.symbols.text(object.namespace_name), object.name),
        is_gone ? Keys() : keys_of(static_cast<const ResourceClaim&>(object)), &Device::claims);
  return {};
}

}  // namespace berth::page
