// Door: a ClusterApi that passes every call on to another. Bugs that are planted in an API server
// override a call of it.
#pragma once

#include <string>
#include <utility>

#include "berth/cluster_api.h"

namespace berth::simulation {

class Door : public ClusterApi {
 public:
  explicit Door(ClusterApi& api) : api_(api) {}

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node) override {
    return api_.bind(std::move(pod), std::move(node));
  }
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override {
    return api_.patch_status(std::move(pod), std::move(patch));
  }
  Task<Result<void>> evict(Ref<const Pod> pod) override { return api_.evict(std::move(pod)); }
  Task<Result<AnyObject>> update(AnyObject object) override {
    return api_.update(std::move(object));
  }
  Task<Result<AnyObject>> update_status(AnyObject object) override {
    return api_.update_status(std::move(object));
  }
  Task<Result<AnyObject>> create(AnyObject object) override {
    return api_.create(std::move(object));
  }
  Task<Result<void>> remove(AnyObject object) override { return api_.remove(std::move(object)); }
  Task<Result<AnyObject>> get(ObjectKind kind, std::string space, std::string name) override {
    return api_.get(kind, std::move(space), std::move(name));
  }
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override {
    return api_.unreserve_claim(std::move(claim), std::move(consumer_uid));
  }
  void record(PodEvent event) override { api_.record(std::move(event)); }

 protected:
  ClusterApi& api_;
};

}  // namespace berth::simulation
