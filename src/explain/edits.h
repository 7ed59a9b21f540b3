// Edits: what suggestions are made of. Each is one step that a person could take: less of a resource,
// one taint less, these pods gone. One or several together are applied to the JSON of the objects,
// decoded and decided upon, so that what is verified is what is printed.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/defaulting.h"
#include "explain/cluster_edits.h"
#include "explain/evaluator.h"
#include "explain/explanation.h"
#include "explain/object_texts.h"
#include "explain/patched_object.h"

namespace berth::explain {

struct ObjectName {
  std::string kind;
  std::string namespace_name;  // empty: the kind has none
  std::string name;

  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

// So much of a resource for the whole pod, in base units (cpu: thousandths).
struct RequestCut {
  Symbol resource;
  std::int64_t total = 0;
};

struct Edit {
  std::string code;     // docs/explain-suggestions.md
  std::string summary;  // "request 1750m cpu instead of 3"
  double cost = 1;
  // A patch: of which object, and how. `apply` returns false if the object is not as it was thought
  // to be. It finds its place by what stands there, because other edits may have moved it.
  std::optional<ObjectName> object;
  std::function<bool(PatchedObject&)> apply;
  // What the API server demands beside it and no decision depends on: for commands alone.
  std::function<bool(PatchedObject&)> demanded;
  std::vector<Ref<const Pod>> gone;  // deleted
  std::vector<JsonValue> created;
  std::optional<RequestCut> cut;      // the amount may be chosen anew when other edits are added
  std::vector<std::string> commands;  // of edits that no template and no node takes
  std::vector<std::string> victims;   // of a preemption
  bool by_preemption = false;         // the pod fits when PostFilter has made room
};
using Edits = std::vector<Edit>;

// The pod that fits nowhere, and the cluster around it.
class UnplacedPod {
 public:
  // Of a pod that the texts do not have only the cluster can be changed.
  UnplacedPod(Evaluator& evaluator, const ObjectTexts& texts, const Admission* admission,
              Ref<const Pod> pod);

  Evaluator& evaluator() const { return evaluator_; }
  const ObjectTexts& texts() const { return texts_; }
  const Admission* admission() const { return admission_; }
  const Cluster& cluster() const { return evaluator_.cluster(); }
  const NodeTable& nodes() const { return cluster().nodes(); }
  const Ref<const Pod>& pod() const { return pod_; }
  const PodSpec& spec() const { return pod_->spec(); }
  std::string text(Symbol symbol) const { return std::string(pod_->text(symbol)); }
  const ObjectName& name() const { return name_; }
  const std::optional<JsonValue>& json() const { return json_; }

  // On which rows the pod fits with these edits. New nodes have rows only meanwhile.
  NodeSet feasible(std::span<const Edit> edits) const;
  bool fits(std::span<const Edit> edits) const { return !feasible(edits).empty(); }
  bool fits(const Edit& edit) const { return fits(std::span(&edit, 1)); }
  // On which rows another pod would fit that is like this one but for its spec.
  NodeSet feasible(const std::function<void(PodSpec&)>& change) const;
  Ref<const Pod> with(const std::function<void(PodSpec&)>& change) const;

  // There is an end to what may be asked, lest a pod with a thousand terms on a thousand nodes takes
  // minutes.
  bool may_ask() const { return asked_ < most_ && !evaluator_.stopped(); }
  void count_question() const { ++asked_; }
  std::size_t asked() const { return asked_; }

 private:
  Evaluator& evaluator_;
  const ObjectTexts& texts_;
  const Admission* admission_;
  Ref<const Pod> pod_;
  ObjectName name_;
  std::optional<JsonValue> json_;
  std::size_t most_;
  mutable std::size_t asked_ = 0;
};

// Edits in force as long as this lives.
class AppliedEdits {
 public:
  AppliedEdits(const UnplacedPod& unplaced, std::span<const Edit> edits);

  bool ok() const { return ok_; }
  const Ref<const Pod>& pod() const { return pod_; }
  // Patches in the order of the edits, then what is created, then what is deleted.
  std::vector<Change> changes() const;
  const PatchedObject* patched(const ObjectName& name) const;

 private:
  bool patch(const Edit& edit);
  bool decode_patched();
  bool put_decoded(const JsonValue& json, std::string_view name);

  const UnplacedPod& unplaced_;
  bool ok_ = true;
  Ref<const Pod> pod_;
  ClusterEdits cluster_;
  std::vector<std::pair<ObjectName, PatchedObject>> patched_;
  std::vector<JsonValue> created_;
  std::vector<Ref<const Pod>> gone_;
};

// What all of them say together, and cost.
std::string summary_of(std::span<const Edit> edits);
double cost_of(std::span<const Edit> edits);

}  // namespace berth::explain
