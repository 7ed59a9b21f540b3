#include "control_plane/namespace_objects.h"

#include <utility>

namespace berth::control_plane {
namespace {

JsonValue object_named(std::string_view name) {
  JsonValue object = JsonValue::object();
  set_text(object_at(object, "metadata"), "name", name);
  return object;
}

}  // namespace

NamespaceObject default_service_account() {
  return {&resource_of("serviceaccounts"), "default", object_named("default"), ""};
}

NamespaceObject root_certificate_map(const std::string& certificate) {
  constexpr std::string_view kName = "kube-root-ca.crt";
  NamespaceObject wanted{&resource_of("configmaps"), std::string(kName), object_named(kName),
                         "data"};
  set_text(object_at(wanted.object, "metadata.annotations"), "kubernetes.io/description",
           "The certificate authority by which clients know the API server of this cluster.");
  set_text(object_at(wanted.object, "data"), "ca.crt", certificate);
  return wanted;
}

NamespaceObjects::NamespaceObjects(LocalClient& api, NamespaceObject wanted)
    : Controller(api), wanted_(std::move(wanted)) {
  follow(resource_of("namespaces"), [this](const Change& change) { enqueue(change.object->name); });
  follow(*wanted_.resource, [this](const Change& change) {
    if (change.object->name == wanted_.name) enqueue(change.object->namespace_name);
  });
}

void NamespaceObjects::sync(const std::string& key) {
  const ObjectRef space = api_.get(resource_of("namespaces"), "", key);
  if (!space || is_terminating(space->tree())) return;
  const ObjectRef current = api_.get(*wanted_.resource, key, wanted_.name);
  if (!current) {
    JsonValue object = wanted_.object;
    set_text(object_at(object, "metadata"), "namespace", key);
    if (!api_.create(*wanted_.resource, std::move(object)))
      enqueue_after(kRetryAfterRefusal, key, TimerKind::kHousekeeping);
    return;
  }
  const std::string& member = wanted_.kept_member;
  if (member.empty() || equal(at(current->tree(), member), at(wanted_.object, member))) return;
  static_cast<void>(
      api_.update(*wanted_.resource, key, wanted_.name, [&](JsonValue& tree) -> Answer<void> {
        copy_member(tree, wanted_.object, member);
        return {};
      }));
}

}  // namespace berth::control_plane
