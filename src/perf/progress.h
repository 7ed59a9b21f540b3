// Progress: who of the pods that are waited for has been tried, and who is bound; and how long it
// took. An Observer of the engine that is measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "berth/loop.h"
#include "berth/observer.h"

namespace berth::perf {

class Progress final : public Observer {
 public:
  explicit Progress(const Loop& loop) : loop_(loop) {}

  // ---- measuring: from start to stop, all pods that are bound count
  void start();
  void stop();
  struct Measured {
    std::size_t pods = 0;
    Duration took{0};            // from start to the last binding
    Duration computed{0};        // from start to stop, by this process
    std::vector<Duration> when;  // each pod was bound, since start
    std::vector<Duration> attempts;
  };
  const Measured& measured() const { return measured_; }

  // ---- counts of all time
  std::size_t bound_pods() const { return bound_; }
  std::size_t tried_pods() const { return tried_; }  // for the first time

  // Called whenever a count has changed.
  void on_change(std::function<void()> changed) { changed_ = std::move(changed); }

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;

 private:
  const Loop& loop_;
  std::function<void()> changed_;
  std::size_t bound_ = 0, tried_ = 0;
  bool measuring_ = false;
  TimePoint started_;
  TimePoint attempt_;  // by Loop::tick
  Duration computed_before_{0};
  Measured measured_;
};

}  // namespace berth::perf
