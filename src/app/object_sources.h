// Where a scheduler that explains itself gets objects as JSON: from the API server that it serves, or
// from the one in the same process.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/live_objects.h"
#include "kube/api_client.h"
#include "live/asked_objects.h"
#include "memapi/local_client.h"

namespace berth::app {

// Reads one object at a time, behind everything else that `api` has to send. What may not be read is
// as if it were not there.
class KubeObjects final : public live::ObjectSource {
 public:
  explicit KubeObjects(kube::ApiClient& api);
  Task<std::optional<std::string>> get(std::string kind, std::string namespace_name,
                                       std::string name) override;

 private:
  kube::ApiClient& api_;
  std::map<std::string, kube::WatchedKind> kinds_;  // by name
};

class EmbeddedObjects final : public live::ObjectSource {
 public:
  explicit EmbeddedObjects(memapi::LocalClient& api) : api_(api) {}
  Task<std::optional<std::string>> get(std::string kind, std::string namespace_name,
                                       std::string name) override;

 private:
  memapi::LocalClient& api_;
};

}  // namespace berth::app
