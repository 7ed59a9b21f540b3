#include "app/demo.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "memapi/json_edit.h"
#include "wire/json_tree.h"

namespace berth::app {
namespace {

constexpr std::string_view kZones[] = {"zone-a", "zone-b", "zone-c"};
constexpr int kNodesPerZone = 3;
constexpr std::string_view kGate = "example.com/approval";

JsonValue parsed(const std::string& json) { return parse_json(json).value_or(JsonValue::object()); }

const memapi::Resource& demo_pods() { return memapi::resource_of("pods"); }

// A pod of the stream, with what makes its kind as further members of spec.
JsonValue pod(std::string_view space, const std::string& name, std::string_view app,
              std::string_view cpu, std::string_view run_for, std::string_view more = "") {
  return parsed(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"{1}","labels":{{"app":"{2}","demo":"stream"}},)"
      R"("annotations":{{"berth/run-for":"{4}"}}}},)"
      R"("spec":{{"terminationGracePeriodSeconds":2,"containers":[{{"name":"main",)"
      R"("image":"registry.example/{2}:1","resources":{{"requests":{{"cpu":"{3}",)"
      R"("memory":"256Mi"}}}}}}]{5}}}}})",
      name, space, app, cpu, run_for, more));
}

}  // namespace

Demo::Demo(memapi::LocalClient& api, Random random, DemoOptions options)
    : api_(api), random_(std::move(random)), options_(options) {
  if (api_.list(memapi::resource_of("nodes")).empty()) make_cluster();
  // Nodes that have just come are not ready yet.
  api_.loop().after(options_.interval, lifetime_.guard([this] { arrive(); }));
}

Demo::~Demo() = default;

void Demo::make_cluster() {
  const auto create = [&](const memapi::Resource& resource, const std::string& json) {
    static_cast<void>(api_.create(resource, parsed(json)));
  };
  int number = 0;
  for (const std::string_view zone : kZones) {
    for (int i = 1; i <= kNodesPerZone; ++i) {
      const bool accelerated = i == kNodesPerZone;
      create(
          memapi::resource_of("nodes"),
          fmt::format(
              R"({{"metadata":{{"name":"node-{0}","labels":{{"kubernetes.io/hostname":"node-{0}",)"
              R"("topology.kubernetes.io/zone":"{1}","pool":"{2}"}}}},"spec":{{{3}}},)"
              R"("status":{{"capacity":{{"cpu":"4","memory":"16Gi","pods":"30"{4}}}}}}})",
              ++number, zone, accelerated ? "gpu" : "general",
              accelerated ? R"("taints":[{"key":"gpu","value":"yes","effect":"NoSchedule"}])" : "",
              accelerated ? R"(,"example.com/gpu":"2")" : ""));
    }
  }
  for (const std::string_view space : {"shop", "lab"})
    create(memapi::resource_of("namespaces"),
           fmt::format(R"({{"metadata":{{"name":"{}"}}}})", space));
  const memapi::Resource& classes = memapi::resource_of("priorityclasses", "scheduling.k8s.io");
  create(classes, R"({"metadata":{"name":"urgent"},"value":100000,"description":"may preempt"})");
  create(classes, R"({"metadata":{"name":"batch"},"value":-10,"description":"gives way"})");
  create(memapi::resource_of("deployments", "apps"), R"({
    "metadata":{"name":"web","namespace":"shop"},
    "spec":{"replicas":6,"selector":{"matchLabels":{"app":"web"}},
      "template":{"metadata":{"labels":{"app":"web"}},
        "spec":{"terminationGracePeriodSeconds":2,
          "containers":[{"name":"web","image":"nginx:1.29",
            "resources":{"requests":{"cpu":"250m","memory":"128Mi"}}}],
          "topologySpreadConstraints":[{"maxSkew":1,
            "topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"DoNotSchedule",
            "labelSelector":{"matchLabels":{"app":"web"}}}]}}}})");
  create(memapi::resource_of("poddisruptionbudgets", "policy"), R"({
    "metadata":{"name":"web","namespace":"shop"},
    "spec":{"minAvailable":4,"selector":{"matchLabels":{"app":"web"}}}})");
}

// One more pod, of the kind whose turn it is.
void Demo::arrive() {
  if (over()) return;
  const std::size_t n = arrivals_++;
  const std::string seconds = fmt::format("{}s", 12 + random_.below(20));
  const auto name = [&](std::string_view kind) { return fmt::format("{}-{}", kind, n); };
  JsonValue made;
  switch (n % 8) {
    case 0:
    case 4: made = pod("shop", name("api"), "api", "500m", seconds); break;
    case 1:
    case 5:
      made = pod("lab", name("batch"), "batch", "1500m", seconds,
                 R"(,"priorityClassName":"batch","restartPolicy":"Never")");
      break;
    case 2:
      made = pod("lab", name("train"), "train", "1", seconds,
                 R"(,"nodeSelector":{"pool":"gpu"},"tolerations":[{"key":"gpu",)"
                 R"("operator":"Exists"}],"schedulerName":"default-scheduler")");
      memapi::set_text(memapi::object_at(memapi::array_at(made, "spec.containers").items.front(),
                                         "resources.limits"),
                       "example.com/gpu", "1");
      break;
    case 3:
      made = pod("shop", name("cache"), "cache", "250m", seconds,
                 R"(,"affinity":{"podAntiAffinity":{)"
                 R"("requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":)"
                 R"("kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"cache"}}}]}})");
      break;
    case 6:
      made = n % 16 == 6 ? pod("lab", name("giant"), "giant", "64", seconds)
                         : pod("shop", name("gated"), "gated", "250m", seconds,
                               fmt::format(R"(,"schedulingGates":[{{"name":"{}"}}])", kGate));
      break;
    default:
      made =
          pod("shop", name("urgent"), "urgent", "3", seconds, R"(,"priorityClassName":"urgent")");
      break;
  }
  static_cast<void>(api_.create(demo_pods(), std::move(made)));
  leave();
  if (over()) return;
  api_.loop().after(options_.interval, lifetime_.guard([this] { arrive(); }));
}

// People clean up: pods that have ended or ask for too much go, gates are opened.
void Demo::leave() {
  for (const memapi::ObjectRef& object : api_.list(demo_pods())) {
    const JsonValue tree = object->tree();
    if (memapi::text_at(tree, "metadata.labels.demo") != "stream") continue;
    const std::string& name = object->name;
    const std::string_view phase = memapi::text_at(tree, "status.phase");
    std::size_t number = 0;
    for (const char c : name.substr(name.rfind('-') + 1))
      number = number * 10 + static_cast<std::size_t>(c - '0');
    const bool old = arrivals_ > number + 12 || over();
    if (phase == "Succeeded" || phase == "Failed" || (old && name.starts_with("giant"))) {
      static_cast<void>(api_.remove(demo_pods(), object->namespace_name, name));
    } else if (old && !memapi::items_at(tree, "spec.schedulingGates").empty()) {
      static_cast<void>(api_.update(demo_pods(), object->namespace_name, name,
                                    [](JsonValue& changed) -> memapi::Answer<void> {
                                      memapi::erase(memapi::object_at(changed, "spec"),
                                                    "schedulingGates");
                                      return {};
                                    }));
    }
  }
}

}  // namespace berth::app
