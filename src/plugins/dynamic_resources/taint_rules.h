// The taints that DeviceTaintRules add to devices (volumes-dra-gang.md §9). Rules are kept by what
// their selectors name, so that a device is looked up at most once for each set of named fields,
// however many rules there are. World thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "api/devices.h"
#include "berth/views.h"

namespace berth::plugins {

class TaintRules {
 public:
  // Takes over the cluster's rules, if they have changed.
  void refresh(const Cluster& cluster);

  // Whether `holds` is true of the taint of some rule that selects the device.
  template <typename Predicate>
  bool any_taint(const DeviceId& device, const Predicate& holds) const {
    if (rules_.empty()) return false;
    for (unsigned fields = 0; fields < by_fields_.size(); ++fields) {
      if (by_fields_[fields].empty()) continue;
      const auto found = by_fields_[fields].find(named(device, fields));
      if (found != by_fields_[fields].end() &&
          std::ranges::any_of(found->second, [&](const auto* taint) { return holds(*taint); }))
        return true;
    }
    return false;
  }

 private:
  static constexpr unsigned kDriver = 1;
  static constexpr unsigned kPool = 2;
  static constexpr unsigned kDevice = 4;
  using Taints = std::unordered_map<DeviceId, std::vector<const DeviceTaint*>>;

  // Without the parts that are not among `fields`.
  static DeviceId named(const DeviceId& device, unsigned fields) {
    return {(fields & kDriver) != 0 ? device.driver : Symbol{},
            (fields & kPool) != 0 ? device.pool : Symbol{},
            (fields & kDevice) != 0 ? device.device : Symbol{}};
  }

  std::uint64_t generation_ = 0;                   // of the cluster's rules
  std::vector<Ref<const DeviceTaintRule>> rules_;  // with a selector
  std::array<Taints, 8> by_fields_;                // by the fields that the selector names
};

}  // namespace berth::plugins
