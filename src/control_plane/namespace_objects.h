// NamespaceObjects: an object that every namespace has, made anew when somebody removes it: the
// service account "default", and the certificate of the API server.
#pragma once

#include <string>

#include "control_plane/controller.h"

namespace berth::control_plane {

// What every namespace has.
struct NamespaceObject {
  const Resource* resource = nullptr;
  std::string name;
  JsonValue object;  // without namespace
  // A member that is set back when somebody changes it; empty: none.
  std::string kept_member;
};
NamespaceObject default_service_account();
// A ConfigMap with the certificate authority (PEM) that clients have to believe.
NamespaceObject root_certificate_map(const std::string& certificate);

class NamespaceObjects final : public Controller {
 public:
  NamespaceObjects(LocalClient& api, NamespaceObject wanted);

 private:
  void sync(const std::string& key) override;

  const NamespaceObject wanted_;
};

}  // namespace berth::control_plane
