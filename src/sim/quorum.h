// Quorum: a Permit plugin for scenarios. Pods with a certain label wait until enough pods with the
// same value have found a node; then all of them go. Whoever is still waiting when the time is up is
// turned away, and with it the others of its group, so that nobody holds a place for nothing.
#pragma once

#include <map>
#include <set>
#include <string>

#include "framework/handle.h"
#include "framework/plugin.h"
#include "framework/waiting_pods.h"
#include "sim/scenario.h"

namespace berth::sim {

class Quorum final : public PermitPlugin, public ReservePlugin {
 public:
  Quorum(QuorumRule rule, const Handle& handle);

  std::string_view name() const override { return rule_.plugin; }
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

  Outcome reserve(Cycle& cycle, std::string_view node_name) const override;
  void unreserve(Cycle& cycle, std::string_view node_name) const override;
  PermitResult permit(Cycle& cycle, std::string_view node_name) const override;

 private:
  Symbol group_of(const Pod& pod) const;

  QuorumRule rule_;
  Handle handle_;
  SymbolHold symbols_;
  Symbol label_;
  // Who has a place, by namespace and group. The plugin is asked through const interfaces.
  using Group = std::pair<Symbol, Symbol>;
  mutable std::map<Group, std::set<Uid>> placed_;
};

}  // namespace berth::sim
