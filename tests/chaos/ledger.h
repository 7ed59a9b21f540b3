// Ledger: what must be true of the traffic between schedulers and API server, whatever goes wrong.
//
//   - no write leaves a scheduler later than the sending of its last renewal that succeeded, plus
//     the renew deadline
//   - the server binds a pod once
//   - schedulers delete only pods that one of them has marked as the target of a disruption
//
// It also knows which pods got their place in a way that no scheduler could know of.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "network.h"

namespace berth::chaos {

// The lease's times, as upstream's defaults are.
inline constexpr Duration kLeaseDuration = std::chrono::seconds(15);
inline constexpr Duration kRenewDeadline = std::chrono::seconds(10);

class Ledger final : public Traffic {
 public:
  using Note = std::function<void(std::string_view what, std::string_view about)>;

  Ledger(const VirtualClock& clock, Note note) : clock_(clock), note_(std::move(note)) {}

  void sent(const Exchange& exchange) override;
  void handled(const Exchange& exchange, int status) override;
  void answered(const Exchange& exchange, int status) override;
  void disturbed(const Exchange& exchange, std::string_view how) override;

  // Whether this scheduler has the lease, by what it has been told.
  bool holds(const std::string& who) const {
    const auto found = holds_until_.find(who);
    return found != holds_until_.end() && clock_.now() <= found->second;
  }

  // The server was set back: what it did since does not count.
  void restored() { bindings_.clear(); }

  // "namespace/name" of pods whose binding took the network longer than the lease is safe for, or
  // took effect and was answered with an error, and nobody could read what became of it. A name is
  // used once.
  const std::set<std::string>& placed_unasked() const { return placed_unasked_; }
  void place_unasked(const std::string& pod) { placed_unasked_.insert(pod); }

  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void read(const Exchange& exchange, const std::string& pod);
  void violated(std::string text);

  const VirtualClock& clock_;
  const Note note_;
  std::map<std::string, TimePoint> holds_until_;  // by scheduler
  std::map<std::string, int> bindings_;           // that took effect, by pod
  std::set<std::string> victims_;                 // pods that are to be preempted
  std::set<std::string> late_;
  std::set<std::string> placed_unasked_;
  std::map<std::string, std::string> bound_by_;  // by pod: the scheduler
  std::vector<std::string> violations_;
};

}  // namespace berth::chaos
