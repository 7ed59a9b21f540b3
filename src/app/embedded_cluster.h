// EmbeddedCluster: the door between a scheduler and the API server in the same process. What
// changes in the store comes in as deltas, on the same loop; what the scheduler does goes to the
// store the way that requests go: bindings through the binding subresource, statuses through the
// status subresource, events as Events. World thread only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/owned_fields.h"
#include "berth/cluster_api.h"
#include "berth/interner.h"
#include "engine/engine.h"
#include "extender/kept_objects.h"
#include "memapi/crd_kinds.h"
#include "memapi/local_client.h"
#include "telemetry/log.h"
#include "ui/live_feed.h"

namespace berth::app {

class EmbeddedCluster final : public ClusterApi {
 public:
  EmbeddedCluster(memapi::LocalClient& api, Interner& interner,
                  std::optional<telemetry::Log> log = std::nullopt);
  ~EmbeddedCluster() override;

  // From now on `engine` is shown what there is and what changes, `kept` the same in full, and
  // `feed` what changes.
  void serve(Engine& engine, extender::KeptObjects* kept = nullptr, ui::LiveFeed* feed = nullptr);

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override;
  Task<Result<bool>> is_bound(Ref<const Pod> pod, std::string node_name, bool unanswered) override;
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  Task<Result<AnyObject>> update(AnyObject object) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  Task<Result<AnyObject>> create(AnyObject object) override;
  Task<Result<void>> remove(AnyObject object) override;
  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                              std::string name) override;
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override;
  void record(PodEvent event) override;

 private:
  void follow_others();
  void other_changed(const std::string& other, const memapi::Change& change);
  void changed(ObjectKind kind, const memapi::Resource& resource, const memapi::Change& change);
  void undecodable(ObjectKind kind, const memapi::Resource& resource, const memapi::Change& change,
                   bool before, bool after, const Error& error);
  void show(const Delta& delta, const memapi::Change& change);
  Result<AnyObject> write(const AnyObject& object, WrittenPart part);
  Result<AnyObject> decoded(ObjectKind kind, const memapi::Answer<memapi::ObjectRef>& answer);

  memapi::LocalClient& api_;
  Interner& interner_;
  std::optional<telemetry::Log> log_;
  Engine* engine_ = nullptr;
  extender::KeptObjects* kept_ = nullptr;
  ui::LiveFeed* feed_ = nullptr;
  std::vector<std::unique_ptr<memapi::Following>> followings_;
  // Custom resources that plugins read (Engine::other_resources), while there are such.
  struct OtherFollowing {
    std::string definition;
    std::size_t slot = 0;
    memapi::CustomKindsRef kinds;  // keeps the resource
    std::unique_ptr<memapi::Following> following;
  };
  std::map<std::string, OtherFollowing> others_;
  // Objects that are stored in a form that cannot be decoded, and what the engine knows of them:
  // the last state that could be, or nothing. By resource, namespace and name.
  std::map<std::string, AnyObject> undecodable_;
  std::uint64_t events_ = 0;  // names of events
  std::map<std::string, std::string>
      series_;  // the event that a repeated one joins, by what it says
};

}  // namespace berth::app
