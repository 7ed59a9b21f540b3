// Defaulting and admission: what an API server does to objects that people wrote before scheduling
// sees them. For manifests; objects that come from an API server have been through it.
//
// Two things are kinder than an API server, because a manifest may also be a dump of a cluster:
// what a status says stays, and a priority that stands in the spec stays, even if its PriorityClass
// is not there.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "api/pod_group.h"
#include "api/written_pod.h"
#include "berth/loop.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/ref.h"
#include "berth/result.h"

namespace berth {

struct Admission {
  std::map<std::string, Ref<const PriorityClass>, std::less<>> priority_classes;
  WallTime now;
  std::uint64_t resource_version = 1;  // of objects that have none
};

// Sets the fields that follow from others, when an object is complete: a node's symbol and
// resources.
void set_derived_fields(Object& object);

// Everything at once, in an API server's order. The pod must have its name and namespace.
Result<void> admit(WrittenPod& pod, const Admission& admission);
void admit(Object& object, const Admission& admission);

// The same for an object that was decoded, or put together, without it: a new object, as an API
// server would store it. A pod cannot say any more whether its priority was given: one of 0 counts
// as left out. What has a UID and a version has been stored before and stays as it is.
Result<AnyObject> admit(AnyObject object, Interner& interner, const Admission& admission);

// ---- the parts --------------------------------------------------------------------------------

// schedulerName, requests from limits (containers, then the pod), hostPort of host networks.
void apply_defaults(PodSpec& spec);
// Tolerates not-ready and unreachable nodes for 300 s, unless the pod says something about them.
void add_default_tolerations(PodSpec& spec);
// priority, priorityClassName and preemptionPolicy. Fails if the class does not exist:
//   no PriorityClass with name X was found
Result<void> resolve_priority(PodTemplate& pod, const Admission& admission);
// The same for a group's priority. A class that does not exist leaves it without one.
void resolve_priority(PodGroup& group, const Admission& admission);
// matchLabelKeys and mismatchLabelKeys become requirements of the selectors they stand beside.
void merge_match_label_keys(PodSpec& spec, const LabelSet& labels);

// A UID that follows from what it names: the same in every run.
std::string deterministic_uid(std::string_view kind, std::string_view namespace_name,
                              std::string_view name);

}  // namespace berth
