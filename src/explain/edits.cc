#include "explain/edits.h"

#include <algorithm>
#include <utility>

#include "api/decode.h"
#include "berth/interner.h"

namespace berth::explain {

// ---- UnplacedPod

namespace {

// About as much work for small clusters as for large ones.
std::size_t most_questions(std::size_t nodes) {
  constexpr std::size_t kRows = 1'500'000, kAtLeast = 250, kAtMost = 3'000;
  return std::clamp(kRows / (nodes + 1), kAtLeast, kAtMost);
}

}  // namespace

UnplacedPod::UnplacedPod(Evaluator& evaluator, const ObjectTexts& texts, const Admission* admission,
                         Ref<const Pod> pod)
    : evaluator_(evaluator),
      texts_(texts),
      admission_(admission),
      pod_(std::move(pod)),
      name_{"Pod", std::string(pod_->namespace_name()), std::string(pod_->name())},
      json_(texts.of(name_.kind, name_.namespace_name, name_.name)),
      most_(most_questions(evaluator.cluster().nodes().node_count())) {}

NodeSet UnplacedPod::feasible(std::span<const Edit> edits) const {
  const AppliedEdits applied(*this, edits);
  if (!applied.ok()) return {};
  count_question();
  return evaluator_.feasible(applied.pod());
}

Ref<const Pod> UnplacedPod::with(const std::function<void(PodSpec&)>& change) const {
  PodSpec changed(spec());
  change(changed);
  PodDraft draft = draft_of(*pod_);
  draft.spec = evaluator_.interner().share(std::move(changed));
  return make_pod(std::move(draft));
}

NodeSet UnplacedPod::feasible(const std::function<void(PodSpec&)>& change) const {
  count_question();
  return evaluator_.feasible(with(change));
}

// ---- AppliedEdits

AppliedEdits::AppliedEdits(const UnplacedPod& unplaced, std::span<const Edit> edits)
    : unplaced_(unplaced), pod_(unplaced.pod()), cluster_(unplaced.evaluator()) {
  for (const Edit& edit : edits) {
    if (edit.apply && !patch(edit)) ok_ = false;
    created_.insert(created_.end(), edit.created.begin(), edit.created.end());
    for (const Ref<const Pod>& pod : edit.gone)
      if (std::ranges::find(gone_, pod) == gone_.end()) gone_.push_back(pod);
  }
  ok_ = ok_ && decode_patched();
  for (const JsonValue& object : created_)
    ok_ = ok_ && put_decoded(object, text_at(object, {"metadata", "name"}));
  if (!ok_) return;
  for (const Ref<const Pod>& pod : gone_) cluster_.remove(pod);
}

bool AppliedEdits::patch(const Edit& edit) {
  const auto known =
      std::ranges::find(patched_, *edit.object, [](const auto& p) { return p.first; });
  if (known != patched_.end()) return edit.apply(known->second);
  std::optional<JsonValue> json =
      *edit.object == unplaced_.name()
          ? unplaced_.json()
          : unplaced_.texts().of(edit.object->kind, edit.object->namespace_name, edit.object->name);
  if (!json) return false;
  patched_.emplace_back(*edit.object, PatchedObject(*std::move(json)));
  return edit.apply(patched_.back().second);
}

bool AppliedEdits::decode_patched() {
  for (const auto& [name, object] : patched_) {
    if (name != unplaced_.name()) {
      if (!put_decoded(object.object(), name.name)) return false;
      continue;
    }
    const Result<AnyObject> decoded =
        decode_object(ObjectKind::kPod, to_json(object.object()), unplaced_.evaluator().interner(),
                      unplaced_.admission(), name.name);
    if (!decoded) return false;
    // Name, labels, UID and status are those that were loaded.
    PodDraft draft = draft_of(*unplaced_.pod());
    draft.spec = std::get<Ref<const Pod>>(*decoded)->spec_ref();
    pod_ = make_pod(std::move(draft));
  }
  return true;
}

bool AppliedEdits::put_decoded(const JsonValue& json, std::string_view name) {
  const ObjectKind kind = object_kind(text_at(json, {"apiVersion"}), text_at(json, {"kind"}));
  const Result<AnyObject> decoded = decode_object(
      kind, to_json(json), unplaced_.evaluator().interner(), unplaced_.admission(), name);
  if (!decoded) return false;
  const auto* const object = std::get_if<Ref<const Object>>(&*decoded);
  if (!object) return false;
  cluster_.put(*object);
  return true;
}

std::vector<Change> AppliedEdits::changes() const {
  std::vector<Change> changes;
  for (const auto& [name, object] : patched_)
    changes.push_back(
        {Change::Op::kPatch, name.kind, name.namespace_name, name.name, object.patch()});
  for (const JsonValue& object : created_)
    changes.push_back({Change::Op::kCreate, std::string(text_at(object, {"kind"})),
                       std::string(text_at(object, {"metadata", "namespace"})),
                       std::string(text_at(object, {"metadata", "name"})), object});
  for (const Ref<const Pod>& pod : gone_)
    changes.push_back({Change::Op::kDelete,
                       "Pod",
                       std::string(pod->namespace_name()),
                       std::string(pod->name()),
                       {}});
  return changes;
}

const PatchedObject* AppliedEdits::patched(const ObjectName& name) const {
  const auto known = std::ranges::find(patched_, name, [](const auto& p) { return p.first; });
  return known == patched_.end() ? nullptr : &known->second;
}

// ---- several

std::string summary_of(std::span<const Edit> edits) {
  std::string summary;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (i > 0) summary += i + 1 == edits.size() ? " and " : ", ";
    summary += edits[i].summary;
  }
  return summary;
}

double cost_of(std::span<const Edit> edits) {
  double cost = 0;
  for (const Edit& edit : edits) cost += edit.cost;
  return cost;
}

}  // namespace berth::explain
