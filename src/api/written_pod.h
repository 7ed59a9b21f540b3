// Pods from JSON and from protobuf.
//
// A pod is first read into a WrittenPod, which can still be changed: admission (defaulting.h) fills
// in what an API server would, and freeze() makes the pod of it. decode_pod() is the short way for
// what comes from an API server. In protobuf a pod is a v1.Pod, without envelope.
#pragma once

#include <string_view>

#include "berth/interner.h"
#include "berth/pod.h"
#include "berth/result.h"

namespace berth {

class JsonReader;

// Labels and spec, as a workload's template has them. Copies are independent: one for every
// replica.
struct PodTemplate {
  explicit PodTemplate(const Interner& interner) : meta(interner.hold()), spec(interner.hold()) {}

  PodMeta meta;
  PodSpec spec;
  // Whether these were said; a default would look the same afterwards.
  bool priority_given = false;
  bool preemption_policy_given = false;
};

struct WrittenPod : PodTemplate {
  explicit WrittenPod(const Interner& interner) : PodTemplate(interner) {}
  // A pod stamped from a template: whoever does it names it, says where it belongs, and admits it.
  explicit WrittenPod(const PodTemplate& pod_template) : PodTemplate(pod_template) {}

  std::string generate_name;
  PodDraft own;  // all that is not in the template; its meta and spec are set by freeze()
};

Result<WrittenPod> decode_written_pod(std::string_view json, Interner& interner);
Result<WrittenPod> decode_written_pod(JsonReader& json, Interner& interner);
Result<WrittenPod> decode_written_pod_proto(std::string_view message, Interner& interner);
Ref<const Pod> freeze(WrittenPod pod, Interner& interner);

// As an API server has it.
Result<Ref<const Pod>> decode_pod(std::string_view json, Interner& interner);
Result<Ref<const Pod>> decode_pod_proto(std::string_view message, Interner& interner);

// PodTemplateSpec: {"metadata": {"labels": …}, "spec": …}.
Result<PodTemplate> decode_pod_template(std::string_view json, Interner& interner);

}  // namespace berth
