// ResourceClaimController: claims for pods that name a template, and order in who uses claims.
//
//   a pod that names a template      gets a claim of its own, and is told its name in its status
//   a pod that goes or has finished  is taken out of the reservedFor of claims; a claim that nobody
//                                    uses any more loses its allocation and the finalizer
//   a claim that was made for a pod  goes with it (the garbage collector), or when the pod has
//                                    finished
//
// World thread only.
#pragma once

#include <map>
#include <set>
#include <string>

#include "memapi/controllers/controller.h"
#include "memapi/controllers/pod_index.h"

namespace berth::memapi {

class ResourceClaimController final : public Controller {
 public:
  ResourceClaimController(LocalClient& api, PodIndex& pods);

 private:
  // Keys: "pod/NAMESPACE/NAME" and "claim/NAMESPACE/NAME".
  void sync(const std::string& key) override;
  void sync_pod(const std::string& key);
  void sync_claim(const std::string& key);
  std::string make_claim(const StoredObject& pod, std::string_view entry,
                         const StoredObject& made_from);
  // Whether this very pod is there and will, or does, run.
  bool in_use(std::string_view namespace_name, std::string_view pod, std::string_view uid) const;

  PodIndex& pods_;
  std::map<std::string, std::set<std::string>> users_;  // claims by the UID of a pod that has them
};

}  // namespace berth::memapi
