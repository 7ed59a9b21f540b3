// DaemonSetController: one pod on every node that the template's selectors and tolerations allow.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/node.h"
#include "berth/pod.h"
#include "controllers/controller.h"
#include "controllers/workload_world.h"

namespace berth::controllers {

// What a daemon tolerates without being asked, so that it is there before all others: keys, of any
// value, and their effects ("NoExecute", …).
struct DaemonToleration {
  std::string_view key;
  TaintEffect effect = TaintEffect::kNoSchedule;
};
std::vector<DaemonToleration> daemon_tolerations(bool host_network);

// Appends daemon_tolerations() to spec.tolerations.
void add_daemon_tolerations(PodSpec& spec);

// The names of those nodes on which a daemon of this spec may run.
std::vector<std::string> daemon_nodes(PodSpec spec, std::span<const Ref<const Node>> nodes,
                                      const Symbols& symbols);

class DaemonSetController final : public Controller {
 public:
  // What is passed by reference outlives it. Whoever has the nodes enqueues all sets when one of
  // them changes.
  DaemonSetController(Loop& loop, PodIndex& pods, WorkloadWorld& world);

 private:
  using ByNode = std::map<std::string, std::vector<PodFacts>>;

  void sync(const std::string& key) override;
  ByNode by_node(const Workload& set) const;
  void bring_in_line(const Workload& set, const std::vector<std::string>& nodes);
  void replace_old(const Workload& set, const std::vector<std::string>& nodes);
  void stop(const Workload& set, const PodFacts& pod);
  void write_status(const Workload& set, const std::vector<std::string>& nodes);

  PodIndex& pods_;
  WorkloadWorld& world_;
};

}  // namespace berth::controllers
