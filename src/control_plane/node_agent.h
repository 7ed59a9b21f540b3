// NodeAgent: plays the kubelets of all nodes, and what watches over nodes. Pods that are bound
// "start": they run, with the status that a kubelet would write; pods that are deleted end; pods of
// Jobs succeed after a while. Nodes become ready, get the taints that their conditions and
// `kubectl cordon` call for, and a lease.
//
// An annotation says how long a pod takes to do its work: "berth/run-for: 10s" makes any pod
// succeed after that time, "berth/fail-after: 10s" makes it fail. A container with a readiness probe is
// ready when the probe's initial delay is over. World thread only.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "control_plane/controller.h"
#include "control_plane/pod_feed.h"
#include "controllers/orphaned_pods.h"

namespace berth::control_plane {

struct NodeAgentOptions {
  Duration start_time{0};  // between binding and running
  Duration stop_time{0};   // between deletion and the end, at most the pod's grace period
  Duration job_time = std::chrono::seconds(5);         // how long pods of Jobs run, unless they say
  Duration lease_interval = std::chrono::seconds(10);  // zero: no leases
};

class NodeAgent final : public Controller, private controllers::OrphanedPodWorld {
 public:
  NodeAgent(LocalClient& api, PodIndex& pods, NodeAgentOptions options = {});

 private:
  // Keys: "node/NAME" and "pod/NAMESPACE/NAME".
  void sync(const std::string& key) override;
  void sync_node(const std::string& name);
  // As a kubelet: extended resources that somebody adds to a node's capacity are allocatable until he
  // takes them away again.
  void offer_extended_resources(const std::string& name, const JsonValue& node);
  void sync_pod(const std::string& key);
  void start(const StoredObject& pod);
  void become_ready(const StoredObject& pod, Duration age, const std::string& key);
  void end(const StoredObject& pod, bool success);
  void finish_deletion(const StoredObject& pod, const JsonValue& tree, const std::string& key);
  void renew_leases();
  bool has_node(const std::string& name) const override;
  void remove_orphan(const PodFacts& pod) override;
  std::string address_of_node(const std::string& name);

  PodIndex& pods_;
  const NodeAgentOptions options_;
  std::map<std::string, std::uint32_t> addresses_;        // numbers of nodes
  std::map<std::string, std::set<std::string>> offered_;  // by node: what is allocatable by us
  std::uint32_t next_pod_address_ = 0;
  controllers::OrphanedPods orphans_;
};

}  // namespace berth::control_plane
