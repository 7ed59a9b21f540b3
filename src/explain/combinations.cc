#include "explain/combinations.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"
#include "explain/new_nodes.h"
#include "explain/node_edits.h"
#include "explain/pod_edits.h"
#include "explain/pods_gone.h"
#include "explain/request_cuts.h"
#include "explain/resource_claim_edits.h"
#include "explain/volume_edits.h"

namespace berth::explain {
namespace {

constexpr std::size_t kMostSteps = 8;

// One node and what has been done so far to get the pod there.
class StepByStep {
 public:
  StepByStep(const UnplacedPod& unplaced, NodeRow row, Edits edits)
      : unplaced_(unplaced),
        like_(row),
        name_(unplaced.nodes().name_text(row)),
        edits_(std::move(edits)) {
    for (const Edit& edit : edits_)
      for (const JsonValue& object : edit.created)
        if (text_at(object, {"kind"}) == "Node") {
          name_ = text_at(object, {"metadata", "name"});
          is_new_ = true;
        }
  }

  std::optional<Edits> find() {
    for (std::size_t step = 0; step < kMostSteps && unplaced_.may_ask(); ++step) {
      const std::vector<std::string> rejectors = rejectors_with(edits_);
      if (rejectors.empty()) return edits_;
      if (!take_step(rejectors.front())) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::string> rejectors_with(const Edits& edits) const {
    const AppliedEdits applied(unplaced_, edits);
    if (!applied.ok()) return {"?"};
    unplaced_.count_question();
    const Symbol name = unplaced_.cluster().symbols().find(name_);
    const NodeRow row = name.empty() ? kNoRow : unplaced_.nodes().find(name);
    if (row == kNoRow) return {"?"};
    return unplaced_.evaluator().rejectors(applied.pod(), row);
  }

  // The fewest and cheapest edits after which this plugin is not the one that rejects.
  bool take_step(const std::string& plugin) {
    std::vector<Edits> ways = ways_past(plugin);
    std::erase_if(ways, [](const Edits& way) { return way.empty(); });
    sort_stably(ways, {}, [](const Edits& way) { return std::tuple(way.size(), cost_of(way)); });
    for (const Edits& way : ways) {
      if (!unplaced_.may_ask()) return false;
      Edits with = edits_;
      with.insert(with.end(), way.begin(), way.end());
      const std::vector<std::string> rejectors = rejectors_with(with);
      if (std::ranges::find(rejectors, plugin) != rejectors.end() ||
          std::ranges::find(rejectors, "?") != rejectors.end())
        continue;
      edits_ = std::move(with);
      return true;
    }
    return false;
  }

  std::vector<Edits> ways_past(const std::string& plugin) {
    std::vector<Edits> ways;
    if (plugin == "TaintToleration" || plugin == "NodeUnschedulable") {
      add_for_taints(ways);
    } else if (plugin == "NodeAffinity") {
      add_for_node_selection(ways);
    } else if (plugin == "NodeResourcesFit") {
      add_for_resources(ways);
    } else if (plugin == "NodePorts") {
      add_for_host_ports(ways);
    } else if (plugin == "InterPodAffinity") {
      add_for_pod_affinity(ways);
    } else if (plugin == "PodTopologySpread") {
      add_for_spreading(ways);
    } else if (plugin.starts_with("Volume") || plugin == "NodeVolumeLimits") {
      add_for_volumes(ways);
    } else if (plugin == "DynamicResources") {
      add_for_claims(missing_resource_claims(unplaced_), ways);
    }
    if (!is_new_) add_for_pods(ways);
    return ways;
  }

  bool may_edit_pod() const { return unplaced_.json().has_value(); }

  void add_for_taints(std::vector<Edits>& ways) {
    if (may_edit_pod()) {
      Edits& tolerated = ways.emplace_back();
      for (const Taint& taint : taints_against(unplaced_, like_))
        tolerated.push_back(tolerate(unplaced_, taint));
    }
    if (!is_new_) ways.push_back(open_node(unplaced_, like_));
  }

  void add_for_node_selection(std::vector<Edits>& ways) {
    const PodSpec& spec = unplaced_.spec();
    const Node& node = unplaced_.nodes().node(like_);
    if (!is_new_) ways.push_back(labels_missing(unplaced_, like_));
    if (!may_edit_pod()) return;
    Edits dropped;
    for (const Label& label : spec.node_selector)
      if (is_new_ || node.labels.get(label.key) != label.value || !node.labels.contains(label.key))
        dropped.push_back(drop_node_selector(unplaced_, label.key));
    ways.push_back(dropped);
    if (!spec.affinity || !spec.affinity->node || !spec.affinity->node->required) return;
    ways.push_back({drop_node_affinity(unplaced_)});
    dropped.push_back(drop_node_affinity(unplaced_));
    ways.push_back(std::move(dropped));
  }

  void add_for_resources(std::vector<Edits>& ways) {
    if (!may_edit_pod()) return;
    Edits cuts;
    const AppliedEdits applied(unplaced_, edits_);
    const Symbol name = unplaced_.cluster().symbols().find(name_);
    if (!applied.ok() || name.empty()) return;
    const NodeRow row = unplaced_.nodes().find(name);
    if (row == kNoRow) return;
    for (const Symbol resource : requested_resources(unplaced_)) {
      const std::int64_t free = free_amount(unplaced_.nodes(), resource, row);
      if (free >= requested_total(unplaced_, resource)) continue;
      if (std::optional<Edit> cut = cut_request(unplaced_, resource, free)) cuts.push_back(*cut);
    }
    ways.push_back(std::move(cuts));
  }

  void add_for_host_ports(std::vector<Edits>& ways) {
    if (!may_edit_pod()) return;
    Edits changed;
    PodSpec spec(unplaced_.spec());
    for (const HostPortPlace& place : host_ports_of(spec)) {
      const std::int32_t port = host_port_at(spec, place).host_port;
      const std::span<const HostPort> used = unplaced_.nodes().host_ports(like_);
      if (std::ranges::find(used, port, &HostPort::port) != used.end())
        changed.push_back(
            change_host_port(unplaced_, place, free_host_port(unplaced_, place, like_)));
    }
    ways.push_back(std::move(changed));
  }

  void add_for_pod_affinity(std::vector<Edits>& ways) {
    const Affinity* affinity = unplaced_.spec().affinity.get();
    if (!affinity || !may_edit_pod()) return;
    Edits all;
    for (const bool anti : {false, true}) {
      const std::optional<PodAffinity>& terms = anti ? affinity->pod_anti : affinity->pod;
      for (std::size_t i = 0; terms && i < terms->required.size(); ++i) {
        all.push_back(drop_pod_affinity(unplaced_, anti, i));
        ways.push_back({all.back()});
      }
    }
    ways.push_back(std::move(all));
  }

  void add_for_spreading(std::vector<Edits>& ways) {
    if (!may_edit_pod()) return;
    Edits all;
    const auto& constraints = unplaced_.spec().topology_spread_constraints;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      if (constraints[i].when_unsatisfiable != UnsatisfiableAction::kDoNotSchedule) continue;
      all.push_back(drop_spread_constraint(unplaced_, i));
      ways.push_back({all.back()});
    }
    ways.push_back(std::move(all));
  }

  void add_for_volumes(std::vector<Edits>& ways) {
    add_for_claims(missing_volumes(unplaced_), ways);
    if (!is_new_) ways.push_back(labels_missing(unplaced_, like_));
  }

  void add_for_claims(const std::vector<std::vector<Edits>>& by_claim, std::vector<Edits>& ways) {
    Edits one_each;
    for (const std::vector<Edits>& ways_of_claim : by_claim) {
      ways.insert(ways.end(), ways_of_claim.begin(), ways_of_claim.end());
      if (!ways_of_claim.empty())
        one_each.insert(one_each.end(), ways_of_claim.front().begin(), ways_of_claim.front().end());
    }
    if (by_claim.size() > 1) ways.push_back(std::move(one_each));
  }

  void add_for_pods(std::vector<Edits>& ways) {
    const AppliedEdits applied(unplaced_, edits_);
    if (!applied.ok()) return;
    unplaced_.count_question();
    PodsGone gone(unplaced_.evaluator(), applied.pod());
    if (std::optional<Edit> edit = pods_gone_from(unplaced_, gone, like_)) ways.push_back({*edit});
  }

  const UnplacedPod& unplaced_;
  const NodeRow like_;  // the row, or that of the node which a new one is like
  std::string name_;
  bool is_new_ = false;
  Edits edits_;
};

// Of each set of plugins that reject, the nodes that are nearest; fewest plugins first.
std::vector<NodeRow> nearest_rows(const UnplacedPod& unplaced,
                                  const std::vector<SearchTrace::Objections>& objections) {
  constexpr std::size_t kOfEach = 2, kMost = 10;
  struct Near {
    std::size_t plugins;
    double distance;
    std::string_view name;
    NodeRow row;
    std::set<std::string> by;
  };
  std::vector<Near> near;
  for (const SearchTrace::Objections& one : objections) {
    Near here{0, 0, unplaced.nodes().name_text(one.row), one.row, {}};
    for (const SearchTrace::Objection& objection : one.by) {
      here.by.insert(objection.outcome.plugin);
      for (const Obstacle& obstacle : objection.obstacles) here.distance += obstacle.distance;
    }
    here.plugins = here.by.size();
    near.push_back(std::move(here));
  }
  std::ranges::sort(
      near, {}, [](const Near& one) { return std::tuple(one.plugins, one.distance, one.name); });
  std::map<std::set<std::string>, std::size_t> taken;
  std::vector<NodeRow> rows;
  for (const Near& one : near)
    if (taken[one.by]++ < kOfEach && rows.size() < kMost) rows.push_back(one.row);
  return rows;
}

}  // namespace

Edits minimized(const UnplacedPod& unplaced, Edits edits) {
  // Those that cost most are the first that may go.
  std::vector<std::size_t> order(edits.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  sort_stably(order, {}, [&](std::size_t i) { return -edits[i].cost; });
  std::vector<bool> needed(edits.size(), true);
  const auto those_needed = [&] {
    Edits rest;
    for (std::size_t i = 0; i < edits.size(); ++i)
      if (needed[i]) rest.push_back(edits[i]);
    return rest;
  };
  for (const std::size_t i : order) {
    needed[i] = false;
    if (!unplaced.fits(those_needed())) needed[i] = true;
  }
  edits = those_needed();
  for (Edit& edit : edits) {
    Edits others;
    for (const Edit& other : edits)
      if (&other != &edit) others.push_back(other);
    if (!edit.gone.empty()) edit = minimal_deletion(unplaced, others, edit);
    if (!edit.cut) continue;
    if (std::optional<Edit> largest = largest_fitting_cut(unplaced, others, edit.cut->resource))
      edit = *std::move(largest);
  }
  return edits;
}

std::vector<Edits> find_combinations(const UnplacedPod& unplaced,
                                     const std::vector<SearchTrace::Objections>& objections) {
  constexpr std::size_t kNewNodes = 3;
  std::vector<Edits> found;
  const auto keep = [&](std::optional<Edits> edits) {
    if (edits && !edits->empty()) found.push_back(minimized(unplaced, *std::move(edits)));
  };
  for (const NodeRow row : nearest_rows(unplaced, objections))
    if (unplaced.may_ask()) keep(StepByStep(unplaced, row, {}).find());
  std::vector<NodeRow> kinds = kinds_of_nodes(unplaced);
  if (kinds.size() > kNewNodes) kinds.resize(kNewNodes);
  for (const NodeRow row : kinds)
    if (std::optional<Edit> added = add_node_like(unplaced, row, NewNodeParts::kNode);
        added && unplaced.may_ask())
      keep(StepByStep(unplaced, row, {*added}).find());
  sort_stably(found, {},
              [](const Edits& edits) { return std::tuple(edits.size(), cost_of(edits)); });
  std::erase_if(found, [fewest = found.empty() ? 0 : found.front().size()](const Edits& edits) {
    return edits.size() > fewest;
  });
  return found;
}

}  // namespace berth::explain
