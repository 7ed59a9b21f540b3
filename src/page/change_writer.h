// ChangeWriter: what happens to nodes and pods, written as the page reads it: one `Change` of
// web/model.js for each thing that happens, in JSON. An Observer of the scheduler that is also shown
// what changes in the store.
//
// Who derives from it says how pods, nodes and texts are named in a change (by their places in
// lists, or by what they are called) and where changes go.
#pragma once

#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/object.h"
#include "berth/observer.h"
#include "wire/json_line.h"

namespace berth::page {

// Milliseconds, with a fraction: how the page counts time.
std::string milliseconds(Duration duration);

class ChangeWriter : public Observer {
 public:
  explicit ChangeWriter(Loop& loop) : loop_(loop) {}

  // Something that is about no pod: "scenario" or "trouble".
  void note(std::string_view what, std::string_view about, std::string_view detail = {});

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;
  void internal_error(std::string_view message) override { note("trouble", "scheduler", message); }

 protected:
  // What of a pod's life has been written, to tell what is new about it.
  struct PodStage {
    bool bound = false, terminating = false, finished = false;
  };

  // Whether anybody wants changes; nothing is written otherwise.
  virtual bool wanted() const { return true; }
  // Adds the member `key`, which names the pod, the node or the text.
  virtual void add_pod(JsonLine& line, std::string_view key, const Pod& pod) = 0;
  virtual void add_node(JsonLine& line, std::string_view key, std::string_view node) = 0;
  virtual void add_text(JsonLine& line, std::string_view key, std::string_view text) = 0;
  // What else is to be known of a pod that has just been created.
  virtual void describe(JsonLine& /*created*/, const Pod&) {}
  // A change is complete.
  virtual void add(const JsonLine& change) = 0;

  JsonLine change(std::string_view what) const;
  JsonLine change(std::string_view what, const Pod& pod);
  // The store shows the pod; `known` is what was written of it, and is brought up to date.
  void pod_changed(DeltaType type, const Pod& pod, PodStage& known);

  Loop& loop_;
};

}  // namespace berth::page
