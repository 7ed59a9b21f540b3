// DecisionProbes: what single decisions of a run found out about the nodes that somebody asks about.
// An Observer of the engine. Only these decisions are traced, so that a run costs hardly more.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/observer.h"

namespace berth::compare {

struct Probe {
  std::string pod;            // "namespace/name"
  std::uint32_t ordinal = 1;  // the how many'th decision about the pod
  std::vector<std::string> nodes;
};

// What a decision says about one node.
struct NodeView {
  enum class Verdict : std::uint8_t {
    kUnknown,  // the search did not look at it, or it was not there
    kFits,
    kRejected,  // by `plugin`
  };
  Verdict verdict = Verdict::kUnknown;
  bool there = false;
  std::string plugin;
  std::string reason;
  std::map<std::string, std::int64_t> points;  // weighted, by plugin; empty: nothing was scored
  std::int64_t total = 0;
};

struct ProbedDecision {
  Duration at{0};
  std::string chosen;
  std::string nominated;  // a node that preemption had made room on
  std::string message;    // why there is no node
  std::map<std::string, NodeView> nodes;
  std::vector<std::uint64_t> placements;  // of every pod that had a node then: hashes, sorted
  // The nodes as they were, by their names, sizes, labels and taints; 0 pods count.
  std::uint64_t cluster = 0;
};

class DecisionProbes final : public Observer {
 public:
  explicit DecisionProbes(std::vector<Probe> probes);
  void begin(Loop& loop) { loop_ = &loop; }

  // By pod and ordinal; those that the run did not reach are missing.
  using Key = std::pair<std::string, std::uint32_t>;
  const std::map<Key, ProbedDecision>& decisions() const { return decisions_; }

  bool wants_trace(const Pod& pod) const override;
  void traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) override;
  void decided(const Decision& decision) override;

 private:
  struct Wanted {
    std::uint32_t decided = 0;  // so far
    std::map<std::uint32_t, std::vector<std::string>> ordinals;
  };

  Loop* loop_ = nullptr;
  std::map<std::string, Wanted, std::less<>> wanted_;  // by pod
  std::map<Key, ProbedDecision> decisions_;
};

}  // namespace berth::compare
