// The two subresources that move pods: binding and eviction.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/time_text.h"
#include "memapi/json_edit.h"
#include "memapi/writes.h"

namespace berth::memapi {
namespace {

const Resource& pods() { return resource_of("pods"); }

std::string success(int code) {
  return fmt::format(
      "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Success\","
      "\"code\":{}}}",
      code);
}

ApiError binding_conflict(std::string_view name, std::string_view why) {
  ApiError error = ApiError::conflict(pods(), name, why);
  error.kind = "pods/binding";
  error.message =
      fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}", name, why);
  return error;
}

// Parity: these come without a reason and as 500.
ApiError bad_target(std::string message) {
  ApiError error;
  error.message = std::move(message);
  return error;
}

Answer<void> check_binding(const JsonValue& binding) {
  const std::string_view kind = text_at(binding, "target.kind");
  if (!kind.empty() && kind != "Node") {
    return refuse(bad_target(fmt::format(
        "target.kind: Unsupported value: \"{}\": supported values: \"Node\", \"<empty>\"", kind)));
  }
  if (text_at(binding, "target.name").empty())
    return refuse(bad_target("target.name: Required value"));
  return {};
}

void merge_texts(JsonValue& pod, const JsonValue& binding, std::string_view path) {
  const JsonValue* given = at(binding, path);
  if (!is_object(given)) return;
  JsonValue& merged = object_at(pod, path);
  for (const JsonMember& member : given->members) set(merged, member.name, member.value);
}

Answer<void> assign(JsonValue& pod, const JsonValue& binding, const StoredObject& current,
                    WallTime now) {
  const std::string& name = current.name;
  const auto precondition = [&](std::string_view what, std::string_view given,
                                std::string_view is) {
    return refuse(ApiError::conflict(
        pods(), name,
        fmt::format("StorageError: invalid object, Code: 4, Key: /registry/pods/{}/{}, "
                    "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: {} in "
                    "precondition: {}, {} in object meta: {}",
                    current.namespace_name, name, what, given, what, is)));
  };
  const std::string_view uid = text_at(binding, "metadata.uid");
  if (!uid.empty() && uid != current.uid) return precondition("UID", uid, current.uid);
  const std::string_view version = text_at(binding, "metadata.resourceVersion");
  const std::string current_version = fmt::format("{}", current.version);
  if (!version.empty() && version != current_version)
    return precondition("ResourceVersion", version, current_version);
  if (at(pod, "metadata.deletionTimestamp") != nullptr) {
    return refuse(binding_conflict(
        name, fmt::format("pod {} is being deleted, cannot be assigned to a host", name)));
  }
  if (const std::string_view node = text_at(pod, "spec.nodeName"); !node.empty()) {
    return refuse(binding_conflict(
        name, fmt::format("pod {} is already assigned to node \"{}\"", name, node)));
  }
  if (!items_at(pod, "spec.schedulingGates").empty()) {
    return refuse(
        binding_conflict(name, fmt::format("pod {} has non-empty .spec.schedulingGates", name)));
  }
  set_text(object_at(pod, "spec"), "nodeName", text_at(binding, "target.name"));
  merge_texts(pod, binding, "metadata.annotations");
  merge_texts(pod, binding, "metadata.labels");
  JsonValue& status = object_at(pod, "status");
  erase(status, "nominatedNodeName");
  set_condition(status, "PodScheduled", "True", "", "", now);
  return {};
}

bool is_ready(const JsonValue& pod) {
  return std::ranges::any_of(items_at(pod, "status.conditions"), [](const JsonValue& condition) {
    return text_at(condition, "type") == "Ready" && text_at(condition, "status") == "True";
  });
}

ApiError disruption_refused(std::string_view budget, std::string_view detail) {
  ApiError error;
  error.code = 429;
  error.reason = "TooManyRequests";
  error.message = "Cannot evict pod as it would violate the pod's disruption budget.";
  error.has_details = true;
  error.causes = {
      {"DisruptionBudget", fmt::format("The disruption budget {} {}", budget, detail), ""}};
  return error;
}

}  // namespace

Answer<Written> Writes::bind(const ApiRequest& request) {
  Answer<JsonValue> binding = decode(request, "Binding");
  if (!binding) return refuse(std::move(binding.error()));
  const std::string name(text_at(*binding, "metadata.name"));
  if (!request.name.empty() && name != request.name) {
    return refuse(ApiError::bad_request("name in URL does not match name in Binding object"));
  }
  const std::string_view space = text_at(*binding, "metadata.namespace");
  if (!space.empty() && space != request.namespace_name) {
    return refuse(ApiError::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  if (auto fits = check_binding(*binding); !fits) return refuse(std::move(fits.error()));
  Answer<Written> bound = change(pods(), request.namespace_name, name, request.dry_run(),
                                 [&](JsonValue& pod, const ObjectRef& current) {
                                   return assign(pod, *binding, *current, loop_.wall_now());
                                 });
  if (!bound) return bound;
  return Written{201, nullptr, success(201)};
}

Answer<void> Writes::bind(std::string_view namespace_name, const JsonValue& binding) {
  if (auto fits = check_binding(binding); !fits) return fits;
  Answer<Written> bound = change(pods(), namespace_name, text_at(binding, "metadata.name"), false,
                                 [&](JsonValue& pod, const ObjectRef& current) {
                                   return assign(pod, binding, *current, loop_.wall_now());
                                 });
  if (!bound) return refuse(std::move(bound.error()));
  return {};
}

Answer<void> Writes::check_budgets(const ObjectRef& pod, bool ready, bool dry_run) {
  const Resource& budgets = resource_of("poddisruptionbudgets", "policy");
  Answer<ListPage> all = store_.list(budgets, {pod->namespace_name, {}, "", 0}, {});
  if (!all) return refuse(std::move(all.error()));
  std::vector<ObjectRef> about_it;
  for (const ObjectRef& budget : all->items) {
    const JsonValue tree = budget->tree();
    const JsonValue* selector = at(tree, "spec.selector");
    if (!is_object(selector)) continue;
    const auto wanted = label_selector_of(*selector);
    const bool meant = wanted && std::ranges::all_of(*wanted, [&](const auto& requirement) {
                         return requirement.matches(pod->labels);
                       });
    if (meant) about_it.push_back(budget);
  }
  if (about_it.empty()) return {};
  if (about_it.size() > 1) {
    ApiError error;
    error.reason = "InternalError";
    error.message =
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
        "support.";
    return refuse(std::move(error));
  }
  if (!ready) {
    // Parity: they go freely only when they are in nobody's way to health, or the budget says so.
    const JsonValue budget = about_it.front()->tree();
    const std::int64_t desired = int_at(budget, "status.desiredHealthy").value_or(0);
    const bool healthy =
        desired > 0 && int_at(budget, "status.currentHealthy").value_or(0) >= desired;
    if (healthy || text_at(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow") return {};
  }
  const std::string name = about_it.front()->name;
  Answer<Written> taken = change(
      budgets, pod->namespace_name, name, dry_run,
      [&](JsonValue& budget, const ObjectRef&) -> Answer<void> {
        if (int_at(budget, "status.observedGeneration").value_or(0) <
            int_at(budget, "metadata.generation").value_or(0)) {
          ApiError error = disruption_refused(name, "is still being processed by the server.");
          error.retry_after_seconds = 10;
          return refuse(std::move(error));
        }
        const std::int64_t allowed = int_at(budget, "status.disruptionsAllowed").value_or(0);
        if (allowed <= 0) {
          return refuse(disruption_refused(
              name, fmt::format("needs {} healthy pods and has {} currently",
                                int_at(budget, "status.desiredHealthy").value_or(0),
                                int_at(budget, "status.currentHealthy").value_or(0))));
        }
        JsonValue& status = object_at(budget, "status");
        set(status, "disruptionsAllowed", JsonValue::of_int(allowed - 1));
        set_text(object_at(status, "disruptedPods"), pod->name, rfc3339(loop_.wall_now()));
        return {};
      });
  if (!taken) return refuse(std::move(taken.error()));
  return {};
}

Answer<Written> Writes::evict(const ApiRequest& request) {
  Answer<JsonValue> eviction = decode(request, "Eviction");
  if (!eviction) return refuse(std::move(eviction.error()));
  const std::string_view name = text_at(*eviction, "metadata.name");
  if (!name.empty() && name != request.name)
    return refuse(ApiError::bad_request("name in URL does not match name in Eviction object"));
  const ObjectRef pod = store_.get(pods(), request.namespace_name, request.name);
  if (!pod) return refuse(ApiError::not_found(pods(), request.name));

  DeleteOptions options;
  options.dry_run = request.dry_run();
  if (const JsonValue* given = at(*eviction, "deleteOptions")) {
    options.grace_period_seconds = int_at(*given, "gracePeriodSeconds");
    options.uid = text_at(*given, "preconditions.uid");
    options.resource_version = text_at(*given, "preconditions.resourceVersion");
  }
  const JsonValue tree = pod->tree();
  const std::string_view phase = text_at(tree, "status.phase");
  // Pods that do not run, or are going anyway, disrupt nothing.
  const bool free = phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
                    at(tree, "metadata.deletionTimestamp") != nullptr;
  if (!free) {
    if (auto allowed = check_budgets(pod, is_ready(tree), options.dry_run); !allowed)
      return refuse(std::move(allowed.error()));
  }
  Answer<Written> removed = remove_named(pods(), request.namespace_name, request.name, options);
  if (!removed) return removed;
  sweep_namespaces();
  return Written{201, nullptr, success(201)};
}

}  // namespace berth::memapi
