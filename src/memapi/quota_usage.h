// What an object takes of a ResourceQuota, as kube-apiserver's evaluators count it: pods by their
// requests, limits and number, claims by their storage and class, Services by their ports, claims
// of devices by class, and objects of any kind by their number ("count/jobs.batch"). Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "memapi/amounts.h"
#include "memapi/resources.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// Whether objects of the resource count for quotas at all.
bool has_quota(const Resource& resource);
// Whether what a quota limits under `name` is of this resource.
bool quota_is_about(const Resource& resource, std::string_view name);
// Whether an object of this resource is counted whatever it looks like, under each of these names.
bool quota_counts_only(const Resource& resource, const std::vector<std::string>& names);
// "count/deployments.apps"
std::string quota_count_name(const Resource& resource);

// All that the object takes.
Amounts quota_usage(const Resource& resource, const JsonValue& object, WallTime now);
// Whether the scopes of the quota have the object in them.
bool quota_scopes_match(const Resource& resource, const JsonValue& quota, const JsonValue& object);
bool quota_has_scopes(const JsonValue& quota);
// Parity: who limits cpu or memory makes every container say it. "must specify limits.cpu for: c",
// or empty.
std::string quota_unsaid(const Resource& resource, const std::vector<std::string>& names,
                         const JsonValue& object);

// What is wrong with a quota is said by check_resource_quota() (validation_rules.h), by these.
bool is_standard_quota_name(std::string_view name);
bool quota_scope_is_about(std::string_view scope, std::string_view name);

}  // namespace berth::memapi
