// Amounts of resources: as written (ResourceList) and as the scheduler counts them (Resources).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/quantity.h"
#include "base/symbols.h"

namespace berth {

class Pod;
struct PodSpec;

struct ResourceAmount {
  Symbol name;
  Quantity amount;

  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// Sorted by name (by number); a name is there at most once.
class ResourceList {
 public:
  ResourceList() = default;
  explicit ResourceList(std::vector<ResourceAmount> amounts);

  const Quantity* find(Symbol name) const;
  void set(Symbol name, Quantity amount);
  void add(const ResourceList& other);           // sums, name by name
  void raise_to(const ResourceList& other);      // maximum, name by name
  void fill_from(const ResourceList& defaults);  // takes names that are missing here

  bool empty() const { return amounts_.empty(); }
  std::size_t size() const { return amounts_.size(); }
  auto begin() const { return amounts_.begin(); }
  auto end() const { return amounts_.end(); }

  friend bool operator==(const ResourceList&, const ResourceList&) = default;

 private:
  std::vector<ResourceAmount> amounts_;
};

struct ScalarAmount {
  Symbol name;
  std::int64_t amount = 0;

  friend bool operator==(const ScalarAmount&, const ScalarAmount&) = default;
};

// The scheduler's vector (plugins.md §3.2). Scalars are extended resources, hugepages and the like,
// sorted by name; a scalar that is named with amount 0 is there.
struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  std::int64_t pods = 0;  // of a node: how many it takes
  std::vector<ScalarAmount> scalars;

  std::int64_t scalar(Symbol name) const;  // 0 when absent
  bool has_scalar(Symbol name) const;

  friend bool operator==(const Resources&, const Resources&) = default;
};

bool is_scalar_resource(std::string_view name);
bool is_extended_resource(std::string_view name);

// As they are, negative ones too (a node's allocatable).
Resources to_resources(const ResourceList& list, const Symbols& symbols);
// With negatives as zero (an incoming pod's requests).
Resources to_request(const ResourceList& list, const Symbols& symbols);

// Which parts of a pod count towards its requests (plugins.md §3.1).
struct RequestOptions {
  bool use_status = false;                 // resources in the status of a pod that is being resized
  bool pod_level = true;                   // spec.resources
  bool pod_level_status = false;           // status.resources
  const ResourceList* defaults = nullptr;  // for containers that do not name a resource
};

ResourceList pod_requests(const PodSpec& spec, const RequestOptions& options);
ResourceList pod_requests(const Pod& pod, const RequestOptions& options);

// What a pod takes from the node it is on: real requests, and the pair with upstream's defaults for
// containers that request nothing, which scoring looks at.
struct PodUsage {
  Resources requests;
  std::int64_t nonzero_milli_cpu = 0;
  std::int64_t nonzero_memory = 0;
};
PodUsage pod_usage(const PodSpec& spec, const Symbols& symbols);
PodUsage pod_usage(const Pod& pod);  // of a pod whose status has resources

inline constexpr std::int64_t kDefaultMilliCpuRequest = 100;
inline constexpr std::int64_t kDefaultMemoryRequest = 200LL * 1024 * 1024;

}  // namespace berth
