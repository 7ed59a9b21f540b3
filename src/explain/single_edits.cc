#include "explain/single_edits.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "api/names.h"
#include "base/stable_sort.h"
#include "explain/new_nodes.h"
#include "explain/node_edits.h"
#include "explain/pod_edits.h"
#include "explain/pods_gone.h"
#include "explain/priorities.h"
#include "explain/request_cuts.h"
#include "explain/resource_claim_edits.h"
#include "explain/volume_edits.h"

namespace berth::explain {
namespace {

constexpr std::size_t kMostRows = 500;  // whose labels and taints are looked at one by one

// Plugins that pods on a node may make reject it.
constexpr std::string_view kPluginsAboutPods[] = {
    "NodeResourcesFit",  "NodePorts",          "InterPodAffinity",
    "PodTopologySpread", "VolumeRestrictions", "NodeVolumeLimits",
};

// Of one kind on different nodes: all of them in a small cluster.
std::size_t most_tries(const UnplacedPod& unplaced) {
  constexpr std::size_t kTries = 3'000, kAtLeast = 6, kAtMost = 100;
  return std::clamp(kTries / (unplaced.nodes().node_count() + 1), kAtLeast, kAtMost);
}

void tolerate_all(PodSpec& spec) {
  Toleration all;
  all.op = TolerationOperator::kExists;
  spec.tolerations.push_back(all);
}

void forget_node_selection(PodSpec& spec) {
  spec.node_selector.clear();
  if (!spec.affinity || !spec.affinity->node) return;
  auto affinity = std::make_shared<Affinity>(*spec.affinity);
  affinity->node->required.reset();
  spec.affinity = std::move(affinity);
}

void forget_pod_terms(PodSpec& spec, bool affinity_too) {
  if (!spec.affinity) return;
  auto affinity = std::make_shared<Affinity>(*spec.affinity);
  if (affinity->pod_anti) affinity->pod_anti->required.clear();
  if (affinity->pod && affinity_too) affinity->pod->required.clear();
  spec.affinity = std::move(affinity);
}

// The labels of nodes that decide about the pod, with the values that are asked for.
std::map<std::string, std::set<std::string>> labels_that_count(const UnplacedPod& unplaced) {
  std::map<std::string, std::set<std::string>> labels;
  const PodSpec& spec = unplaced.spec();
  for (const Label& label : spec.node_selector)
    labels[unplaced.text(label.key)].insert(unplaced.text(label.value));
  const auto add_terms = [&](const std::vector<NodeSelectorTerm>& terms) {
    for (const NodeSelectorTerm& term : terms)
      for (const SelectorRequirement& requirement : term.match_expressions) {
        std::set<std::string>& values = labels[unplaced.text(requirement.key)];
        for (const Symbol value : requirement.values) values.insert(unplaced.text(value));
      }
  };
  const auto add_keys = [&](const Pod& pod) {
    if (!pod.spec().affinity) return;
    for (const auto* terms : {&pod.spec().affinity->pod, &pod.spec().affinity->pod_anti})
      if (*terms)
        for (const PodAffinityTerm& term : (*terms)->required)
          labels.try_emplace(unplaced.text(term.topology_key));
  };
  if (spec.affinity && spec.affinity->node && spec.affinity->node->required)
    add_terms(*spec.affinity->node->required);
  for (const PodClaim& claim : claims_of(unplaced))
    if (claim.volume && claim.volume->node_affinity) add_terms(*claim.volume->node_affinity);
  for (const TopologySpreadConstraint& constraint : spec.topology_spread_constraints)
    labels.try_emplace(unplaced.text(constraint.topology_key));
  add_keys(*unplaced.pod());
  unplaced.nodes().with_required_anti_affinity_pods().for_each([&](NodeRow row) {
    for (const Ref<const Pod>& pod : unplaced.nodes().pods(row)) add_keys(*pod);
  });
  labels.erase("kubernetes.io/hostname");
  return labels;
}

// Slices of devices that the pod does not ask for.
Edit without_needless_objects(const UnplacedPod& unplaced, Edit edit) {
  for (std::size_t i = edit.created.size(); i-- > 1;) {
    Edit without = edit;
    without.created.erase(without.created.begin() + static_cast<std::ptrdiff_t>(i));
    if (unplaced.fits(without)) edit = std::move(without);
  }
  return edit;
}

}  // namespace

Symbol most_common_value(const NodeTable& nodes, const NodeSet& rows, Symbol key) {
  std::map<Symbol, std::size_t> counts;
  rows.for_each([&](NodeRow row) {
    if (const Symbol* value = nodes.node(row).labels.find(key)) ++counts[*value];
  });
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  return most == counts.end() ? Symbol() : most->first;
}

std::vector<NodeRow> by_name(const NodeTable& nodes, const NodeSet& rows, std::size_t most) {
  std::vector<NodeRow> ordered;
  rows.for_each([&](NodeRow row) { ordered.push_back(row); });
  const std::size_t count = std::min(most, ordered.size());
  std::ranges::partial_sort(ordered, ordered.begin() + static_cast<std::ptrdiff_t>(count), {},
                            [&](NodeRow row) { return nodes.name_text(row); });
  ordered.resize(count);
  return ordered;
}

Edits SingleEdits::find() {
  if (unplaced_.json()) {
    requests();
    host_ports();
    pod_affinity();
    spreading();
    node_selection();
  }
  taints();
  node_labels();
  volumes();
  resource_claims();
  pods();
  nominated_pods();
  new_nodes();
  if (unplaced_.json()) priority();
  if (found_.empty()) any_label();
  return std::move(found_);
}

bool SingleEdits::keep_if_it_helps(const Edit& edit) {
  if (!unplaced_.may_ask() || !unplaced_.fits(edit)) return false;
  keep(edit);
  return true;
}

void SingleEdits::note(const char* what, std::size_t found_before) {
  if (found_.size() == found_before) tried_.emplace_back(what);
}

// ---- the pod

void SingleEdits::requests() {
  const std::size_t before = found_.size();
  const std::vector<Symbol> resources = requested_resources(unplaced_);
  for (const Symbol resource : resources)
    if (std::optional<Edit> cut = largest_fitting_cut(unplaced_, {}, resource)) keep(*cut);
  if (!resources.empty()) note("requesting less of any one resource", before);
}

void SingleEdits::host_ports() {
  const std::size_t before = found_.size();
  const std::vector<HostPortPlace> places = host_ports_of(unplaced_.spec());
  for (const HostPortPlace& place : places) {
    if (!unplaced_.may_ask()) break;
    const NodeSet rows =
        unplaced_.feasible([&](PodSpec& spec) { host_port_at(spec, place).host_port = 0; });
    if (!rows.empty())
      keep_if_it_helps(
          change_host_port(unplaced_, place, free_host_port(unplaced_, place, rows.first())));
  }
  if (!places.empty()) note("another host port", before);
}

void SingleEdits::pod_affinity() {
  const std::size_t before = found_.size();
  const Affinity* affinity = unplaced_.spec().affinity.get();
  if (!affinity) return;
  bool any = false;
  for (const bool anti : {false, true}) {
    const std::optional<PodAffinity>& terms = anti ? affinity->pod_anti : affinity->pod;
    for (std::size_t i = 0; terms && i < terms->required.size() && unplaced_.may_ask(); ++i) {
      any = true;
      const Edit edit = drop_pod_affinity(unplaced_, anti, i);
      const NodeSet rows = unplaced_.feasible(std::span(&edit, 1));
      if (rows.empty()) continue;
      keep(edit);
      if (!anti) topology_labels(terms->required[i].topology_key, rows);
    }
  }
  if (any) note("dropping any one required pod affinity or anti-affinity term", before);
}

void SingleEdits::spreading() {
  const std::size_t before = found_.size();
  const auto& constraints = unplaced_.spec().topology_spread_constraints;
  for (std::size_t i = 0; i < constraints.size() && unplaced_.may_ask(); ++i) {
    if (constraints[i].when_unsatisfiable != UnsatisfiableAction::kDoNotSchedule) continue;
    const Edit dropped = drop_spread_constraint(unplaced_, i);
    const NodeSet rows = unplaced_.feasible(std::span(&dropped, 1));
    if (rows.empty()) continue;
    keep(dropped);
    topology_labels(constraints[i].topology_key, rows);
    const auto fits = [&](std::int32_t skew) {
      return unplaced_.fits(raise_max_skew(unplaced_, i, skew));
    };
    // There are not more pods than these to be uneven with.
    const std::size_t pods = unplaced_.cluster().placed_count() + 2;
    std::int32_t low = constraints[i].max_skew, step = 1;  // does not fit
    const std::int32_t most = low + static_cast<std::int32_t>(std::min<std::size_t>(pods, 1 << 20));
    std::int32_t high = std::min(low + step, most);
    while (high < most && !fits(high)) {
      low = high;
      step *= 2;
      high = std::min(low + step, most);
    }
    if (high == most && !fits(high)) continue;
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      (fits(middle) ? high : low) = middle;
    }
    keep(raise_max_skew(unplaced_, i, high));
  }
  if (!constraints.empty()) note("dropping any one topology spread constraint", before);
}

// A node may lack the label that stands for its domain, or be in another than the pods it is about.
void SingleEdits::topology_labels(Symbol key, const NodeSet& rows) {
  constexpr std::size_t kRows = 2, kValues = 4;
  const NodeTable& nodes = unplaced_.nodes();
  if (key == names::kHostname) return;
  NodeSet without = rows;
  rows.for_each([&](NodeRow row) {
    if (nodes.node(row).labels.contains(key)) without.erase(row);
  });
  std::set<std::string> values;
  nodes.nodes().for_each([&](NodeRow row) {
    const Symbol* value = nodes.node(row).labels.find(key);
    if (value && values.size() < kValues) values.emplace(unplaced_.text(*value));
  });
  if (values.empty()) values.insert("a");
  for (const NodeRow row : by_name(nodes, without, kRows))
    for (const std::string& value : values)
      if (keep_if_it_helps(label_node(unplaced_, row, unplaced_.text(key), value))) return;
}

void SingleEdits::node_selection() {
  const std::size_t before = found_.size();
  const PodSpec& spec = unplaced_.spec();
  const bool has_affinity = spec.affinity && spec.affinity->node && spec.affinity->node->required;
  if (spec.node_selector.empty() && !has_affinity) return;
  const NodeSet without = unplaced_.feasible([](PodSpec& changed) {
    forget_node_selection(changed);
    changed.topology_spread_constraints.clear();  // which nodes count depends on the selection
  });
  if (!without.empty()) {
    for (const Label& label : spec.node_selector) {
      if (!unplaced_.may_ask()) break;
      const Edit dropped = drop_node_selector(unplaced_, label.key);
      const NodeSet rows = unplaced_.feasible(std::span(&dropped, 1));
      if (rows.empty()) continue;
      keep(dropped);
      const Symbol value = most_common_value(unplaced_.nodes(), rows, label.key);
      if (!value.empty()) keep_if_it_helps(change_node_selector(unplaced_, label.key, value));
    }
    if (has_affinity) node_requirements(without);
  }
  note("dropping any one part of the node selector or the required node affinity", before);
}

void SingleEdits::node_requirements(const NodeSet& without) {
  keep_if_it_helps(drop_node_affinity(unplaced_));
  const std::vector<NodeSelectorTerm>& terms = *unplaced_.spec().affinity->node->required;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    for (std::size_t i = 0; i < terms[t].match_fields.size() && unplaced_.may_ask(); ++i)
      if (const auto edit = drop_node_requirement(unplaced_, t, true, i)) keep_if_it_helps(*edit);
    for (std::size_t i = 0; i < terms[t].match_expressions.size() && unplaced_.may_ask(); ++i) {
      NodeSet rows = without;
      if (const auto edit = drop_node_requirement(unplaced_, t, false, i)) {
        rows = unplaced_.feasible(std::span(&*edit, 1));
        if (rows.empty()) continue;
        keep(*edit);
      }
      const Symbol key = terms[t].match_expressions[i].key;
      const Symbol value = most_common_value(unplaced_.nodes(), rows, key);
      if (value.empty()) continue;
      if (const auto edit = allow_node_value(unplaced_, t, i, value)) keep_if_it_helps(*edit);
    }
  }
}

// ---- taints: what the pod tolerates, and what the node has

void SingleEdits::taints() {
  const std::size_t before = found_.size();
  const NodeTable& nodes = unplaced_.nodes();
  if (nodes.tainted().empty() && nodes.cordoned().empty()) return;
  taints_of(unplaced_.feasible(tolerate_all));
  // Which nodes count for spreading may depend on their taints.
  if (found_.size() == before && !unplaced_.spec().topology_spread_constraints.empty())
    taints_of(unplaced_.feasible([](PodSpec& spec) {
      tolerate_all(spec);
      spec.topology_spread_constraints.clear();
    }));
  note("tolerating any one taint, removing it from a node, or uncordoning a node", before);
}

void SingleEdits::taints_of(const NodeSet& otherwise_feasible) {
  const NodeTable& nodes = unplaced_.nodes();
  std::map<std::string, std::vector<NodeRow>> alone;  // nodes with this taint against the pod only
  std::map<std::string, Taint> taints;
  for (const NodeRow row : by_name(nodes, otherwise_feasible, nodes.rows())) {
    const std::vector<Taint> against = taints_against(unplaced_, row);
    if (against.size() != 1) continue;
    const std::string text = taint_text(unplaced_, against.front());
    taints.try_emplace(text, against.front());
    alone[text].push_back(row);
  }
  std::vector<std::pair<std::size_t, std::string>> most_first;
  for (const auto& [text, rows] : alone) most_first.emplace_back(rows.size(), text);
  sort_stably(most_first, {}, [](const auto& one) { return ~one.first; });
  if (most_first.size() > most_tries(unplaced_)) most_first.resize(most_tries(unplaced_));
  for (const auto& [count, text] : most_first) {
    if (unplaced_.json()) keep_if_it_helps(tolerate(unplaced_, taints.at(text)));
    for (const NodeRow row : alone[text]) {
      const Edits open = open_node(unplaced_, row);
      if (open.size() == 1 && keep_if_it_helps(open.front())) break;
      if (!unplaced_.may_ask()) break;
    }
  }
}

// ---- the cluster

void SingleEdits::node_labels() {
  const std::size_t before = found_.size();
  const PodSpec& spec = unplaced_.spec();
  const bool selects = !spec.node_selector.empty() ||
                       (spec.affinity && spec.affinity->node && spec.affinity->node->required);
  if (!selects && spec.volumes.empty()) return;
  const auto without_selection = [](PodSpec& without) {
    forget_node_selection(without);
    without.volumes.clear();
  };
  labels_of(unplaced_.feasible(without_selection));
  // Which nodes count for spreading may depend on their labels.
  if (found_.size() == before && !spec.topology_spread_constraints.empty())
    labels_of(unplaced_.feasible([&](PodSpec& without) {
      without_selection(without);
      without.topology_spread_constraints.clear();
    }));
  note("labelling any one node", before);
}

void SingleEdits::labels_of(const NodeSet& otherwise_feasible) {
  Edits labels;
  std::set<std::string> seen;  // what to do, without the node's name
  for (const NodeRow row : by_name(unplaced_.nodes(), otherwise_feasible, kMostRows)) {
    Edits missing = labels_missing(unplaced_, row);
    if (missing.size() != 1) continue;
    // One node of each kind of change is enough, as a rule.
    std::string what = missing.front().summary;
    if (const std::size_t name = what.find(missing.front().object->name); name != what.npos)
      what.erase(name, missing.front().object->name.size());
    if (seen.insert(what + std::to_string(missing.front().cost)).second ||
        labels.size() < most_tries(unplaced_))
      labels.push_back(std::move(missing.front()));
  }
  sort_stably(labels, {}, [](const Edit& edit) { return edit.cost; });
  std::size_t tries = 0, kept = 0;
  for (const Edit& edit : labels) {
    if (++tries > most_tries(unplaced_) || kept == 2) break;
    if (keep_if_it_helps(edit)) ++kept;
  }
}

void SingleEdits::volumes() {
  const std::size_t before = found_.size();
  const std::vector<std::vector<Edits>> by_claim = missing_volumes(unplaced_);
  for (const std::vector<Edits>& ways : by_claim)
    for (const Edits& way : ways)
      if (way.size() == 1) keep_if_it_helps(way.front());
  if (!by_claim.empty()) note("creating or binding any one volume or claim", before);
}

void SingleEdits::resource_claims() {
  const std::size_t before = found_.size();
  const std::vector<std::vector<Edits>> by_claim = missing_resource_claims(unplaced_);
  for (const std::vector<Edits>& ways : by_claim)
    for (const Edits& way : ways) keep_if_it_helps(way.front());
  if (!by_claim.empty()) note("creating any one ResourceClaim that is missing", before);
}

void SingleEdits::pods() {
  const std::size_t before = found_.size();
  if (unplaced_.cluster().placed_count() == 0) return;
  // Where nothing stands against the pod but other pods, and what it asks of the node itself.
  unplaced_.count_question();
  const Evaluator::Rejected rejected =
      unplaced_.evaluator().feasible(unplaced_.with([](PodSpec& spec) {
        for (auto* containers : {&spec.containers, &spec.init_containers})
          for (Container& container : *containers) {
            container.requests = {};
            for (ContainerPort& port : container.ports) port.host_port = 0;
          }
        spec.pod_requests.reset();
        spec.topology_spread_constraints.clear();
        forget_pod_terms(spec, false);
      }),
                                     kPluginsAboutPods);
  NodeSet rows = rejected.feasible;
  rows |= rejected.by;
  std::optional<Edit> gone = pods_gone(unplaced_, {}, rows_by_pods_in_the_way(unplaced_, rows));
  if (gone && unplaced_.fits(*gone)) keep(minimal_deletion(unplaced_, {}, *std::move(gone)));
  std::size_t kept = 0;
  for (const ConflictingPods& conflicting : conflicting_pods(unplaced_, most_tries(unplaced_))) {
    if (!unplaced_.may_ask() || kept == 2) break;
    if (std::optional<Edit> fewer = conflicts_gone(unplaced_, {}, conflicting)) {
      keep(*std::move(fewer));
      ++kept;
    }
  }
  note("deleting pods of any one node", before);
}

void SingleEdits::nominated_pods() {
  const std::size_t before = found_.size();
  if (unplaced_.evaluator().nominated_pods().empty()) return;
  for (Edit& edit : nominated_gone(unplaced_, 2)) keep(std::move(edit));
  note("deleting pods that are nominated to a node", before);
}

void SingleEdits::new_nodes() {
  const std::size_t before = found_.size();
  std::vector<NodeRow> rows = kinds_of_nodes(unplaced_);
  if (rows.size() > most_tries(unplaced_)) rows.resize(most_tries(unplaced_));
  for (const NodeRow row : rows)
    for (const NewNodeParts parts :
         {NewNodeParts::kNode, NewNodeParts::kCsiNode, NewNodeParts::kResourceSlices}) {
      const std::optional<Edit> added = add_node_like(unplaced_, row, parts);
      if (!added || !unplaced_.may_ask() || !unplaced_.fits(*added)) continue;
      keep(without_needless_objects(unplaced_, *added));
      note("adding a node like any that is there", before);
      return;
    }
  if (!rows.empty()) note("adding a node like any that is there", before);
}

void SingleEdits::priority() {
  const std::size_t before = found_.size();
  if (std::optional<Edit> raised = raise_priority(unplaced_)) keep(*std::move(raised));
  note("a higher priority", before);
}

// A label may be in the way of several plugins at once: the last resort, and rarely a good idea.
void SingleEdits::any_label() {
  constexpr std::size_t kValues = 3;
  std::map<std::string, std::set<std::string>> labels = labels_that_count(unplaced_);
  if (labels.empty()) return;
  const NodeTable& nodes = unplaced_.nodes();
  for (auto& [key, values] : labels) {
    const Symbol symbol = unplaced_.cluster().symbols().find(key);
    nodes.nodes().for_each([&](NodeRow row) {
      const Symbol* value = symbol.empty() ? nullptr : nodes.node(row).labels.find(symbol);
      if (value && values.size() < kValues) values.insert(unplaced_.text(*value));
    });
    values.insert("another");
  }
  unplaced_.count_question();
  const Evaluator::Rejected rejected =
      unplaced_.evaluator().feasible(unplaced_.with([](PodSpec& spec) {
        forget_node_selection(spec);
        forget_pod_terms(spec, true);
        spec.topology_spread_constraints.clear();
        spec.volumes.clear();
      }),
                                     kPluginsAboutPods);
  NodeSet rows = rejected.feasible;
  rows |= rejected.by;
  for (const NodeRow row : by_name(nodes, rows, most_tries(unplaced_)))
    for (const auto& [key, values] : labels)
      for (const std::string& value : values)
        if (keep_if_it_helps(label_node(unplaced_, row, key, value))) return;
}

}  // namespace berth::explain
