#include "control_plane/node_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "api/release.h"
#include "base/time_text.h"

namespace berth::control_plane {
namespace {

constexpr std::string_view kRunFor = "berth/run-for";
constexpr std::string_view kFailAfter = "berth/fail-after";
constexpr std::string_view kLeaseNamespace = "kube-node-lease";

const Resource& pod_resource() { return resource_of("pods"); }
const Resource& node_resource() { return resource_of("nodes"); }
const Resource& leases() { return resource_of("leases", "coordination.k8s.io"); }

const JsonValue* condition_of(const JsonValue& object, std::string_view type) {
  for (const JsonValue& condition : items_at(object, "status.conditions"))
    if (text_at(condition, "type") == type) return &condition;
  return nullptr;
}

// Which taint stands for which state of a node.
struct TaintRule {
  std::string_view key;
  std::string_view condition;
  std::string_view status;
};
constexpr TaintRule kTaintRules[] = {
    {"node.kubernetes.io/not-ready", "Ready", "False"},
    {"node.kubernetes.io/unreachable", "Ready", "Unknown"},
    {"node.kubernetes.io/memory-pressure", "MemoryPressure", "True"},
    {"node.kubernetes.io/disk-pressure", "DiskPressure", "True"},
    {"node.kubernetes.io/pid-pressure", "PIDPressure", "True"},
    {"node.kubernetes.io/network-unavailable", "NetworkUnavailable", "True"},
};

void set_taint(JsonValue& node, std::string_view key, bool wanted, WallTime now) {
  JsonValue& taints = array_at(node, "spec.taints");
  const auto same = [&](const JsonValue& taint) {
    return text_at(taint, "key") == key && text_at(taint, "effect") == "NoSchedule";
  };
  const bool there = std::ranges::any_of(taints.items, same);
  if (there && !wanted) std::erase_if(taints.items, same);
  if (!there && wanted) {
    JsonValue taint = JsonValue::object();
    set_text(taint, "key", key);
    set_text(taint, "effect", "NoSchedule");
    set_text(taint, "timeAdded", rfc3339(now));
    taints.items.push_back(std::move(taint));
  }
  if (taints.items.empty()) erase(object_at(node, "spec"), "taints");
}

Answer<void> taint_by_state(JsonValue& node, WallTime now) {
  for (const TaintRule& rule : kTaintRules) {
    const JsonValue* condition = condition_of(node, rule.condition);
    set_taint(node, rule.key, condition != nullptr && text_at(*condition, "status") == rule.status,
              now);
  }
  set_taint(node, "node.kubernetes.io/unschedulable", true_at(node, "spec.unschedulable"), now);
  return {};
}

// What a kubelet reports of a machine; what the node says by itself stays.
void report_machine(JsonValue& status, const std::string& name, const std::string& address) {
  if (!is_object(at(status, "capacity"))) {
    JsonValue& capacity = object_at(status, "capacity");
    set_text(capacity, "cpu", "4");
    set_text(capacity, "memory", "16Gi");
    set_text(capacity, "pods", "110");
    set_text(capacity, "ephemeral-storage", "100Gi");
  }
  if (items_at(status, "addresses").empty()) {
    JsonValue& addresses = array_at(status, "addresses");
    for (const auto& [type, value] :
         {std::pair{"InternalIP", address}, std::pair{"Hostname", name}}) {
      JsonValue one = JsonValue::object();
      set_text(one, "type", type);
      set_text(one, "address", value);
      addresses.items.push_back(std::move(one));
    }
  }
  JsonValue& info = object_at(status, "nodeInfo");
  for (const auto& [member, value] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"architecture", "amd64"},
           {"bootID", ""},
           {"containerRuntimeVersion", "berth://1"},
           {"kernelVersion", "6.1.0"},
           {"kubeProxyVersion", ""},
           {"kubeletVersion", kKubernetesVersion},
           {"machineID", ""},
           {"operatingSystem", "linux"},
           {"osImage", "berth"},
           {"systemUUID", ""}})
    set_default(info, member, JsonValue::of_text(value));
}

std::string address_text(std::uint32_t network, std::uint32_t number) {
  return fmt::format("{}.{}.{}.{}", network, (number >> 16) & 0xff, (number >> 8) & 0xff,
                     number & 0xff);
}

void add_container_statuses(JsonValue& pod, std::string_view list, std::string_view statuses,
                            bool init, const std::string& now, std::string_view uid) {
  const std::vector<JsonValue> containers = items_at(pod, fmt::format("spec.{}", list));
  if (containers.empty()) return;
  JsonValue all = JsonValue::array();
  for (const JsonValue& container : containers) {
    // An init container that restarts always is a sidecar and goes on.
    const bool done = init && text_at(container, "restartPolicy") != "Always";
    const std::string_view name = text_at(container, "name");
    JsonValue status = JsonValue::object();
    set_text(status, "name", name);
    set_text(status, "image", text_at(container, "image"));
    set_text(status, "imageID", text_at(container, "image"));
    const std::string id = fmt::format("berth://{}-{}", uid, name);
    set_text(status, "containerID", id);
    set(status, "ready", JsonValue::of_bool(true));
    set(status, "restartCount", JsonValue::of_int(0));
    set(status, "started", JsonValue::of_bool(!done));
    if (done) {
      JsonValue& ended = object_at(status, "state.terminated");
      set(ended, "exitCode", JsonValue::of_int(0));
      set_text(ended, "reason", "Completed");
      set_text(ended, "startedAt", now);
      set_text(ended, "finishedAt", now);
      set_text(ended, "containerID", id);
    } else {
      set_text(object_at(status, "state.running"), "startedAt", now);
    }
    all.items.push_back(std::move(status));
  }
  set(object_at(pod, "status"), statuses, std::move(all));
}

void set_addresses(JsonValue& status, std::string_view one, std::string_view many,
                   const std::string& address) {
  set_text(status, one, address);
  JsonValue entry = JsonValue::object();
  set_text(entry, "ip", address);
  JsonValue list = JsonValue::array();
  list.items.push_back(std::move(entry));
  set(status, many, std::move(list));
}

void observe_generation(JsonValue& pod) {
  if (const auto generation = int_at(pod, "metadata.generation"))
    set(object_at(pod, "status"), "observedGeneration", JsonValue::of_int(*generation));
}

// How long a pod runs before it ends by itself, and how it ends.
struct RunTime {
  Duration time{0};
  bool success = true;
};
std::optional<RunTime> run_time_of(const JsonValue& pod, Duration job_time) {
  const JsonValue* annotations = at(pod, "metadata.annotations");
  for (const auto& [name, success] : {std::pair{kRunFor, true}, std::pair{kFailAfter, false}}) {
    const JsonValue* said = is_object(annotations) ? annotations->find(name) : nullptr;
    if (said == nullptr) continue;
    if (const Result<Duration> time = parse_go_duration(said->text))
      return RunTime{std::max(*time, Duration::zero()), success};
  }
  const JsonValue* controller = controller_of(pod);
  if (controller != nullptr && text_at(*controller, "kind") == "Job")
    return RunTime{job_time, true};
  return std::nullopt;
}

// When the first look of a readiness probe comes; what it finds is that all is well.
Duration readiness_delay(const JsonValue& container) {
  const auto seconds = int_at(container, "readinessProbe.initialDelaySeconds").value_or(0);
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, 1'000'000));
}

// Which containers of a pod that has run for so long are ready, and the pod if all are. How long until
// that changes; zero: it does not.
Duration set_readiness(JsonValue& pod, Duration age, WallTime now) {
  Duration next{0};
  std::string unready;
  const std::vector<JsonValue> containers = items_at(pod, "spec.containers");
  JsonValue& status = object_at(pod, "status");
  for (JsonValue& one : array_at(status, "containerStatuses").items) {
    const std::string_view name = text_at(one, "name");
    const auto container = std::ranges::find_if(
        containers, [&](const JsonValue& each) { return text_at(each, "name") == name; });
    const Duration left =
        container == containers.end() ? Duration(0) : readiness_delay(*container) - age;
    set(one, "ready", JsonValue::of_bool(left <= Duration::zero()));
    if (left <= Duration::zero()) continue;
    unready += (unready.empty() ? "" : " ") + std::string(name);
    next = next == Duration::zero() ? left : std::min(next, left);
  }
  for (const std::string_view type : {"Ready", "ContainersReady"}) {
    if (unready.empty()) {
      set_condition(status, type, "True", "", "", now);
    } else {
      set_condition(status, type, "False", "ContainersNotReady",
                    fmt::format("containers with unready status: [{}]", unready), now);
    }
  }
  return next;
}

bool waits_for_readiness(const JsonValue& pod) {
  const JsonValue* ready = condition_of(pod, "Ready");
  return ready != nullptr && text_at(*ready, "reason") == "ContainersNotReady";
}

}  // namespace

NodeAgent::NodeAgent(LocalClient& api, PodIndex& pods, NodeAgentOptions options)
    : Controller(api), pods_(pods), options_(options), orphans_(api.loop(), pods, *this) {
  follow(node_resource(), [this](const Change& change) {
    enqueue("node/" + change.object->name);
    if (change.type != ChangeType::kModified) orphans_.node_changed(change.object->name);
    // Those that were bound to it before it came.
    if (change.type == ChangeType::kAdded) {
      for (const PodFacts* pod : pods_.on_node(change.object->name)) enqueue("pod/" + pod->key());
    }
  });
  pods_.listen(lifetime(), [this](const PodFacts*, const PodFacts* after) {
    if (after != nullptr && !after->node.empty()) enqueue("pod/" + after->key());
  });
  if (options_.lease_interval > Duration::zero()) renew_leases();
}

void NodeAgent::sync(const std::string& key) {
  const std::size_t slash = key.find('/');
  if (key.starts_with("node/")) {
    sync_node(key.substr(slash + 1));
  } else {
    sync_pod(key.substr(slash + 1));
  }
}

// ---- nodes --------------------------------------------------------------------------------------

std::string NodeAgent::address_of_node(const std::string& name) {
  const auto [entry, fresh] =
      addresses_.try_emplace(name, static_cast<std::uint32_t>(addresses_.size() + 1));
  return address_text(172, 0x100000U + entry->second);
}

void NodeAgent::sync_node(const std::string& name) {
  const ObjectRef node = api_.get(node_resource(), "", name);
  if (!node) {
    const std::string space(kLeaseNamespace);
    if (api_.get(leases(), space, name)) static_cast<void>(api_.remove(leases(), space, name));
    offered_.erase(name);
    return;
  }
  const JsonValue tree = node->tree();
  if (condition_of(tree, "Ready") == nullptr) {
    const std::string address = address_of_node(name);
    static_cast<void>(
        api_.update_status(node_resource(), "", name, [&](JsonValue& object) -> Answer<void> {
          if (condition_of(object, "Ready") != nullptr) return {};
          JsonValue& status = object_at(object, "status");
          report_machine(status, name, address);
          const auto condition = [&](std::string_view type, std::string_view value,
                                     std::string_view reason, std::string_view message) {
            set_condition(status, type, value, reason, message, now());
            for (JsonValue& one : array_at(status, "conditions").items)
              if (text_at(one, "type") == type) set_text(one, "lastHeartbeatTime", rfc3339(now()));
          };
          condition("MemoryPressure", "False", "KubeletHasSufficientMemory",
                    "kubelet has sufficient memory available");
          condition("DiskPressure", "False", "KubeletHasNoDiskPressure",
                    "kubelet has no disk pressure");
          condition("PIDPressure", "False", "KubeletHasSufficientPID",
                    "kubelet has sufficient PID available");
          condition("Ready", "True", "KubeletReady", "kubelet is posting ready status");
          return {};
        }));
  }
  offer_extended_resources(name, tree);
  const auto taint = [&](JsonValue& object) { return taint_by_state(object, now()); };
  static_cast<void>(api_.update(node_resource(), "", name, taint));
}

void NodeAgent::offer_extended_resources(const std::string& name, const JsonValue& node) {
  const JsonValue* capacity = at(node, "status.capacity");
  const JsonValue* allocatable = at(node, "status.allocatable");
  if (!is_object(capacity)) return;
  std::set<std::string>& offered = offered_[name];
  std::map<std::string, JsonValue> changes;  // null: taken back
  for (const auto& [resource, amount] : capacity->members) {
    if (resource.find('/') == std::string::npos) continue;
    const JsonValue* had = is_object(allocatable) ? allocatable->find(resource) : nullptr;
    const bool ours = had == nullptr || offered.contains(resource);
    if (ours && (had == nullptr || had->text != amount.text)) changes[resource] = amount;
  }
  for (const std::string& resource : offered)
    if (capacity->find(resource) == nullptr) changes[resource] = JsonValue();
  if (changes.empty()) return;
  const auto apply = [&](JsonValue& object) -> Answer<void> {
    JsonValue& there = object_at(object_at(object, "status"), "allocatable");
    for (const auto& [resource, amount] : changes) {
      std::erase_if(there.members, [&](const JsonMember& each) { return each.name == resource; });
      if (!amount.is_null()) there.add(resource, amount);
    }
    return {};
  };
  if (!api_.update_status(node_resource(), "", name, apply)) return;
  for (const auto& [resource, amount] : changes) {
    if (amount.is_null()) {
      offered.erase(resource);
    } else {
      offered.insert(resource);
    }
  }
}

bool NodeAgent::has_node(const std::string& name) const {
  return api_.get(node_resource(), "", name) != nullptr;
}

void NodeAgent::remove_orphan(const PodFacts& pod) {
  const auto fail_pod = [&](JsonValue& tree) -> Answer<void> {
    JsonValue& status = object_at(tree, "status");
    if (!pod.ended()) set_text(status, "phase", "Failed");
    set_condition(status, "DisruptionTarget", "True", "DeletionByPodGC",
                  "PodGC: node no longer exists", now());
    return {};
  };
  static_cast<void>(api_.update_status(pod_resource(), pod.namespace_name, pod.name, fail_pod));
  static_cast<void>(api_.remove(pod_resource(), pod.namespace_name, pod.name,
                                {.grace_period_seconds = 0, .uid = pod.uid}));
}

void NodeAgent::renew_leases() {
  const std::string space(kLeaseNamespace);
  for (const ObjectRef& node : api_.list(node_resource())) {
    const auto renew = [&](JsonValue& lease) -> Answer<void> {
      JsonValue& spec = object_at(lease, "spec");
      set_text(spec, "holderIdentity", node->name);
      set(spec, "leaseDurationSeconds", JsonValue::of_int(40));
      set_text(spec, "renewTime", rfc3339_micro(now()));
      return {};
    };
    if (api_.get(leases(), space, node->name)) {
      static_cast<void>(api_.update(leases(), space, node->name, renew));
      continue;
    }
    JsonValue lease = JsonValue::object();
    JsonValue& metadata = object_at(lease, "metadata");
    set_text(metadata, "name", node->name);
    set_text(metadata, "namespace", space);
    JsonValue owner = JsonValue::object();
    set_text(owner, "apiVersion", "v1");
    set_text(owner, "kind", "Node");
    set_text(owner, "name", node->name);
    set_text(owner, "uid", node->uid);
    array_at(metadata, "ownerReferences").items.push_back(std::move(owner));
    static_cast<void>(renew(lease));
    static_cast<void>(api_.create(leases(), std::move(lease)));
  }
  api_.loop().after(options_.lease_interval, lifetime().guard([this] { renew_leases(); }),
                    TimerKind::kHousekeeping);
}

// ---- pods ---------------------------------------------------------------------------------------

void NodeAgent::sync_pod(const std::string& key) {
  const ObjectName name = name_of(key);
  const ObjectRef pod = api_.get(pod_resource(), name.namespace_name, name.name);
  if (!pod) return;
  const JsonValue tree = pod->tree();
  const std::string node(text_at(tree, "spec.nodeName"));
  if (node.empty()) return;
  if (!has_node(node)) return;
  if (is_terminating(tree)) return finish_deletion(*pod, tree, key);
  const std::string_view phase = text_at(tree, "status.phase");
  if (phase == "Pending") {
    const JsonValue* scheduled = condition_of(tree, "PodScheduled");
    const Result<WallTime> since = parse_rfc3339(
        scheduled != nullptr ? text_at(*scheduled, "lastTransitionTime") : std::string_view());
    const Duration left = since ? *since + options_.start_time - now() : Duration::zero();
    if (left > Duration::zero()) return enqueue_after(left, "pod/" + key);
    start(*pod);
  } else if (phase == "Running") {
    const Result<WallTime> since = parse_rfc3339(text_at(tree, "status.startTime"));
    const Duration age = since ? now() - *since : Duration::max();
    if (waits_for_readiness(tree)) become_ready(*pod, age, key);
    const std::optional<RunTime> run = run_time_of(tree, options_.job_time);
    if (!run) return;
    if (age < run->time) return enqueue_after(run->time - age, "pod/" + key);
    end(*pod, run->success);
  }
}

void NodeAgent::start(const StoredObject& pod) {
  const std::string time = rfc3339(now());
  const std::uint32_t number = ++next_pod_address_;
  static_cast<void>(api_.update_status(
      pod_resource(), pod.namespace_name, pod.name, [&](JsonValue& tree) -> Answer<void> {
        if (text_at(tree, "status.phase") != "Pending") return {};
        const std::string host = address_of_node(std::string(text_at(tree, "spec.nodeName")));
        add_container_statuses(tree, "initContainers", "initContainerStatuses", true, time,
                               pod.uid);
        add_container_statuses(tree, "containers", "containerStatuses", false, time, pod.uid);
        JsonValue& status = object_at(tree, "status");
        set_text(status, "phase", "Running");
        set_text(status, "startTime", time);
        set_addresses(status, "hostIP", "hostIPs", host);
        set_addresses(status, "podIP", "podIPs",
                      true_at(tree, "spec.hostNetwork") ? host : address_text(10, number));
        for (const std::string_view type :
             {"PodReadyToStartContainers", "Initialized", "PodScheduled"})
          set_condition(status, type, "True", "", "", now());
        set_readiness(tree, Duration::zero(), now());
        observe_generation(tree);
        return {};
      }));
}

void NodeAgent::become_ready(const StoredObject& pod, Duration age, const std::string& key) {
  Duration next{0};
  static_cast<void>(api_.update_status(pod_resource(), pod.namespace_name, pod.name,
                                       [&](JsonValue& tree) -> Answer<void> {
                                         next = set_readiness(tree, age, now());
                                         return {};
                                       }));
  if (next > Duration::zero()) enqueue_after(next, "pod/" + key);
}

void NodeAgent::end(const StoredObject& pod, bool success) {
  const std::string time = rfc3339(now());
  static_cast<void>(api_.update_status(
      pod_resource(), pod.namespace_name, pod.name, [&](JsonValue& tree) -> Answer<void> {
        JsonValue& status = object_at(tree, "status");
        set_text(status, "phase", success ? "Succeeded" : "Failed");
        const std::string_view reason = success ? "PodCompleted" : "PodFailed";
        for (const std::string_view type : {"Ready", "ContainersReady"})
          set_condition(status, type, "False", reason, "", now());
        JsonValue* containers = at(status, "containerStatuses");
        if (is_array(containers)) {
          for (JsonValue& container : containers->items) {
            const std::string started(text_at(container, "state.running.startedAt"));
            JsonValue state = JsonValue::object();
            JsonValue& ended = object_at(state, "terminated");
            set(ended, "exitCode", JsonValue::of_int(success ? 0 : 1));
            set_text(ended, "reason", success ? "Completed" : "Error");
            set_text(ended, "startedAt", started.empty() ? time : started);
            set_text(ended, "finishedAt", time);
            set_text(ended, "containerID", text_at(container, "containerID"));
            set(container, "state", std::move(state));
            set(container, "ready", JsonValue::of_bool(false));
            set(container, "started", JsonValue::of_bool(false));
          }
        }
        observe_generation(tree);
        return {};
      }));
}

void NodeAgent::finish_deletion(const StoredObject& pod, const JsonValue& tree,
                                const std::string& key) {
  const std::int64_t grace = int_at(tree, "metadata.deletionGracePeriodSeconds").value_or(0);
  if (grace == 0 && !items_at(tree, "metadata.finalizers").empty()) {
    // It has ended; whoever put the finalizer there lets it go.
    const std::string_view phase = text_at(tree, "status.phase");
    if (phase == "Running") end(pod, true);
    return;
  }
  // deletionTimestamp is when the grace period is over.
  const Result<WallTime> last = parse_rfc3339(text_at(tree, "metadata.deletionTimestamp"));
  if (last) {
    const WallTime deleted = *last + -Duration(std::chrono::seconds(grace));
    const Duration left = std::min(deleted + options_.stop_time, *last) - now();
    if (left > Duration::zero()) return enqueue_after(left, "pod/" + key);
  }
  static_cast<void>(api_.remove(pod_resource(), pod.namespace_name, pod.name,
                                {.grace_period_seconds = 0, .uid = pod.uid}));
}

}  // namespace berth::control_plane
