// RunMeter: follows one simulation: what was decided, how long pods waited, which shapes there were,
// and what nodes had to do. An Observer of the engine that also sees every change of the store.
// docs/compare.md defines the figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/object.h"
#include "berth/observer.h"
#include "compare/decision_log.h"
#include "compare/resource_meter.h"

namespace berth::compare {

// Pods that share spec and metadata, in the order in which the first of each came.
struct PodShape {
  Ref<const Pod> first;
  std::size_t pods = 0;
};

// How many pods were where when, for plots.
struct CountSample {
  Duration at{0};
  std::size_t bound = 0;    // so far
  std::size_t pending = 0;  // pods without a node then, but for gated ones
};

class RunMeter final : public Observer {
 public:
  // `keep_samples`: for plots.
  explicit RunMeter(bool keep_samples) : keep_samples_(keep_samples), resources_(keep_samples) {}

  // Before anything else: whose time it is.
  void begin(Loop& loop) { loop_ = &loop; }

  // A change of the store.
  void changed(const Delta& delta);
  void finish(Duration duration);

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod&, std::int32_t) override { ++attempts_; }
  void decided(const Decision& decision) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod&, const Outcome&) override { ++failed_attempts_; }
  void preempted(const Pod&, const Pod&, std::string_view) override { ++evictions_; }

  const DecisionLog& log() const { return log_; }
  DecisionLog take_log() { return std::move(log_); }
  const ResourceMeter& resources() const { return resources_; }
  std::size_t pods_created() const { return created_; }
  std::size_t attempts() const { return attempts_; }
  std::size_t failed_attempts() const { return failed_attempts_; }
  std::size_t evictions() const { return evictions_; }
  // From the first entry in a queue other than that of gated pods to the binding, of every binding.
  const std::vector<Duration>& times_to_schedule() const { return times_; }
  const std::vector<PodShape>& shapes() const { return shapes_; }
  const std::vector<CountSample>& counts() const { return counts_; }

 private:
  std::uint32_t number_of(const Pod& pod);
  void add_shape(const Ref<const Pod>& pod);

  Loop* loop_ = nullptr;
  const bool keep_samples_;
  ResourceMeter resources_;
  DecisionLog log_;
  std::unordered_map<Uid, std::uint32_t> numbers_;  // in the log
  std::unordered_map<Uid, Duration> waiting_since_;
  std::unordered_set<Uid> pending_;
  std::vector<Duration> times_;
  std::vector<PodShape> shapes_;
  std::map<std::pair<const void*, const void*>, std::size_t> shape_numbers_;  // by spec, metadata
  std::vector<CountSample> counts_;
  std::size_t created_ = 0, assigned_ = 0, attempts_ = 0, failed_attempts_ = 0, evictions_ = 0;
};

}  // namespace berth::compare
