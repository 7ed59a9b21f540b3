#include "plugins/event_objects.h"

#include <string>

namespace berth::plugins {
namespace {

// As upstream's error has it.
std::string type_text(ObjectKind kind) { return "*v1." + std::string(to_string(kind)); }

}  // namespace

std::unexpected<Error> unexpected_kind(ObjectKind expected, const AnyObject& object) {
  const bool is_pod = std::holds_alternative<Ref<const Pod>>(object);
  const ObjectKind got = is_pod ? ObjectKind::kPod : std::get<Ref<const Object>>(object)->kind;
  return fail(ErrorKind::kInvalid,
              "expected " + type_text(expected) + ", but got " + type_text(got));
}

Result<const Pod*> deleted_assigned_pod(const AnyObject& before, const AnyObject& after) {
  const Result<Change<Pod>> change = change_in<Pod>(before, after);
  if (change) return change->before;
  return fail(change.error().kind, "unexpected objects in isSchedulableAfterAssignedPodDeleted: " +
                                       change.error().message);
}

}  // namespace berth::plugins
