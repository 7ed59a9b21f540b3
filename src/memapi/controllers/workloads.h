// What the controllers of workloads share: pods made from templates, numbers of replicas, adoption.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_tree.h"
#include "base/loop.h"
#include "memapi/controllers/pod_index.h"
#include "memapi/local_client.h"
#include "memapi/selection.h"

namespace berth::memapi {

// How long a controller waits after the API server refused what it made.
inline constexpr Duration kRetryAfterRefusal = std::chrono::seconds(5);
// The label with which pods say what revision of their template they are of.
inline constexpr std::string_view kRevisionLabel = "controller-revision-hash";

// spec.minReadySeconds.
Duration min_ready_of(const JsonValue& owner_tree);

// A pod as spec.template says, owned by `owner`. Its name is the caller's to give, or
// metadata.generateName's, which is "owner-".
JsonValue pod_from_template(const Resource& resource, const StoredObject& owner,
                            const JsonValue& owner_tree);

// Tells templates apart: equal templates, equal texts. Letters and digits that stand well in names.
std::string template_hash(const JsonValue& pod_template);

// 3 or "25%" of `total`.
std::int64_t scaled_value(const JsonValue* value, std::int64_t total, bool round_up,
                          std::int64_t otherwise);

// Pods in the owner's namespace that fit its selector and belong to nobody become its own; pods of
// its own that no longer fit are let go.
void claim_pods(LocalClient& api, PodIndex& pods, const Resource& resource,
                const StoredObject& owner, const JsonValue& owner_tree);

// spec.selector of apps and batch kinds, or of a ReplicationController (a plain map).
std::vector<LabelRequirement> selector_of(const JsonValue& owner_tree);
bool matches_all(const std::vector<LabelRequirement>& selector, const LabelPairs& labels);

// Of which pods a controller that has too many parts with first: those that never ran, are not
// ready, or are young.
void sort_for_removal(std::vector<const PodFacts*>& pods);

// Whether a pod must be counted, and how it is, in numbers.
struct ReplicaCounts {
  std::int64_t active = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
};
ReplicaCounts count_replicas(const std::vector<const PodFacts*>& pods, Duration min_ready,
                             WallTime now);

// Status members that are numbers: 0 is left out, as the API server's own codecs do.
void set_count(JsonValue& status, std::string_view name, std::int64_t count);

}  // namespace berth::memapi
