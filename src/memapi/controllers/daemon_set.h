// DaemonSetController: one pod on every node that the template's selectors and tolerations allow.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/interner.h"
#include "memapi/controllers/controller.h"
#include "memapi/controllers/pod_index.h"

namespace berth::memapi {

class DaemonSetController final : public Controller {
 public:
  DaemonSetController(LocalClient& api, PodIndex& pods);

 private:
  void sync(const std::string& key) override;
  JsonValue pod_for(const StoredObject& set, const JsonValue& tree, std::string_view node) const;
  // The nodes that shall have a pod.
  std::vector<std::string> chosen_nodes(const StoredObject& set, const JsonValue& tree);
  void bring_in_line(const StoredObject& set, const JsonValue& tree,
                     const std::vector<std::string>& nodes);
  void replace_old(const StoredObject& set, const JsonValue& tree,
                   const std::vector<std::string>& nodes);
  void write_status(const StoredObject& set, const JsonValue& tree,
                    const std::vector<std::string>& nodes);
  // The node a pod runs on, or is meant for.
  std::string node_of(const PodFacts& pod) const;
  // The pods of a set, by node.
  std::map<std::string, std::vector<const PodFacts*>> by_node(const StoredObject& set) const;

  PodIndex& pods_;
  Interner interner_;
};

}  // namespace berth::memapi
