// Deletion: grace, finalizers, preconditions, collections, namespaces.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/go_quote.h"
#include "base/time_text.h"
#include "memapi/json_edit.h"
#include "memapi/writes.h"
#include "wire/json_text.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kKeptNamespaces[] = {"default", "kube-system", "kube-public"};

// How long a pod may take to end.
std::int64_t pod_grace(const JsonValue& pod, const DeleteOptions& options) {
  const std::string_view phase = text_at(pod, "status.phase");
  if (text_at(pod, "spec.nodeName").empty() || phase == "Succeeded" || phase == "Failed") return 0;
  if (options.grace_period_seconds) return std::max<std::int64_t>(*options.grace_period_seconds, 0);
  return std::max<std::int64_t>(int_at(pod, "spec.terminationGracePeriodSeconds").value_or(30), 0);
}

void mark_deleted(JsonValue& object, const Resource& resource, std::int64_t grace, WallTime now) {
  JsonValue& metadata = object_at(object, "metadata");
  const bool first = at(metadata, "deletionTimestamp") == nullptr;
  set_text(metadata, "deletionTimestamp", rfc3339(now + std::chrono::seconds(grace)));
  set(metadata, "deletionGracePeriodSeconds", JsonValue::of_int(grace));
  if (first && resource.generation) {
    set(metadata, "generation", JsonValue::of_int(int_at(metadata, "generation").value_or(0) + 1));
  }
}

Answer<Propagation> propagation_named(std::string_view policy) {
  if (policy == "Background") return Propagation::kBackground;
  if (policy == "Foreground") return Propagation::kForeground;
  if (policy == "Orphan") return Propagation::kOrphan;
  return refuse(ApiError::invalid_options(
      "DeleteOptions",
      {FieldProblem::not_supported("propagationPolicy", go_quoted(policy),
                                   R"("Foreground", "Background", "Orphan", "nil")")}));
}

// The finalizer by which the garbage collector learns what is to become of the dependents.
void mark_for_collector(JsonValue& object, const Resource& resource, Propagation propagation) {
  // Parity: who deletes these and says nothing keeps their pods.
  if (propagation == Propagation::kDefault && resource.custom == nullptr &&
      (resource.plural == "jobs" || resource.plural == "replicationcontrollers")) {
    propagation = Propagation::kOrphan;
  }
  if (propagation == Propagation::kDefault) return;
  JsonValue& finalizers = array_at(object, "metadata.finalizers");
  std::erase_if(finalizers.items, [](const JsonValue& finalizer) {
    return finalizer.text == kOrphanFinalizer || finalizer.text == kForegroundFinalizer;
  });
  if (propagation == Propagation::kOrphan)
    finalizers.items.push_back(JsonValue::of_text(kOrphanFinalizer));
  if (propagation == Propagation::kForeground)
    finalizers.items.push_back(JsonValue::of_text(kForegroundFinalizer));
  if (finalizers.items.empty()) erase(object_at(object, "metadata"), "finalizers");
}

Answer<void> check_preconditions(const Resource& resource, const StoredObject& object,
                                 const DeleteOptions& options) {
  // Parity: these two name the kind, not the resource.
  const auto conflict = [&](std::string_view why) {
    ApiError error = ApiError::conflict(resource, object.name, why);
    error.kind = resource.kind;
    error.message =
        fmt::format("Operation cannot be fulfilled on {}{}{} \"{}\": {}", resource.kind,
                    resource.group.empty() ? "" : ".", resource.group, object.name, why);
    return refuse(std::move(error));
  };
  if (!options.uid.empty() && options.uid != object.uid) {
    return conflict(
        fmt::format("the UID in the precondition ({}) does not match the UID in record "
                    "({}). The object might have been deleted and then recreated",
                    options.uid, object.uid));
  }
  if (!options.resource_version.empty() &&
      options.resource_version != fmt::format("{}", object.version)) {
    return conflict(
        fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                    "ResourceVersion in record ({}). The object might have been "
                    "modified",
                    options.resource_version, object.version));
  }
  return {};
}

}  // namespace

Answer<DeleteOptions> Writes::delete_options(const ApiRequest& request) const {
  DeleteOptions options;
  options.dry_run = request.dry_run();
  Answer<std::optional<std::int64_t>> grace = request.number("gracePeriodSeconds");
  if (!grace) return refuse(std::move(grace.error()));
  options.grace_period_seconds = *grace;
  if (const std::string_view policy = request.parameter("propagationPolicy"); !policy.empty()) {
    Answer<Propagation> named = propagation_named(policy);
    if (!named) return refuse(std::move(named.error()));
    options.propagation = *named;
  }
  if (request.http.body.empty()) return options;

  ApiRequest plain = request;
  plain.resource = nullptr;
  Answer<JsonValue> body = decode(plain, "DeleteOptions");
  if (!body) return refuse(std::move(body.error()));
  if (const auto given = int_at(*body, "gracePeriodSeconds")) options.grace_period_seconds = given;
  options.uid = text_at(*body, "preconditions.uid");
  options.resource_version = text_at(*body, "preconditions.resourceVersion");
  if (const std::string_view policy = text_at(*body, "propagationPolicy"); !policy.empty()) {
    Answer<Propagation> named = propagation_named(policy);
    if (!named) return refuse(std::move(named.error()));
    options.propagation = *named;
  } else if (const JsonValue* orphan = at(*body, "orphanDependents")) {
    options.propagation = orphan->boolean ? Propagation::kOrphan : Propagation::kBackground;
  }
  const auto& dry = items_at(*body, "dryRun");
  options.dry_run = options.dry_run || (!dry.empty() && dry.front().text == "All");
  return options;
}

Answer<Written> Writes::gone(const Resource& resource, const ObjectRef& last) {
  // Parity: who deletes a pod gets the pod.
  if (&resource == &resource_of("pods")) return Written{200, last, ""};
  JsonValue status = JsonValue::object();
  status.add("kind", JsonValue::of_text("Status"));
  status.add("apiVersion", JsonValue::of_text("v1"));
  status.add("metadata", JsonValue::object());
  status.add("status", JsonValue::of_text("Success"));
  JsonValue details = JsonValue::object();
  details.add("name", JsonValue::of_text(last->name));
  if (!resource.group.empty()) details.add("group", JsonValue::of_text(resource.group));
  details.add("kind", JsonValue::of_text(resource.plural));
  details.add("uid", JsonValue::of_text(last->uid));
  status.add("details", std::move(details));
  return Written{200, nullptr, to_json(status)};
}

Answer<Written> Writes::remove_namespace(const ObjectRef& current, const DeleteOptions& options,
                                         bool& retry) {
  const Resource& namespaces = resource_of("namespaces");
  if (std::ranges::find(kKeptNamespaces, current->name) != std::end(kKeptNamespaces)) {
    return refuse(
        ApiError::forbidden(namespaces, current->name, "this namespace may not be deleted"));
  }
  JsonValue object = current->tree();
  if (at(object, "metadata.deletionTimestamp") == nullptr) {
    set_text(object_at(object, "metadata"), "deletionTimestamp", rfc3339(loop_.wall_now()));
    set_text(object_at(object, "status"), "phase", "Terminating");
  }
  if (options.dry_run) return Written{200, current, ""};
  const ObjectRef written = store_.replace(namespaces, current, std::move(object));
  if (!written) {
    retry = true;
    return Written{};
  }
  return Written{200, written, ""};
}

Answer<Written> Writes::remove_object(const Resource& resource, const ObjectRef& current,
                                      const DeleteOptions& options, bool& retry) {
  if (auto fits = check_preconditions(resource, *current, options); !fits)
    return refuse(std::move(fits.error()));
  if (&resource == &resource_of("namespaces")) return remove_namespace(current, options, retry);
  JsonValue object = current->tree();
  const bool is_pod = &resource == &resource_of("pods");
  const std::int64_t grace = is_pod ? pod_grace(object, options) : 0;
  const auto granted = int_at(object, "metadata.deletionGracePeriodSeconds");
  const bool deleting = at(object, "metadata.deletionTimestamp") != nullptr;
  if (!deleting) mark_for_collector(object, resource, options.propagation);
  if (!deleting && resource.plural == "customresourcedefinitions" && resource.custom == nullptr)
    mark_definition_going(object, loop_.wall_now());
  const bool finalized = items_at(object, "metadata.finalizers").empty();
  // Who is dying already can only be hurried.
  if (deleting && granted && grace >= *granted && !(finalized && *granted == 0))
    return Written{200, current, ""};
  if (options.dry_run)
    return finalized && grace == 0 ? gone(resource, current) : Written{200, current, ""};

  mark_deleted(object, resource, grace, loop_.wall_now());
  const bool stays = grace > 0 || !finalized;
  if (!stays && !is_pod) {
    erase(object_at(object, "metadata"), "deletionTimestamp");
    erase(object_at(object, "metadata"), "deletionGracePeriodSeconds");
    copy_member(object_at(object, "metadata"), *at(current->tree(), "metadata"), "generation");
  }
  const ObjectRef written = stays ? store_.replace(resource, current, std::move(object))
                                  : store_.remove(resource, current, std::move(object));
  if (!written) {
    retry = true;
    return Written{};
  }
  if (stays) return Written{200, written, ""};
  return gone(resource, written);
}

Answer<Written> Writes::remove_named(const Resource& resource, std::string_view namespace_name,
                                     std::string_view name, const DeleteOptions& options) {
  for (;;) {
    const ObjectRef current = store_.get(resource, namespace_name, name);
    if (!current) return refuse(ApiError::not_found(resource, name));
    bool retry = false;
    Answer<Written> removed = remove_object(resource, current, options, retry);
    if (!retry) return removed;
  }
}

Answer<Written> Writes::remove(const ApiRequest& request) {
  Answer<DeleteOptions> options = delete_options(request);
  if (!options) return refuse(std::move(options.error()));
  Answer<Written> removed =
      remove_named(*request.resource, request.namespace_name, request.name, *options);
  sweep_namespaces();
  settle_after(*request.resource);
  return removed;
}

Answer<void> Writes::remove(const Resource& resource, std::string_view namespace_name,
                            std::string_view name, const DeleteOptions& options) {
  Answer<Written> removed = remove_named(resource, namespace_name, name, options);
  if (!removed) return refuse(std::move(removed.error()));
  sweep_namespaces();
  settle_after(resource);
  return {};
}

Answer<ListPage> Writes::remove_collection(const ApiRequest& request) {
  const Resource& resource = *request.resource;
  Answer<DeleteOptions> options = delete_options(request);
  if (!options) return refuse(std::move(options.error()));
  Answer<Selection> selection = Selection::parse(resource, request.parameter("labelSelector"),
                                                 request.parameter("fieldSelector"));
  if (!selection) return refuse(std::move(selection.error()));
  Answer<ListPage> page = store_.list(resource, {request.namespace_name, {}, "", 0}, *selection);
  if (!page) return page;
  for (const ObjectRef& object : page->items) {
    // Somebody else may have removed it meanwhile: that is as good.
    static_cast<void>(remove_named(resource, object->namespace_name, object->name, *options));
  }
  sweep_namespaces();
  settle_after(resource);
  return page;
}

void Writes::sweep_namespaces() {
  const Resource& namespaces = resource_of("namespaces");
  const Answer<Selection> terminating =
      Selection::parse(namespaces, "", "status.phase=Terminating");
  const Answer<ListPage> going = store_.list(namespaces, {}, *terminating);
  if (!going) return;
  const CustomKindsRef custom = crds_.kinds();
  for (const ObjectRef& space : going->items) {
    bool empty = true;
    const auto sweep = [&](const Resource& resource) {
      if (!resource.namespaced || !resource.stored_as.empty() || resource.verbs != Verbs::kAll)
        return;
      const Answer<ListPage> content = store_.list(resource, {space->name, {}, "", 0}, {});
      if (!content) return;
      for (const ObjectRef& object : content->items) {
        if (at(object->tree(), "metadata.deletionTimestamp") == nullptr)
          static_cast<void>(remove_named(resource, space->name, object->name, {}));
      }
      empty = empty && !store_.any_in_namespace(resource, space->name);
    };
    for (const Resource& resource : resources()) sweep(resource);
    for (const auto& kind : custom->stored()) sweep(kind->resource);
    if (!empty) continue;
    const ObjectRef current = store_.get(namespaces, "", space->name);
    if (!current || !items_at(current->tree(), "metadata.finalizers").empty()) continue;
    JsonValue last = current->tree();
    erase(object_at(last, "spec"), "finalizers");
    static_cast<void>(store_.remove(namespaces, current, std::move(last)));
  }
}

}  // namespace berth::memapi
