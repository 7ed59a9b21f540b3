#include "control_plane/custom_followings.h"

#include <utility>

namespace berth::control_plane {

CustomFollowings::CustomFollowings(LocalClient& api, Handler handler)
    : api_(api), handler_(std::move(handler)) {
  definitions_ = api_.follow(resource_of("customresourcedefinitions", "apiextensions.k8s.io"),
                             [this](const Change&) { follow_present_kinds(); });
}

void CustomFollowings::follow_present_kinds() {
  const memapi::CustomKindsRef kinds = api_.custom_kinds();
  std::map<std::size_t, Followed> next;
  for (const auto& kind : kinds->stored()) {
    const Resource& resource = kind->resource;
    Followed& followed = next[resource.slot];
    followed.definition = kind->definition;
    followed.kinds = kinds;
    followed.resource = &resource;
    const auto before = followed_.find(resource.slot);
    if (before != followed_.end() && before->second.definition == kind->definition)
      followed.following = std::move(before->second.following);
  }
  followed_ = std::move(next);
  for (auto& [slot, followed] : followed_) {
    if (followed.following) continue;
    followed.following = api_.follow(*followed.resource, [this, at = slot](const Change& change) {
      if (const Resource* resource = at_slot(at)) handler_(*resource, change);
    });
  }
}

const Resource* CustomFollowings::at_slot(std::size_t slot) const {
  const auto found = followed_.find(slot);
  return found == followed_.end() ? nullptr : found->second.resource;
}

const Resource* CustomFollowings::of_kind(std::string_view api_version,
                                          std::string_view kind) const {
  for (const auto& [slot, followed] : followed_)
    if (const Resource* found = followed.kinds->find_kind(api_version, kind)) return found;
  return nullptr;
}

void CustomFollowings::catch_up() {
  for (auto& [slot, followed] : followed_) followed.following->catch_up();
}

}  // namespace berth::control_plane
