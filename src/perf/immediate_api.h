// ImmediateApi: an API server that says yes at once and shows what comes of it.
#pragma once

#include <cstdint>
#include <string>

#include "api/owned_fields.h"
#include "engine/engine.h"
#include "framework/cluster_api.h"

namespace berth::perf {

class ImmediateApi final : public ClusterApi {
 public:
  // Before anything is asked of it.
  void show_to(Engine& engine) { engine_ = &engine; }

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override;
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  Task<Result<AnyObject>> update(AnyObject object) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  Task<Result<AnyObject>> create(AnyObject object) override;
  Task<Result<void>> remove(AnyObject object) override;
  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                              std::string name) override;
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override;
  void record(PodEvent) override { ++events_; }

  std::uint64_t events() const { return events_; }

 private:
  void show(DeltaType type, PodDraft draft);
  Result<AnyObject> write(const AnyObject& object, WrittenPart part);

  Engine* engine_ = nullptr;
  std::uint64_t version_ = 1;
  std::uint64_t events_ = 0;
};

}  // namespace berth::perf
