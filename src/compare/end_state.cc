#include "compare/end_state.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "base/stable_sort.h"
#include "berth/node.h"
#include "berth/plugin_table.h"
#include "berth/pod.h"
#include "capacity/more_pods.h"
#include "compare/idle_devices.h"
#include "explain/evaluator.h"

namespace berth::compare {
namespace {

using Amounts = std::map<std::string, std::int64_t, std::less<>>;

Amounts amounts_of(const Resources& resources, const Symbols& symbols) {
  Amounts amounts{{"cpu", resources.milli_cpu}, {"memory", resources.memory}};
  if (resources.ephemeral_storage != 0) amounts["ephemeral-storage"] = resources.ephemeral_storage;
  for (const ScalarAmount& scalar : resources.scalars)
    amounts[std::string(symbols.text(scalar.name))] = scalar.amount;
  return amounts;
}

template <typename Visit>
void for_each_node(const std::vector<AnyObject>& objects, Visit visit) {
  for (const AnyObject& any : objects)
    if (const auto* object = std::get_if<Ref<const Object>>(&any);
        object && (*object)->kind == ObjectKind::kNode)
      visit(static_cast<const Node&>(**object));
}

template <typename Visit>
void for_each_running_pod(const std::vector<AnyObject>& objects, Visit visit) {
  for (const AnyObject& any : objects)
    if (const auto* pod = std::get_if<Ref<const Pod>>(&any);
        pod && !(*pod)->node().empty() && !(*pod)->finished())
      visit(**pod);
}

// What each node has left of what it offers.
std::map<std::string, Amounts, std::less<>> free_amounts(const std::vector<AnyObject>& objects) {
  std::map<std::string, Amounts, std::less<>> free;
  for_each_node(objects, [&](const Node& node) {
    free[node.name] = amounts_of(node.allocatable_resources, *node.symbols.table());
  });
  for_each_running_pod(objects, [&](const Pod& pod) {
    const auto node = free.find(pod.node_name());
    if (node == free.end()) return;
    for (const auto& [name, amount] : amounts_of(pod.usage().requests, pod.symbols()))
      if (const auto offered = node->second.find(name); offered != node->second.end())
        offered->second -= amount;
  });
  return free;
}

// The shapes that are followed, by the profile that decides about them.
struct FollowedShapes {
  std::map<std::string, std::vector<PodShape>> by_profile;
  std::size_t left_out = 0;
};

FollowedShapes choose_shapes(const EndStateQuestion& question) {
  std::vector<PodShape> shapes;
  for (const PodShape& shape : question.shapes) {
    const PodSpec& spec = shape.first->spec();
    const bool own_claims = std::ranges::any_of(spec.volumes, [](const Volume& volume) {
      return volume.source == VolumeSource::kEphemeral;
    });
    if (!own_claims) shapes.push_back(shape);
  }
  FollowedShapes followed;
  followed.left_out = question.shapes.size() - shapes.size();
  sort_stably(shapes, std::greater<>(), &PodShape::pods);
  if (shapes.size() > question.limits.shapes) {
    followed.left_out += shapes.size() - question.limits.shapes;
    shapes.resize(question.limits.shapes);
  }
  for (PodShape& shape : shapes) {
    const std::string wanted(shape.first->text(shape.first->scheduler_name()));
    const auto& profiles = question.configuration.profiles;
    if (std::ranges::find(profiles, wanted, &config::Profile::scheduler_name) == profiles.end())
      ++followed.left_out;  // nobody here would place such a pod
    else
      followed.by_profile[wanted].push_back(std::move(shape));
  }
  return followed;
}

// For each resource the nodes on which some shape that asks for it fits.
struct UsableNodes {
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> by_resource;
  std::set<std::string, std::less<>> devices;
};

void add_usable(const Pod& pod, const NodeSet& feasible, const NodeTable& nodes,
                UsableNodes& usable) {
  std::vector<std::set<std::string, std::less<>>*> sets;
  for (const auto& [name, amount] : amounts_of(pod.usage().requests, pod.symbols()))
    if (amount > 0) sets.push_back(&usable.by_resource[name]);
  if (!pod.spec().resource_claims.empty()) sets.push_back(&usable.devices);
  feasible.for_each([&](NodeRow row) {
    for (auto* set : sets) set->emplace(nodes.name_text(row));
  });
}

Result<void> try_shapes(const EndStateQuestion& question, const PluginTable& plugins,
                        Interner& interner, EndState& end, UsableNodes& usable) {
  FollowedShapes followed = choose_shapes(question);
  end.shapes_left_out = followed.left_out;
  for (const auto& [profile, shapes] : followed.by_profile) {
    explain::EvaluatorOptions how;
    how.configuration = question.configuration;
    how.gates = question.gates;
    how.profile = profile;
    Result<std::unique_ptr<explain::Evaluator>> evaluator =
        explain::Evaluator::make(interner, plugins, std::move(how));
    if (!evaluator) return fail(evaluator.error());
    if (Result<void> loaded = (*evaluator)->load(question.objects); !loaded) return loaded;
    capacity::MorePods more(**evaluator);
    for (const PodShape& shape : shapes) {
      const capacity::Shape asked{shape.first->full_name(), shape.first, 1};
      const Result<NodeSet> feasible = more.feasible(asked);
      // A claim's template that is gone: no more such pods can come.
      if (!feasible) {
        ++end.shapes_left_out;
        continue;
      }
      add_usable(*shape.first, *feasible, (*evaluator)->cluster().nodes(), usable);
      const Result<std::int64_t> fitting = more.count(asked, question.limits.pods);
      if (!fitting) return fail(fitting.error());
      end.fits[asked.name] = *fitting;
    }
  }
  return {};
}

void find_stranded(const EndStateQuestion& question, const UsableNodes& usable, EndState& end) {
  for (const auto& [node, amounts] : free_amounts(question.objects))
    for (const auto& [name, amount] : amounts) {
      const auto nodes = usable.by_resource.find(name);
      if (nodes == usable.by_resource.end()) continue;  // no shape asks for it
      const double unit = name == "cpu" ? 1000 : 1;
      double& stranded = end.stranded[name];
      if (amount > 0 && !nodes->second.contains(node))
        stranded += static_cast<double>(amount) / unit;
    }
  for (const auto& [node, drivers] : find_devices(question.objects))
    for (const auto& [driver, amounts] : drivers) {
      DeviceFigures& figures = end.devices[driver];
      figures.all += amounts.all;
      figures.idle += amounts.idle;
      if (!node.empty() && !usable.devices.contains(node)) figures.stranded += amounts.idle;
    }
}

// ---- spread

// Pods that belong together: of one controller, or with the same labels.
std::string group_of(const Pod& pod) {
  std::string group(pod.namespace_name());
  if (const ControllerRef& owner = pod.meta().controller; !owner.empty())
    return group.append("/").append(pod.text(owner.kind)).append("/").append(pod.text(owner.name));
  for (const Label& label : pod.labels())
    group.append("\n").append(pod.text(label.key)).append("=").append(pod.text(label.value));
  return group;
}

std::set<std::string> topology_keys(const std::vector<AnyObject>& objects) {
  std::set<std::string> keys{"kubernetes.io/hostname", "topology.kubernetes.io/zone"};
  for_each_running_pod(objects, [&](const Pod& pod) {
    for (const TopologySpreadConstraint& constraint : pod.spec().topology_spread_constraints)
      keys.emplace(pod.text(constraint.topology_key));
  });
  return keys;
}

void find_skew(const std::vector<AnyObject>& objects, EndState& end) {
  std::map<std::string, std::vector<std::string_view>> groups;  // by group: the pods' nodes
  for_each_running_pod(objects,
                       [&](const Pod& pod) { groups[group_of(pod)].push_back(pod.node_name()); });
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  for (const std::string& key : topology_keys(objects)) {
    std::map<std::string, std::string, std::less<>> domain_of;  // by node
    std::set<std::string> domains;
    for_each_node(objects, [&](const Node& node) {
      const Symbols& symbols = *node.symbols.table();
      for (const Label& label : node.labels)
        if (symbols.text(label.key) == key) {
          domain_of.emplace(node.name, symbols.text(label.value));
          domains.emplace(symbols.text(label.value));
        }
    });
    if (domains.size() < 2) continue;
    SkewFigures figures;
    for (const auto& [group, nodes] : groups) {
      std::map<std::string_view, std::size_t> counts;
      for (const std::string_view node : nodes)
        if (const auto domain = domain_of.find(node); domain != domain_of.end())
          ++counts[domain->second];
      if (counts.empty()) continue;
      std::size_t most = 0, least = counts.size() < domains.size() ? 0 : nodes.size();
      for (const auto& [domain, count] : counts) {
        most = std::max(most, count);
        least = std::min(least, count);
      }
      const auto skew = static_cast<double>(most - least);
      figures.mean += skew;
      figures.max = std::max(figures.max, skew);
      ++figures.groups;
    }
    if (figures.groups == 0) continue;
    figures.mean /= static_cast<double>(figures.groups);
    end.skew[key] = figures;
  }
}

}  // namespace

Result<EndState> find_end_state(const EndStateQuestion& question, const PluginTable& plugins,
                                Interner& interner) {
  EndState end;
  UsableNodes usable;
  if (Result<void> tried = try_shapes(question, plugins, interner, end, usable); !tried)
    return fail(tried.error());
  find_stranded(question, usable, end);
  find_skew(question.objects, end);
  return end;
}

}  // namespace berth::compare
