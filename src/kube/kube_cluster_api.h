// KubeClusterApi: the scheduler's writes as requests to an API server (shell.md §6.4): bindings,
// changes of pod statuses, deletions, volumes and claims (object_writes.h). World thread.
//
// What is sent is what upstream sends, key for key. A binding and a status are tried again where
// that can help, four times in all. When the result of a binding is not known then (no answer, or
// an answer that may hide a success) the pod is read: a place that is taken must not be given away.
#pragma once

#include <string>

#include "berth/cluster_api.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "kube/api_client.h"
#include "kube/event_recorder.h"
#include "kube/object_writes.h"

namespace berth::kube {

class KubeClusterApi final : public ClusterApi {
 public:
  // All must outlive it; `random` spreads further tries.
  KubeClusterApi(Loop& loop, ApiClient& client, Interner& interner, EventRecorder& events,
                 Random random)
      : loop_(loop),
        client_(client),
        interner_(interner),
        events_(events),
        random_(random),
        writes_(client, interner) {}

  Task<Result<void>> bind(Ref<const Pod> pod, std::string node_name) override;
  Task<Result<bool>> is_bound(Ref<const Pod> pod, std::string node_name, bool unanswered) override;
  // Nothing is sent when the pod, as given, has everything in the patch already.
  Task<Result<std::string>> patch_status(Ref<const Pod> pod, PodStatusPatch patch) override;
  // kNotFound when this very pod is gone; another one that has its name by now stays.
  Task<Result<void>> evict(Ref<const Pod> pod) override;
  Task<Result<AnyObject>> update(AnyObject object) override;
  Task<Result<AnyObject>> update_status(AnyObject object) override;
  Task<Result<AnyObject>> create(AnyObject object) override;
  Task<Result<void>> remove(AnyObject object) override;
  Task<Result<AnyObject>> get(ObjectKind kind, std::string namespace_name,
                              std::string name) override;
  Task<Result<void>> unreserve_claim(Ref<const Object> claim, std::string consumer_uid) override;
  void record(PodEvent event) override { events_.record(std::move(event)); }

 private:
  Task<void> pause_before_try(int number);

  Loop& loop_;
  ApiClient& client_;
  Interner& interner_;
  EventRecorder& events_;
  Random random_;
  ObjectWrites writes_;
};

}  // namespace berth::kube
