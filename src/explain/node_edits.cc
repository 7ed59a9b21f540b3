#include "explain/node_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/names.h"
#include "api/storage.h"
#include "explain/commands.h"
#include "explain/pod_edits.h"
#include "explain/volume_edits.h"

namespace berth::explain {
namespace {

bool stands_for_cordon(const Taint& taint) {
  return taint.key == names::kUnschedulableTaint && taint.effect == TaintEffect::kNoSchedule;
}

bool remove_taint_from(PatchedObject& node, const std::string& key, const std::string& value,
                       const std::string& effect) {
  const std::vector<JsonValue>& taints = items_at(node.object(), {"spec", "taints"});
  for (std::size_t i = 0; i < taints.size(); ++i)
    if (text_at(taints[i], {"key"}) == key && text_at(taints[i], {"value"}) == value &&
        text_at(taints[i], {"effect"}) == effect)
      return node.remove(JsonPath{"spec", "taints"} / i);
  return false;
}

// Labels that a node is to have or (nullopt) not to have.
using Wanted = std::map<Symbol, std::optional<std::string>>;

std::optional<std::string> value_for(const Requirement& requirement, const Symbols& symbols) {
  switch (requirement.op) {
    case SelectorOperator::kIn:
      return std::string(requirement.values.empty() ? ""
                                                    : symbols.text(requirement.values.front()));
    case SelectorOperator::kExists: return "true";
    case SelectorOperator::kGreaterThan: return std::to_string(requirement.bound + 1);
    case SelectorOperator::kLessThan: return std::to_string(requirement.bound - 1);
    default: return std::nullopt;  // NotIn, DoesNotExist: without it
  }
}

// Adds what the labels lack to be as the term says. False if no label can do it.
bool add_missing(const NodeSelectorTerm& term, const Node& node, const Symbols& symbols,
                 Wanted& wanted) {
  if (term.empty()) return false;
  NodeSelectorTerm fields;
  fields.match_fields = term.match_fields;
  if (!fields.match_fields.empty() && !CompiledNodeTerm(fields, symbols, "").matches(node, symbols))
    return false;
  for (const SelectorRequirement& written : term.match_expressions) {
    const Result<Requirement> requirement = compile_requirement(written, symbols, "");
    if (!requirement) return false;
    const auto decided = wanted.find(requirement->key);
    if (decided == wanted.end()) {
      if (!requirement->matches(node.labels, symbols))
        wanted[requirement->key] = value_for(*requirement, symbols);
      continue;
    }
    LabelSet labels;
    SymbolHold hold(node.symbols);
    if (decided->second) labels = LabelSet({{requirement->key, hold.intern(*decided->second)}});
    if (!requirement->matches(labels, symbols)) return false;
  }
  return true;
}

// The term of the list that needs the fewest labels.
bool add_missing(const std::vector<NodeSelectorTerm>& terms, const Node& node,
                 const Symbols& symbols, Wanted& wanted) {
  std::optional<Wanted> best;
  for (const NodeSelectorTerm& term : terms) {
    Wanted with = wanted;
    if (add_missing(term, node, symbols, with) && (!best || with.size() < best->size()))
      best = std::move(with);
  }
  if (!best) return false;
  wanted = *std::move(best);
  return true;
}

NodeSelectorTerm term_of(std::vector<Label> labels) {
  NodeSelectorTerm term;
  for (const Label& label : labels)
    term.match_expressions.push_back({label.key, SelectorOperator::kIn, {}, {label.value}});
  return term;
}

// "a__b" stands for two zones in the labels of a volume.
NodeSelectorTerm zones_of(const PersistentVolume& volume, SymbolHold& hold) {
  NodeSelectorTerm term;
  for (const Label& label : volume.labels) {
    if (label.key != names::kZone && label.key != names::kRegion && label.key != names::kBetaZone &&
        label.key != names::kBetaRegion)
      continue;
    SelectorRequirement requirement{label.key, SelectorOperator::kIn, {}, {}};
    std::string_view rest = volume.symbols.text(label.value);
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = rest.find("__");
      requirement.values.push_back(hold.intern(rest.substr(0, end)));
      if (end != std::string_view::npos) rest.remove_prefix(end + 2);
    }
    term.match_expressions.push_back(std::move(requirement));
  }
  return term;
}

bool add_missing_for_volumes(const UnplacedPod& unplaced, const Node& node, SymbolHold& hold,
                             Wanted& wanted) {
  const Symbols& symbols = unplaced.cluster().symbols();
  for (const PodClaim& claim : claims_of(unplaced)) {
    if (claim.volume) {
      if (claim.volume->node_affinity &&
          !add_missing(*claim.volume->node_affinity, node, symbols, wanted))
        return false;
      const NodeSelectorTerm zones = zones_of(*claim.volume, hold);
      if (!zones.empty() && !add_missing(zones, node, symbols, wanted)) return false;
    } else if (claim.storage_class && !claim.storage_class->allowed_topologies.empty()) {
      std::vector<NodeSelectorTerm> terms;
      for (const auto& requirements : claim.storage_class->allowed_topologies) {
        NodeSelectorTerm& term = terms.emplace_back();
        for (const TopologyRequirement& requirement : requirements)
          term.match_expressions.push_back(
              {requirement.key, SelectorOperator::kIn, {}, requirement.values});
      }
      if (!add_missing(terms, node, symbols, wanted)) return false;
    }
  }
  return true;
}

}  // namespace

ObjectName node_name(const UnplacedPod& unplaced, NodeRow row) {
  return {"Node", {}, std::string(unplaced.nodes().name_text(row))};
}

Edit uncordon(const UnplacedPod& unplaced, NodeRow row) {
  Edit edit;
  edit.object = node_name(unplaced, row);
  edit.code = "Uncordon";
  edit.summary = "uncordon node " + edit.object->name;
  edit.cost = 6;
  edit.commands = {"kubectl uncordon " + shell_quoted(edit.object->name)};
  edit.apply = [](PatchedObject& node) {
    const JsonValue* flag = find_at(node.object(), {"spec", "unschedulable"});
    if (flag && flag->boolean) node.remove({"spec", "unschedulable"});
    const bool tainted =
        remove_taint_from(node, "node.kubernetes.io/unschedulable", "", "NoSchedule");
    return tainted || flag;
  };
  return edit;
}

Edit remove_taint(const UnplacedPod& unplaced, NodeRow row, const Taint& taint) {
  const std::string text = taint_text(unplaced, taint);
  Edit edit;
  edit.object = node_name(unplaced, row);
  edit.code = "RemoveTaint";
  edit.summary = fmt::format("remove the taint {} from node {}", text, edit.object->name);
  edit.cost = 7;
  edit.commands = {fmt::format("kubectl taint nodes {} {}", shell_quoted(edit.object->name),
                               shell_quoted(text + "-"))};
  const Symbols& symbols = unplaced.cluster().symbols();
  edit.apply = [key = std::string(symbols.text(taint.key)),
                value = std::string(symbols.text(taint.value)),
                effect = text.substr(text.rfind(':') + 1)](PatchedObject& node) {
    return remove_taint_from(node, key, value, effect);
  };
  return edit;
}

Edits open_node(const UnplacedPod& unplaced, NodeRow row) {
  Edits edits;
  for (const Taint& taint : taints_against(unplaced, row))
    edits.push_back(stands_for_cordon(taint) && taint.value.empty()
                        ? uncordon(unplaced, row)
                        : remove_taint(unplaced, row, taint));
  return edits;
}

Edit label_node(const UnplacedPod& unplaced, NodeRow row, const std::string& key,
                const std::optional<std::string>& value) {
  Edit edit;
  edit.object = node_name(unplaced, row);
  edit.code = value ? "LabelNode" : "UnlabelNode";
  edit.summary = value ? fmt::format("label node {} with {}={}", edit.object->name, key, *value)
                       : fmt::format("remove the label {} from node {}", key, edit.object->name);
  const Symbol symbol = unplaced.cluster().symbols().find(key);
  const bool known = !symbol.empty() && unplaced.nodes().node(row).labels.contains(symbol);
  // Who is who, and where, is not changed lightly.
  const bool identity = key == "kubernetes.io/hostname" || key.contains("topology.kubernetes.io/");
  edit.cost = (known ? 7 : 6) + (known && identity ? 6 : 0);
  edit.commands = {fmt::format("kubectl label node {} {}{}", shell_quoted(edit.object->name),
                               shell_quoted(value ? fmt::format("{}={}", key, *value) : key + "-"),
                               value && known ? " --overwrite" : "")};
  const JsonPath path = {"metadata", "labels", key};
  edit.apply = [path, value](PatchedObject& node) {
    if (!value) return node.remove(path);
    node.set(path, JsonValue::of_text(*value));
    return true;
  };
  return edit;
}

Edits labels_missing(const UnplacedPod& unplaced, NodeRow row) {
  const Symbols& symbols = unplaced.cluster().symbols();
  const Node& node = unplaced.nodes().node(row);
  const PodSpec& spec = unplaced.spec();
  SymbolHold hold(unplaced.cluster().symbol_table());
  Wanted wanted;
  if (!spec.node_selector.empty() &&
      !add_missing(term_of(spec.node_selector), node, symbols, wanted))
    return {};
  if (spec.affinity && spec.affinity->node && spec.affinity->node->required &&
      !add_missing(*spec.affinity->node->required, node, symbols, wanted))
    return {};
  if (!add_missing_for_volumes(unplaced, node, hold, wanted)) return {};
  Edits edits;
  for (const auto& [key, value] : wanted)
    edits.push_back(label_node(unplaced, row, std::string(symbols.text(key)), value));
  return edits;
}

}  // namespace berth::explain
