#include "berth/status.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace berth {

void Diagnosis::add_plugin(Code code, const std::string& plugin) {
  if (plugin.empty()) return;
  if (is_rejected(code)) unschedulable_plugins.insert(plugin);
  if (code == Code::kPending) pending_plugins.insert(plugin);
}

std::string FitError::message() const {
  std::string text = fmt::format("0/{} nodes are available:", all_nodes);
  if (!pre_filter_message.empty()) {
    text += fmt::format(" {}.", pre_filter_message);
  } else {
    std::vector<std::string> counted;
    counted.reserve(reasons.size());
    for (const auto& [reason, count] : reasons)
      counted.push_back(fmt::format("{} {}", count, reason));
    // Parity: sorted as strings, so "10 x" comes before "2 y".
    std::ranges::sort(counted);
    if (!counted.empty()) text += fmt::format(" {}.", fmt::join(counted, ", "));
  }
  if (!post_filter_message.empty()) text += fmt::format(" {}", post_filter_message);
  return text;
}

std::shared_ptr<const FitError> fit_error_for_one(const Outcome& rejection) {
  auto error = std::make_shared<FitError>();
  error->all_nodes = 1;
  for (std::string& reason : rejection.all_reasons()) ++error->reasons[std::move(reason)];
  // Parity: unlike a verdict of Filter, the rejector counts here even when it has no name (a
  // waiting pod that was deleted); no hint matches that name, so only wildcard events move the pod.
  error->unschedulable_plugins.insert(rejection.plugin);
  if (rejection.code == Code::kPending) error->pending_plugins.insert(rejection.plugin);
  return error;
}

}  // namespace berth
