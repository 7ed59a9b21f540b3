// The PodGroup of scheduling.x-k8s.io/v1alpha1: a custom resource, for the plugin Coscheduling. The
// PodGroup of scheduling.k8s.io is another kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/object.h"
#include "berth/resources.h"

namespace berth {

struct CoschedulingPodGroup final : Object {
  // As events name it: resource, version and group.
  static constexpr std::string_view kResource = "podgroups.v1alpha1.scheduling.x-k8s.io";
  // The label by which a pod belongs to the PodGroup of that name in its namespace.
  static constexpr std::string_view kLabel = "scheduling.x-k8s.io/pod-group";

  explicit CoschedulingPodGroup(SymbolHold hold)
      : Object(ObjectKind::kCoschedulingPodGroup, std::move(hold)) {}

  std::optional<WallTime> creation_time;
  std::int32_t min_member = 0;
  std::optional<ResourceList> min_resources;
  std::optional<std::int32_t> schedule_timeout_seconds;

  // What its controller writes.
  struct Status {
    std::string phase;
    std::string occupied_by;
    std::int32_t running = 0;
    std::int32_t succeeded = 0;
    std::int32_t failed = 0;

    friend bool operator==(const Status&, const Status&) = default;
  } status;
};

}  // namespace berth
