// The operations of WorkloadRun that make and remove objects.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <utility>

#include "api/claim_template.h"
#include "api/decode.h"
#include "api/defaulting.h"
#include "api/devices.h"
#include "api/kinds.h"
#include "api/storage.h"
#include "perf/workload_run.h"

namespace berth::perf {
namespace {

constexpr std::string_view kDefaultNode = R"(
apiVersion: v1
kind: Node
metadata: {generateName: node-}
status:
  allocatable: {cpu: "4", memory: 32Gi, pods: "110"}
)";
constexpr std::string_view kDefaultPod = R"(
apiVersion: v1
kind: Pod
metadata: {generateName: pod-}
spec:
  containers:
  - {name: pause, resources: {requests: {cpu: 100m, memory: 500Mi}}}
)";
constexpr std::size_t kDeltasPerBatch = 256;  // as many deltas as come at once

std::unexpected<Error> unsupported(const Operation& operation, std::string_view what) {
  return fail(ErrorKind::kUnavailable, fmt::format("{}: {}", operation.where(), what));
}

// The object of a node's CSI drivers, as nodeAllocatableStrategy describes them.
std::string csi_node(std::string_view node, const JsonValue& strategy) {
  JsonValue made = JsonValue::object();
  set_text(made, "apiVersion", "storage.k8s.io/v1");
  set_text(made, "kind", "CSINode");
  JsonValue& metadata = member(made, "metadata");
  set_text(metadata, "name", node);
  std::string migrated;
  if (const JsonValue* plugins = strategy.find("migratedPlugins"))
    for (const JsonValue& plugin : plugins->items)
      migrated += (migrated.empty() ? "" : ",") + plugin.text;
  set_text(member(metadata, "annotations"), annotations::kMigratedPlugins, migrated);
  JsonValue drivers = JsonValue::array();
  if (const JsonValue* allocatable = strategy.find("csiNodeAllocatable"))
    for (const JsonMember& driver : allocatable->members) {
      JsonValue one = JsonValue::object();
      set_text(one, "name", driver.name);
      set_text(one, "nodeID", node);
      member(one, "allocatable") = driver.value;
      drivers.items.push_back(std::move(one));
    }
  member(member(made, "spec"), "drivers") = std::move(drivers);
  return to_json(made);
}

// What a driver publishes for a node: so many devices, alike but for their number.
std::string resource_slice(std::string_view driver, std::string_view node, std::int64_t devices) {
  std::string listed;
  for (std::int64_t i = 0; i < devices; ++i)
    listed += fmt::format(
        R"({}{{"name":"instance-{}","attributes":{{"model":{{"string":"A100"}},)"
        R"("family":{{"string":"GPU"}},"driverVersion":{{"version":"1.2.3"}},)"
        R"("dra.example.com/numa":{{"int":{}}}}},"capacity":{{"memory":{{"value":"1Gi"}}}}}})",
        i == 0 ? "" : ",", i, i);
  return fmt::format(
      R"({{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{{"name":"{1}"}},)"
      R"("spec":{{"driver":"{0}","nodeName":"{1}","pool":{{"name":"{1}","generation":0,)"
      R"("resourceSliceCount":1}},"devices":[{2}]}}}})",
      driver, node, listed);
}

}  // namespace

// ---- nodes, namespaces, anything ----------------------------------------------------------------

WorkloadRun::Outcome WorkloadRun::create_nodes(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  ObjectTemplate standard{std::string(kDefaultNode), "the default node"};
  ObjectTemplate* nodes = &standard;
  if (const std::string_view path = operation.text("nodeTemplatePath"); !path.empty()) {
    const Result<ObjectTemplate*> found = template_at(path);
    if (!found) return fail(found.error());
    nodes = *found;
  }
  const JsonValue* strategy = operation.find("nodeAllocatableStrategy");
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> node = make_node(*nodes, operation, {i, *count, ++serial_});
    if (!node) return fail(node.error());
    const std::string name = std::get<Ref<const Object>>(*node)->name;
    engine_->apply({DeltaType::kAdded, std::move(*node)});
    if (!strategy) continue;
    Admission admission;
    Result<AnyObject> drivers = decode_object(csi_node(name, *strategy), interner_, &admission);
    if (!drivers) return fail(drivers.error());
    engine_->apply({DeltaType::kAdded, std::move(*drivers)});
  }
  return {};
}

Result<AnyObject> WorkloadRun::make_node(ObjectTemplate& nodes, const Operation& operation,
                                         const Numbered& number) {
  const JsonValue* strategy = operation.find("nodeAllocatableStrategy");
  const JsonValue* more = strategy ? strategy->find("nodeAllocatable") : nullptr;
  const auto change = [more](JsonValue& node) {
    JsonValue& status = member(node, "status");
    // What stands in the capacity is what can be allocated, unless that is said too.
    if (!status.find("allocatable") && status.find("capacity"))
      member(status, "allocatable") = JsonValue(*status.find("capacity"));
    for (const JsonMember& one : more->members)
      member(member(status, "allocatable"), one.name) = one.value;
  };
  Result<AnyObject> made = nodes.make(
      number, {}, interner_, more ? ObjectTemplate::Change(change) : ObjectTemplate::Change());
  if (!made) return made;
  const auto* object = std::get_if<Ref<const Object>>(&*made);
  if (!object || (*object)->kind != ObjectKind::kNode)
    return fail(ErrorKind::kInvalid, nodes.where() + ": not a Node");
  Node node = static_cast<const Node&>(**object);
  std::vector<Label> labels(node.labels.begin(), node.labels.end());
  const auto label = [&](std::string_view key, std::string_view value) {
    const Symbol symbol = node.symbols.intern(key);
    std::erase_if(labels, [symbol](const Label& one) { return one.key == symbol; });
    labels.push_back({symbol, node.symbols.intern(value)});
  };
  if (const JsonValue* by_value = operation.find("labelNodePrepareStrategy")) {
    const Operation fields(*by_value, operation.where());
    const std::vector<std::string> values = fields.texts("labelValues");
    if (!values.empty())
      label(fields.text("labelKey"),
            values[static_cast<std::size_t>(number.index) % values.size()]);
  }
  if (const JsonValue* unique = operation.find("uniqueNodeLabelStrategy"))
    label(Operation(*unique, operation.where()).text("labelKey"),
          fmt::format("unique-{}", number.serial));
  node.labels = LabelSet(std::move(labels));
  return AnyObject(Ref<const Object>(make_ref<Node>(std::move(node))));
}

WorkloadRun::Outcome WorkloadRun::create_namespaces(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  ObjectTemplate plain{"apiVersion: v1\nkind: Namespace\n", "the default namespace"};
  ObjectTemplate* namespaces = &plain;
  if (const std::string_view path = operation.text("namespaceTemplatePath"); !path.empty()) {
    const Result<ObjectTemplate*> found = template_at(path);
    if (!found) return fail(found.error());
    namespaces = *found;
  }
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> made = namespaces->make({i, *count, ++serial_}, {}, interner_);
    if (!made) return fail(made.error());
    const auto* object = std::get_if<Ref<const Object>>(&*made);
    if (!object || (*object)->kind != ObjectKind::kNamespace)
      return fail(ErrorKind::kInvalid, namespaces->where() + ": not a Namespace");
    auto named = make_ref<Namespace>(static_cast<const Namespace&>(**object));
    named->name = fmt::format("{}-{}", operation.text("prefix"), i);
    engine_->apply({DeltaType::kAdded, Ref<const Object>(named)});
  }
  return {};
}

WorkloadRun::Outcome WorkloadRun::create_any(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 1);
  if (!count) return fail(count.error());
  const Result<ObjectTemplate*> found = template_at(operation.text("templatePath"));
  if (!found) return fail(found.error());
  const std::string namespace_name(operation.text("namespace"));
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> made = (*found)->make({i, *count, ++serial_}, namespace_name, interner_);
    if (!made) return fail(made.error());
    if (std::holds_alternative<std::monostate>(*made))
      return unsupported(operation, (*found)->where() + ": a kind that is not read");
    if (const auto* object = std::get_if<Ref<const Object>>(&*made);
        object && (*object)->kind == ObjectKind::kResourceClaimTemplate)
      claim_templates_[{namespace_name, (*object)->name}] = *object;
    engine_->apply({DeltaType::kAdded, std::move(*made)});
  }
  return {};
}

// The object that is there gets what the template says; a pod stays where it is.
WorkloadRun::Outcome WorkloadRun::update_any(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 1);
  if (!count) return fail(count.error());
  const Result<std::int64_t> rate = operation.number("updatePerSecond", workload_, 0);
  if (!rate) return fail(rate.error());
  const Result<ObjectTemplate*> found = template_at(operation.text("templatePath"));
  if (!found) return fail(found.error());
  std::vector<AnyObject> updated;
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> made = (*found)->make(
        {i, *count, ++serial_}, operation.text("namespace"), interner_,
        [this](JsonValue& manifest) {
          set_text(member(manifest, "metadata"), "resourceVersion", std::to_string(++serial_));
        });
    if (!made) return fail(made.error());
    if (std::holds_alternative<std::monostate>(*made))
      return unsupported(operation, (*found)->where() + ": a kind that is not read");
    updated.push_back(std::move(*made));
  }
  return pace(*count, *rate, false, [this, &updated](std::int64_t i) {
    AnyObject& object = updated[static_cast<std::size_t>(i)];
    if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) {
      const Ref<const Pod> stored =
          engine_->cluster().seen_pod((*pod)->namespace_name(), (*pod)->name());
      if (!stored) return;
      PodDraft draft = draft_of(**pod);
      draft.uid = stored->uid_text();
      draft.node_name = stored->node_name();
      draft.scheduled_condition = !stored->node().empty();
      object = make_pod(std::move(draft));
    }
    engine_->apply({DeltaType::kUpdated, object});
  });
}

WorkloadRun::Outcome WorkloadRun::create_resource_driver(const Operation& operation) {
  const Result<std::int64_t> devices = operation.number("maxClaimsPerNode", workload_, 0);
  if (!devices) return fail(devices.error());
  const std::string pattern(operation.text("nodes"));
  std::vector<std::string> names;
  const NodeTable& nodes = engine_->cluster().nodes();
  nodes.nodes().for_each([&](NodeRow row) {
    const std::string name(nodes.name_text(row));
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) names.push_back(name);
  });
  for (const std::string& name : names) {
    Admission admission;
    Result<AnyObject> slice = decode_object(
        resource_slice(operation.text("driverName"), name, *devices), interner_, &admission);
    if (!slice) return fail(slice.error());
    engine_->apply({DeltaType::kAdded, std::move(*slice)});
  }
  return {};
}

// ---- pods ---------------------------------------------------------------------------------------

// A volume and a claim that are bound to each other, as the suite makes them.
WorkloadRun::Outcome WorkloadRun::add_volume(const Operation& operation, const Numbered& number,
                                             const std::string& namespace_name,
                                             std::vector<Delta>& deltas) {
  const Result<ObjectTemplate*> claims =
      template_at(operation.text("persistentVolumeClaimTemplatePath"));
  if (!claims) return fail(claims.error());
  const Result<ObjectTemplate*> volumes =
      template_at(operation.text("persistentVolumeTemplatePath"));
  if (!volumes) return fail(volumes.error());
  const std::string claim_name = fmt::format("pvc-{}", number.index);
  const std::string volume_id = fmt::format("vol-{}", number.index);
  const std::string volume_name = fmt::format("{}-{}", namespace_name, volume_id);
  Result<AnyObject> claim =
      (*claims)->make(number, namespace_name, interner_, [&](JsonValue& manifest) {
        set_text(member(manifest, "metadata"), "name", claim_name);
        set_text(member(manifest, "spec"), "volumeName", volume_name);
        set_text(member(manifest, "status"), "phase", "Bound");
      });
  if (!claim) return fail(claim.error());
  Result<AnyObject> volume = (*volumes)->make(number, {}, interner_, [&](JsonValue& manifest) {
    set_text(member(manifest, "metadata"), "name", volume_name);
    JsonValue& spec = member(manifest, "spec");
    if (spec.find("csi")) set_text(member(spec, "csi"), "volumeHandle", volume_name);
    if (spec.find("awsElasticBlockStore"))
      set_text(member(spec, "awsElasticBlockStore"), "volumeID", volume_id);
    JsonValue& reference = member(spec, "claimRef");
    set_text(reference, "kind", "PersistentVolumeClaim");
    set_text(reference, "namespace", namespace_name);
    set_text(reference, "name", claim_name);
    set_text(member(manifest, "status"), "phase", "Bound");
  });
  if (!volume) return fail(volume.error());
  deltas.push_back({DeltaType::kAdded, std::move(*claim)});
  deltas.push_back({DeltaType::kAdded, std::move(*volume)});
  return {};
}

void WorkloadRun::add_claims(const Ref<const Pod>& pod, std::vector<Delta>& deltas) {
  PodDraft draft = draft_of(*pod);
  if (!draft.extra) draft.extra = std::make_unique<PodExtra>(interner_.hold());
  bool any = false;
  for (const PodResourceClaim& entry : pod->spec().resource_claims) {
    const auto made_from = claim_templates_.find(
        {std::string(pod->namespace_name()), std::string(pod->text(entry.template_name))});
    if (entry.template_name.empty() || made_from == claim_templates_.end()) continue;
    const Ref<ResourceClaim> claim = claim_from_template(
        *pod, entry, static_cast<const ResourceClaimTemplate&>(*made_from->second), interner_,
        loop_.wall_now());
    // The UIDs of pods begin all alike.
    claim->uid = deterministic_uid("ResourceClaim", pod->namespace_name(), claim->name);
    claim->resource_version = "1";
    claims_of_[pod->uid_text()].push_back(claim->name);
    draft.extra->resource_claim_statuses.push_back(
        {std::string(pod->text(entry.name)), claim->name});
    deltas.push_back({DeltaType::kAdded, Ref<const Object>(claim)});
    any = true;
  }
  if (!any) return;
  draft.resource_version = "2";
  deltas.push_back({DeltaType::kUpdated, make_pod(std::move(draft))});
}

Result<std::vector<Delta>> WorkloadRun::make_pods(const Operation& operation, std::int64_t count,
                                                  const std::string& namespace_name) {
  const std::string_view path = operation.text("podTemplatePath");
  ObjectTemplate standard{std::string(kDefaultPod), "the default pod"};
  ObjectTemplate* pods = &standard;
  if (!path.empty() || !test_case_.default_pod_template.empty()) {
    const Result<ObjectTemplate*> found =
        template_at(path.empty() ? std::string_view(test_case_.default_pod_template) : path);
    if (!found) return fail(found.error());
    pods = *found;
  }
  const bool with_volume = operation.has("persistentVolumeClaimTemplatePath");
  std::vector<Delta> deltas;
  deltas.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Numbered number{i, count, ++serial_};
    const auto mount = [i](JsonValue& pod) {
      JsonValue volume = JsonValue::object();
      set_text(volume, "name", "vol");
      set_text(member(volume, "persistentVolumeClaim"), "claimName", fmt::format("pvc-{}", i));
      JsonValue volumes = JsonValue::array();
      volumes.items.push_back(std::move(volume));
      member(member(pod, "spec"), "volumes") = std::move(volumes);
    };
    if (with_volume)
      if (Outcome added = add_volume(operation, number, namespace_name, deltas); !added)
        return fail(added.error());
    Result<AnyObject> pod =
        pods->make(number, namespace_name, interner_,
                   with_volume ? ObjectTemplate::Change(mount) : ObjectTemplate::Change());
    if (!pod) return fail(pod.error());
    const auto* made = std::get_if<Ref<const Pod>>(&*pod);
    if (!made) return fail(ErrorKind::kInvalid, pods->where() + ": not a Pod");
    deltas.push_back({DeltaType::kAdded, *made});
    add_claims(*made, deltas);
  }
  return deltas;
}

WorkloadRun::Outcome WorkloadRun::create_pods(const Operation& operation,
                                              const std::string& namespace_name) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  const Result<std::int64_t> steady = operation.number("steadyState", workload_, 0);
  if (!steady) return fail(steady.error());
  if (operation.flag("steadyState") || *steady != 0)
    return keep_steady(operation, *count, namespace_name);
  Result<std::vector<Delta>> made = make_pods(operation, *count, namespace_name);
  if (!made) return fail(made.error());

  const auto all = static_cast<std::size_t>(*count);
  const std::size_t before = progress_.bound_pods();
  created_ += all;
  const auto all_bound = [this, before, all] { return progress_.bound_pods() >= before + all; };
  feed(std::make_shared<std::vector<Delta>>(std::move(*made)), 0);
  if (operation.flag("skipWaitToCompletion")) {
    not_waited_for_[namespace_name] += all;
    return {};
  }
  return operation.flag("collectMetrics") ? run_measured(all_bound, operation)
                                          : run_until(all_bound, operation);
}

// Creates pods, waits until they are bound, deletes them and begins again, for a time.
WorkloadRun::Outcome WorkloadRun::keep_steady(const Operation& operation, std::int64_t count,
                                              const std::string& namespace_name) {
  const Result<Duration> duration = operation.duration("duration", workload_);
  if (!duration) return fail(duration.error());
  if (*duration <= Duration(0) || count <= 0)
    return fail(ErrorKind::kInvalid, operation.where() + ": steadyState needs pods and a duration");
  const auto all = static_cast<std::size_t>(count);
  const bool collects = operation.flag("collectMetrics");
  if (collects) progress_.start();
  Outcome outcome;
  for (const TimePoint end = loop_.now() + *duration; outcome && loop_.now() < end;) {
    Result<std::vector<Delta>> made = make_pods(operation, count, namespace_name);
    if (!made) return fail(made.error());
    created_ += all;
    const std::size_t before = progress_.bound_pods();
    feed(std::make_shared<std::vector<Delta>>(std::move(*made)), 0);
    outcome = run_until([&] { return progress_.bound_pods() >= before + all; }, operation);
    std::vector<Ref<const Pod>> bound;
    engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) {
      if (pod->namespace_name() == namespace_name) bound.push_back(pod);
    });
    for (const Ref<const Pod>& pod : bound) remove_pod(pod);
  }
  if (collects) progress_.stop();
  return outcome;
}

// The deltas of new objects, in batches with other work in between, as a watch brings them.
void WorkloadRun::feed(std::shared_ptr<std::vector<Delta>> deltas, std::size_t from) {
  loop_.post([this, deltas = std::move(deltas), from]() mutable {
    const std::size_t to = std::min(from + kDeltasPerBatch, deltas->size());
    for (std::size_t i = from; i < to; ++i) engine_->apply(std::move((*deltas)[i]));
    if (to < deltas->size()) feed(std::move(deltas), to);
  });
}

WorkloadRun::Outcome WorkloadRun::create_pod_sets(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  const Result<Operation> pods = operation.nested("createPodsOp");
  if (!pods) return fail(pods.error());
  for (std::int64_t i = 0; i < *count; ++i)
    if (Outcome made =
            create_pods(*pods, fmt::format("{}-{}", operation.text("namespacePrefix"), i));
        !made)
      return made;
  return {};
}

WorkloadRun::Outcome WorkloadRun::delete_pods(const Operation& operation) {
  const Result<std::int64_t> rate = operation.number("deletePodsPerSecond", workload_, 0);
  if (!rate) return fail(rate.error());
  const JsonValue* selector = operation.find("labelSelector");
  auto pods = std::make_shared<std::vector<Ref<const Pod>>>();
  engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) {
    if (pod->namespace_name() != operation.text("namespace")) return;
    if (selector && std::ranges::any_of(selector->members, [&](const JsonMember& wanted) {
          return std::ranges::none_of(pod->labels(), [&](const Label& label) {
            return pod->text(label.key) == wanted.name &&
                   pod->text(label.value) == wanted.value.text;
          });
        }))
      return;
    pods->push_back(pod);
  });
  return pace(static_cast<std::int64_t>(pods->size()), *rate,
              operation.flag("skipWaitToCompletion"), [this, pods](std::int64_t i) {
                const Ref<const Pod>& pod = (*pods)[static_cast<std::size_t>(i)];
                // As it is by now.
                const Ref<const Pod> stored =
                    engine_->cluster().seen_pod(pod->namespace_name(), pod->name());
                if (stored && stored->uid() == pod->uid()) remove_pod(stored);
              });
}

void WorkloadRun::remove_pod(const Ref<const Pod>& pod) {
  engine_->apply({DeltaType::kDeleted, pod});
  const auto claims = claims_of_.find(pod->uid_text());
  if (claims == claims_of_.end()) return;
  for (const std::string& name : claims->second)
    if (const Ref<const Object> claim =
            engine_->cluster().find(ObjectKind::kResourceClaim, pod->namespace_name(), name))
      engine_->apply({DeltaType::kDeleted, claim});
  claims_of_.erase(claims);
}

}  // namespace berth::perf
