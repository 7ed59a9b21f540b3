// An API server that has claims only: it keeps them by name, checks versions, notes what is written
// and answers as it is told. What it stores is shown to the cluster at once, as a watch would,
// unless it is told to keep that back.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "cluster/cluster.h"
#include "framework/cluster_api.h"

namespace berth::testing {

class ClaimServer final : public ClusterApi {
 public:
  explicit ClaimServer(Cluster& cluster) : cluster_(cluster) {}

  // Somebody else has written the claim.
  void put(Ref<const ResourceClaim> claim);
  void drop(std::string_view name);
  const ResourceClaim& stored(std::string_view name) const {
    return *claims_.at(std::string(name));
  }
  bool has(std::string_view name) const { return claims_.contains(std::string(name)); }

  // The next answer to a verb ("update", "status", "create", "delete", "get", "unreserve", "patch"
  // for the pod's status). `applied`: the write is carried out, only its answer is lost.
  void fails(std::string verb, Error error, bool applied = false);
  // Runs before the next answer to the verb: what happens in the meantime.
  void before(std::string verb, std::move_only_function<void()> work);
  // Keeps what is written from the watch; shown by show().
  void keep_back() { kept_back_ = true; }
  void show();
  // Answers to a verb wait until release() is called for it.
  void hold(std::string verb) { held_.emplace(std::move(verb), std::vector<Eventual<bool>*>{}); }
  void release(const std::string& verb);

  std::vector<std::string> take_writes() { return std::exchange(writes_, {}); }
  std::vector<PodStatusPatch> patches;
  std::vector<PodEvent> events;

  Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return Result<void>(); }
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod>) override { co_return Result<void>(); }
  Task<Result<AnyObject>> update(AnyObject object) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  Task<Result<AnyObject>> create(AnyObject object) override;
  Task<Result<void>> remove(AnyObject object) override;
  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                              std::string name) override;
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override;
  void record(PodEvent event) override { events.push_back(std::move(event)); }

 private:
  struct Script {
    std::move_only_function<void()> work;
    std::optional<Error> error;
    bool applied = false;
  };
  Task<Script> begin(std::string verb, std::string name);
  Result<AnyObject> store(Ref<ResourceClaim> changed);
  Result<Ref<ResourceClaim>> current(const AnyObject& object) const;

  Cluster& cluster_;
  std::map<std::string, Ref<const ResourceClaim>> claims_;
  std::map<std::string, std::deque<Script>> scripts_;
  std::map<std::string, std::vector<Eventual<bool>*>> held_;
  std::vector<std::string> writes_;
  int version_ = 100;
  int created_ = 0;
  bool kept_back_ = false;
};

}  // namespace berth::testing
