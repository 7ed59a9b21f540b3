// A server with controllers at work and somebody who binds pods, in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control_plane/controllers.h"
#include "memapi/testing/client.h"

namespace berth::control_plane::testing {

using memapi::testing::kPods;
using memapi::testing::pod_json;

struct SmallCluster : memapi::testing::Client {
  explicit SmallCluster(std::vector<std::string> names = {"*"}, NodeAgentOptions agent = {}) {
    agent.lease_interval = Duration::zero();
    controllers =
        std::make_unique<Controllers>(server.local(), choose_controllers(names).value(), agent);
    settle();
  }

  LocalClient& api() { return server.local(); }

  void add_node(const std::string& name, const std::string& more = "") {
    ask("POST", "/api/v1/nodes",
        fmt::format(
            R"({{"metadata":{{"name":"{0}","labels":{{"kubernetes.io/hostname":"{0}"}}}}{1}}})",
            name, more));
    settle();
  }
  JsonValue post(const std::string& path, const std::string& body) {
    JsonValue answer = ask("POST", path, body);
    settle();
    return answer;
  }
  JsonValue merge(const std::string& path, const std::string& patch) {
    JsonValue answer = ask("PATCH", path, patch, "application/merge-patch+json");
    settle();
    return answer;
  }
  JsonValue remove(const std::string& path, const std::string& body = "") {
    JsonValue answer = ask("DELETE", path, body);
    settle();
    return answer;
  }
  JsonValue get(const std::string& path) { return ask("GET", path); }

  // Everything that happens now; pods are bound to nodes in turn while `bind_pods`.
  void settle() {
    for (int round = 0; round < 50; ++round) {
      while (loop.has_posted()) loop.step();
      loop.run_until(loop.now());
      if (!loop.has_posted() && !bind_some()) return;
    }
    ADD_FAILURE() << "never comes to rest";
  }
  void pass(Duration time) {
    // In steps, so that what timers bring about is seen at its time.
    const TimePoint end = loop.now() + time;
    while (loop.now() < end) {
      loop.run_until(std::min(end, loop.now() + std::chrono::seconds(1)));
      settle();
    }
  }

  // Names of a kind's objects.
  std::vector<std::string> names(const Resource& resource, std::string_view space = "default") {
    std::vector<std::string> all;
    for (const ObjectRef& object : api().list(resource, resource.namespaced ? space : ""))
      all.push_back(object->name);
    return all;
  }
  std::vector<std::string> pods() { return names(resource_of("pods")); }
  // "Running", "Pending": how many of each.
  std::map<std::string, int> phases() {
    std::map<std::string, int> counts;
    for (const ObjectRef& pod : api().list(resource_of("pods")))
      ++counts[std::string(text_at(pod->tree(), "status.phase"))];
    return counts;
  }

  bool bind_pods = true;
  std::unique_ptr<Controllers> controllers;

 private:
  bool bind_some() {
    const std::vector<ObjectRef> nodes = api().list(resource_of("nodes"));
    if (!bind_pods || nodes.empty()) return false;
    bool any = false;
    for (const ObjectRef& pod : api().list(resource_of("pods"))) {
      const JsonValue tree = pod->tree();
      if (!text_at(tree, "spec.nodeName").empty() || is_terminating(tree)) continue;
      std::string node = nodes[next_node_++ % nodes.size()]->name;
      const auto& terms =
          items_at(tree,
                   "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                   "nodeSelectorTerms");
      if (!terms.empty() && !items_at(terms[0], "matchFields").empty())
        node = items_at(items_at(terms[0], "matchFields")[0], "values")[0].text;
      any = api().bind(pod->namespace_name, pod->name, pod->uid, node).has_value() || any;
    }
    return any;
  }
  std::size_t next_node_ = 0;
};

// A workload of apps/v1 with one container.
inline std::string workload_json(std::string_view name, std::string_view spec,
                                 std::string_view image = "i:1") {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}"}},"spec":{{{1}"selector":{{"matchLabels":{{"app":"{0}"}}}},)"
      R"("template":{{"metadata":{{"labels":{{"app":"{0}"}}}},)"
      R"("spec":{{"containers":[{{"name":"c","image":"{2}"}}]}}}}}}}})",
      name, spec, image);
}

}  // namespace berth::control_plane::testing
