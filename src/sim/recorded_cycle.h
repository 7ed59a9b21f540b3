// RecordedCycle: what the scheduler does in one scheduling cycle, as it tells its observer and as it
// writes it to the API server. Writes about pods and groups are noted and swallowed: nothing shows
// them to the scheduler. Those about volumes and claims take effect at once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/observer.h"
#include "sim/entity_cycles.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"

namespace berth::sim {

class RecordedCycle final : public Observer, public StoreApi {
 public:
  // `objects` outlives this.
  RecordedCycle(Loop& loop, ClusterView& objects)
      : StoreApi(loop, objects, {.keeps_statuses = false}) {}

  // What has happened since the last call; the group is the caller's to name.
  EntityResult take();
  // Whether everybody who was tried in the cycle now being recorded has failed.
  bool all_failed() const { return !tried_.empty() && failed_.size() == tried_.size(); }
  // The pod that was tried first, if any.
  const Ref<const Pod>& first() const { return first_; }
  // The errors that the scheduler told of.
  const std::vector<std::string>& internal_errors() const { return internal_errors_; }

  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void internal_error(std::string_view message) override { internal_errors_.emplace_back(message); }

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override;
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  void record(PodEvent) override {}

 private:
  using PodName = std::string;  // "namespace/name"
  Ref<const Pod> first_;
  std::vector<PodName> tried_;
  std::map<PodName, std::string> bound_;
  std::map<PodName, std::string> nominated_;
  std::map<PodName, std::pair<std::string, std::string>> failed_;  // code and message
  std::vector<PodName> victims_;
  std::optional<GroupCondition> condition_;
  std::vector<std::string> internal_errors_;
};

}  // namespace berth::sim
