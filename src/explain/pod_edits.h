// Edits of the pod itself: what it could do without.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "explain/edits.h"

namespace berth::explain {

// ---- taints

// The taints of a node that keep the pod away. A cordoned node has that of cordoned nodes, also if
// nobody has written it into the node.
std::vector<Taint> taints_against(const UnplacedPod& unplaced, NodeRow row);
std::string taint_text(const UnplacedPod& unplaced, const Taint& taint);  // "team=red:NoSchedule"
Edit tolerate(const UnplacedPod& unplaced, const Taint& taint);

// ---- nodes by label and name

Edit drop_node_selector(const UnplacedPod& unplaced, Symbol key);
Edit change_node_selector(const UnplacedPod& unplaced, Symbol key, Symbol value);
Edit drop_node_affinity(const UnplacedPod& unplaced);
// One requirement of one term; nullopt if the term would be left without any, and so match nothing.
std::optional<Edit> drop_node_requirement(const UnplacedPod& unplaced, std::size_t term, bool field,
                                          std::size_t requirement);
// Adds a value to a requirement with In.
std::optional<Edit> allow_node_value(const UnplacedPod& unplaced, std::size_t term,
                                     std::size_t requirement, Symbol value);

// ---- other pods

Edit drop_pod_affinity(const UnplacedPod& unplaced, bool anti, std::size_t term);
Edit drop_spread_constraint(const UnplacedPod& unplaced, std::size_t constraint);
Edit raise_max_skew(const UnplacedPod& unplaced, std::size_t constraint, std::int32_t max_skew);

// ---- host ports

struct HostPortPlace {
  bool init = false;
  std::size_t container = 0;
  std::size_t port = 0;
};
std::vector<HostPortPlace> host_ports_of(const PodSpec& spec);
ContainerPort& host_port_at(PodSpec& spec, const HostPortPlace& place);
Edit change_host_port(const UnplacedPod& unplaced, const HostPortPlace& place, std::int32_t port);
// The first port after the one at this place that neither the pod nor the node uses.
std::int32_t free_host_port(const UnplacedPod& unplaced, const HostPortPlace& place, NodeRow row);

}  // namespace berth::explain
