// The operations of WorkloadRun that make nodes, namespaces and objects of any kind.
#include <fmt/format.h>

#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
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

}  // namespace

WorkloadRun::Outcome WorkloadRun::create_nodes(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  ObjectTemplate standard{std::string(kDefaultNode), "the default node"};
  const Result<ObjectTemplate*> nodes = template_at(operation.text("nodeTemplatePath"), &standard);
  if (!nodes) return fail(nodes.error());
  const Result<JsonValue> params = operation.template_params(workload_);
  if (!params) return fail(params.error());
  const JsonValue* strategy = operation.find("nodeAllocatableStrategy");
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> node = make_node(**nodes, operation, {i, *count, ++serial_, &*params});
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
  label("kubernetes.io/hostname", node.name);  // as kubelets do
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
  const Result<ObjectTemplate*> namespaces =
      template_at(operation.text("namespaceTemplatePath"), &plain);
  if (!namespaces) return fail(namespaces.error());
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> made = (*namespaces)->make({i, *count, ++serial_}, {}, interner_);
    if (!made) return fail(made.error());
    const auto* object = std::get_if<Ref<const Object>>(&*made);
    if (!object || (*object)->kind != ObjectKind::kNamespace)
      return fail(ErrorKind::kInvalid, (*namespaces)->where() + ": not a Namespace");
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
  const Result<JsonValue> params = operation.template_params(workload_);
  if (!params) return fail(params.error());
  const std::string namespace_name(operation.text("namespace"));
  for (std::int64_t i = 0; i < *count; ++i) {
    Result<AnyObject> made =
        (*found)->make({i, *count, ++serial_, &*params}, namespace_name, interner_);
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
      const Ref<const Pod> stored = engine_->cluster().seen_pod(**pod);
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

}  // namespace berth::perf
