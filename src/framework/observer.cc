#include "berth/observer.h"

namespace berth {

std::string_view to_string(QueueName queue) {
  switch (queue) {
    case QueueName::kActive: return "active";
    case QueueName::kBackoff: return "backoff";
    case QueueName::kUnschedulable: return "unschedulable";
    case QueueName::kGated: return "gated";
  }
  return "active";
}

}  // namespace berth
