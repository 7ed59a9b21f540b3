// What plugins expect around them, where there is neither a queue nor a cluster that could be
// changed: nominations that were read from the pods' status, and a door that notes who would be
// evicted. For the Evaluator.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/cluster_api.h"
#include "berth/handle.h"

namespace berth::explain {

class ListedNominations final : public Nominator, public Activator {
 public:
  void add(Ref<const Pod> pod) {
    const Symbol node = pod->nominated_node();
    if (std::ranges::find(nodes_, node) == nodes_.end()) nodes_.push_back(node);
    pods_.push_back(std::move(pod));
  }
  void clear() {
    pods_.clear();
    nodes_.clear();
  }
  void remove(const Pod& pod) {
    const auto found = std::ranges::find(pods_, pod.uid(), [](const auto& p) { return p->uid(); });
    if (found == pods_.end()) return;
    const Symbol node = (*found)->nominated_node();
    pods_.erase(found);
    if (nominated_pods(node).empty()) std::erase(nodes_, node);
  }

  std::vector<Ref<const Pod>> nominated_pods(Symbol node) const override {
    std::vector<Ref<const Pod>> there;
    std::ranges::copy_if(pods_, std::back_inserter(there),
                         [node](const auto& pod) { return pod->nominated_node() == node; });
    return there;
  }
  const std::vector<Symbol>& nominated_nodes() const override { return nodes_; }
  void activate(std::span<const Ref<const Pod>>) override {}  // nobody is asleep

 private:
  std::vector<Ref<const Pod>> pods_;
  std::vector<Symbol> nodes_;
};

class NotingApi final : public ClusterApi {
 public:
  // Who was to be evicted since this was last asked, sorted.
  std::vector<std::string> take_evicted() {
    std::ranges::sort(evicted_);
    return std::exchange(evicted_, {});
  }

  Task<Result<void>> bind(Ref<const Pod>, std::string) override { co_return Result<void>(); }
  Task<Result<std::string>> patch_status(Ref<const Pod>, PodStatusPatch) override {
    co_return std::string();
  }
  Task<Result<void>> evict(Ref<const Pod> pod) override {
    evicted_.push_back(pod->full_name());
    co_return Result<void>();
  }
  Task<Result<AnyObject>> update(AnyObject object) override {
    co_return Result<AnyObject>(std::move(object));
  }
  Task<Result<AnyObject>> update_status(AnyObject object) override {
    co_return Result<AnyObject>(std::move(object));
  }
  Task<Result<void>> remove(AnyObject) override { co_return Result<void>(); }
  void record(PodEvent) override {}

 private:
  std::vector<std::string> evicted_;
};

}  // namespace berth::explain
