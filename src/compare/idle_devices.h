// Devices that ResourceSlices offer, and how much of them no claim has.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/object.h"

namespace berth::compare {

struct DeviceAmounts {
  double all = 0;
  // A device that may be shared counts with the free part of that capacity of which the smallest part
  // is free.
  double idle = 0;
};

// By node (empty: of no single node) and driver.
using DevicesByNode = std::map<std::string, std::map<std::string, DeviceAmounts>>;

DevicesByNode find_devices(const std::vector<AnyObject>& objects);

}  // namespace berth::compare
