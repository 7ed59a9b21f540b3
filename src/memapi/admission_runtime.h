// Admission by objects that a cluster's owner has made: RuntimeClasses, which say what running a
// pod costs and where it may run, and LimitRanges, which bound what pods and claims of a namespace
// ask for.
#pragma once

#include "memapi/api_error.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Overhead, node selector and tolerations of the pod's RuntimeClass.
Answer<void> admit_runtime_class(const Resource& resource, JsonValue& pod, const Store& store);

// Requests and limits that the pod does not say, then whether all are within bounds.
Answer<void> admit_pod_limits(const Resource& resource, JsonValue& pod, const Store& store);
Answer<void> admit_claim_limits(const Resource& resource, const JsonValue& claim,
                                const Store& store);
// What a LimitRange says by saying something else: a default by a maximum, and so on.
void default_limit_range(JsonValue& range);

}  // namespace berth::memapi
