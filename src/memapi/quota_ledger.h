// QuotaLedger: ResourceQuotas at the door. What is created in a namespace, or grows, is charged to
// the quotas that are about it, or refused when there is no room.
//
// Writes that are charged go one after the other, so that what a quota says is used is what is
// stored. What goes is noticed later, when somebody has recount() look (the quota controller). Any
// thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread.h"
#include "berth/loop.h"
#include "memapi/api_error.h"
#include "memapi/crd_kinds.h"
#include "memapi/quota_usage.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

class QuotaLedger {
 public:
  // What is passed by reference outlives this.
  QuotaLedger(Store& store, const CrdRegistry& crds, const Loop& loop)
      : store_(store), crds_(crds), loop_(loop) {}

  // Stores an object; nothing when somebody else was quicker.
  using Write = std::function<Answer<ObjectRef>()>;
  // Calls `write`, which stores `object` (in place of `old`, if there was one, and may take it
  // apart), when every quota of its namespace has room for it, and charges them if it was stored.
  Answer<ObjectRef> charge(const Resource& resource, const JsonValue& object,
                           const StoredObject* old, bool dry_run, const Write& write)
      EXCLUDES(mutex_);

  // Counts what the quota limits and writes it into its status.
  void recount(std::string_view namespace_name, std::string_view name) EXCLUDES(mutex_);

 private:
  struct Charge {
    std::string quota;
    Amounts amounts;
  };
  Answer<std::vector<Charge>> charges_for(const Resource& resource, const JsonValue& object,
                                          const Amounts& usage) const REQUIRES(mutex_);
  Amounts count(const Resource& resource, const JsonValue& quota,
                const std::vector<std::string>& names) const;

  Store& store_;
  const CrdRegistry& crds_;
  const Loop& loop_;
  Mutex mutex_;  // held before the store's own
};

}  // namespace berth::memapi
