// The PodGroup of scheduling.x-k8s.io: which member takes which field.

#include "api/coscheduling.h"
#include "api/kind_decoders.h"

namespace berth {

template <>
struct Fields<CoschedulingPodGroup::Status>
    : FieldList<"coscheduling.PodGroupStatus", Field<"phase", &CoschedulingPodGroup::Status::phase>,
                Field<"occupiedBy", &CoschedulingPodGroup::Status::occupied_by>,
                Field<"running", &CoschedulingPodGroup::Status::running>,
                Field<"succeeded", &CoschedulingPodGroup::Status::succeeded>,
                Field<"failed", &CoschedulingPodGroup::Status::failed>> {};

template <>
struct Fields<CoschedulingPodGroup>
    : FieldList<
          "coscheduling.PodGroup", Metadata,
          Inside<"spec", Field<"minMember", &CoschedulingPodGroup::min_member>,
                 Field<"minResources", &CoschedulingPodGroup::min_resources>,
                 Field<"scheduleTimeoutSeconds", &CoschedulingPodGroup::schedule_timeout_seconds>>,
          Field<"status", &CoschedulingPodGroup::status>> {};

template <>
void take_metadata(WrittenObject<CoschedulingPodGroup>& written) {
  written.object.creation_time = written.meta.creation_time;
  set_object(written.object, std::move(written.meta), /*namespaced=*/true);
}

template <typename Reader>
KindDecoder<Reader> coscheduling_decoder(ObjectKind kind) {
  return kind == ObjectKind::kCoschedulingPodGroup ? decode_kind<CoschedulingPodGroup, Reader>
                                                   : nullptr;
}
template KindDecoder<JsonReader> coscheduling_decoder(ObjectKind kind);
template KindDecoder<ProtoReader> coscheduling_decoder(ObjectKind kind);

}  // namespace berth
