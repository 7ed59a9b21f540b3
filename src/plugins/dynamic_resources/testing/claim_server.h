// An API server for tests of claims: a store of them, the ClusterApi over it with all that a test can
// do to calls (RecordingApi), and a watch that shows what is stored to the cluster at once, unless it
// is told to keep that back.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "berth/views.h"
#include "framework/testing/recording_api.h"
#include "store/cluster_store.h"
#include "storeapi/store_api.h"

namespace berth::testing {

class ClaimServer final : public RecordingApi {
 public:
  ClaimServer(Loop& loop, Cluster& cluster);

  // Somebody else has written the claim.
  void put(const Ref<const ResourceClaim>& claim);
  void drop(std::string_view name);
  const ResourceClaim& stored(std::string_view name) const;
  bool has(std::string_view name) const;
  std::vector<std::string> names() const;

  // Keeps what is written from the watch; shown by show().
  void keep_back() { kept_back_ = true; }
  void show();

 private:
  Cluster& cluster_;
  ClusterStore store_;
  StoreApi api_;
  bool kept_back_ = false;
};

}  // namespace berth::testing
