#include "plugins/event_objects.h"

#include <string>

namespace berth::plugins {
namespace {

// As upstream's error has it.
std::string type_text(ObjectKind kind) { return "*v1." + std::string(to_string(kind)); }

std::string type_text(const AnyObject& object) {
  if (std::holds_alternative<Ref<const Pod>>(object)) return type_text(ObjectKind::kPod);
  return type_text(std::get<Ref<const Object>>(object)->kind);
}

template <typename T>
Result<const T*> object_in(const AnyObject& object, ObjectKind kind) {
  if (std::holds_alternative<std::monostate>(object)) return nullptr;
  const auto* ref = std::get_if<Ref<const Object>>(&object);
  if (ref && (*ref)->kind == kind) return static_cast<const T*>(ref->get());
  return fail(ErrorKind::kInvalid,
              "expected " + type_text(kind) + ", but got " + type_text(object));
}

}  // namespace

Result<const Pod*> pod_in(const AnyObject& object) {
  if (std::holds_alternative<std::monostate>(object)) return nullptr;
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) return pod->get();
  return fail(ErrorKind::kInvalid,
              "expected " + type_text(ObjectKind::kPod) + ", but got " + type_text(object));
}

Result<const Node*> node_in(const AnyObject& object) {
  return object_in<Node>(object, ObjectKind::kNode);
}

Result<const DeviceClass*> device_class_in(const AnyObject& object) {
  return object_in<DeviceClass>(object, ObjectKind::kDeviceClass);
}

}  // namespace berth::plugins
