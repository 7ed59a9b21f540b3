// Replay: a trace in a simulation. What happened to the recorded cluster from outside happens again;
// where pods go is decided anew. A pod ends its recorded run time after it was bound here. Says in the
// end where the decisions are those of the recorded scheduler. An Observer of the engine, for why they
// are not. World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/lifetime.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/observer.h"
#include "berth/result.h"
#include "berth/symbols.h"
#include "sim/sim_cluster.h"
#include "trace/trace.h"

namespace berth::sim {

// What became of a pod here, beside what became of it there.
enum class Agreement : std::uint8_t {
  kSameNode,
  kOtherNode,
  kBound,      // in both, and nothing tells on which node it was there
  kOnlyThere,  // here it found no node
  kOnlyHere,
  kNowhere,
};
std::string_view to_string(Agreement agreement);  // "sameNode", …

struct ReplayedPod {
  std::string namespace_name;
  std::string name;
  Agreement agreement = Agreement::kNowhere;
  std::string recorded_node;
  std::optional<Duration> recorded_at;  // bound there
  std::string node;
  std::optional<Duration> at;  // bound here
  std::string explanation;     // why it went elsewhere, if that was asked for
};

struct ReplayReport {
  std::size_t pods = 0;  // that both schedulers had to schedule
  std::map<Agreement, std::size_t> counts;
  std::vector<ReplayedPod> differences;  // by namespace and name: what is not the same in both
};

// A pod that the trace or its end has removed.
struct RemovedPod {
  std::string namespace_name;
  std::string name;
  std::string node;
  std::optional<TimePoint> bound;
  bool finished = false;
};

class Replay final : public Observer {
 public:
  struct Parts {
    VirtualLoop& loop;
    Interner& interner;
    SimCluster& cluster;
    // Whether the scheduler that runs here is to schedule the pod.
    std::function<bool(const Pod&)> is_scheduled_here;
    // Applies the manifest to the cluster, or deletes what it names.
    std::function<Result<void>(const std::string& json, bool remove)> apply;
    // Something that cannot be done as recorded.
    std::function<void(std::string_view about, std::string_view what)> trouble;
  };

  // The trace outlives it. `explain`: find out why pods went elsewhere, which costs time.
  Replay(const trace::Trace& trace, Parts parts, bool explain);
  ~Replay() override;

  // Everything that is there at the beginning is there now; the rest comes as time goes on.
  void start();

  ReplayReport report() const;
  const std::vector<RemovedPod>& removed() const { return removed_; }

  bool wants_trace(const Pod& pod) const override;
  void traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) override;

 private:
  struct PodState {
    const trace::PodPast* past = nullptr;
    Symbol recorded_node;
    bool scheduled_here = true;
    bool finished = false;
    std::string node;
    std::optional<TimePoint> bound;
    std::string explanation;
  };

  void run_steps();
  Result<void> run(const trace::Step& step);
  Result<void> put_pod(const Ref<const Pod>& pod, DeltaType type);
  Result<void> update_pod(const Pod& stored, const Pod& recorded);
  Result<void> remove_pod(const Pod& pod);
  void changed(const Delta& delta);
  void placed(const Pod& pod);
  std::optional<Duration> owner_run_time(const Pod& pod);
  void end_after(Duration run_time, const Pod& pod, PodPhase phase,
                 std::optional<Duration> removed_after);
  void finish(const Pod& pod, PodPhase phase);
  // Of another scheduler's pod: it goes where it went.
  void place_as_recorded(const Pod& pod, const PodState& state);
  Agreement agreement_of(const PodState& state) const;

  const trace::Trace& trace_;
  const Parts parts_;
  const bool explain_;
  SymbolHold symbols_;
  std::unordered_map<Uid, PodState> pods_;
  std::map<std::string, std::size_t> made_by_owner_;
  std::size_t next_step_ = 0;
  std::vector<RemovedPod> removed_;
  Lifetime lifetime_;
};

}  // namespace berth::sim
