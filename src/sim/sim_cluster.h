// SimCluster: the API server of the simulator. A store of objects, a watch that shows every change
// after a while, and the ClusterApi through which the scheduler changes things; calls take time and
// can be made to go wrong.
//
// Everything happens on one loop, in virtual time: the same seed gives the same run.
#pragma once

#include <chrono>

#include "berth/loop.h"
#include "store/cluster_store.h"
#include "storeapi/store_api.h"

namespace berth::sim {

struct SimTiming {
  Duration call{std::chrono::milliseconds(1)};   // until a call takes effect
  Duration watch{std::chrono::milliseconds(1)};  // until the watch shows a change
};

// The object as the kind that it is known to be.
template <typename T>
Ref<const T> cast_to(const Ref<const Object>& object) {
  return Ref<const T>(static_cast<const T*>(object.get()));
}

class SimCluster final : public ClusterStore, public StoreApi {
 public:
  SimCluster(Loop& loop, SimTiming timing)
      : ClusterStore(loop, timing.watch),
        StoreApi(loop, static_cast<ClusterStore&>(*this),
                 {.latency = timing.call, .keeps_statuses = true, .starts_pods = true}) {}
};

}  // namespace berth::sim
