// What an API server refuses: names that are none, pods that cannot be scheduled or run, workloads
// that their controllers could not work with, changes of what must not change. Not every rule of
// every field: docs/embedded.md says which kinds are looked at.
#pragma once

#include <string_view>
#include <vector>

#include "memapi/api_error.h"
#include "memapi/resources.h"
#include "wire/json_tree.h"

namespace berth::memapi {

std::vector<FieldProblem> validate_new(const Resource& resource, const JsonValue& object);
std::vector<FieldProblem> validate_update(const Resource& resource, const JsonValue& object,
                                          const JsonValue& old);

// Whether it can be kept: 413 if it is larger than etcd takes, 422 if it nests too deeply to be
// read again.
Answer<void> check_size(const Resource& resource, std::string_view name, const JsonValue& object);

bool is_dns_label(std::string_view name);
bool is_dns_subdomain(std::string_view name);

}  // namespace berth::memapi
