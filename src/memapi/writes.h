// Writes: everything that changes the store on a client's behalf. Each write reads what is there,
// makes the new object, and puts it in place if nobody was quicker; else it begins again, unless
// the client said which version it means. Any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/thread.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "memapi/admission.h"
#include "memapi/api_request.h"
#include "memapi/codec.h"
#include "memapi/crd_kinds.h"
#include "memapi/quota_ledger.h"
#include "memapi/rbac.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// What a write answers: the object, or a Status that is JSON already.
struct Written {
  int code = 200;
  ObjectRef object;
  std::string status;  // when there is no object
};

// What becomes of objects whose owner goes. Somebody has to do it: the garbage collector.
enum class Propagation : std::uint8_t { kDefault, kBackground, kForeground, kOrphan };

// DeleteOptions, as far as they are honoured.
struct DeleteOptions {
  std::optional<std::int64_t> grace_period_seconds = {};
  std::string uid = {};
  std::string resource_version = {};
  Propagation propagation = Propagation::kDefault;
  bool dry_run = false;
};

inline constexpr std::string_view kOrphanFinalizer = "orphan";
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
// Keeps a definition until its objects are gone.
inline constexpr std::string_view kDefinitionFinalizer =
    "customresourcecleanup.apiextensions.k8s.io";
// Marks a definition that is about to be deleted.
void mark_definition_going(JsonValue& definition, WallTime now);

class Writes {
 public:
  // Without `rbac`, which may be null, everybody may write roles and bindings of any kind.
  Writes(Store& store, CrdRegistry& crds, Loop& loop, Random random, AdmissionPlugins plugins,
         const ProtobufCodec* codec, Rbac* rbac = nullptr)
      : store_(store),
        crds_(crds),
        loop_(loop),
        plugins_(plugins),
        codec_(codec),
        rbac_(rbac),
        quotas_(store, crds, loop),
        random_(std::move(random)) {}

  Answer<Written> create(const ApiRequest& request);
  Answer<Written> update(const ApiRequest& request);
  Answer<Written> patch(const ApiRequest& request);
  Answer<Written> remove(const ApiRequest& request);
  // The objects that were deleted.
  Answer<ListPage> remove_collection(const ApiRequest& request);
  // POST on pods/binding or on bindings.
  Answer<Written> bind(const ApiRequest& request);
  Answer<Written> evict(const ApiRequest& request);
  // GET, PUT and PATCH on …/scale: an autoscaling/v1 Scale as JSON.
  Answer<std::string> scale(const ApiRequest& request);

  // The object in a request's body, as JSON with no nulls and no kind and apiVersion.
  Answer<JsonValue> decode(const ApiRequest& request, std::string_view kind) const;

  // ---- without a request: what the server itself and its local clients do
  Answer<ObjectRef> add(const Resource& resource, JsonValue object);
  Answer<ObjectRef> edit(const Resource& resource, std::string_view namespace_name,
                         std::string_view name, std::string_view subresource,
                         const std::function<Answer<void>(JsonValue& object)>& edit);
  Answer<void> remove(const Resource& resource, std::string_view namespace_name,
                      std::string_view name, const DeleteOptions& options);
  Answer<void> bind(std::string_view namespace_name, const JsonValue& binding);
  // Removes what is left in namespaces that are going, and those that are empty.
  void sweep_namespaces();
  // Counts what a ResourceQuota limits.
  void recount_quota(std::string_view namespace_name, std::string_view name) {
    quotas_.recount(namespace_name, name);
  }
  // Accepts the names of definitions, serves what they define, deletes what they no longer do.
  void settle_definitions();

 private:
  using Change = std::function<Answer<void>(JsonValue& object, const ObjectRef& current)>;
  // Puts metadata.managedFields into an object that is about to be stored.
  using Track = std::function<void(JsonValue& object)>;

  Answer<ObjectRef> prepare_and_create(const Resource& resource, JsonValue object, bool dry_run,
                                       const Track& track = {});
  // Puts it in place, under another name if its own is generated and taken.
  Answer<ObjectRef> store_new(const Resource& resource, JsonValue& object,
                              const std::string& prefix, bool dry_run);
  // Stores the object, if the quotas of its namespace have room. `old` is null for a new one.
  Answer<ObjectRef> write_charged(const Resource& resource, const JsonValue& object,
                                  const StoredObject* old, bool dry_run,
                                  const QuotaLedger::Write& write);
  // Changes an object until nobody else was quicker.
  Answer<Written> change(const Resource& resource, std::string_view namespace_name,
                         std::string_view name, bool dry_run, const Change& edit);
  // Records who changed what, unless the edit has done so. `part` is the subresource that the
  // managers are told of.
  enum class Recorded : bool { kNo, kYes };
  Answer<Written> update_object(const ApiRequest& request, const Change& edit,
                                std::string_view part, Recorded recorded = Recorded::kNo);
  Answer<void> finish_update(const Resource& resource, std::string_view subresource,
                             JsonValue& object, const ObjectRef& current) const;
  Answer<Written> apply(const ApiRequest& request, const JsonValue& patch);
  Answer<Written> apply_to_existing(const ApiRequest& request, const JsonValue& wish,
                                    std::string_view part);
  Answer<Written> apply_scale(const ApiRequest& request);
  Answer<Written> remove_object(const Resource& resource, const ObjectRef& current,
                                const DeleteOptions& options, bool& retry);
  Answer<Written> remove_named(const Resource& resource, std::string_view namespace_name,
                               std::string_view name, const DeleteOptions& options);
  Answer<void> check_escalation(const ApiRequest& request, const JsonValue& object,
                                const JsonValue* old) const {
    return rbac_ == nullptr ? Answer<void>()
                            : rbac_->check_escalation(request.user, *request.resource, object, old);
  }
  Answer<JsonValue> scale_body(const ApiRequest& request) const;
  Answer<DeleteOptions> delete_options(const ApiRequest& request) const;
  Answer<Written> remove_namespace(const ObjectRef& current, const DeleteOptions& options,
                                   bool& retry);
  Answer<Written> gone(const Resource& resource, const ObjectRef& last);
  Answer<void> check_budgets(const ObjectRef& pod, bool ready, bool dry_run);
  Answer<void> check_namespace(const Resource& resource, std::string_view namespace_name,
                               std::string_view name) const;
  // After a write to the resource: what a definition or the end of one brings with it.
  void settle_after(const Resource& resource);
  void sweep_definitions();
  std::string random_suffix() EXCLUDES(random_mutex_);
  std::string random_uid() EXCLUDES(random_mutex_);

  Store& store_;
  CrdRegistry& crds_;
  Loop& loop_;
  const AdmissionPlugins plugins_;
  const ProtobufCodec* codec_;
  Rbac* const rbac_;
  QuotaLedger quotas_;
  Mutex random_mutex_;
  Random random_ GUARDED_BY(random_mutex_);
};

}  // namespace berth::memapi
