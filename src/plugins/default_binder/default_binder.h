// DefaultBinder asks the API server to bind the pod to its node. It never leaves a pod to another
// binder; whatever goes wrong with the call is its own error. Reads nothing but names.
#pragma once

#include <memory>

#include "berth/plugin_table.h"

namespace berth::plugins {

class DefaultBinder final : public BindPlugin {
 public:
  explicit DefaultBinder(ClusterApi& api) : api_(api) {}
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "DefaultBinder"; }
  Dependence dependence() const override { return Dependence::kRow; }
  Task<Outcome> bind(Cycle& cycle, std::string_view node_name) const override;

 private:
  ClusterApi& api_;
};

}  // namespace berth::plugins
