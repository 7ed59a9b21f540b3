#include "embed/local_api.h"

#include <fmt/format.h>

namespace berth {

void LocalApi::show_to(std::function<void(Delta)> watcher) {
  watcher_ = std::make_shared<std::function<void(Delta)>>(std::move(watcher));
}

void LocalApi::show(DeltaType type, AnyObject object) {
  loop_.post([watcher = std::weak_ptr(watcher_), type, object = std::move(object)]() mutable {
    if (const auto present = watcher.lock()) (*present)({type, std::move(object)});
  });
}

Task<Result<void>> LocalApi::bind(Ref<const Pod> pod, std::string node_name) {
  PodDraft draft = draft_of(*pod);
  draft.node_name = std::move(node_name);
  draft.nominated_node_name.clear();
  draft.scheduled_condition = true;
  draft.extra.reset();
  draft.resource_version = fmt::format("local-{}", ++version_);
  show(DeltaType::kUpdated, make_pod(std::move(draft)));
  co_return Result<void>();
}

// Conditions and nominations have nobody to read them here.
Task<Result<void>> LocalApi::patch_status(Ref<const Pod>, PodStatusPatch) {
  co_return Result<void>();
}

Task<Result<void>> LocalApi::evict(Ref<const Pod> pod) {
  show(DeltaType::kDeleted, pod);
  co_return Result<void>();
}

Task<Result<AnyObject>> LocalApi::update(AnyObject object) {
  show(DeltaType::kUpdated, object);
  co_return object;
}

}  // namespace berth
