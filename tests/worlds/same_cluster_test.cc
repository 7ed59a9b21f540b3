// The simulator's cluster and the embedded API server's are the same cluster: the same manifests,
// run through both in virtual time, end with the same pods: whose they are, where they are, and how
// they are. Where a choice among equal nodes would be drawn, the manifests leave none.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "api/manifest.h"
#include "api/storage.h"
#include "app/embedded_cluster.h"
#include "config/load.h"
#include "control_plane/controllers.h"
#include "memapi/api_server.h"
#include "memapi/json_edit.h"
#include "plugins/table.h"
#include "sim/testing/simulated.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAreArray;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using Lines = std::vector<std::string>;

constexpr Duration kJobTime = 10s;

// The name of a Deployment's ReplicaSet ends with a hash, which is of the text in one world and of
// what the API server makes of it in the other.
std::string without_hash(std::string_view kind, std::string_view name) {
  constexpr std::size_t kHash = 11;  // and its dash
  const bool has_hash =
      kind == "ReplicaSet" && name.size() > kHash && name[name.size() - kHash] == '-';
  return std::string(has_hash ? name.substr(0, name.size() - kHash) : name);
}

// "StatefulSet db: db-0 runs i:1 on n1": names that are drawn are left out.
std::string pod_line(std::string_view kind, std::string_view owner, std::string_view name,
                     std::string_view image, std::string_view node, std::string_view phase) {
  const bool own_name = kind.empty() || kind == "StatefulSet";
  return fmt::format("{} {}: {} {} on {} {}", kind, without_hash(kind, owner),
                     own_name ? name : "*", image, node, phase);
}

// ---- the simulator

std::string_view phase_of(const Pod& pod) {
  if (pod.phase() == PodPhase::kSucceeded) return "Succeeded";
  if (pod.phase() == PodPhase::kFailed) return "Failed";
  return pod.node().empty() ? "Pending" : "Running";
}

std::string line_of(const Pod& pod) {
  const ControllerRef& controller = pod.meta().controller;
  return pod_line(pod.text(controller.kind), pod.text(controller.name), pod.name(),
                  pod.text(pod.spec().containers[0].image), pod.node_name(), phase_of(pod));
}

Lines lines_of(const sim::SimCluster& cluster) {
  Lines lines;
  for (const Ref<const Pod>& pod : cluster.pods()) lines.push_back(line_of(*pod));
  for (const Ref<const Object>& object : cluster.objects(ObjectKind::kPersistentVolumeClaim)) {
    const auto& claim = static_cast<const PersistentVolumeClaim&>(*object);
    lines.push_back(
        fmt::format("claim {} {}", claim.name, claim.fully_bound() ? "Bound" : "Pending"));
  }
  for (const Ref<const Object>& object : cluster.objects(ObjectKind::kResourceClaim)) {
    const auto& claim = static_cast<const ResourceClaim&>(*object);
    lines.push_back(fmt::format("devices of {}: {} allocated, {} users",
                                claim.symbols.text(claim.controller.name),
                                claim.allocated() ? claim.status.allocation->results.size() : 0,
                                claim.status.reserved_for.size()));
  }
  std::ranges::sort(lines);
  return lines;
}

// In the simulator nothing ends by itself: pods of Jobs are ended by events, one round after the
// other, as names are known only when the pods are there.
Lines simulate(const std::string& manifests, const std::string& events = "") {
  std::string ends;
  for (int round = 1; round < 10; ++round) {
    const std::string scenario = events + ends;
    const sim::testing::Simulated run(manifests, scenario.empty() ? "" : "events:\n" + scenario);
    EXPECT_EQ(run.error, "");
    if (!run.simulation) return {};
    bool all_ended = true;
    for (const Ref<const Pod>& pod : run.simulation->cluster().pods()) {
      if (pod->text(pod->meta().controller.kind) != "Job" || phase_of(*pod) != "Running") continue;
      all_ended = false;
      ends += fmt::format("- {{at: {}s, finish: {}}}\n", 10 * round, pod->name());
    }
    if (all_ended) return lines_of(run.simulation->cluster());
  }
  ADD_FAILURE() << "the Jobs never end";
  return {};
}

// ---- the embedded API server, its controllers and a scheduler, on one loop

class Embedded {
 public:
  explicit Embedded(const std::string& manifests) {
    const std::vector<std::string> everything{"*"};
    controllers_ = std::make_unique<control_plane::Controllers>(
        api_.local(), control_plane::choose_controllers(everything).value(),
        control_plane::NodeAgentOptions{.job_time = kJobTime, .lease_interval = Duration::zero()});
    EngineOptions options;
    options.configuration = config::default_configuration(options.gates);
    engine_ =
        Engine::make(loop_, interner_, plugins_, cluster_, observer_, std::move(options)).value();
    cluster_.serve(*engine_);
    engine_->start();
    pass(1s);
    const auto objects = read_manifest(manifests, "cluster.yaml", interner_).value();
    for (const ManifestObject& object : objects) create(object);
  }
  ~Embedded() { engine_.reset(); }

  void pass(Duration time) { loop_.run_until(loop_.now() + time); }

  // As `kubectl apply` of a Deployment with another image.
  void set_image(const std::string& deployment, const std::string& image) {
    const auto edit = [&](JsonValue& object) -> memapi::Answer<void> {
      JsonValue& containers = memapi::array_at(object, "spec.template.spec.containers");
      memapi::set_text(containers.items.front(), "image", image);
      return {};
    };
    const auto written = api_.local().update(memapi::resource_of("deployments", "apps"), "default",
                                             deployment, edit);
    EXPECT_TRUE(written);
  }

  Lines lines() {
    Lines lines;
    for (const memapi::ObjectRef& object : list("pods")) {
      const JsonValue pod = object->tree();
      const JsonValue* owner = control_plane::controller_of(pod);
      const std::string_view image =
          memapi::text_at(memapi::items_at(pod, "spec.containers")[0], "image");
      lines.push_back(pod_line(owner ? memapi::text_at(*owner, "kind") : "",
                               owner ? memapi::text_at(*owner, "name") : "", object->name, image,
                               memapi::text_at(pod, "spec.nodeName"),
                               memapi::text_at(pod, "status.phase")));
    }
    for (const memapi::ObjectRef& claim : list("persistentvolumeclaims"))
      lines.push_back(
          fmt::format("claim {} {}", claim->name, memapi::text_at(claim->tree(), "status.phase")));
    for (const memapi::ObjectRef& object : list("resourceclaims", "resource.k8s.io")) {
      const JsonValue claim = object->tree();
      const JsonValue* owner = control_plane::controller_of(claim);
      lines.push_back(fmt::format(
          "devices of {}: {} allocated, {} users", owner ? memapi::text_at(*owner, "name") : "",
          memapi::items_at(claim, "status.allocation.devices.results").size(),
          memapi::items_at(claim, "status.reservedFor").size()));
    }
    std::ranges::sort(lines);
    return lines;
  }

 private:
  std::vector<memapi::ObjectRef> list(std::string_view plural, std::string_view group = {}) {
    return api_.local().list(memapi::resource_of(plural, group));
  }
  void create(const ManifestObject& manifest) {
    const auto resource =
        std::ranges::find_if(memapi::resources(), [&](const memapi::Resource& one) {
          return one.kind == manifest.kind_text && one.group_version() == manifest.api_version;
        });
    ASSERT_NE(resource, memapi::resources().end()) << manifest.kind_text;
    JsonValue object = parse_json(manifest.json).value();
    if (resource->namespaced)
      memapi::set_text(memapi::object_at(object, "metadata"), "namespace", "default");
    const auto created = api_.local().create(*resource, std::move(object));
    ASSERT_TRUE(created) << created.error().message;
  }

  VirtualLoop loop_;
  memapi::ApiServer api_{loop_, Random(7)};
  Interner interner_;
  PluginTable plugins_ = plugins::make_plugin_table();
  Observer observer_;
  app::EmbeddedCluster cluster_{api_.local(), interner_};
  std::unique_ptr<control_plane::Controllers> controllers_;
  std::unique_ptr<Engine> engine_;
};

Lines embedded(const std::string& manifests) {
  Embedded run(manifests);
  run.pass(2min);
  return run.lines();
}

// ---- manifests

std::string three_nodes() {
  std::string text;
  for (const char* name : {"n1", "n2", "n3"})
    text += fmt::format(
        "---\napiVersion: v1\nkind: Node\nmetadata: {{name: {0}, labels: {{kubernetes.io/hostname: "
        "{0}}}}}\nstatus: {{capacity: {{cpu: \"8\", memory: 16Gi, pods: \"20\"}}}}\n",
        name);
  return text;
}

std::string workload(const std::string& api, const std::string& kind, const std::string& name,
                     const std::string& spec, const std::string& pod_spec = "",
                     const std::string& image = "i:1") {
  // A Job's selector is the API server's to make.
  const std::string selector =
      kind == "Job" ? "" : fmt::format("  selector: {{matchLabels: {{app: {}}}}}\n", name);
  return fmt::format(
      "---\napiVersion: {}\nkind: {}\nmetadata: {{name: {}}}\nspec:\n  {}\n{}  template:\n"
      "    metadata: {{labels: {{app: {}}}}}\n    spec:\n      {}\n"
      "      containers: [{{name: c, image: \"{}\", resources: {{requests: {{cpu: 100m}}}}}}]\n",
      api, kind, name, spec, selector, name, pod_spec, image);
}

std::string spread_over_nodes(const std::string& app) {
  return fmt::format(
      "topologySpreadConstraints: [{{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
      "whenUnsatisfiable: DoNotSchedule, labelSelector: {{matchLabels: {{app: {}}}}}}}]",
      app);
}

std::string on_node(const std::string& name) {
  return fmt::format("nodeSelector: {{kubernetes.io/hostname: {}}}", name);
}

std::string pod_with(const std::string& name, const std::string& spec) {
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec:\n  {}\n"
      "  containers: [{{name: c, image: \"i:1\"}}]\n",
      name, spec);
}

std::string storage_class(const std::string& name, const std::string& mode) {
  return fmt::format(
      "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {{name: {}}}\n"
      "provisioner: disk.example.com\nvolumeBindingMode: {}\n",
      name, mode);
}

std::string claim_of(const std::string& name, const std::string& class_name) {
  return fmt::format(
      "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {}}}\nspec: "
      "{{storageClassName: {}, accessModes: [ReadWriteOnce], resources: {{requests: {{storage: "
      "1Gi}}}}}}\n",
      name, class_name);
}

// ---- the same in both

TEST(SameCluster, DeploymentsStatefulSetsAndDaemonSets) {
  const std::string manifests =
      three_nodes() +
      workload("apps/v1", "Deployment", "web", "replicas: 3", spread_over_nodes("web")) +
      workload("apps/v1", "StatefulSet", "db", "replicas: 2", on_node("n2")) +
      workload("apps/v1", "DaemonSet", "agent", "minReadySeconds: 0") +
      "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web}\n"
      "spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}\n";
  const Lines simulated = simulate(manifests);
  EXPECT_THAT(simulated, SizeIs(8));
  EXPECT_THAT(simulated, IsSupersetOf({"ReplicaSet web: * i:1 on n1 Running",
                                       "StatefulSet db: db-1 i:1 on n2 Running",
                                       "DaemonSet agent: * i:1 on n3 Running"}));
  EXPECT_THAT(embedded(manifests), ElementsAreArray(simulated));
}

TEST(SameCluster, ARollout) {
  const std::string manifests =
      three_nodes() + workload("apps/v1", "Deployment", "web", "replicas: 3", on_node("n1"));
  const std::string newer =
      "- at: 60s\n  apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: "
      "{replicas: 3, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: "
      "web}}, spec: {nodeSelector: {kubernetes.io/hostname: n1}, containers: [{name: c, image: "
      "\"i:2\", resources: {requests: {cpu: 100m}}}]}}}}\n";
  const Lines simulated = simulate(manifests, newer);
  EXPECT_EQ(simulated, Lines(3, "ReplicaSet web: * i:2 on n1 Running"));
  Embedded run(manifests);
  run.pass(60s);
  EXPECT_EQ(run.lines(), Lines(3, "ReplicaSet web: * i:1 on n1 Running"));
  run.set_image("web", "i:2");
  run.pass(2min);
  EXPECT_THAT(run.lines(), ElementsAreArray(simulated));
}

TEST(SameCluster, AJobUntilItIsComplete) {
  const std::string manifests =
      three_nodes() + workload("batch/v1", "Job", "sum", "completions: 3\n  parallelism: 2",
                               "restartPolicy: Never\n      " + on_node("n3"));
  const Lines simulated = simulate(manifests);
  EXPECT_EQ(simulated, Lines(3, "Job sum: * i:1 on n3 Succeeded"));
  EXPECT_THAT(embedded(manifests), ElementsAreArray(simulated));
}

TEST(SameCluster, ClaimsOfBothBindingModes) {
  const std::string manifests =
      three_nodes() + storage_class("lazy", "WaitForFirstConsumer") +
      storage_class("fast", "Immediate") + claim_of("waits", "lazy") + claim_of("at-once", "fast") +
      claim_of("unused", "lazy") +
      pod_with("a", on_node("n1") +
                        "\n  volumes: [{name: v, persistentVolumeClaim: {claimName: waits}}]") +
      pod_with("b", on_node("n2") +
                        "\n  volumes: [{name: v, persistentVolumeClaim: {claimName: at-once}}]") +
      workload("apps/v1", "StatefulSet", "db",
               "replicas: 2\n  volumeClaimTemplates: [{metadata: {name: data}, spec: "
               "{storageClassName: lazy, accessModes: [ReadWriteOnce], resources: {requests: "
               "{storage: 1Gi}}}}]",
               on_node("n3"));
  const Lines simulated = simulate(manifests);
  EXPECT_EQ(simulated, (Lines{" : a i:1 on n1 Running", " : b i:1 on n2 Running",
                              "StatefulSet db: db-0 i:1 on n3 Running",
                              "StatefulSet db: db-1 i:1 on n3 Running", "claim at-once Bound",
                              "claim data-db-0 Bound", "claim data-db-1 Bound",
                              "claim unused Pending", "claim waits Bound"}));
  EXPECT_THAT(embedded(manifests), ElementsAreArray(simulated));
}

TEST(SameCluster, DevicesForPodsThatNameATemplate) {
  const std::string device_pod = "resourceClaims: [{name: dev, resourceClaimTemplateName: one}]";
  const std::string manifests =
      three_nodes() +
      "---\napiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu}\nspec: {}\n"
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: n2-slice}\n"
      "spec: {driver: gpu.example.com, nodeName: n2, pool: {name: n2, generation: 1, "
      "resourceSliceCount: 1}, devices: [{name: dev-0}, {name: dev-1}]}\n"
      "---\napiVersion: resource.k8s.io/v1\nkind: ResourceClaimTemplate\nmetadata: {name: one}\n"
      "spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n" +
      pod_with("a", device_pod) + pod_with("b", device_pod);
  const Lines simulated = simulate(manifests);
  EXPECT_EQ(simulated,
            (Lines{" : a i:1 on n2 Running", " : b i:1 on n2 Running",
                   "devices of a: 1 allocated, 1 users", "devices of b: 1 allocated, 1 users"}));
  EXPECT_THAT(embedded(manifests), ElementsAreArray(simulated));
}

}  // namespace
}  // namespace berth
