// History: a run as the page (web/) shows it: the nodes and pods that there were, and what happened
// to them, in order, with virtual times. An Observer of the engine that also sees every change of
// the store. web/model.js describes the JSON that it makes.
//
// The Timeline beside it is for people who read JSON: it names pods by their names and repeats
// every sentence. Here a pod is its place in a list, so that a run of fifty thousand pods opens in a
// browser, and amounts of resources are there, which the tiles need.
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
#include "berth/observer.h"
#include "sim/json_line.h"

namespace berth::sim {

class History final : public Observer {
 public:
  explicit History(Loop& loop) : loop_(loop) {}

  // A change of a node or pod in the store; others are ignored.
  void changed(const Delta& delta);
  // Something that did not come from the scheduler: "scenario" or "trouble".
  void note(std::string_view what, std::string_view about, std::string_view detail = {});

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;
  void internal_error(std::string_view message) override { note("trouble", "scheduler", message); }

  // The object `History` of web/model.js, of a run that took so long.
  std::string json(Duration duration) const;

 private:
  struct NodeEntry {
    std::string name;
    std::string first;  // what the page knows of it, as it was first seen: members of an object
    std::string now;
  };
  // What is remembered of a pod, to tell what is new about it.
  struct PodEntry {
    std::size_t index = 0;
    bool bound = false, terminating = false, finished = false;
  };

  void node_changed(DeltaType type, const Node& node);
  void pod_changed(DeltaType type, const Pod& pod);
  PodEntry& entry_of(const Pod& pod);
  std::size_t index_of(const Pod& pod) { return entry_of(pod).index; }
  std::size_t node_index(std::string_view name);
  std::size_t text_index(std::string_view text);
  // A change begins like this; `add` keeps it.
  JsonLine change(std::string_view what) const;
  JsonLine change(std::string_view what, const Pod& pod);
  void add(const JsonLine& change) { changes_.push_back(change.done()); }

  Loop& loop_;
  std::vector<NodeEntry> nodes_;
  std::map<std::string, std::size_t, std::less<>> node_indices_;  // by name
  std::vector<std::string> pods_;                                 // JSON
  std::unordered_map<Uid, PodEntry> pod_entries_;
  std::vector<std::string> templates_;  // JSON: what many pods have in common
  std::map<std::string, std::size_t, std::less<>> template_indices_;
  std::vector<std::string> texts_;
  std::map<std::string, std::size_t, std::less<>> text_indices_;
  std::vector<std::string> changes_;  // JSON
};

}  // namespace berth::sim
