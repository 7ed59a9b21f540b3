// Quorum: a Permit plugin for scenarios. Pods with a certain label wait until enough pods with the
// same value have found a node; then all of them go. Whoever is still waiting when the time is up
// is turned away, and with it the others of its group, so that nobody holds a place for nothing.
// They are woken when one more of the group arrives.
#pragma once

#include <map>
#include <set>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "berth/waiting_pods.h"
#include "sim/scenario.h"

namespace berth::sim {

class Quorum final : public PermitPlugin, public ReservePlugin {
 public:
  Quorum(QuorumRule rule, const Handle& handle);

  std::string_view name() const override { return rule_.plugin; }
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

  Outcome reserve(Cycle& cycle, std::string_view node_name) override;
  void unreserve(Cycle& cycle, std::string_view node_name) override;
  PermitResult permit(Cycle& cycle, std::string_view node_name) override;

 private:
  using Group = std::pair<Symbol, Symbol>;  // namespace, value of the label
  Group group_of(const Pod& pod) const;

  QuorumRule rule_;
  Handle handle_;
  SymbolHold symbols_;
  Symbol label_;
  std::map<Group, std::set<Uid>> placed_;  // who has a place
  std::map<Group, std::map<Uid, Ref<const Pod>>> turned_away_;
};

}  // namespace berth::sim
