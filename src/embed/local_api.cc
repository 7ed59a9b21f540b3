#include "embed/local_api.h"

#include <fmt/format.h>

#include <utility>

namespace berth {
namespace {

// The pod as it is now; null when it is gone.
Ref<const Pod> newest(Engine& engine, const Pod& pod) {
  Ref<const Pod> seen = engine.cluster().seen_pod(pod.namespace_name(), pod.name());
  return seen && seen->uid() == pod.uid() ? seen : nullptr;
}

Result<void> not_found(const Pod& pod) {
  return fail(ErrorKind::kNotFound, fmt::format("pods \"{}\" not found", pod.name()));
}

}  // namespace

void LocalApi::serve(Engine& engine) { *engine_ = &engine; }

std::string LocalApi::next_version() { return fmt::format("local-{}", ++version_); }

void LocalApi::show(Showing showing) {
  loop_.post([engine = std::weak_ptr(engine_), showing = std::move(showing)] {
    if (const auto present = engine.lock()) showing(**present);
  });
}

Task<Result<void>> LocalApi::bind(Ref<const Pod> pod, std::string node_name) {
  const Ref<const Pod> now = newest(**engine_, *pod);
  if (!now) co_return not_found(*pod);
  if (!now->node().empty())
    co_return fail(ErrorKind::kConflict, fmt::format("pod {} is already assigned to node \"{}\"",
                                                     pod->name(), now->node_name()));
  show([this, pod, node_name = std::move(node_name)](Engine& engine) {
    // What has changed meanwhile stays changed, and who was removed stays away.
    const Ref<const Pod> latest = newest(engine, *pod);
    if (!latest) return;
    PodDraft draft = draft_of(*latest);
    draft.node_name = node_name;
    draft.nominated_node_name.clear();
    draft.scheduled_condition = true;
    draft.extra.reset();
    draft.resource_version = next_version();
    engine.apply({DeltaType::kUpdated, make_pod(std::move(draft))});
  });
  co_return Result<void>();
}

// Conditions and nominations have nobody to read them here.
Task<Result<void>> LocalApi::patch_status(Ref<const Pod>, PodStatusPatch) {
  co_return Result<void>();
}

Task<Result<void>> LocalApi::evict(Ref<const Pod> pod) {
  if (!newest(**engine_, *pod)) co_return not_found(*pod);
  show([pod](Engine& engine) {
    if (const Ref<const Pod> latest = newest(engine, *pod))
      engine.apply({DeltaType::kDeleted, latest});
  });
  co_return Result<void>();
}

Task<Result<AnyObject>> LocalApi::update(AnyObject object) {
  show([object](Engine& engine) { engine.apply({DeltaType::kUpdated, object}); });
  co_return object;
}

}  // namespace berth
