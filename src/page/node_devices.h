// NodeDevices: how many devices each node has, by driver, and how many of them are allocated to
// claims. It is shown ResourceSlices and ResourceClaims as they change. Devices that are not of one
// node alone (network-attached ones) are not counted.
//
// One thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "berth/object.h"

namespace berth::page {

struct DeviceCounts {
  std::int64_t all = 0;
  std::int64_t allocated = 0;

  friend bool operator==(const DeviceCounts&, const DeviceCounts&) = default;
};
using DevicesByDriver = std::map<std::string, DeviceCounts, std::less<>>;

class NodeDevices {
 public:
  // Returns the nodes whose numbers are others now. Objects of other kinds change nothing.
  std::set<std::string> changed(const Delta& delta);

  // Null: the node has no devices.
  const DevicesByDriver* on(std::string_view node) const;
  const std::map<std::string, DevicesByDriver, std::less<>>& all() const { return nodes_; }

 private:
  struct Device {
    std::string node;
    std::string driver;
    int slices = 0;  // that have it: two while its pool is written anew
    int claims = 0;  // that it is allocated to
  };
  // Devices by "driver/pool/device": what the slice, or the claim, of that name has.
  using Keys = std::vector<std::string>;

  Keys keys_of(const ResourceSlice& slice);
  static Keys keys_of(const ResourceClaim& claim);
  // In place of what the object of that name had. `count` is the member that it counts in.
  std::set<std::string> replace(std::map<std::string, Keys>& objects, const std::string& name,
                                Keys keys, int Device::* count);
  void add(Device& device, int Device::* count, int change, std::set<std::string>& nodes);

  std::map<std::string, Keys> slices_;
  std::map<std::string, Keys> claims_;
  std::map<std::string, Device> devices_;
  std::map<std::string, DevicesByDriver, std::less<>> nodes_;
};

}  // namespace berth::page
