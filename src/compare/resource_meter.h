// ResourceMeter: how much of each resource is requested on each node of a run, over virtual time.
//
// docs/compare.md defines the figures: use is what is requested of what all nodes offer, imbalance is
// the standard deviation of the nodes' own use; means are weighted with time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/loop.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/resources.h"

namespace berth::compare {

// A sum that stays exact to the last digits however often something is added and taken away.
class CompensatedSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    const bool larger = (sum_ < 0 ? -sum_ : sum_) >= (value < 0 ? -value : value);
    lost_ += larger ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

class ResourceMeter {
 public:
  struct OverTime {
    double end = 0, mean = 0, peak = 0;
  };
  struct ResourceFigures {
    std::string name;
    OverTime use, imbalance;
  };
  // What was true from `at` on.
  struct Sample {
    Duration at{0};
    std::size_t nodes_used = 0;
    std::map<std::string, double> use, imbalance;
  };

  // Samples cost more than all the rest; who does not show them goes without.
  explicit ResourceMeter(bool keep_samples) : keep_samples_(keep_samples) {}

  // A change of a node or pod at that time; others are ignored.
  void changed(const Delta& delta, Duration at);
  // The run has ended: nothing changes any more.
  void finish(Duration at);

  // Of resources that some node offers and that count always (cpu, memory, pods) or that a pod asked
  // for; by name. After finish().
  std::vector<ResourceFigures> resources() const;
  OverTime nodes_used() const { return nodes_used_; }
  std::size_t node_count() const { return node_count_; }
  // At most so many, spread over the run. After finish().
  std::vector<Sample> samples(std::size_t most) const;

 private:
  using Amounts = std::vector<std::pair<std::size_t, std::int64_t>>;  // by resource
  struct NodeState {
    bool there = false;
    std::size_t pods = 0;
    std::vector<std::int64_t> allocatable, requested;  // by resource; shorter: 0
  };
  struct PodState {
    std::size_t node = 0;
    Amounts requests;
  };
  struct ResourceState {
    bool always = false, asked_for = false;
    std::size_t nodes = 0;                        // that offer it
    std::int64_t allocatable = 0, requested = 0;  // on these
    CompensatedSum shares, squares;               // of what is requested of each node's own
    OverTime use, imbalance;                      // `mean` is the integral until finish()
    double current_use() const;
    double current_imbalance() const;
  };

  void advance(Duration at);
  std::size_t resource(std::string_view name);
  Amounts amounts_of(const Resources& amounts, const Symbols& symbols);
  std::size_t node(std::string_view name);
  void node_changed(const Node& node, bool there);
  void pod_changed(const Pod& pod, bool deleted);
  void add_pod(const PodState& pod, std::int64_t sign);
  // Takes the node's shares out of the sums, or puts them in.
  void count(const NodeState& node, int sign);
  void count(const NodeState& node, std::size_t resource, int sign);
  void take_sample();

  const bool keep_samples_;
  std::map<std::string, std::size_t, std::less<>> resource_numbers_;
  std::vector<ResourceState> resources_;
  std::map<std::string, std::size_t, std::less<>> node_numbers_;
  std::vector<NodeState> nodes_;
  std::unordered_map<Uid, PodState> placed_;
  std::size_t node_count_ = 0, used_ = 0;
  Duration at_{0};
  OverTime nodes_used_;
  std::vector<Sample> samples_;
};

}  // namespace berth::compare
