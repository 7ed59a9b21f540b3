#include "berth/measurements.h"

namespace berth {

std::string_view to_string(Point point) {
  switch (point) {
    case Point::kPreEnqueue: return "PreEnqueue";
    case Point::kPreFilter: return "PreFilter";
    case Point::kPreFilterExtensionAddPod: return "PreFilterExtensionAddPod";
    case Point::kPreFilterExtensionRemovePod: return "PreFilterExtensionRemovePod";
    case Point::kFilter: return "Filter";
    case Point::kPostFilter: return "PostFilter";
    case Point::kPreScore: return "PreScore";
    case Point::kScore: return "Score";
    case Point::kScoreExtensionNormalize: return "ScoreExtensionNormalize";
    case Point::kReserve: return "Reserve";
    case Point::kUnreserve: return "Unreserve";
    case Point::kPermit: return "Permit";
    case Point::kPreBindPreFlight: return "PreBindPreFlight";
    case Point::kPreBind: return "PreBind";
    case Point::kBind: return "Bind";
    case Point::kPostBind: return "PostBind";
  }
  return "";
}

std::string_view to_string(ApiCallType type) {
  switch (type) {
    case ApiCallType::kPodStatusPatch: return "pod_status_patch";
    case ApiCallType::kPodBinding: return "pod_binding";
  }
  return "";
}

std::string_view to_string(QueuedEntity type) {
  switch (type) {
    case QueuedEntity::kPod: return "pod";
    case QueuedEntity::kPodGroup: return "podgroup";
  }
  return "";
}

std::string_view to_string(GroupResult result) {
  switch (result) {
    case GroupResult::kScheduled: return "scheduled";
    case GroupResult::kUnschedulable: return "unschedulable";
    case GroupResult::kWaitingOnPreemption: return "waiting_on_preemption";
    case GroupResult::kError: return "error";
  }
  return "";
}

std::string_view to_string(AttemptResult result) {
  switch (result) {
    case AttemptResult::kScheduled: return "scheduled";
    case AttemptResult::kUnschedulable: return "unschedulable";
    case AttemptResult::kError: return "error";
  }
  return "";
}

}  // namespace berth
