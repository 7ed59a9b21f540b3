// Single edits after which a pod fits somewhere, of every kind that is known.
#pragma once

#include <string>
#include <vector>

#include "explain/edits.h"

namespace berth::explain {

class SingleEdits {
 public:
  explicit SingleEdits(const UnplacedPod& unplaced) : unplaced_(unplaced) {}

  // In no particular order. Each was tried.
  Edits find();
  // The kinds that were tried, as sentences.
  const std::vector<std::string>& tried() const { return tried_; }

 private:
  void requests();
  void taints();
  void taints_of(const NodeSet& otherwise_feasible);
  void node_selection();
  void node_requirements(const NodeSet& without);
  void node_labels();
  void labels_of(const NodeSet& otherwise_feasible);
  void pod_affinity();
  void spreading();
  void topology_labels(Symbol key, const NodeSet& rows);
  void host_ports();
  void volumes();
  void resource_claims();
  void pods();
  void nominated_pods();
  void new_nodes();
  void priority();
  void any_label();

  // Keeps the edit if the pod fits with it.
  bool keep_if_it_helps(const Edit& edit);
  void keep(Edit edit) { found_.push_back(std::move(edit)); }
  void note(const char* what, std::size_t found_before);

  const UnplacedPod& unplaced_;
  Edits found_;
  std::vector<std::string> tried_;
};

// The value of the label that most of the rows have; empty if none has the label.
Symbol most_common_value(const NodeTable& nodes, const NodeSet& rows, Symbol key);
// The rows by the names of their nodes, at most so many.
std::vector<NodeRow> by_name(const NodeTable& nodes, const NodeSet& rows, std::size_t most);

}  // namespace berth::explain
