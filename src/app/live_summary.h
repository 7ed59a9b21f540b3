// LiveSummary: what `berth run` shows of the cluster while it lives: on a terminal a picture that
// is drawn anew, elsewhere a line for each thing that happens and a summary now and then. World
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "berth/loop.h"
#include "berth/observer.h"
#include "memapi/local_client.h"

namespace berth::app {

class LiveSummary final : public Observer {
 public:
  // `columns` is the width of the terminal that `out` is and that may be drawn on; 0: it is none.
  LiveSummary(memapi::LocalClient& api, std::ostream& out, std::size_t columns);
  ~LiveSummary() override;

  // From now on it is shown.
  void start();
  // The last words: what became of all pods.
  void finish();

  // Whether pods run that will end by themselves and make room.
  bool room_to_come() const;
  // Pods that are bound and do not run yet, or are deleted and still there.
  std::size_t in_motion() const;

  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;
  void internal_error(std::string_view message) override;

 private:
  enum class State : std::uint8_t { kPending, kGated, kStarting, kRunning, kEnding, kEnded };
  struct PodLine {
    State state = State::kPending;
    std::string node;
    std::int64_t milli_cpu = 0;
    bool finite = false;  // ends by itself
    std::string why;      // it is pending
  };
  struct NodeLine {
    std::int64_t milli_cpu = 0;
    std::string zone;
  };

  void pod_changed(const memapi::Change& change);
  void node_changed(const memapi::Change& change);
  void say(std::string line);
  void draw();
  void redraw_later();
  bool on_terminal() const { return columns_ > 0; }
  std::size_t count(State state) const;
  std::string counts_line() const;
  std::string nodes_picture() const;

  memapi::LocalClient& api_;
  std::ostream& out_;
  const std::size_t columns_;
  bool shown_ = false;
  std::size_t drawn_lines_ = 0;
  std::map<std::string, PodLine> pods_;
  std::map<std::string, NodeLine> nodes_;
  std::deque<std::string> recent_;
  std::size_t scheduled_ = 0;
  std::size_t failures_ = 0;
  std::size_t preemptions_ = 0;
  std::unique_ptr<memapi::Following> pods_following_;
  std::unique_ptr<memapi::Following> nodes_following_;
  Lifetime lifetime_;
};

}  // namespace berth::app
