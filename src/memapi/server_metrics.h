// What the embedded API server counts about itself, as Prometheus reads it (GET /metrics): requests
// and objects, under upstream's names. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/thread.h"
#include "memapi/api_request.h"
#include "memapi/store.h"

namespace berth::memapi {

class ServerMetrics {
 public:
  // An answer has been given to `request`.
  void count(const ApiRequest& request, int code) EXCLUDES(mutex_);
  std::string text(const Store& store) const EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::uint64_t> requests_ GUARDED_BY(mutex_);  // by labels
};

}  // namespace berth::memapi
