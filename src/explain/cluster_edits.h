// "What if": changes of an Evaluator's cluster that are made in place, asked about, and undone. A
// cluster of 5,000 nodes is not built again to see what one label would do.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "berth/random.h"
#include "explain/evaluator.h"

namespace berth::explain {

// Changes in force as long as this lives; undone in reverse.
class ClusterEdits {
 public:
  explicit ClusterEdits(Evaluator& evaluator) : parts_(*evaluator.parts_) {}
  ~ClusterEdits();
  ClusterEdits(const ClusterEdits&) = delete;
  ClusterEdits& operator=(const ClusterEdits&) = delete;

  // A node or an object of another kind, not a pod: new, or in the place of the one of its name.
  void put(Ref<const Object> object);
  // A pod that is on a node, or nominated to one.
  void remove(const Ref<const Pod>& pod);

 private:
  void remove_nominated(const Ref<const Pod>& pod);
  void keep_shared_ports(const Pod& gone, NodeRow row);
  void put_pods_back(NodeRow row, const std::vector<Ref<const Pod>>& pods);

  Evaluator::Parts& parts_;
  std::vector<std::function<void()>> undo_;
};

// Asks many times after one PreFilter, as preemption does: would the pod fit if these were gone?
class PodsGone {
 public:
  PodsGone(Evaluator& evaluator, const Ref<const Pod>& pod);
  ~PodsGone();
  PodsGone(const PodsGone&) = delete;
  PodsGone& operator=(const PodsGone&) = delete;

  void remove(const Ref<const Pod>& pod, NodeRow row);
  void put_back(const Ref<const Pod>& pod, NodeRow row);
  // How many of these edits there are, and back to an earlier count.
  std::size_t edits() const;
  void undo_to(std::size_t edits);
  bool fits(NodeRow row);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Restores, when it goes out of scope, what edits that were undone may have left different: the
// order in which nodes are visited, and the random numbers that were drawn.
class KeptOrder {
 public:
  explicit KeptOrder(Evaluator& evaluator);
  ~KeptOrder();
  KeptOrder(const KeptOrder&) = delete;
  KeptOrder& operator=(const KeptOrder&) = delete;

 private:
  void list_again();

  Evaluator::Parts& parts_;
  const Random random_;
  const std::vector<NodeRow> order_;
};

}  // namespace berth::explain
