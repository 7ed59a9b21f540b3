// DeviceCounts: how many devices of a DeviceClass each node can use, and how many of them are
// taken, for scoring an extended resource that is devices (volumes-dra-gang.md §13.2).
//
// It counts whatever a slice names, also of pools that are incomplete, invalid or outdated, and
// takes no notice of taints: so does upstream. One for all profiles: of(). World thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "api/devices.h"
#include "berth/handle.h"
#include "berth/views.h"
#include "plugins/device_class_resources.h"
#include "plugins/dynamic_resources/allocator_selectors.h"
#include "plugins/dynamic_resources/claim_tracker.h"

namespace berth::plugins {

class DeviceCounts {
 public:
  explicit DeviceCounts(const Handle& handle);
  static std::shared_ptr<DeviceCounts> of(const Handle& handle);

  bool is_devices(Symbol resource) const { return classes_->find(resource) != nullptr; }

  struct Columns {  // by row
    std::vector<std::int64_t> devices;
    std::vector<std::int64_t> taken;
  };
  // Of the class behind a resource; nullopt when there is none. Where something cannot be told (a
  // selector fails, of devices or of nodes) there are no devices.
  std::optional<Columns> count(Symbol resource);

 private:
  class Count;

  void refresh();
  void count_slice(const DeviceClass& device_class, const Ref<const ResourceSlice>& counted,
                   Count& count);
  Result<bool> matches(const DeviceClass& device_class, const Ref<const ResourceSlice>& slice,
                       std::uint32_t device);

  const Cluster& cluster_;
  const std::shared_ptr<ClaimTracker> tracker_;
  const std::shared_ptr<DeviceClassResources> classes_;
  SelectorTable selectors_;
  std::uint64_t generation_ = 0;  // of the slices when they were last looked at
  std::vector<Ref<const ResourceSlice>> slices_;
  std::unordered_map<const ResourceSlice*, SelectorAnswers> answers_;  // of these
};

}  // namespace berth::plugins
