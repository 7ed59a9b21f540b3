#include "explain/resource_claim_edits.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "berth/views.h"

namespace berth::explain {
namespace {

constexpr std::size_t kMostClasses = 10;  // that are tried

Edit create_resource_claim(const UnplacedPod& unplaced, const std::string& name,
                           const std::string& device_class) {
  JsonValue exactly = JsonValue::object();
  exactly.add("deviceClassName", JsonValue::of_text(device_class));
  exactly.add("allocationMode", JsonValue::of_text("ExactCount"));
  exactly.add("count", JsonValue::of_int(1));
  JsonValue request = JsonValue::object();
  request.add("name", JsonValue::of_text("device"));
  request.add("exactly", std::move(exactly));
  JsonValue requests = JsonValue::array();
  requests.items.push_back(std::move(request));

  JsonValue claim = JsonValue::object();
  claim.add("apiVersion", JsonValue::of_text("resource.k8s.io/v1"));
  claim.add("kind", JsonValue::of_text("ResourceClaim"));
  PatchedObject made(std::move(claim));
  made.set({"metadata", "name"}, JsonValue::of_text(name));
  made.set({"metadata", "namespace"}, JsonValue::of_text(unplaced.pod()->namespace_name()));
  made.set({"spec", "devices", "requests"}, std::move(requests));
  Edit edit;
  edit.code = "CreateResourceClaim";
  edit.summary =
      fmt::format("create the ResourceClaim {} for a device of class {}", name, device_class);
  edit.cost = 9;
  edit.created.push_back(made.object());
  return edit;
}

}  // namespace

std::vector<std::vector<Edits>> missing_resource_claims(const UnplacedPod& unplaced) {
  std::vector<std::vector<Edits>> by_claim;
  std::set<std::string> names;
  for (const PodResourceClaim& entry : unplaced.spec().resource_claims) {
    std::string name = unplaced.text(entry.claim_name);
    if (name.empty() || !names.insert(name).second ||
        unplaced.cluster().find(ObjectKind::kResourceClaim, unplaced.pod()->namespace_name(), name))
      continue;
    std::vector<Edits> ways;
    for (const Ref<const Object>& device_class :
         unplaced.cluster().list(ObjectKind::kDeviceClass)) {
      ways.push_back({create_resource_claim(unplaced, name, device_class->name)});
      if (ways.size() == kMostClasses) break;
    }
    if (!ways.empty()) by_claim.push_back(std::move(ways));
  }
  return by_claim;
}

}  // namespace berth::explain
