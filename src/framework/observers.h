// Observers: one Observer that passes each call on to several, in order.
//
// The numbers go to the first of them that measures, without a detour through this class.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "berth/observer.h"

namespace berth {

class Observers final : public Observer {
 public:
  // They outlive this.
  explicit Observers(std::vector<Observer*> observers) : observers_(std::move(observers)) {}

  void queued(const Pod& pod, QueueName queue, std::string_view event) override;
  void attempt_started(const Pod& pod, std::int32_t attempt) override;
  void decided(const Decision& decision) override;
  void searched_slowly(const Pod& pod, const SlowSearch& search) override;
  bool wants_trace(const Pod& pod) const override;
  void traced(const Pod& pod, const NodeTable& nodes, const SearchTrace& trace) override;
  void reserved(const Pod& pod, std::string_view plugin) override;
  void unreserved(const Pod& pod, std::string_view plugin) override;
  void wait_started(const Pod& pod, std::span<const PermitHold> holds) override;
  void wait_ended(const Pod& pod, const Outcome& outcome, Duration waited) override;
  void bound(const Pod& pod, std::string_view node, std::int32_t attempts) override;
  void failed(const Pod& pod, const Outcome& outcome) override;
  void status_decided(const Pod& pod, const PodStatusPatch& patch) override;
  void preempted(const Pod& victim, const Pod& preemptor, std::string_view node) override;
  void group_decided(const PodGroup& group, const Outcome& outcome) override;
  void event(const PodEvent& event) override;
  void internal_error(std::string_view message) override;
  Observer* measuring() override;

 private:
  const std::vector<Observer*> observers_;
};

}  // namespace berth
