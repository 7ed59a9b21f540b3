// LocalApi: the door to no cluster at all. A pod that is bound is shown as bound, a pod that is
// evicted is shown as gone; that is all there is. For programs that embed the scheduler and have no
// API server behind it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/object.h"
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
  Task<Result<void>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  Task<Result<AnyObject>> update(AnyObject object) override;
  void record(PodEvent) override {}

  // A resource version that nothing has had yet.
  std::string next_version();

 private:
  using Showing = std::function<void(Engine&)>;
  void show(Showing showing);

  Loop& loop_;
  std::uint64_t version_ = 0;
  std::shared_ptr<Engine*> engine_ = std::make_shared<Engine*>(nullptr);
};

}  // namespace berth
