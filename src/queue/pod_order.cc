#include "queue/pod_order.h"

#include <fmt/format.h>

#include <exception>

namespace berth {

bool PodOrder::less(const QueuedPod& a, const QueuedPod& b) const noexcept {
  try {
    return sort_->less(a, b);
  } catch (const std::exception& thrown) {
    observer_.internal_error(
        fmt::format("QueueSort plugin {} threw: {}", sort_->name(), thrown.what()));
  } catch (...) {
    observer_.internal_error(fmt::format("QueueSort plugin {} threw", sort_->name()));
  }
  return false;
}

}  // namespace berth
