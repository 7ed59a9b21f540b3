// ResourceClaimController: claims for pods that name a template, and order in who uses claims.
//
//   a pod that names a template      gets a claim of its own, and is told its name in its status
//   a pod that goes or has finished  is taken out of the reservedFor of claims; a claim that nobody
//                                    uses any more loses its allocation and the finalizer
//   a claim that was made for a pod  goes with it, or when the pod has finished
//
// World thread only.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/devices.h"
#include "berth/pod.h"
#include "controllers/controller.h"
#include "controllers/pod_index.h"

namespace berth::controllers {

// The annotation of a claim that was made for a pod: the pod's entry that it stands for.
inline constexpr std::string_view kPodClaimName = "resource.kubernetes.io/pod-claim-name";

// The cluster as the ResourceClaimController sees it.
class ResourceClaimWorld {
 public:
  virtual ~ResourceClaimWorld() = default;

  // Null when there is none.
  virtual Ref<const Pod> pod(std::string_view namespace_name, std::string_view name) const = 0;
  virtual Ref<const ResourceClaim> claim(std::string_view namespace_name,
                                         std::string_view name) const = 0;
  virtual Ref<const ResourceClaimTemplate> claim_template(std::string_view namespace_name,
                                                          std::string_view name) const = 0;

  // Makes the claim for an entry of the pod; its name, or nothing when it is refused.
  virtual std::string create(const Pod& pod, const PodResourceClaim& entry,
                             const ResourceClaimTemplate& made_from) = 0;
  // Tells the pod of its claims: entries and names.
  using ClaimNames = std::vector<std::pair<std::string, std::string>>;
  virtual void write_names(const Pod& pod, const ClaimNames& names) = 0;
  // Writes reservedFor, allocation and finalizers, if the claim still has `wanted`'s version; one
  // that is being deleted goes with its last finalizer. False: refused.
  virtual bool write(const ResourceClaim& wanted) = 0;
  virtual void remove(const ResourceClaim& claim) = 0;
};

class ResourceClaimController final : public Controller {
 public:
  ResourceClaimController(Loop& loop, PodIndex& pods, ResourceClaimWorld& world);

  // What has changed. `gone`: this was its last state.
  void claim_changed(const ResourceClaim& claim, bool gone);
  void template_added(std::string_view namespace_name);

 private:
  // Keys: "pod/NAMESPACE/NAME" and "claim/NAMESPACE/NAME".
  void sync(const std::string& key) override;
  void sync_pod(const std::string& key);
  void sync_claim(const std::string& key);
  // A claim that was made before, and of which the pod does not know yet; empty: none.
  std::string made_before(const Pod& pod, std::string_view entry) const;
  // Whether this very pod is there and will, or does, run.
  bool in_use(std::string_view namespace_name, std::string_view pod, std::string_view uid) const;

  PodIndex& pods_;
  ResourceClaimWorld& world_;
  std::map<std::string, std::set<std::string>, std::less<>> claims_of_;  // by the UID of a pod
  std::map<std::string, std::vector<std::string>> users_;                // those UIDs, by claim
};

}  // namespace berth::controllers
