// ArrivingPods: pods of a scenario's `arrivals`, which come one after the other and end a while after
// they were bound. One timer for each rule, whatever the number of its pods. World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/written_pod.h"
#include "base/lifetime.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "sim/scenario.h"
#include "sim/sim_cluster.h"

namespace berth::sim {

class ArrivingPods {
 public:
  struct Reports {
    std::function<void(std::string_view what)> trouble;
    std::function<void(const Pod& pod)> finished;
  };

  // What is passed by reference outlives it; nothing is done any more once it is gone.
  ArrivingPods(Loop& loop, SimCluster& cluster, Interner& interner, std::uint64_t seed,
               Reports reports);
  ArrivingPods(const ArrivingPods&) = delete;
  ArrivingPods& operator=(const ArrivingPods&) = delete;

  // Errors are those of the manifests.
  Result<void> add(const std::vector<Arrivals>& rules);
  // From now on they come. The cluster has its PriorityClasses.
  void start();

 private:
  // What the pods of one manifest share, and what each begins as.
  struct Prototype {
    std::string json;
    std::string where;
    Ref<const Pod> pod;  // null: admission has refused it
  };
  struct Rule {
    Arrivals given;
    std::vector<Prototype> pods;
    std::int64_t arrived = 0;
  };

  void admit(Prototype& prototype);
  void wait_for_next(std::size_t rule);
  void arrive(Rule& rule);
  void changed(const Delta& delta);
  void finish(const Pod& bound);

  Loop& loop_;
  SimCluster& cluster_;
  Interner& interner_;
  Random random_;
  Reports reports_;
  std::vector<Rule> rules_;
  std::unordered_map<Uid, Duration> runs_;  // of pods that are not bound yet
  Lifetime lifetime_;
};

}  // namespace berth::sim
