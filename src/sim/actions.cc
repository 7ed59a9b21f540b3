#include "sim/actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/decode.h"
#include "api/manifest.h"
#include "base/time_text.h"
#include "berth/node.h"

namespace berth::sim {
namespace {

TaintEffect effect_of(std::string_view text) {
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  return text == "NoExecute" ? TaintEffect::kNoExecute : TaintEffect::kAny;
}

// A copy of a node to be changed and stored again.
Result<Ref<Node>> node_to_change(const Stage& stage, const std::string& name) {
  const Ref<const Object> present = stage.cluster.object(ObjectKind::kNode, "", name);
  if (!present) return fail(ErrorKind::kNotFound, fmt::format("node \"{}\" not found", name));
  return make_ref<Node>(static_cast<const Node&>(*present));
}

Result<void> store(const Stage& stage, Ref<Node> node) {
  return stage.cluster.update_object(Ref<const Object>(std::move(node)));
}

Result<Ref<const Pod>> find_pod(const Stage& stage, const std::string& namespace_name,
                                const std::string& name) {
  Ref<const Pod> pod = stage.cluster.pod(namespace_name, name);
  if (!pod)
    return fail(ErrorKind::kNotFound, fmt::format("pod \"{}/{}\" not found", namespace_name, name));
  return pod;
}

// The labels with one more, or one less.
LabelSet relabelled(const LabelSet& labels, Symbol key, std::optional<Symbol> value) {
  std::vector<Label> changed(labels.begin(), labels.end());
  std::erase_if(changed, [&](const Label& label) { return label.key == key; });
  if (value) changed.push_back({key, *value});
  return LabelSet(std::move(changed));
}

struct Perform {
  const Stage& stage;

  Result<void> operator()(const ApplyManifest& action) const {
    const Result<std::vector<ManifestObject>> objects =
        read_manifest(action.json, "scenario", stage.interner);
    if (!objects) return fail(objects.error());
    for (const ManifestObject& object : *objects)
      if (Result<void> applied = apply(object); !applied) return applied;
    return {};
  }

  Result<void> apply(const ManifestObject& object) const {
    if (is_workload(object.kind)) return stage.workloads.apply(object);
    if (std::holds_alternative<std::monostate>(object.object))
      return fail(ErrorKind::kInvalid,
                  fmt::format("kind {} means nothing to scheduling", object.kind_text));
    const Admission admission = stage.cluster.admission();
    const Result<AnyObject> admitted =
        decode_object(object.kind, object.json, stage.interner, &admission, object.name);
    if (!admitted) return fail(admitted.error());
    const bool exists =
        object.kind == ObjectKind::kPod
            ? static_cast<bool>(stage.cluster.pod(object.namespace_name, object.name))
            : static_cast<bool>(
                  stage.cluster.object(object.kind, object.namespace_name, object.name));
    return exists ? stage.cluster.update_object(*admitted) : stage.cluster.create_object(*admitted);
  }

  Result<void> operator()(const DeleteObject& action) const {
    if (is_workload(action.kind))
      return stage.workloads.remove(action.kind, action.namespace_name, action.name);
    return stage.cluster.remove_object(action.kind, action.namespace_name, action.name);
  }

  Result<void> operator()(const CordonNode& action) const {
    Result<Ref<Node>> node = node_to_change(stage, action.node);
    if (!node) return fail(node.error());
    (*node)->unschedulable = action.cordoned;
    return store(stage, std::move(*node));
  }

  Result<void> operator()(const TaintNode& action) const {
    Result<Ref<Node>> node = node_to_change(stage, action.node);
    if (!node) return fail(node.error());
    std::vector<Taint>& taints = (*node)->taints;
    const Symbol key = (*node)->symbols.intern(action.key);
    const TaintEffect effect = effect_of(action.effect);
    std::erase_if(taints, [&](const Taint& taint) {
      return taint.key == key && (effect == TaintEffect::kAny || taint.effect == effect);
    });
    if (!action.remove) taints.push_back({key, (*node)->symbols.intern(action.value), effect});
    return store(stage, std::move(*node));
  }

  Result<void> operator()(const LabelObject& action) const {
    if (action.kind == ObjectKind::kPod) return label_pod(action);
    Result<Ref<Node>> node = node_to_change(stage, action.name);
    if (!node) return fail(node.error());
    SymbolHold& symbols = (*node)->symbols;
    const Symbol key = symbols.intern(action.key);
    (*node)->labels =
        relabelled((*node)->labels, key,
                   action.value.transform([&](const auto& text) { return symbols.intern(text); }));
    return store(stage, std::move(*node));
  }

  Result<void> label_pod(const LabelObject& action) const {
    const Result<Ref<const Pod>> pod = find_pod(stage, action.namespace_name, action.name);
    if (!pod) return fail(pod.error());
    PodMeta meta((*pod)->meta());
    const Symbol key = meta.symbols.intern(action.key);
    std::optional<Symbol> value;
    if (action.value) value = meta.symbols.intern(*action.value);
    meta.labels = relabelled(meta.labels, key, value);
    PodDraft draft = draft_of(**pod);
    draft.meta = stage.interner.share(std::move(meta));
    return stage.cluster.update_object(make_pod(std::move(draft)));
  }

  Result<void> operator()(const RemoveGate& action) const {
    const Result<Ref<const Pod>> pod = find_pod(stage, action.namespace_name, action.pod);
    if (!pod) return fail(pod.error());
    PodSpec spec((*pod)->spec());
    const std::size_t gone = std::erase_if(
        spec.scheduling_gates, [&](Symbol gate) { return spec.symbols.text(gate) == action.gate; });
    if (gone == 0)
      return fail(ErrorKind::kNotFound, fmt::format("pod \"{}\" has no scheduling gate \"{}\"",
                                                    (*pod)->full_name(), action.gate));
    PodDraft draft = draft_of(**pod);
    draft.spec = stage.interner.share(std::move(spec));
    ++draft.generation;
    return stage.cluster.update_object(make_pod(std::move(draft)));
  }

  Result<void> operator()(const FinishPod& action) const {
    const Result<Ref<const Pod>> pod = find_pod(stage, action.namespace_name, action.pod);
    if (!pod) return fail(pod.error());
    PodDraft draft = draft_of(**pod);
    draft.phase = action.succeeded ? PodPhase::kSucceeded : PodPhase::kFailed;
    return stage.cluster.update_object(make_pod(std::move(draft)));
  }

  Result<void> operator()(const JumpWallClock& action) const {
    stage.loop.jump_wall_clock(action.by);
    return {};
  }

  Result<void> operator()(const LagWatch& action) const {
    stage.cluster.set_watch_lag(action.by);
    return {};
  }

  Result<void> operator()(const SettleWaitingPod& action) const {
    const Result<Ref<const Pod>> pod = find_pod(stage, action.namespace_name, action.pod);
    if (!pod) return fail(pod.error());
    const Uid& uid = (*pod)->uid();
    const bool settled = action.allow
                             ? stage.waiting_pods.allow(uid, action.plugin)
                             : stage.waiting_pods.reject(uid, action.plugin, action.message);
    if (!settled)
      return fail(ErrorKind::kNotFound, fmt::format("pod \"{}\" is not waiting at {}",
                                                    (*pod)->full_name(), action.plugin));
    return {};
  }
};

struct Describe {
  std::string operator()(const ApplyManifest&) const { return "apply a manifest"; }
  std::string operator()(const DeleteObject& action) const {
    return fmt::format("delete {} {}{}{}", to_string(action.kind), action.namespace_name,
                       action.namespace_name.empty() ? "" : "/", action.name);
  }
  std::string operator()(const CordonNode& action) const {
    return fmt::format("{} {}", action.cordoned ? "cordon" : "uncordon", action.node);
  }
  std::string operator()(const TaintNode& action) const {
    return fmt::format("{} {} {}", action.remove ? "untaint" : "taint", action.node, action.key);
  }
  std::string operator()(const LabelObject& action) const {
    return fmt::format("label {} {} {}", to_string(action.kind), action.name, action.key);
  }
  std::string operator()(const RemoveGate& action) const {
    return fmt::format("remove gate {} of {}/{}", action.gate, action.namespace_name, action.pod);
  }
  std::string operator()(const FinishPod& action) const {
    return fmt::format("{} {}/{}", action.succeeded ? "finish" : "fail", action.namespace_name,
                       action.pod);
  }
  std::string operator()(const JumpWallClock& action) const {
    return fmt::format("wall clock jumps by {}", go_duration(action.by));
  }
  std::string operator()(const LagWatch& action) const {
    return fmt::format("watch lags by {}", go_duration(action.by));
  }
  std::string operator()(const SettleWaitingPod& action) const {
    return fmt::format("{} {}/{} at {}", action.allow ? "allow" : "reject", action.namespace_name,
                       action.pod, action.plugin);
  }
};

}  // namespace

Result<void> perform(const ScenarioAction& action, const Stage& stage) {
  return std::visit(Perform{stage}, action);
}

std::string describe(const ScenarioAction& action) { return std::visit(Describe{}, action); }

}  // namespace berth::sim
