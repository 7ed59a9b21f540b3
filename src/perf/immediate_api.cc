#include "perf/immediate_api.h"

#include <memory>
#include <utility>

namespace berth::perf {

void ImmediateApi::show(DeltaType type, PodDraft draft) {
  draft.resource_version = std::to_string(++version_);
  engine_->apply({type, make_pod(std::move(draft))});
}

Task<Result<void>> ImmediateApi::bind(Ref<const Pod> pod, std::string node_name) {
  PodDraft draft = draft_of(*pod);
  draft.node_name = std::move(node_name);
  draft.scheduled_condition = true;
  draft.extra.reset();
  show(DeltaType::kUpdated, std::move(draft));
  co_return Result<void>();
}

Task<Result<void>> ImmediateApi::patch_status(Ref<const Pod> pod, PodStatusPatch patch) {
  const Ref<const Pod> stored = engine_->cluster().seen_pod(pod->namespace_name(), pod->name());
  if (!stored || stored->uid() != pod->uid())
    co_return fail(ErrorKind::kNotFound, "pods \"" + std::string(pod->name()) + "\" not found");
  PodDraft draft = draft_of(*stored);
  if (patch.nominated_node_name) draft.nominated_node_name = *patch.nominated_node_name;
  if (patch.condition) {
    draft.extra = std::make_unique<PodExtra>(SymbolHold(engine_->cluster().symbol_table()));
    draft.extra->conditions.push_back(std::move(*patch.condition));
  }
  show(DeltaType::kUpdated, std::move(draft));
  co_return Result<void>();
}

Task<Result<void>> ImmediateApi::evict(Ref<const Pod> pod) {
  const Ref<const Pod> stored = engine_->cluster().seen_pod(pod->namespace_name(), pod->name());
  if (!stored || stored->uid() != pod->uid())
    co_return fail(ErrorKind::kNotFound, "pods \"" + std::string(pod->name()) + "\" not found");
  engine_->apply({DeltaType::kDeleted, stored});
  co_return Result<void>();
}

Task<Result<AnyObject>> ImmediateApi::update(AnyObject object) {
  engine_->apply({DeltaType::kUpdated, object});
  co_return object;
}

}  // namespace berth::perf
