// Timeline: everything that happened in a run, in order, with virtual times; and for each pod how
// it stands. An Observer of the engine.
//
// An entry is made only if somebody takes it (keep_entries, on_entry): most of a run's cost beside
// the scheduler would be texts that nobody reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/observer.h"
#include "wire/json_line.h"

namespace berth::sim {

// How one pod stands, by what the scheduler did with it.
struct PodRecord {
  // The last failure.
  struct Failure {
    std::optional<TimePoint> at;
    std::uint64_t after_change = 0;  // how many changes the cluster had seen before that attempt
    std::string message;
    std::int32_t alike = 0;    // how often in a row it failed in these words
    bool was_error = false;    // it was not turned away: something went wrong
    std::int32_t in_vain = 0;  // how often in a row it failed with no change in between
  };

  // It had to make room.
  struct Preemption {
    std::string by;  // full name of who needed its place
    std::string node;
  };

  std::int32_t attempts = 0;
  bool has_node = false;
  std::optional<TimePoint> bound;
  std::uint64_t changes_at_start = 0;  // of the attempt at hand
  std::unique_ptr<Failure> failure;    // null: it has never failed
  std::unique_ptr<Preemption> preemption;

  std::string_view message() const {
    return failure ? std::string_view(failure->message) : std::string_view();
  }
};

// A pod's full name, "namespace/name", in its parts.
struct PodName {
  PodName(std::string_view in_namespace, std::string_view own)
      : namespace_name(in_namespace), name(own) {}
  PodName(const std::string& full_name) {  // NOLINT: one is as good as the other
    const std::size_t slash = full_name.find('/');
    namespace_name = std::string_view(full_name).substr(0, slash);
    name = std::string_view(full_name).substr(slash + 1);
  }

  friend bool operator==(const PodName&, const PodName&) = default;

  std::string_view namespace_name, name;
};

// Finds full names by their parts, so that none has to be put together for it.
struct PodNameHash {
  using is_transparent = void;
  std::size_t operator()(const PodName& name) const;
};
struct PodNameEqual {
  using is_transparent = void;
  bool operator()(const std::string& a, const std::string& b) const { return a == b; }
  bool operator()(const std::string& full_name, const PodName& name) const {
    const std::size_t slash = name.namespace_name.size();
    return full_name.size() == slash + 1 + name.name.size() && full_name.ends_with(name.name) &&
           full_name[slash] == '/' && full_name.starts_with(name.namespace_name);
  }
  bool operator()(const PodName& name, const std::string& full_name) const {
    return (*this)(full_name, name);
  }
};
using PodRecords = std::unordered_map<std::string, PodRecord, PodNameHash, PodNameEqual>;

class Timeline final : public Observer {
 public:
  explicit Timeline(Loop& loop) : loop_(loop) {}

  // Who is asked how many changes the cluster has seen.
  void count_changes_with(std::function<std::uint64_t()> changes) { changes_ = std::move(changes); }

  // Something that did not come from the scheduler: a scenario's event, a pod deleted.
  void note(std::string_view what, std::string_view about, std::string_view detail = {});

  // The pod was made with a node: nobody bound it.
  void made_on_node(const Pod& pod) { record(pod).has_node = true; }
  // The store shows the pod on a node. The scheduler may not know yet: its call may have failed
  // although it worked.
  void assigned(const Pod& pod);

  // Each a JSON object on one line.
  const std::vector<std::string>& entries() const { return entries_; }
  std::vector<std::string> take_entries() { return std::move(entries_); }
  // Whether somebody takes them.
  bool wants_entries() const { return keep_entries_ || sink_ != nullptr; }
  const PodRecords& pods() const { return pods_; }  // by full name
  const PodRecord* find(const PodName& name) const;
  static PodName name_of(const Pod& pod) { return {pod.namespace_name(), pod.name()}; }
  // How often a node was found for a pod.
  std::size_t scheduled() const { return scheduled_; }
  // The most often that a pod has failed in a row with no change in between.
  std::int32_t most_in_vain() const { return most_in_vain_; }
  // Kept only when asked for: a long run has many entries.
  void keep_entries(bool keep) { keep_entries_ = keep; }
  // Hands each entry out as it is made.
  using EntrySink = std::function<void(const std::string& entry)>;
  void on_entry(EntrySink sink) { sink_ = std::move(sink); }

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;
  void group_decided(const PodGroup& group, const Outcome& outcome) override;
  void event(const PodEvent& event) override;
  void internal_error(std::string_view message) override;

 private:
  PodRecord& record(const Pod& pod);
  JsonLine entry(std::string_view what, const Pod& pod) const;
  void add(const JsonLine& line);

  Loop& loop_;
  std::function<std::uint64_t()> changes_;
  bool keep_entries_ = true;
  std::int32_t most_in_vain_ = 0;
  std::size_t scheduled_ = 0;
  std::vector<std::string> entries_;
  EntrySink sink_;
  PodRecords pods_;
  PodRecords::value_type* last_ =
      nullptr;  // the record that was asked for last, as it often is again
};

}  // namespace berth::sim
