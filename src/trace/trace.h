// Trace: what happened to a cluster in some span of time, whoever schedules: which objects were there,
// came, changed and went, how long each pod ran, and what the scheduler of that cluster did. Read from
// a recording (docs/trace.md) or from somebody else's trace, it is what a simulation replays.
//
//   Result<Trace> trace = read_traces({"monday.jsonl.gz"}, {}, interner);
//   options.trace = &*trace;  // of a sim::Simulation
//
// What the scheduler did is not among the steps: pods come without the node that it gave them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth::trace {

// Something that happened, and would have happened under any scheduler.
struct Step {
  Duration at{0};
  DeltaType type = DeltaType::kAdded;
  AnyObject object;      // of kDeleted: its last state
  std::string manifest;  // instead of `object`: JSON as somebody wrote it, such as a Deployment's
};

// What is known of one pod beside its object.
struct PodPast {
  Uid uid;
  std::string namespace_name;
  std::string name;
  Duration arrived{0};
  // Whether the scheduler of that cluster had the pod to schedule: not if it was on a node from the
  // first, or if another scheduler was to place it.
  bool scheduled_there = false;
  std::optional<Duration> bound;  // when the scheduler gave it a node; nothing: it did not
  std::string node;               // that node; empty: it is not told
  std::string message;            // why it had none, in that scheduler's words, if it is told
  // From its binding to its end, of a pod that ended by itself, and how it ended. A pod without it
  // stays until a step removes it.
  std::optional<Duration> run_time;
  PodPhase end = PodPhase::kSucceeded;
  std::optional<Duration> removed_after_end;  // of an ended pod: how much later it was deleted
};

struct Trace {
  WallTime start = VirtualLoop::kDefaultStart;  // what the clock showed at 0
  std::vector<Step> steps;                      // in order
  std::vector<PodPast> pods;                    // in the order in which they came
  Duration length{0};                           // from 0 to the last thing that is told
  bool tells_nodes = false;                     // where the scheduler put pods
  // How long pods ran whose owner is one of the manifests: by "Kind namespace/name" of the owner, one
  // after the other as they are bound.
  std::map<std::string, std::vector<Duration>, std::less<>> run_times_by_owner;
  std::vector<std::string> notes;  // what a reader should know: lines for standard error
};

// No trace is longer: what is later than this is taken for a mistake.
inline constexpr Duration kLongestTrace = std::chrono::hours(24 * 366 * 10);

// What a part of a GPU becomes, of traces that have such parts (docs/trace.md).
enum class GpuShare : std::uint8_t {
  kDevices,           // a share of a device's capacity
  kExtendedResource,  // thousandths of GPUs, counted by node
};

struct TraceOptions {
  GpuShare gpu_share = GpuShare::kDevices;
};

// Reads the files, which together are one trace: a recording, openb's list of nodes and list of pods,
// or a trace of SimKube. What a file is follows from its content; its compression, too. Errors and
// notes begin with the file and the line.
Result<Trace> read_traces(const std::vector<std::string>& paths, const TraceOptions& options,
                          Interner& interner);

}  // namespace berth::trace
