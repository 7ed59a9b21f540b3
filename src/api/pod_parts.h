// What is made of a pod's parts once they are read, whatever the encoding. For the pod decoders.
#pragma once

#include <cstdint>
#include <memory>

#include "api/object_json.h"
#include "api/pod_json.h"

namespace berth {

void take_metadata(WrittenMeta&& meta, WrittenPod& pod);
// Of terminationGracePeriodSeconds: what fits.
std::int32_t clamped_grace(std::int64_t seconds);
// After the spec is there: of the status only that is kept which says something new.
void take_extra(std::unique_ptr<PodExtra> extra, WrittenPod& pod);

}  // namespace berth
