#include "plugins/priority_sort/priority_sort.h"

namespace berth::plugins {

Result<std::unique_ptr<Plugin>> PrioritySort::create(const config::PluginArgs&, const Handle&) {
  return std::make_unique<PrioritySort>();
}

bool PrioritySort::less(const QueuedPod& a, const QueuedPod& b) const {
  const std::int32_t first = a.pod->priority(), second = b.pod->priority();
  return first > second || (first == second && a.timestamp < b.timestamp);
}

}  // namespace berth::plugins
