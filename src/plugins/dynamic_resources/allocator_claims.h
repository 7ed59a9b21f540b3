// Claims prepared for the search: classes looked up, selectors known, constraints taken apart, and
// everything checked that does not depend on the node. For the allocator's own files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/devices.h"
#include "berth/views.h"
#include "plugins/dynamic_resources/allocator_constraints.h"
#include "plugins/dynamic_resources/allocator_pools.h"

namespace berth::plugins {

struct PreparedSelector {
  SelectorId id = 0;
  bool of_class = false;
  std::uint32_t index = 0;  // among those of the class, or of the request
};

// A request, or one subrequest of one.
struct PreparedRequest {
  const ExactDeviceRequest* written = nullptr;
  Symbol name;       // its own
  Symbol request;    // of the request it is, or is part of
  Symbol full_name;  // "request" or "request/subrequest"
  std::int16_t subrequest = -1;
  std::string error;  // why nothing can be allocated for it
  Ref<const DeviceClass> device_class;
  std::vector<PreparedSelector> selectors;  // in the order of evaluation
  bool all = false;
  bool admin = false;
  std::int64_t count = 0;                  // unless all
  std::vector<std::uint32_t> constraints;  // those of the claim that apply
};

// The subrequests of a request, or the request itself.
struct RequestAlternatives {
  std::string error;
  std::vector<PreparedRequest> alternatives;
  bool prioritized = false;  // firstAvailable
};

struct PreparedClaim {
  Ref<const ResourceClaim> claim;
  std::string full_name;  // namespace/name
  std::uint64_t selector_epoch = 0;
  std::vector<RequestAlternatives> requests;
  std::vector<AttributeConstraint> constraints;
  std::string constraint_error;
  SymbolHold symbols;
};

PreparedClaim prepare_claim(const Ref<const ResourceClaim>& claim, DevicePools& pools,
                            const Cluster& cluster);

// Whether a toleration answers the taint (whatever the taint's effect).
bool tolerates(const DeviceToleration& toleration, const DeviceTaint& taint,
               const Symbols& symbols);
// Whether some taint, of the device's own or of a rule, keeps the request from the device.
bool taint_prevents(const Candidate& candidate, const ExactDeviceRequest& request,
                    const DevicePools& pools);

}  // namespace berth::plugins
