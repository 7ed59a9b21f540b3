// GarbageCollector: what becomes of objects whose owners go (metadata.ownerReferences).
//
// Background: they are deleted once no owner is left. Foreground: the owner waits, with a
// finalizer, until those that block it are gone. Orphan: they are let go of first. References to
// kinds that this server does not have are taken to be fine.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "control_plane/controller.h"
#include "control_plane/custom_followings.h"

namespace berth::control_plane {

class GarbageCollector final : public Controller {
 public:
  explicit GarbageCollector(LocalClient& api);

 private:
  // Keys here begin with the number of the resource: "8 default/web-1".
  void changed(const Resource& resource, const Change& change);
  void sync(const std::string& key) override;
  void settle_dependent(const Resource& resource, const StoredObject& object,
                        const JsonValue& tree);
  // Whether somebody waits for the object to go who in turn belongs to it.
  bool in_a_circle(const std::string& uid) const;
  void settle_owner(const Resource& resource, const StoredObject& object, const JsonValue& tree);
  void catch_up();

  struct Located {
    const Resource* resource = nullptr;  // null: the kind is no longer there
    ObjectName name;
  };
  Located located(std::string_view key) const;
  const Resource* resource_named(std::string_view api_version, std::string_view kind) const;

  std::vector<Following*> followings_;
  CustomFollowings custom_;
  std::map<std::string, std::set<std::string>, std::less<>> dependents_;  // by the owner's UID
  std::map<std::string, std::vector<std::string>, std::less<>> owners_;   // UIDs, by key
};

}  // namespace berth::control_plane
