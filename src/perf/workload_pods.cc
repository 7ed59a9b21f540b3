// The operations of WorkloadRun that make and remove pods, and what comes with them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/claim_template.h"
#include "api/defaulting.h"
#include "api/devices.h"
#include "perf/workload_run.h"

namespace berth::perf {
namespace {

constexpr std::string_view kDefaultPod = R"(
apiVersion: v1
kind: Pod
metadata: {generateName: pod-}
spec:
  containers:
  - {name: pause, resources: {requests: {cpu: 100m, memory: 500Mi}}}
)";
constexpr std::size_t kDeltasPerBatch = 256;  // as many deltas as come at once

// The order in which a cluster names its pods is another one in every run.
void sort_by_name(std::vector<Ref<const Pod>>& pods) {
  std::ranges::sort(pods, {}, [](const Ref<const Pod>& pod) {
    return std::pair(pod->namespace_name(), pod->name());
  });
}

void mount_claim(JsonValue& pod, std::string_view claim) {
  JsonValue volume = JsonValue::object();
  set_text(volume, "name", "vol");
  set_text(member(volume, "persistentVolumeClaim"), "claimName", claim);
  JsonValue volumes = JsonValue::array();
  volumes.items.push_back(std::move(volume));
  member(member(pod, "spec"), "volumes") = std::move(volumes);
}

}  // namespace

// A volume and a claim that are bound to each other, as the suite makes them.
WorkloadRun::Outcome WorkloadRun::add_volume(const Operation& operation, const Numbered& number,
                                             const std::string& namespace_name,
                                             std::vector<Delta>& deltas) {
  const Result<ObjectTemplate*> claims =
      template_at(operation.text("persistentVolumeClaimTemplatePath"));
  if (!claims) return fail(claims.error());
  const Result<ObjectTemplate*> volumes =
      template_at(operation.text("persistentVolumeTemplatePath"));
  if (!volumes) return fail(volumes.error());
  const std::string claim_name = fmt::format("pvc-{}", number.index);
  const std::string volume_id = fmt::format("vol-{}", number.index);
  const std::string volume_name = fmt::format("{}-{}", namespace_name, volume_id);
  Result<AnyObject> claim =
      (*claims)->make(number, namespace_name, interner_, [&](JsonValue& manifest) {
        set_text(member(manifest, "metadata"), "name", claim_name);
        set_text(member(manifest, "spec"), "volumeName", volume_name);
        set_text(member(manifest, "status"), "phase", "Bound");
      });
  if (!claim) return fail(claim.error());
  Result<AnyObject> volume = (*volumes)->make(number, {}, interner_, [&](JsonValue& manifest) {
    set_text(member(manifest, "metadata"), "name", volume_name);
    JsonValue& spec = member(manifest, "spec");
    if (spec.find("csi")) set_text(member(spec, "csi"), "volumeHandle", volume_name);
    if (spec.find("awsElasticBlockStore"))
      set_text(member(spec, "awsElasticBlockStore"), "volumeID", volume_id);
    JsonValue& reference = member(spec, "claimRef");
    set_text(reference, "kind", "PersistentVolumeClaim");
    set_text(reference, "namespace", namespace_name);
    set_text(reference, "name", claim_name);
    set_text(member(manifest, "status"), "phase", "Bound");
  });
  if (!volume) return fail(volume.error());
  deltas.push_back({DeltaType::kAdded, std::move(*claim)});
  deltas.push_back({DeltaType::kAdded, std::move(*volume)});
  return {};
}

void WorkloadRun::add_claims(const Ref<const Pod>& pod, std::vector<Delta>& deltas) {
  PodDraft draft = draft_of(*pod);
  if (!draft.extra) draft.extra = std::make_unique<PodExtra>(interner_.hold());
  bool any = false;
  for (const PodResourceClaim& entry : pod->spec().resource_claims) {
    const auto made_from = claim_templates_.find(
        {std::string(pod->namespace_name()), std::string(pod->text(entry.template_name))});
    if (entry.template_name.empty() || made_from == claim_templates_.end()) continue;
    const Ref<ResourceClaim> claim = claim_from_template(
        *pod, entry, static_cast<const ResourceClaimTemplate&>(*made_from->second), interner_,
        loop_.wall_now());
    // The UIDs of pods begin all alike.
    claim->uid = deterministic_uid("ResourceClaim", pod->namespace_name(), claim->name);
    claim->resource_version = "1";
    claims_of_[pod->uid_text()].push_back(claim->name);
    draft.extra->resource_claim_statuses.push_back(
        {std::string(pod->text(entry.name)), claim->name});
    deltas.push_back({DeltaType::kAdded, Ref<const Object>(claim)});
    any = true;
  }
  if (!any) return;
  draft.resource_version = "2";
  deltas.push_back({DeltaType::kUpdated, make_pod(std::move(draft))});
}

Result<std::vector<Delta>> WorkloadRun::make_pods(const Operation& operation, std::int64_t count,
                                                  const std::string& namespace_name) {
  const std::string_view path = operation.text("podTemplatePath");
  ObjectTemplate standard{std::string(kDefaultPod), "the default pod"};
  const Result<ObjectTemplate*> pods = template_at(
      path.empty() ? std::string_view(test_case_.default_pod_template) : path, &standard);
  if (!pods) return fail(pods.error());
  const Result<JsonValue> params = operation.template_params(workload_);
  if (!params) return fail(params.error());
  const Result<std::int64_t> batch = operation.number("signatureBatchSize", workload_, 0);
  if (!batch) return fail(batch.error());
  const bool with_volume = operation.has("persistentVolumeClaimTemplatePath");
  std::vector<Delta> deltas;
  deltas.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const Numbered number{i, count, ++serial_, &*params};
    const auto change = [&](JsonValue& pod) {
      if (with_volume) mount_claim(pod, fmt::format("pvc-{}", i));
      if (*batch > 0)
        set_text(member(member(pod, "metadata"), "labels"), "signature",
                 fmt::format("signature-label-{}", i / *batch));
    };
    if (with_volume)
      if (Outcome added = add_volume(operation, number, namespace_name, deltas); !added)
        return fail(added.error());
    Result<AnyObject> pod = (*pods)->make(
        number, namespace_name, interner_,
        with_volume || *batch > 0 ? ObjectTemplate::Change(change) : ObjectTemplate::Change());
    if (!pod) return fail(pod.error());
    const auto* made = std::get_if<Ref<const Pod>>(&*pod);
    if (!made) return fail(ErrorKind::kInvalid, (*pods)->where() + ": not a Pod");
    deltas.push_back({DeltaType::kAdded, *made});
    add_claims(*made, deltas);
  }
  return deltas;
}

WorkloadRun::Outcome WorkloadRun::create_pods(const Operation& operation,
                                              const std::string& namespace_name) {
  Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  const Result<std::int64_t> multiplier = operation.number("countMultiplier", workload_, 1);
  if (!multiplier) return fail(multiplier.error());
  *count *= *multiplier;
  const Result<std::int64_t> steady = operation.number("steadyState", workload_, 0);
  if (!steady) return fail(steady.error());
  if (operation.flag("steadyState") || *steady != 0)
    return keep_steady(operation, *count, namespace_name);
  Result<std::vector<Delta>> made = make_pods(operation, *count, namespace_name);
  if (!made) return fail(made.error());

  const auto all = static_cast<std::size_t>(*count);
  const std::size_t before = progress_.bound_pods();
  created_ += all;
  const auto all_bound = [this, before, all] { return progress_.bound_pods() >= before + all; };
  feed(std::make_shared<std::vector<Delta>>(std::move(*made)), 0);
  if (operation.flag("skipWaitToCompletion")) {
    not_waited_for_[namespace_name] += all;
    return {};
  }
  return operation.flag("collectMetrics") ? run_measured(all_bound, operation)
                                          : run_until(all_bound, operation);
}

WorkloadRun::Outcome WorkloadRun::keep_steady(const Operation& operation, std::int64_t count,
                                              const std::string& namespace_name) {
  const Result<Duration> duration = operation.duration("duration", workload_);
  if (!duration) return fail(duration.error());
  if (*duration <= Duration(0) || count <= 0)
    return fail(ErrorKind::kInvalid, operation.where() + ": steadyState needs pods and a duration");
  const bool collects = operation.flag("collectMetrics");
  if (collects) progress_.start();
  const TimePoint end = loop_.now() + *duration;
  std::size_t replaced = progress_.bound_pods();  // and all that were bound before
  Result<std::vector<Delta>> made = make_pods(operation, count, namespace_name);
  if (!made) return fail(made.error());
  created_ += static_cast<std::size_t>(count);
  feed(std::make_shared<std::vector<Delta>>(std::move(*made)), 0);
  Outcome outcome;
  while (outcome && loop_.now() < end) {
    outcome = run_until([&] { return progress_.bound_pods() > replaced; }, operation);
    if (outcome) outcome = replace_bound(operation, namespace_name, replaced);
  }
  if (collects) progress_.stop();
  return outcome;
}

WorkloadRun::Outcome WorkloadRun::replace_bound(const Operation& operation,
                                                const std::string& namespace_name,
                                                std::size_t& replaced) {
  std::vector<Ref<const Pod>> bound;
  engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) {
    if (pod->namespace_name() == namespace_name && !pod->node().empty()) bound.push_back(pod);
  });
  if (bound.empty()) {  // bound, but the delta that says so has still to come
    rest(Duration(0));
    return {};
  }
  sort_by_name(bound);
  for (const Ref<const Pod>& pod : bound) remove_pod(pod);
  replaced += bound.size();
  created_ += bound.size();
  Result<std::vector<Delta>> made =
      make_pods(operation, static_cast<std::int64_t>(bound.size()), namespace_name);
  if (!made) return fail(made.error());
  feed(std::make_shared<std::vector<Delta>>(std::move(*made)), 0);
  return {};
}

// The deltas of new objects, in batches with other work in between, as a watch brings them.
void WorkloadRun::feed(std::shared_ptr<std::vector<Delta>> deltas, std::size_t from) {
  loop_.post([this, deltas = std::move(deltas), from]() mutable {
    const std::size_t to = std::min(from + kDeltasPerBatch, deltas->size());
    for (std::size_t i = from; i < to; ++i) engine_->apply(std::move((*deltas)[i]));
    if (to < deltas->size()) feed(std::move(deltas), to);
  });
}

WorkloadRun::Outcome WorkloadRun::create_pod_sets(const Operation& operation) {
  const Result<std::int64_t> count = operation.number("count", workload_, 0);
  if (!count) return fail(count.error());
  const Result<Operation> pods = operation.nested("createPodsOp");
  if (!pods) return fail(pods.error());
  for (std::int64_t i = 0; i < *count; ++i)
    if (Outcome made =
            create_pods(*pods, fmt::format("{}-{}", operation.text("namespacePrefix"), i));
        !made)
      return made;
  return {};
}

WorkloadRun::Outcome WorkloadRun::delete_pods(const Operation& operation) {
  const Result<std::int64_t> rate = operation.number("deletePodsPerSecond", workload_, 0);
  if (!rate) return fail(rate.error());
  const JsonValue* selector = operation.find("labelSelector");
  auto pods = std::make_shared<std::vector<Ref<const Pod>>>();
  engine_->cluster().for_each_seen([&](const Ref<const Pod>& pod) {
    if (pod->namespace_name() != operation.text("namespace")) return;
    if (selector && std::ranges::any_of(selector->members, [&](const JsonMember& wanted) {
          return std::ranges::none_of(pod->labels(), [&](const Label& label) {
            return pod->text(label.key) == wanted.name &&
                   pod->text(label.value) == wanted.value.text;
          });
        }))
      return;
    pods->push_back(pod);
  });
  sort_by_name(*pods);
  return pace(static_cast<std::int64_t>(pods->size()), *rate,
              operation.flag("skipWaitToCompletion"), [this, pods](std::int64_t i) {
                const Ref<const Pod>& pod = (*pods)[static_cast<std::size_t>(i)];
                // As it is by now.
                const Ref<const Pod> stored = engine_->cluster().seen_pod(*pod);
                if (stored && stored->uid() == pod->uid()) remove_pod(stored);
              });
}

void WorkloadRun::remove_pod(const Ref<const Pod>& pod) {
  engine_->apply({DeltaType::kDeleted, pod});
  const auto claims = claims_of_.find(pod->uid_text());
  if (claims == claims_of_.end()) return;
  for (const std::string& name : claims->second)
    if (const Ref<const Object> claim =
            engine_->cluster().find(ObjectKind::kResourceClaim, pod->namespace_name(), name))
      engine_->apply({DeltaType::kDeleted, claim});
  claims_of_.erase(claims);
}

}  // namespace berth::perf
