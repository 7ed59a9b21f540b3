// Cycle: one attempt to schedule one pod, from the first plugin asked to the end of its binding.
//
// It carries the pod, a view of the cluster, what plugins leave for their later steps (upstream's
// CycleState) and the verdicts by node. World thread; plugins get it by reference and keep nothing
// of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/pod.h"
#include "berth/status.h"
#include "berth/views.h"

namespace berth {

class Framework;
class Plugin;

namespace internal {

// Buffers that every attempt needs and none keeps: allocated once and reused from pod to pod.
struct CycleScratch {
  std::vector<Status> verdicts;                          // by row
  std::vector<std::vector<std::string>> listed_reasons;  // what Status::kListed refers to
  std::vector<std::int64_t> scores;                      // by row, of the current plugin
  std::vector<std::int32_t> sums;                        // by row
  std::vector<NodeRow> deferred;                         // rows that a filter deferred

  // For a pod whose verdicts are written before they are read.
  void begin(std::size_t rows) {
    if (verdicts.size() < rows) verdicts.resize(rows);
    listed_reasons.clear();
    deferred.clear();
  }
  void reset(std::size_t rows) {
    verdicts.assign(rows, Status{});
    listed_reasons.clear();
    deferred.clear();
  }
};

// Which plugins of the profile (by index) sat out at a step.
class PluginMask {
 public:
  void set(std::uint16_t plugin) { words_[plugin / 64] |= std::uint64_t{1} << (plugin % 64); }
  void unset(std::uint16_t plugin) { words_[plugin / 64] &= ~(std::uint64_t{1} << (plugin % 64)); }
  bool test(std::uint16_t plugin) const { return (words_[plugin / 64] >> (plugin % 64) & 1) != 0; }
  void clear() { words_[0] = words_[1] = 0; }
  friend bool operator==(const PluginMask&, const PluginMask&) = default;
  static constexpr std::size_t kCapacity = 128;  // plugins in one profile

 private:
  std::uint64_t words_[2] = {0, 0};
};

}  // namespace internal

class Cycle {
 public:
  Cycle(Ref<const Pod> pod, const Cluster& cluster) : pod_(std::move(pod)), cluster_(cluster) {}
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  const Pod& pod() const { return *pod_; }
  const Ref<const Pod>& pod_ref() const { return pod_; }
  const Cluster& cluster() const { return cluster_; }
  const NodeTable& nodes() const { return cluster_.nodes(); }
  const Symbols& symbols() const { return cluster_.symbols(); }

  // What `plugin` leaves for its own later steps: one value per plugin and type. The reference is
  // valid until the next put of that type.
  template <typename T>
  T& put(const Plugin& plugin, T value) {
    auto box = std::make_unique<Box<T>>(std::move(value));
    T& stored = box->value;
    for (State& state : states_)
      if (state.plugin == &plugin && state.type == type_tag<T>()) {
        state.box = std::move(box);
        return stored;
      }
    if (states_.empty()) states_.reserve(kUsualStates);
    states_.push_back({&plugin, type_tag<T>(), std::move(box)});
    return stored;
  }
  // Null when the plugin has not put one.
  template <typename T>
  T* find(const Plugin& plugin) const {
    for (const State& state : states_)
      if (state.plugin == &plugin && state.type == type_tag<T>())
        return &static_cast<Box<T>*>(state.box.get())->value;
    return nullptr;
  }

  // Drops the state of `plugin`.
  template <typename T>
  void drop(const Plugin& plugin) {
    std::erase_if(states_, [&](const State& state) {
      return state.plugin == &plugin && state.type == type_tag<T>();
    });
  }
  // Drops the states of all plugins for which `keeps` is false.
  template <typename Keeps>
  void drop_states(Keeps keeps) {
    std::erase_if(states_, [&](const State& state) { return !keeps(state.plugin); });
    states_.shrink_to_fit();
  }

  // Plugins that returned Skip: their later steps are not run.
  internal::PluginMask skip_filter;
  internal::PluginMask skip_score;
  internal::PluginMask skip_pre_bind;
  internal::PluginMask parallel_pre_bind;

  // Whether the calls into plugins are timed one by one in this attempt.
  bool sampled = false;

  // Whether a filter may defer rows (FilterPass::defer): the caller then lets other work run and
  // calls the filter again.
  bool may_suspend = false;
  std::uint32_t turn = 0;  // how often other work has run

  // The profile of this attempt: for PostFilter plugins, which run all filters again.
  const Framework* framework = nullptr;

  // Pods to activate when this attempt succeeds (upstream's pods-to-activate).
  std::vector<Ref<const Pod>> pods_to_activate;

  // ---- verdicts by node; only while the scheduling cycle is open
  void lend(internal::CycleScratch* scratch) { scratch_ = scratch; }
  internal::CycleScratch* scratch() const { return scratch_; }
  // The sentences of a verdict given by `plugin`.
  std::vector<std::string> reasons_of(const Status& status, const Plugin* plugin) const;
  // Files a list of sentences; the number is a Status's argument with kListed.
  std::uint32_t list_reasons(std::vector<std::string> reasons) const;

 private:
  struct BoxBase {
    virtual ~BoxBase() = default;
  };
  template <typename T>
  struct Box final : BoxBase {
    explicit Box(T v) : value(std::move(v)) {}
    T value;
  };
  template <typename T>
  static const void* type_tag() {
    static constexpr char kTag = 0;
    return &kTag;
  }
  struct State {
    const Plugin* plugin;
    const void* type;
    std::unique_ptr<BoxBase> box;
  };
  static constexpr std::size_t kUsualStates = 12;  // so that the list does not grow step by step

  Ref<const Pod> pod_;
  const Cluster& cluster_;
  std::vector<State> states_;
  internal::CycleScratch* scratch_ = nullptr;
};

}  // namespace berth
