// CustomFollowings: the objects of all kinds that CustomResourceDefinitions make, followed as long
// as their definitions are there. World thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "control_plane/api_server.h"

namespace berth::control_plane {

class CustomFollowings {
 public:
  using Handler = std::function<void(const Resource& resource, const Change& change)>;

  CustomFollowings(LocalClient& api, Handler handler);

  // Null when there is no such kind (any more). Good until the next turn of the loop.
  const Resource* at_slot(std::size_t slot) const;
  const Resource* of_kind(std::string_view api_version, std::string_view kind) const;
  void catch_up();

 private:
  struct Followed {
    std::string definition;
    memapi::CustomKindsRef kinds;  // keeps the resource
    const Resource* resource = nullptr;
    std::unique_ptr<Following> following;
  };
  void follow_present_kinds();

  LocalClient& api_;
  const Handler handler_;
  std::map<std::size_t, Followed> followed_;  // by where the objects are stored
  std::unique_ptr<Following> definitions_;
};

}  // namespace berth::control_plane
