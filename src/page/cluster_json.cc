#include "page/cluster_json.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "wire/json_line.h"

namespace berth::page {
namespace {

// cpu in thousandths, memory and storage in bytes, everything else in units. What is 0 is left out.
JsonLine amounts_json(const Resources& amounts, const Symbols& symbols) {
  JsonLine line;
  if (amounts.milli_cpu != 0) line.number("cpu", amounts.milli_cpu);
  if (amounts.memory != 0) line.number("memory", amounts.memory);
  if (amounts.ephemeral_storage != 0) line.number("ephemeral-storage", amounts.ephemeral_storage);
  if (amounts.pods != 0) line.number("pods", amounts.pods);
  for (const ScalarAmount& scalar : amounts.scalars)
    if (scalar.amount != 0) line.number(symbols.text(scalar.name), scalar.amount);
  return line;
}

JsonLine labels_json(const LabelSet& labels, const Symbols& symbols) {
  JsonLine line;
  for (const Label& label : labels) line.text(symbols.text(label.key), symbols.text(label.value));
  return line;
}

std::string_view effect_text(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule: return "NoSchedule";
    case TaintEffect::kPreferNoSchedule: return "PreferNoSchedule";
    case TaintEffect::kNoExecute: return "NoExecute";
    case TaintEffect::kAny:
    case TaintEffect::kUnknown: break;
  }
  return "";
}

std::string taint_text(const Taint& taint, const Symbols& symbols) {
  const std::string_view value = symbols.text(taint.value);
  return fmt::format("{}{}{}:{}", symbols.text(taint.key), value.empty() ? "" : "=", value,
                     effect_text(taint.effect));
}

}  // namespace

std::string node_members(const Node& node, const DevicesByDriver* devices) {
  const Symbols& symbols = *node.symbols.table();
  std::vector<std::string> taints;
  for (const Taint& taint : node.taints) taints.push_back(taint_text(taint, symbols));
  JsonLine line;
  line.raw("labels", labels_json(node.labels, symbols).done());
  if (!taints.empty()) line.texts("taints", taints);
  if (node.unschedulable) line.flag("cordoned", true);
  JsonLine allocatable = amounts_json(node.allocatable_resources, symbols);
  JsonLine taken;
  if (devices) {
    for (const auto& [driver, counts] : *devices) {
      const std::string resource = "devices " + driver;
      allocatable.number(resource, counts.all);
      if (counts.allocated != 0) taken.number(resource, counts.allocated);
    }
  }
  line.raw("allocatable", allocatable.done());
  if (!taken.members().empty()) line.raw("taken", taken.done());
  return line.members();
}

std::string template_json(const Pod& pod) {
  const PodSpec& spec = pod.spec();
  const Symbols& symbols = pod.symbols();
  JsonLine line;
  line.text("namespace", pod.namespace_name());
  if (const ControllerRef& owner = pod.meta().controller; !owner.empty())
    line.text("owner", fmt::format("{}/{}", pod.text(owner.kind), pod.text(owner.name)));
  line.raw("labels", labels_json(pod.labels(), symbols).done());
  line.number("priority", spec.priority);
  line.text("scheduler", pod.text(spec.scheduler_name));
  std::vector<std::string> gates;
  for (const Symbol gate : spec.scheduling_gates) gates.emplace_back(pod.text(gate));
  if (!gates.empty()) line.texts("gates", gates);
  return line.raw("requests", amounts_json(pod.usage().requests, symbols).done()).done();
}

}  // namespace berth::page
