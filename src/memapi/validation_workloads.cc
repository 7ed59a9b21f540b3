// What validation asks of the kinds that make pods.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/go_quote.h"
#include "memapi/json_edit.h"
#include "memapi/selection.h"
#include "memapi/validation_rules.h"

namespace berth::memapi {
namespace {

const JsonValue kNothing = JsonValue::object();
constexpr GoMember kStrategy[] = {{"Type", "type", "\"\""}, {"RollingUpdate", "rollingUpdate"}};

// An object or nothing, as an object.
const JsonValue& part(const JsonValue& object, std::string_view path) {
  const JsonValue* found = at(object, path);
  return is_object(found) ? *found : kNothing;
}

void mismatch(const JsonValue& spec, Problems& problems) {
  problems.push_back(FieldProblem::invalid("spec.template.metadata.labels",
                                           shown(at(spec, "template.metadata.labels")),
                                           "`selector` does not match template `labels`"));
}

// A workload whose selector its own pods do not match would make pods without end.
void check_template_labels(const JsonValue& spec, const std::vector<LabelRequirement>& selector,
                           Problems& problems) {
  const JsonValue* given = at(spec, "template.metadata.labels");
  LabelPairs labels;
  if (is_object(given)) {
    for (const JsonMember& label : given->members)
      labels.emplace_back(label.name, label.value.text);
    std::ranges::sort(labels);
  }
  const bool fits = std::ranges::all_of(
      selector, [&](const LabelRequirement& requirement) { return requirement.matches(labels); });
  if (!fits) mismatch(spec, problems);
}

void check_template(const JsonValue& spec, Problems& problems) {
  check_labels(at(spec, "template.metadata.labels"), "spec.template.labels", problems);
  check_pod_spec(part(spec, "template.spec"), "spec.template.spec", problems);
}

// Pods of all but jobs run for ever.
void check_lasting(const JsonValue& spec, std::string_view kind, Problems& problems) {
  const JsonValue& pod = part(spec, "template.spec");
  if (text_at(pod, "restartPolicy") != "Always") {
    problems.push_back(FieldProblem::not_supported("spec.template.spec.restartPolicy",
                                                   go_quoted(text_at(pod, "restartPolicy")),
                                                   "\"Always\""));
  }
  if (at(pod, "activeDeadlineSeconds") != nullptr) {
    problems.push_back(
        FieldProblem::forbidden("spec.template.spec.activeDeadlineSeconds",
                                fmt::format("activeDeadlineSeconds in {} is not Supported", kind)));
  }
}

void check_selector(const JsonValue& spec, std::string_view kind, Problems& problems) {
  const JsonValue* selector = at(spec, "selector");
  if (!is_object(selector)) {
    problems.push_back(FieldProblem::required("spec.selector"));
    mismatch(spec, problems);  // nothing selects no pod
    return;
  }
  check_label_selector(selector, "spec.selector", problems);
  const bool empty = part(*selector, "matchLabels").members.empty() &&
                     items_at(*selector, "matchExpressions").empty();
  if (empty) {
    problems.push_back(FieldProblem::invalid(
        "spec.selector", shown(selector), fmt::format("empty selector is invalid for {}", kind)));
  }
  if (const auto wanted = label_selector_of(*selector))
    check_template_labels(spec, *wanted, problems);
}

void check_deployment_strategy(const JsonValue& spec, Problems& problems) {
  const std::string path = "spec.strategy";
  const JsonValue& strategy = part(spec, "strategy");
  const std::string_view type = text_at(strategy, "type");
  const JsonValue* update = at(strategy, "rollingUpdate");
  if (type == "Recreate") {
    if (update != nullptr) {
      problems.push_back(FieldProblem::forbidden(
          path + ".rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"));
    }
    return;
  }
  if (type != "RollingUpdate") {
    problems.push_back(FieldProblem::not_supported(path, shown_struct(strategy, kStrategy),
                                                   R"("Recreate", "RollingUpdate")"));
    return;
  }
  const JsonValue& parameters = update != nullptr ? *update : kNothing;
  const JsonValue* unavailable = at(parameters, "maxUnavailable");
  const JsonValue* surge = at(parameters, "maxSurge");
  check_count_or_percent(unavailable, path + ".rollingUpdate.maxUnavailable", problems);
  check_count_or_percent(surge, path + ".rollingUpdate.maxSurge", problems);
  if (count_or_percent(unavailable) == 0 && count_or_percent(surge) == 0) {
    problems.push_back(FieldProblem::invalid(path + ".rollingUpdate.maxUnavailable",
                                             shown(unavailable),
                                             "may not be 0 when `maxSurge` is 0"));
  }
  check_at_most_all(unavailable, path + ".rollingUpdate.maxUnavailable", problems);
}

void check_deployment(const JsonValue& spec, Problems& problems) {
  check_not_negative(spec, "spec", {"replicas"}, problems);
  check_selector(spec, "deployment", problems);
  check_template(spec, problems);
  check_lasting(spec, "ReplicaSet", problems);
  check_deployment_strategy(spec, problems);
  check_not_negative(spec, "spec",
                     {"minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"},
                     problems);
  const auto deadline = int_at(spec, "progressDeadlineSeconds");
  if (deadline && *deadline <= int_at(spec, "minReadySeconds").value_or(0)) {
    problems.push_back(FieldProblem::invalid("spec.progressDeadlineSeconds",
                                             fmt::format("{}", *deadline),
                                             "must be greater than minReadySeconds"));
  }
}

void check_stateful_set(const JsonValue& spec, Problems& problems) {
  const std::string_view management = text_at(spec, "podManagementPolicy");
  if (management != "OrderedReady" && management != "Parallel") {
    problems.push_back(FieldProblem::invalid("spec.podManagementPolicy", go_quoted(management),
                                             "must be 'OrderedReady' or 'Parallel'"));
  }
  const JsonValue& strategy = part(spec, "updateStrategy");
  const std::string_view type = text_at(strategy, "type");
  const JsonValue* update = at(strategy, "rollingUpdate");
  if (type == "OnDelete" && update != nullptr) {
    problems.push_back(FieldProblem::invalid(
        "spec.updateStrategy.rollingUpdate",
        shown_struct(*update, {{"Partition", "partition"}, {"MaxUnavailable", "maxUnavailable"}}),
        "only allowed for updateStrategy 'RollingUpdate'"));
  } else if (type == "RollingUpdate" && update != nullptr) {
    check_not_negative(*update, "spec.updateStrategy.rollingUpdate", {"partition"}, problems);
    const JsonValue* unavailable = at(*update, "maxUnavailable");
    const std::string path = "spec.updateStrategy.rollingUpdate.maxUnavailable";
    check_count_or_percent(unavailable, path, problems);
    check_at_most_all(unavailable, path, problems);
  } else if (type != "OnDelete" && type != "RollingUpdate") {
    problems.push_back(FieldProblem::invalid("spec.updateStrategy",
                                             shown_struct(strategy, kStrategy),
                                             "must be 'RollingUpdate' or 'OnDelete'"));
  }
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, problems);
  check_selector(spec, "statefulset", problems);
  // Volumes of claims are added to the template's when pods are made.
  JsonValue with_claims = spec;
  for (const JsonValue& claim : items_at(spec, "volumeClaimTemplates")) {
    JsonValue& volumes = array_at(with_claims, "template.spec.volumes");
    const std::string name(text_at(claim, "metadata.name"));
    std::erase_if(volumes.items,
                  [&](const JsonValue& volume) { return text_at(volume, "name") == name; });
    volumes.items.push_back(JsonValue::object());
    set_text(volumes.items.back(), "name", name);
  }
  check_template(with_claims, problems);
  check_lasting(spec, "StatefulSet", problems);
}

void check_daemon_set(const JsonValue& spec, Problems& problems) {
  check_selector(spec, "daemonset", problems);
  check_template(spec, problems);
  check_lasting(spec, "DaemonSet", problems);
  check_not_negative(spec, "spec", {"minReadySeconds"}, problems);
  const JsonValue& strategy = part(spec, "updateStrategy");
  const std::string path = "spec.updateStrategy";
  if (text_at(strategy, "type") == "RollingUpdate") {
    const JsonValue& update = part(strategy, "rollingUpdate");
    const JsonValue* unavailable = at(update, "maxUnavailable");
    const JsonValue* surge = at(update, "maxSurge");
    check_count_or_percent(unavailable, path + ".rollingUpdate.maxUnavailable", problems);
    check_count_or_percent(surge, path + ".rollingUpdate.maxSurge", problems);
    check_at_most_all(unavailable, path + ".rollingUpdate.maxUnavailable", problems);
    check_at_most_all(surge, path + ".rollingUpdate.maxSurge", problems);
    const bool some = count_or_percent(unavailable) != 0;
    const bool more = count_or_percent(surge) != 0;
    if (some && more) {
      problems.push_back(FieldProblem::invalid(path + ".rollingUpdate.maxSurge", shown(surge),
                                               "may not be set when maxUnavailable is non-zero"));
    } else if (!some && !more) {
      problems.push_back(FieldProblem::required(path + ".rollingUpdate.maxUnavailable",
                                                "cannot be 0 when maxSurge is 0"));
    }
  } else if (text_at(strategy, "type") != "OnDelete") {
    problems.push_back(FieldProblem::not_supported(path, shown_struct(strategy, kStrategy),
                                                   R"("RollingUpdate", "OnDelete")"));
  }
  check_not_negative(spec, "spec", {"revisionHistoryLimit"}, problems);
}

// Its selector is a map of labels.
void check_replication_controller(const JsonValue& spec, Problems& problems) {
  const JsonValue& selector = part(spec, "selector");
  if (selector.members.empty()) problems.push_back(FieldProblem::required("spec.selector"));
  if (at(spec, "template") == nullptr) {
    problems.push_back(FieldProblem::required("spec.template"));
    return check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, problems);
  }
  std::vector<LabelRequirement> wanted;
  for (const JsonMember& label : selector.members)
    wanted.push_back({label.name, LabelRequirement::Op::kIn, {label.value.text}});
  check_template_labels(spec, wanted, problems);
  check_template(spec, problems);
  check_lasting(spec, "ReplicationController", problems);
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, problems);
}

void check_indexed(const JsonValue& spec, Problems& problems) {
  constexpr std::int64_t kMostAtOnce = 100'000;
  if (at(spec, "completions") == nullptr) {
    problems.push_back(
        FieldProblem::required("spec.completions", "when completion mode is Indexed"));
  }
  const std::int64_t parallelism = int_at(spec, "parallelism").value_or(0);
  if (parallelism > kMostAtOnce) {
    problems.push_back(FieldProblem::invalid(
        "spec.parallelism", fmt::format("{}", parallelism),
        "must be less than or equal to 100000 when completion mode is Indexed"));
  }
  const auto failed = int_at(spec, "maxFailedIndexes");
  const auto completions = int_at(spec, "completions");
  if (failed && completions && *failed > *completions) {
    problems.push_back(FieldProblem::invalid("spec.maxFailedIndexes", fmt::format("{}", *failed),
                                             "must be less than or equal to completions"));
  }
}

void check_not_indexed(const JsonValue& spec, Problems& problems) {
  for (const std::string_view name :
       {"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"}) {
    const JsonValue* value = at(spec, name);
    if (value == nullptr) continue;
    problems.push_back(FieldProblem::invalid(fmt::format("spec.{}", name), shown(value),
                                             "requires indexed completion mode"));
  }
}

void check_job_restarts(const JsonValue& spec, Problems& problems) {
  const std::string path = "spec.template.spec.restartPolicy";
  const std::string_view policy = text_at(spec, "template.spec.restartPolicy");
  if (policy == "Always" || policy.empty()) {
    problems.push_back(FieldProblem::required(path, R"(valid values: "OnFailure", "Never")"));
  } else if (policy != "OnFailure" && policy != "Never") {
    problems.push_back(
        FieldProblem::not_supported(path, go_quoted(policy), R"("OnFailure", "Never")"));
  } else if (policy != "Never" && at(spec, "podFailurePolicy") != nullptr) {
    problems.push_back(FieldProblem::invalid(
        path, go_quoted(policy), "only \"Never\" is supported when podFailurePolicy is specified"));
  }
}

}  // namespace

void check_job_spec(const JsonValue& spec, Problems& problems) {
  check_not_negative(spec, "spec",
                     {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                      "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"},
                     problems);
  if (at(spec, "maxFailedIndexes") != nullptr && at(spec, "backoffLimitPerIndex") == nullptr) {
    problems.push_back(
        FieldProblem::required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"));
  }
  if (at(spec, "completionMode") != nullptr)
    check_one_of(spec, "completionMode", "spec", {"NonIndexed", "Indexed"}, problems);
  if (text_at(spec, "completionMode") == "Indexed") {
    check_indexed(spec, problems);
  } else {
    check_not_indexed(spec, problems);
  }
  check_template(spec, problems);
  check_job_restarts(spec, problems);
}

void check_job(const JsonValue& object, Problems& problems) {
  const JsonValue& spec = part(object, "spec");
  check_job_spec(spec, problems);
  const JsonValue* selector = at(spec, "selector");
  if (!is_object(selector)) {
    problems.push_back(FieldProblem::required("spec.selector"));
    return;
  }
  check_label_selector(selector, "spec.selector", problems);
  if (const auto wanted = label_selector_of(*selector))
    check_template_labels(spec, *wanted, problems);
}

void check_generated_selector(const JsonValue& job, Problems& problems) {
  if (true_at(job, "spec.manualSelector")) return;
  // The label has dots in its name.
  JsonValue labels = JsonValue::object();
  set_text(labels, "batch.kubernetes.io/controller-uid", text_at(job, "metadata.uid"));
  const JsonValue* selector = at(job, "spec.selector");
  if (is_object(selector) && selector->members.size() == 1 &&
      equal(selector->find("matchLabels"), &labels))
    return;
  problems.push_back(
      FieldProblem::invalid("spec.selector", shown(selector), "`selector` not auto-generated"));
}

void check_workload(std::string_view plural, const JsonValue& object, Problems& problems) {
  const JsonValue& spec = part(object, "spec");
  if (plural == "deployments") return check_deployment(spec, problems);
  if (plural == "statefulsets") return check_stateful_set(spec, problems);
  if (plural == "daemonsets") return check_daemon_set(spec, problems);
  if (plural == "replicationcontrollers") return check_replication_controller(spec, problems);
  if (plural == "jobs") return check_job(object, problems);
  if (plural == "cronjobs") return check_cron_job(object, nullptr, problems);
  if (plural != "replicasets") return;
  check_not_negative(spec, "spec", {"replicas", "minReadySeconds"}, problems);
  // Parity: the sentence names deployments.
  check_selector(spec, "deployment", problems);
  check_template(spec, problems);
  check_lasting(spec, "ReplicaSet", problems);
}

void check_workload_update(std::string_view plural, const JsonValue& object, const JsonValue& old,
                           Problems& problems) {
  if (plural == "cronjobs") return check_cron_job(object, &old, problems);
  check_workload(plural, object, problems);
  if (plural == "replicationcontrollers") return;
  check_immutable(object, old, "spec.selector", problems);
  if (plural == "statefulsets") {
    for (const std::string_view path :
         {"spec.volumeClaimTemplates", "spec.serviceName", "spec.podManagementPolicy"})
      check_immutable(object, old, path, problems);
  } else if (plural == "jobs") {
    for (const std::string_view path :
         {"spec.completionMode", "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
          "spec.managedBy", "spec.successPolicy"})
      check_immutable(object, old, path, problems);
    // Where the pods of a suspended job go may still be said.
    if (!true_at(old, "spec.suspend")) check_immutable(object, old, "spec.template", problems);
    // What an indexed job needs may change along with its parallelism.
    const bool elastic = text_at(object, "spec.completionMode") == "Indexed" &&
                         equal(at(object, "spec.completions"), at(object, "spec.parallelism"));
    if (!elastic) check_immutable(object, old, "spec.completions", problems);
  }
}

}  // namespace berth::memapi
