// Addresses of services: the cluster IP and node ports that an API server gives them. They lead
// nowhere here, but clients show them, and expect each to be given once.
#pragma once

#include "memapi/api_error.h"
#include "memapi/store.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// `old` is null for a new service; what it had stays unless the new one says otherwise. Two
// services that are written at the same moment may get the same address.
void assign_addresses(JsonValue& service, const JsonValue* old, const Store& store);

}  // namespace berth::memapi
