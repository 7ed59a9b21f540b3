// ResourceQuotas: keeps what quotas say is used. The API server charges what is made; here they are
// counted when they are new, when their limits change, and after what they count goes or ends.
// World thread only.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "control_plane/controller.h"
#include "control_plane/custom_followings.h"

namespace berth::control_plane {

class ResourceQuotas final : public Controller {
 public:
  explicit ResourceQuotas(LocalClient& api);

 private:
  void quota_changed(const Change& change);
  void object_changed(const Resource& resource, const Change& change);
  void sync(const std::string& key) override;
  // Counting takes time that grows with what is counted: it is done at intervals that do, too.
  Duration interval() const;

  CustomFollowings custom_;
  std::map<std::string, std::optional<TimePoint>> counted_;  // quotas, and when they last were
};

}  // namespace berth::control_plane
