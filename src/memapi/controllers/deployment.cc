#include "memapi/controllers/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "memapi/controllers/deployment_status.h"
#include "memapi/controllers/workloads.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kHashLabel = "pod-template-hash";
constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";
constexpr std::string_view kDeploymentComponent = "deployment-controller";

const Resource& deployments() { return resource_of("deployments", "apps"); }
const Resource& replica_sets() { return resource_of("replicasets", "apps"); }

JsonValue template_without_hash(const JsonValue& tree) {
  const JsonValue* found = at(tree, "spec.template");
  JsonValue bare = found != nullptr ? *found : JsonValue::object();
  JsonValue* labels = at(bare, "metadata.labels");
  if (is_object(labels)) erase(*labels, kHashLabel);
  if (JsonValue* metadata = at(bare, "metadata")) erase(*metadata, "creationTimestamp");
  normalize(bare);
  return bare;
}

std::int64_t number_in(const JsonValue& tree, std::string_view annotation) {
  const JsonValue* annotations = at(tree, "metadata.annotations");
  const JsonValue* found = is_object(annotations) ? annotations->find(annotation) : nullptr;
  std::int64_t number = 0;
  if (found != nullptr) {
    const char* end = found->text.data() + found->text.size();
    if (std::from_chars(found->text.data(), end, number).ec != std::errc()) return 0;
  }
  return number;
}

// Parity: annotations of a Deployment go to its sets, but for these.
bool is_own_annotation(std::string_view name) {
  return name == "kubectl.kubernetes.io/last-applied-configuration" || name == kRevision ||
         name == "deployment.kubernetes.io/revision-history" || name == kDesiredReplicas ||
         name == kMaxReplicas;
}

}  // namespace

struct DeploymentController::Rollout {
  ObjectRef object;
  JsonValue tree;
  std::vector<Set> sets;
  std::optional<std::size_t> newest;  // of `sets`: the one with the Deployment's template
  std::int64_t wanted = 0;
  std::int64_t max_surge = 0;
  std::int64_t max_unavailable = 0;
  bool progressed = false;

  std::int64_t sum(std::int64_t Set::* member) const {
    std::int64_t total = 0;
    for (const Set& set : sets) total += set.*member;
    return total;
  }
  Set& current() { return sets[*newest]; }
};

DeploymentController::DeploymentController(LocalClient& api, PodIndex& pods)
    : Controller(api), pods_(pods) {
  follow(deployments(), [this](const Change& change) {
    if (change.type != ChangeType::kDeleted) enqueue(key_of(*change.object));
  });
  follow(replica_sets(), [this](const Change& change) {
    for (const ObjectRef& set : {change.object, change.previous}) {
      if (!set) continue;
      const JsonValue tree = set->tree();
      const JsonValue* owner = controller_of(tree);
      if (owner != nullptr && text_at(*owner, "kind") == "Deployment")
        enqueue(object_key(set->namespace_name, text_at(*owner, "name")));
    }
  });
}

std::vector<DeploymentController::Set> DeploymentController::sets_of(
    const StoredObject& deployment, const JsonValue& deployment_tree) {
  const std::vector<LabelRequirement> selector = selector_of(deployment_tree);
  std::vector<Set> sets;
  for (ObjectRef object : api_.list(replica_sets(), deployment.namespace_name)) {
    JsonValue tree = object->tree();
    const JsonValue* owner = controller_of(tree);
    if (owner == nullptr && !selector.empty() && matches_all(selector, object->labels) &&
        !is_terminating(tree)) {
      const Answer<ObjectRef> adopted =
          api_.update(replica_sets(), object->namespace_name, object->name,
                      [&](JsonValue& changed) -> Answer<void> {
                        if (controller_of(changed) == nullptr) {
                          array_at(changed, "metadata.ownerReferences")
                              .items.push_back(controller_reference(deployments(), deployment));
                        }
                        return {};
                      });
      if (!adopted) continue;
      object = *adopted;
      tree = object->tree();
      owner = controller_of(tree);
    }
    if (owner == nullptr || text_at(*owner, "uid") != deployment.uid) continue;
    Set set;
    set.wanted = int_at(tree, "spec.replicas").value_or(0);
    set.replicas = int_at(tree, "status.replicas").value_or(0);
    set.ready = int_at(tree, "status.readyReplicas").value_or(0);
    set.available = int_at(tree, "status.availableReplicas").value_or(0);
    set.revision = number_in(tree, kRevision);
    set.object = std::move(object);
    set.tree = std::move(tree);
    sets.push_back(std::move(set));
  }
  std::ranges::sort(sets, {}, [](const Set& set) {
    return std::pair(set.revision, std::string_view(set.object->name));
  });
  return sets;
}

void DeploymentController::sync(const std::string& key) {
  const ObjectName name = name_of(key);
  Rollout rollout;
  rollout.object = api_.get(deployments(), name.namespace_name, name.name);
  if (!rollout.object) return;
  rollout.tree = rollout.object->tree();
  rollout.sets = sets_of(*rollout.object, rollout.tree);
  rollout.wanted = int_at(rollout.tree, "spec.replicas").value_or(1);
  const JsonValue wish = template_without_hash(rollout.tree);
  for (std::size_t i = 0; i < rollout.sets.size(); ++i) {
    if (equal(template_without_hash(rollout.sets[i].tree), wish)) {
      rollout.newest = i;
      break;
    }
  }
  const bool rolling = text_at(rollout.tree, "spec.strategy.type") != "Recreate";
  if (rolling) {
    rollout.max_surge = scaled_value(at(rollout.tree, "spec.strategy.rollingUpdate.maxSurge"),
                                     rollout.wanted, true, 0);
    rollout.max_unavailable = scaled_value(
        at(rollout.tree, "spec.strategy.rollingUpdate.maxUnavailable"), rollout.wanted, false, 0);
    if (rollout.max_surge == 0 && rollout.max_unavailable == 0) rollout.max_unavailable = 1;
  }
  const bool paused = true_at(rollout.tree, "spec.paused");
  if (!is_terminating(rollout.tree)) {
    if (paused) {
      // What runs is still scaled, when there is one set only.
      if (rollout.newest && rollout.sum(&Set::wanted) == rollout.current().wanted)
        scale(rollout, rollout.current(), rollout.wanted);
    } else {
      if (!rolling) recreate(rollout);
      if (rolling && make_new_set(rollout)) roll(rollout);
      if (rollout.newest) set_revision(rollout);
      forget_history(rollout);
    }
  }
  write_status(rollout);
}

// The set with the present template, which is made if there is none.
bool DeploymentController::make_new_set(Rollout& rollout) {
  if (rollout.newest) return true;
  const StoredObject& deployment = *rollout.object;
  const std::string hash = template_hash(template_without_hash(rollout.tree));
  JsonValue object = JsonValue::object();
  JsonValue& metadata = object_at(object, "metadata");
  set_text(metadata, "name", fmt::format("{}-{}", deployment.name, hash));
  set_text(metadata, "namespace", deployment.namespace_name);
  if (const JsonValue* annotations = at(rollout.tree, "metadata.annotations");
      is_object(annotations)) {
    for (const JsonMember& annotation : annotations->members)
      if (!is_own_annotation(annotation.name))
        set(object_at(metadata, "annotations"), annotation.name, annotation.value);
  }
  array_at(metadata, "ownerReferences")
      .items.push_back(controller_reference(deployments(), deployment));
  JsonValue& spec = object_at(object, "spec");
  if (const JsonValue* selector = at(rollout.tree, "spec.selector"))
    set(spec, "selector", *selector);
  set_text(object_at(spec, "selector.matchLabels"), kHashLabel, hash);
  if (const JsonValue* said = at(rollout.tree, "spec.template")) set(spec, "template", *said);
  set_text(object_at(spec, "template.metadata.labels"), kHashLabel, hash);
  const JsonValue labels = *at(spec, "template.metadata.labels");
  if (const JsonValue* seconds = at(rollout.tree, "spec.minReadySeconds"))
    set(spec, "minReadySeconds", *seconds);
  set(spec, "replicas", JsonValue::of_int(0));
  set(object_at(object, "metadata"), "labels", labels);
  const Answer<ObjectRef> created = api_.create(replica_sets(), std::move(object));
  if (!created) {
    record(deployments(), deployment, "Warning", "FailedCreate", created.error().message,
           kDeploymentComponent);
    enqueue_after(std::chrono::seconds(5), key_of(deployment));
    return false;
  }
  Set added;
  added.object = *created;
  added.tree = (*created)->tree();
  rollout.sets.push_back(std::move(added));
  rollout.newest = rollout.sets.size() - 1;
  rollout.progressed = true;
  return true;
}

// The set in force has the highest number; the Deployment has the same.
void DeploymentController::set_revision(Rollout& rollout) {
  std::int64_t highest_other = 0;
  for (std::size_t i = 0; i < rollout.sets.size(); ++i)
    if (i != *rollout.newest) highest_other = std::max(highest_other, rollout.sets[i].revision);
  Set& current = rollout.current();
  const std::int64_t revision = std::max(current.revision, highest_other + 1);
  const auto annotate = [&](JsonValue& object) -> Answer<void> {
    set_text(object_at(object, "metadata.annotations"), kRevision, fmt::format("{}", revision));
    return {};
  };
  if (current.revision != revision) {
    current.revision = revision;
    static_cast<void>(api_.update(
        replica_sets(), current.object->namespace_name, current.object->name,
        [&](JsonValue& object) -> Answer<void> {
          JsonValue& annotations = object_at(object, "metadata.annotations");
          if (const JsonValue* cause = at(rollout.tree, "metadata.annotations");
              is_object(cause) && cause->find("kubernetes.io/change-cause") != nullptr) {
            copy_member(annotations, *cause, "kubernetes.io/change-cause");
          }
          return annotate(object);
        }));
  }
  if (number_in(rollout.tree, kRevision) != revision) {
    const Answer<ObjectRef> written =
        api_.update(deployments(), rollout.object->namespace_name, rollout.object->name, annotate);
    if (written) {
      rollout.object = *written;
      rollout.tree = rollout.object->tree();
    }
  }
}

void DeploymentController::scale(Rollout& rollout, Set& set, std::int64_t replicas) {
  replicas = std::max<std::int64_t>(replicas, 0);
  const std::int64_t before = set.wanted;
  if (replicas == before) return;
  const Answer<ObjectRef> written = api_.update(
      replica_sets(), set.object->namespace_name, set.object->name,
      [&](JsonValue& object) -> Answer<void> {
        memapi::set(object_at(object, "spec"), "replicas", JsonValue::of_int(replicas));
        JsonValue& annotations = object_at(object, "metadata.annotations");
        set_text(annotations, kDesiredReplicas, fmt::format("{}", rollout.wanted));
        set_text(annotations, kMaxReplicas, fmt::format("{}", rollout.wanted + rollout.max_surge));
        return {};
      });
  if (!written) return;
  set.wanted = replicas;
  rollout.progressed = true;
  record(deployments(), *rollout.object, "Normal", "ScalingReplicaSet",
         fmt::format("Scaled {} replica set {} from {} to {}", replicas > before ? "up" : "down",
                     set.object->name, before, replicas),
         kDeploymentComponent);
}

void DeploymentController::roll(Rollout& rollout) {
  Set& current = rollout.current();
  if (current.wanted > rollout.wanted) scale(rollout, current, rollout.wanted);
  if (current.wanted < rollout.wanted) {
    const std::int64_t room = rollout.wanted + rollout.max_surge - rollout.sum(&Set::wanted);
    if (room > 0) scale(rollout, current, std::min(rollout.wanted, current.wanted + room));
  }
  const std::int64_t least = rollout.wanted - rollout.max_unavailable;
  const std::int64_t missing_new = current.wanted - current.available;
  std::int64_t too_many = rollout.sum(&Set::wanted) - least - missing_new;
  // Those that do not work first: nobody is served by them.
  for (std::size_t i = 0; i < rollout.sets.size() && too_many > 0; ++i) {
    Set& old = rollout.sets[i];
    if (i == *rollout.newest || old.wanted == 0 || old.available >= old.wanted) continue;
    const std::int64_t less = std::min(too_many, old.wanted - old.available);
    scale(rollout, old, old.wanted - less);
    too_many -= less;
  }
  std::int64_t spare = std::min(rollout.sum(&Set::available) - least, too_many);
  for (std::size_t i = 0; i < rollout.sets.size() && spare > 0; ++i) {
    Set& old = rollout.sets[i];
    if (i == *rollout.newest || old.wanted == 0) continue;
    const std::int64_t less = std::min(spare, old.wanted);
    scale(rollout, old, old.wanted - less);
    spare -= less;
  }
}

void DeploymentController::recreate(Rollout& rollout) {
  pods_.catch_up();
  bool others_left = false;
  for (std::size_t i = 0; i < rollout.sets.size(); ++i) {
    if (rollout.newest && i == *rollout.newest) continue;
    scale(rollout, rollout.sets[i], 0);
    for (const PodFacts* pod : pods_.of_controller(rollout.sets[i].object->uid))
      others_left = others_left || !pod->ended();
  }
  if (others_left) {
    // Pods that are going do not change their set's status in the end.
    enqueue_after(std::chrono::seconds(1), key_of(*rollout.object));
    return;
  }
  if (make_new_set(rollout)) scale(rollout, rollout.current(), rollout.wanted);
}

void DeploymentController::forget_history(Rollout& rollout) {
  const std::int64_t limit = int_at(rollout.tree, "spec.revisionHistoryLimit").value_or(10);
  std::vector<const Set*> old;
  for (std::size_t i = 0; i < rollout.sets.size(); ++i) {
    const Set& set = rollout.sets[i];
    if ((rollout.newest && i == *rollout.newest) || set.wanted != 0 || set.replicas != 0) continue;
    old.push_back(&set);
  }
  for (std::size_t i = 0; static_cast<std::int64_t>(old.size() - i) > limit; ++i) {
    static_cast<void>(
        api_.remove(replica_sets(), old[i]->object->namespace_name, old[i]->object->name));
  }
}

void DeploymentController::write_status(const Rollout& rollout) {
  RolloutState state;
  state.generation = int_at(rollout.tree, "metadata.generation").value_or(0);
  state.wanted = rollout.wanted;
  state.replicas = rollout.sum(&Set::replicas);
  state.ready = rollout.sum(&Set::ready);
  state.available = rollout.sum(&Set::available);
  state.unavailable = std::max<std::int64_t>(rollout.sum(&Set::wanted) - state.available, 0);
  state.max_unavailable = rollout.max_unavailable;
  state.progress_deadline =
      std::chrono::seconds(int_at(rollout.tree, "spec.progressDeadlineSeconds").value_or(600));
  state.progressed = rollout.progressed;
  if (rollout.newest) {
    state.updated = rollout.sets[*rollout.newest].replicas;
    state.newest_set = rollout.sets[*rollout.newest].object->name;
  }
  bool waits = false;
  static_cast<void>(
      api_.update_status(deployments(), rollout.object->namespace_name, rollout.object->name,
                         [&](JsonValue& object) -> Answer<void> {
                           waits = write_rollout_status(object_at(object, "status"), state, now());
                           return {};
                         }));
  if (waits)
    enqueue_after(std::max<Duration>(state.progress_deadline, std::chrono::seconds(1)),
                  key_of(*rollout.object));
}

}  // namespace berth::memapi
