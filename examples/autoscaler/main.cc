// An autoscaler's question: how many of these pods would fit if I added three nodes of this shape?
//
// The cluster has no room left for a Deployment's replicas, which spread over zones and may not
// share a node with the database. Three shapes of nodes are for sale; each is tried on a copy of the
// cluster, three nodes of it, one in each zone. Nothing is created, and no clock runs.
#include <berth/evaluate.h>
#include <berth/scheduler.h>

#include <iostream>
#include <map>
#include <string>

namespace {

struct Shape {
  std::string name;
  std::string cpu;
  std::string memory;
  std::string taints;  // YAML, between brackets
};

std::string node(const std::string& name, const std::string& zone, const Shape& shape) {
  return "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " + name +
         "\n  labels: {kubernetes.io/hostname: " + name + ", topology.kubernetes.io/zone: " + zone +
         "}\nspec: {taints: [" + shape.taints + "]}\nstatus: {capacity: {cpu: '" + shape.cpu +
         "', memory: " + shape.memory + ", pods: '110'}}\n";
}

std::string three_nodes(const Shape& shape) {
  std::string nodes;
  for (const char* zone : {"a", "b", "c"}) nodes += node("new-" + std::string(zone), zone, shape);
  return nodes;
}

std::string database(const std::string& name, const std::string& node_name) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         ", labels: {app: database}}\nspec: {nodeName: " + node_name +
         ", containers: [{name: main, image: database, resources: {requests: {cpu: '3'}}}]}\n";
}

std::string replica(int number) {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-" + std::to_string(number) +
         ", labels: {app: web}}\n" + R"(spec:
  topologySpreadConstraints:
  - maxSkew: 2
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: DoNotSchedule
    labelSelector: {matchLabels: {app: web}}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector: {matchLabels: {app: database}}
  containers:
  - name: main
    image: web
    resources: {requests: {cpu: 1500m, memory: 2Gi}}
)";
}

int complain(const berth::Error& error) {
  std::cerr << error.message << '\n';
  return 1;
}

}  // namespace

int main() {
  auto empty = berth::Evaluator::make({.plugins = berth::Scheduler::built_in_plugins()});
  if (!empty) return complain(empty.error());
  const Shape old{"old", "4", "16Gi", ""};
  auto today = empty->with(node("old-a", "a", old) + node("old-b", "b", old) +
                           database("database-0", "old-a") + database("database-1", "old-b"));
  if (!today) return complain(today.error());

  constexpr int kReplicas = 12;
  std::string replicas;
  for (int number = 1; number <= kReplicas; ++number) replicas += replica(number);

  // Why is there something to ask at all?
  auto first = today->evaluate(replica(1));
  if (!first) return complain(first.error());
  for (const berth::Verdict& verdict : *first) {
    if (verdict.fits()) continue;
    std::cout << verdict.pod << " fits nowhere: " << verdict.message << '\n';
    for (const berth::NodeVerdict& on : verdict.nodes)
      for (const berth::Rejection& rejection : on.rejections)
        for (const std::string& reason : rejection.reasons)
          std::cout << "  " << on.node << "  " << rejection.plugin << ": " << reason << '\n';
  }

  for (const Shape& shape :
       {Shape{"small", "2", "8Gi", ""}, Shape{"large", "8", "32Gi", ""},
        Shape{"spot", "16", "64Gi", "{key: spot, value: 'true', effect: NoSchedule}"}}) {
    auto larger = today->with(three_nodes(shape));
    if (!larger) return complain(larger.error());
    auto verdicts = larger->place(replicas);  // each pod finds those before it in their places
    if (!verdicts) return complain(verdicts.error());
    std::map<std::string, int> by_node;
    std::string why_not;
    int fit = 0;
    for (const berth::Verdict& verdict : *verdicts) {
      if (verdict.fits()) {
        ++fit;
        ++by_node[verdict.node];
      } else if (why_not.empty()) {
        why_not = verdict.message;
      }
    }
    std::cout << "three " << shape.name << " nodes: " << fit << " of " << kReplicas << " fit";
    for (const auto& [name, pods] : by_node) std::cout << ", " << pods << " on " << name;
    std::cout << '\n';
    if (!why_not.empty()) std::cout << "  the first that does not: " << why_not << '\n';
  }
}
