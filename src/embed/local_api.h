// LocalApi: the door to no cluster at all. A pod that is bound is shown as bound, a pod that is
// evicted is shown as gone, a volume or claim that is written is shown as written; that is all
// there is. For programs that embed the scheduler and have no API server behind it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "api/object.h"
#include "api/owned_fields.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "framework/cluster_api.h"

namespace berth {

class LocalApi final : public ClusterApi {
 public:
  explicit LocalApi(Loop& loop) : loop_(loop) {}

  // Whose pods it knows, and who is shown what comes of the calls, each in a turn of the loop of
  // its own. Nothing is shown any more once this object is gone.
  void serve(Engine& engine);

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override;
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  Task<Result<AnyObject>> update(AnyObject object) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  Task<Result<AnyObject>> create(AnyObject object) override;
  Task<Result<void>> remove(AnyObject object) override;
  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                              std::string name) override;
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override;
  void record(PodEvent) override {}

  // A resource version that nothing has had yet, and a newer one than this.
  std::string next_version(std::string_view than = {});

 private:
  using Showing = std::function<void(Engine&)>;
  void show(Showing showing);
  // As written last, also if that has not been shown yet; null when there is none.
  Ref<const Object> newest(ObjectKind kind, std::string_view namespace_name,
                           std::string_view name) const;
  Result<AnyObject> write(const AnyObject& object, WrittenPart part);
  void keep_and_show(DeltaType type, const Ref<const Object>& object);

  Loop& loop_;
  std::uint64_t version_ = 0;
  // Written and not yet shown; null: removed.
  using Key = std::tuple<ObjectKind, std::string, std::string>;
  std::map<Key, Ref<const Object>> written_;
  std::shared_ptr<Engine*> engine_ = std::make_shared<Engine*>(nullptr);
};

}  // namespace berth
