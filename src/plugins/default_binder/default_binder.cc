#include "plugins/default_binder/default_binder.h"

namespace berth::plugins {

Result<std::unique_ptr<Plugin>> DefaultBinder::create(const config::PluginArgs&,
                                                      const Handle& handle) {
  return std::make_unique<DefaultBinder>(handle.api);
}

Task<Outcome> DefaultBinder::bind(Cycle& cycle, std::string_view node_name) const {
  Task<Result<void>> call = api_.bind(cycle.pod_ref(), std::string(node_name));
  Result<void> answer = co_await call;
  if (!answer) co_return Outcome::failure(std::move(answer.error().message));
  co_return Outcome::success();
}

}  // namespace berth::plugins
