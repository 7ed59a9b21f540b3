// The roles and bindings that a cluster with RBAC begins with. Any thread.
#pragma once

#include <vector>

#include "memapi/resources.h"
#include "wire/json_tree.h"

namespace berth::memapi {

struct DefaultObject {
  const Resource* resource = nullptr;
  JsonValue tree;
};
std::vector<DefaultObject> default_rbac_objects();

}  // namespace berth::memapi
