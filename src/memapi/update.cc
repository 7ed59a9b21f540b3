// Changes of objects that exist: PUT, PATCH in its four kinds, and the scale subresource.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/schema.h"
#include "base/go_quote.h"
#include "base/time_text.h"
#include "memapi/apply_managers.h"
#include "memapi/crd_objects.h"
#include "memapi/field_validation.h"
#include "memapi/json_edit.h"
#include "memapi/patch.h"
#include "memapi/service_addresses.h"
#include "memapi/strategic_merge.h"
#include "memapi/validation.h"
#include "memapi/views.h"
#include "memapi/writes.h"

namespace berth::memapi {
namespace {

constexpr int kTries = 100;

// What errors about a scale are about.
constexpr Resource kScale = {.group = "autoscaling", .version = "v1", .kind = "Scale"};

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";

// What only the server writes stays as it is.
void keep_metadata(JsonValue& object, const JsonValue& old) {
  static const JsonValue kNone = JsonValue::object();
  const JsonValue* before = at(old, "metadata");
  JsonValue& metadata = object_at(object, "metadata");
  for (const std::string_view own :
       {"name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generateName", "resourceVersion"})
    copy_member(metadata, before != nullptr ? *before : kNone, own);
  erase(metadata, "selfLink");
}

// A taint whose effect changes counts as added now, unless the change says when.
void renew_time_added(JsonValue& rule, const JsonValue& old, WallTime now) {
  constexpr std::string_view kAdded = "spec.taint.timeAdded";
  if (text_at(rule, "spec.taint.effect") == text_at(old, "spec.taint.effect") ||
      text_at(rule, kAdded) != text_at(old, kAdded))
    return;
  set_text(object_at(rule, "spec.taint"), "timeAdded", rfc3339(now));
}

bool is_finished_deleting(const JsonValue& object) {
  return at(object, "metadata.deletionTimestamp") != nullptr &&
         items_at(object, "metadata.finalizers").empty() &&
         int_at(object, "metadata.deletionGracePeriodSeconds").value_or(0) == 0;
}

void bump_generation(JsonValue& object) {
  const std::int64_t before = int_at(object, "metadata.generation").value_or(0);
  set(object_at(object, "metadata"), "generation", JsonValue::of_int(before + 1));
}

// What counts as the wish of whoever wrote the object: all but metadata and status.
bool same_wish(const JsonValue& a, const JsonValue& b) {
  const auto wish = [](JsonValue object) {
    erase(object, "metadata");
    erase(object, "status");
    return object;
  };
  return equal(wish(a), wish(b));
}

// The object that a PUT brings is the one of its URL.
Answer<void> check_name(const ApiRequest& request, std::string_view name) {
  if (name == request.name) return {};
  return refuse(ApiError::bad_request(
      name.empty()
          ? fmt::format("the name of the object ({} based on URL) was undeterminable: name must be "
                        "provided",
                        request.name)
          : fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        request.name)));
}

// No version, or "0": whatever is stored is replaced.
bool is_unconditional(std::string_view version) { return version.empty() || version == "0"; }

// Objects that only those may replace who have read them.
bool must_be_read_first(const Resource& resource) {
  constexpr std::string_view kKinds[] = {
      "CSIDriver", "CSINode",      "CSIStorageCapacity", "Lease",    "PodDisruptionBudget",
      "PodGroup",  "RuntimeClass", "VolumeAttachment",   "Workload", "CustomResourceDefinition"};
  return resource.custom != nullptr || std::ranges::find(kKinds, resource.kind) != std::end(kKinds);
}

Answer<void> check_was_read(const Resource& resource, std::string_view name,
                            std::string_view version) {
  if (!is_unconditional(version) || !must_be_read_first(resource)) return {};
  ApiError error = ApiError::invalid(
      resource, name,
      {FieldProblem::invalid("metadata.resourceVersion", "0", "must be specified for an update")});
  // Parity: this one names the resource where others name the kind.
  error.kind = resource.plural;
  error.message = fmt::format("{}{}{} \"{}\" is invalid: metadata.resourceVersion: {}",
                              resource.plural, resource.group.empty() ? "" : ".", resource.group,
                              name, error.causes.front().message);
  return refuse(std::move(error));
}

Answer<void> check_version(const Resource& resource, const StoredObject& current,
                           std::string_view version) {
  if (is_unconditional(version) || version == fmt::format("{}", current.version)) return {};
  if (parse_version(version)) return refuse(ApiError::modified(resource, current.name));
  ApiError error;
  error.message = fmt::format("strconv.ParseUint: parsing {}: invalid syntax", go_quoted(version));
  return refuse(std::move(error));
}

// As Go writes a selector: "a=b,c in (d,e),!f,g".
std::string selector_text(const JsonValue* selector) {
  std::map<std::string, std::string> parts;  // by key
  if (!is_object(selector)) return {};
  const bool plain =
      at(*selector, "matchLabels") == nullptr && at(*selector, "matchExpressions") == nullptr;
  const JsonValue* labels = plain ? selector : at(*selector, "matchLabels");
  if (is_object(labels)) {
    for (const JsonMember& label : labels->members)
      parts.emplace(label.name, fmt::format("{}={}", label.name, label.value.text));
  }
  for (const JsonValue& one : items_at(*selector, "matchExpressions")) {
    const std::string key(text_at(one, "key"));
    const std::string_view op = text_at(one, "operator");
    std::vector<std::string> values;
    for (const JsonValue& value : items_at(one, "values")) values.push_back(value.text);
    std::ranges::sort(values);
    std::string text = key;
    if (op == "In" || op == "NotIn")
      text += fmt::format(" {} ({})", op == "In" ? "in" : "notin", fmt::join(values, ","));
    if (op == "DoesNotExist") text = "!" + key;
    parts[key] += (parts[key].empty() ? "" : ",") + text;
  }
  std::string all;
  for (const auto& [key, text] : parts) all += (all.empty() ? "" : ",") + text;
  return all;
}

JsonValue scale_of(const JsonValue& object) {
  JsonValue scale = scale_without_replicas(object);
  JsonValue spec = JsonValue::object();
  spec.add("replicas", JsonValue::of_int(int_at(object, "spec.replicas").value_or(0)));
  scale.add("spec", std::move(spec));
  JsonValue status = JsonValue::object();
  status.add("replicas", JsonValue::of_int(int_at(object, "status.replicas").value_or(0)));
  const std::string selector = selector_text(at(object, "spec.selector"));
  if (!selector.empty()) status.add("selector", JsonValue::of_text(selector));
  scale.add("status", std::move(status));
  return scale;
}

}  // namespace

Answer<Written> Writes::change(const Resource& resource, std::string_view namespace_name,
                               std::string_view name, bool dry_run, const Change& edit) {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const ObjectRef current = store_.get(resource, namespace_name, name);
    if (!current) return refuse(ApiError::not_found(resource, name));
    JsonValue object = current->tree();
    if (auto done = edit(object, current); !done) return refuse(std::move(done.error()));
    if (auto fits = check_size(resource, name, object); !fits) return refuse(fits.error());
    if (dry_run) {
      normalize_for(resource, object);
      auto shown = std::make_shared<StoredObject>(*current);
      shown->json = to_json(object);
      return Written{200, std::move(shown), ""};
    }
    const bool finished = is_finished_deleting(object);
    const auto write = [&]() -> Answer<ObjectRef> {
      return finished ? store_.remove(resource, current, std::move(object))
                      : store_.replace(resource, current, std::move(object));
    };
    const Answer<ObjectRef> written = write_charged(resource, object, current.get(), false, write);
    if (!written) return refuse(written.error());
    if (!*written) continue;
    if (finished) sweep_namespaces();
    settle_after(resource);
    return Written{200, *written, ""};
  }
  return refuse(ApiError::modified(resource, name));
}

Answer<void> Writes::finish_update(const Resource& resource, std::string_view subresource,
                                   JsonValue& object, const ObjectRef& current) const {
  const JsonValue old = current->tree();
  if (const std::string_view uid = text_at(object, "metadata.uid");
      !uid.empty() && uid != current->uid) {
    return refuse(ApiError::conflict(
        resource, current->name,
        fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                    current->uid)));
  }
  if (auto fits = check_version(resource, *current, text_at(object, "metadata.resourceVersion"));
      !fits)
    return fits;
  keep_metadata(object, old);
  normalize_for(resource, object);
  if (resource.custom != nullptr) {
    keep_custom_parts(*resource.custom, subresource, object, old);
    default_custom(*resource.custom, object);
    if (auto problems = validate_update(resource, object, old); !problems.empty())
      return refuse(ApiError::invalid(resource, current->name, std::move(problems)));
    if (!same_custom_wish(*resource.custom, object, old)) bump_generation(object);
    return {};
  }

  if (subresource == "status") {
    JsonValue changed = old;
    copy_member(changed, object, "status");
    copy_member(changed, object, "metadata");
    copy_member(object_at(changed, "metadata"), *at(old, "metadata"), "ownerReferences");
    object = std::move(changed);
    apply_defaults(resource, object, loop_.wall_now());
    return {};
  }
  if (subresource == "finalize") {
    JsonValue changed = old;
    if (const JsonValue* spec = at(object, "spec")) set(changed, "spec", *spec);
    object = std::move(changed);
    return {};
  }
  if (resource.has("status")) copy_member(object, old, "status");
  apply_defaults(resource, object, loop_.wall_now());
  if (resource.plural == "devicetaintrules") renew_time_added(object, old, loop_.wall_now());
  if (resource.plural == "namespaces") copy_member(object, old, "spec");
  if (resource.plural == "daemonsets") count_templates(object, &old);
  if (resource.plural == "services") assign_addresses(object, &old, store_);
  if (auto problems = validate_update(resource, object, old); !problems.empty())
    return refuse(ApiError::invalid(resource, current->name, std::move(problems)));
  if (resource.generation && !same_wish(object, old)) bump_generation(object);
  // A pod whose last gate goes is free; whoever schedules it says so next.
  return {};
}

Answer<ObjectRef> Writes::edit(const Resource& resource, std::string_view namespace_name,
                               std::string_view name, std::string_view subresource,
                               const std::function<Answer<void>(JsonValue& object)>& edit) {
  Answer<Written> written = change(
      resource, namespace_name, name, false,
      [&](JsonValue& object, const ObjectRef& current) -> Answer<void> {
        if (auto done = edit(object); !done) return done;
        auto finished = finish_update(resource, subresource, object, current);
        if (finished && current->json.contains("\"managedFields\"")) {
          track_local_update(resource, subresource, object, current->tree(), loop_.wall_now());
        }
        return finished;
      });
  if (!written) return refuse(std::move(written.error()));
  return std::move(written->object);
}

Answer<Written> Writes::update_object(const ApiRequest& request, const Change& edit,
                                      std::string_view part, Recorded recorded) {
  const Resource& resource = *request.resource;
  return change(resource, request.namespace_name, request.name, request.dry_run(),
                [&](JsonValue& object, const ObjectRef& current) -> Answer<void> {
                  if (auto done = edit(object, current); !done) return done;
                  if (resource.custom != nullptr) {
                    if (auto fits = prune_custom(request, object); !fits) return fits;
                  }
                  auto done = finish_update(resource, request.subresource, object, current);
                  if (!done) return done;
                  const JsonValue old = current->tree();
                  if (auto fits = check_escalation(request, object, &old); !fits) return fits;
                  if (recorded == Recorded::kYes) return done;
                  ApiRequest told = request;
                  told.subresource = part;
                  track_update(told, object, &old, loop_.wall_now());
                  return {};
                });
}

Answer<Written> Writes::update(const ApiRequest& request) {
  Answer<JsonValue> given = decode(request, request.resource->kind);
  if (!given) return refuse(std::move(given.error()));
  if (!request.resource->stored_as.empty()) event_to_stored_view(*given);
  const std::string_view name = text_at(*given, "metadata.name");
  if (auto fits = check_name(request, name); !fits) return refuse(std::move(fits.error()));
  const std::string_view space = text_at(*given, "metadata.namespace");
  if (!space.empty() && space != request.namespace_name) {
    return refuse(ApiError::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request"));
  }
  if (auto fits = check_was_read(*request.resource, request.name,
                                 text_at(*given, "metadata.resourceVersion"));
      !fits)
    return refuse(std::move(fits.error()));
  const auto replace = [&](JsonValue& object, const ObjectRef&) -> Answer<void> {
    object = *given;
    return {};
  };
  return update_object(request, replace, request.subresource);
}

Answer<Written> Writes::patch(const ApiRequest& request) {
  const std::string_view type = request.content_type();
  if (type != kJsonPatch && type != kMergePatch && type != kStrategicPatch && type != kApplyPatch) {
    ApiError error = ApiError::unsupported_media_type("");
    error.message = "415: Unsupported Media Type";
    error.has_details = true;
    return refuse(std::move(error));
  }
  if (type == kStrategicPatch && request.resource->custom != nullptr) {
    return refuse(ApiError::unsupported_media_type(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, "
        "application/apply-patch+cbor"));
  }
  const std::string& json = request.http.body;
  if (type == kApplyPatch) {
    Answer<JsonValue> wish = read_apply_patch(request);
    if (!wish) return refuse(std::move(wish.error()));
    return apply(request, *wish);
  }
  if (!request.parameter("force").empty()) {
    return refuse(ApiError::invalid_options(
        "PatchOptions",
        {FieldProblem::forbidden("force", "may not be specified for non-apply patch")}));
  }
  Result<JsonValue> patch = parse_json(json);
  if (!patch) {
    return refuse(
        ApiError::bad_request(fmt::format("error decoding patch: {}", patch.error().message)));
  }
  const Resource& resource = *request.resource;
  if (type == kStrategicPatch) {
    const auto shown = [&] { return go_map_text(*patch); };
    if (auto fits = validate_patch_fields(request, *patch, shown); !fits)
      return refuse(std::move(fits.error()));
  } else if (type == kMergePatch) {
    if (auto fits = validate_patch_fields(request, *patch, [&] { return json; }); !fits)
      return refuse(std::move(fits.error()));
  }
  const auto edit = [&](JsonValue& object, const ObjectRef& current) -> Answer<void> {
    const bool new_view = !resource.stored_as.empty();
    if (new_view) event_to_new_view(object);
    set_text(object, "kind", resource.kind);
    set_text(object, "apiVersion", resource.group_version());
    if (type == kJsonPatch) {
      if (auto done = apply_json_patch(object, *patch); !done) return done;
    } else if (type == kStrategicPatch) {
      const auto message = schema::find_message(resource.group_version(), resource.kind);
      if (auto done = apply_strategic_merge(message, object, *patch); !done) return done;
    } else if (auto done = apply_merge_patch(object, *patch); !done) {
      return done;
    }
    if (object.kind != JsonValue::Kind::kObject)
      return refuse(ApiError::bad_request("the patch does not leave an object"));
    erase(object, "kind");
    erase(object, "apiVersion");
    if (new_view) event_to_stored_view(object);
    const JsonValue* tree_patch = type == kStrategicPatch ? &*patch : nullptr;
    if (auto fits = check_patched_types(resource, object, tree_patch); !fits) return fits;
    if (const std::string_view name = text_at(object, "metadata.name"); name != current->name) {
      return refuse(ApiError::bad_request(
          fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                      current->name)));
    }
    return {};
  };
  return update_object(request, edit, request.subresource);
}

// The scale that a PUT brings, or the patch of one.
Answer<JsonValue> Writes::scale_body(const ApiRequest& request) const {
  if (request.http.method == "PUT") {
    Answer<JsonValue> scale = decode(request, "Scale");
    if (!scale) return scale;
    if (auto fits = check_name(request, text_at(*scale, "metadata.name")); !fits)
      return refuse(std::move(fits.error()));
    return scale;
  }
  Result<JsonValue> patch = parse_json(request.http.body);
  if (patch) return std::move(*patch);
  return refuse(
      ApiError::bad_request(fmt::format("error decoding patch: {}", patch.error().message)));
}

Answer<std::string> Writes::scale(const ApiRequest& request) {
  const Resource& resource = *request.resource;
  ObjectRef object = store_.get(resource, request.namespace_name, request.name);
  if (!object) return refuse(ApiError::not_found(resource, request.name));
  const auto scale_of_kind = [&](const JsonValue& tree) {
    return resource.custom != nullptr ? custom_scale_of(*resource.custom, tree) : scale_of(tree);
  };
  if (request.http.method == "GET") return to_json(scale_of_kind(object->tree()));

  if (request.content_type() == kApplyPatch) {
    Answer<Written> applied = apply_scale(request);
    if (!applied) return refuse(std::move(applied.error()));
    return to_json(scale_of_kind(applied->object->tree()));
  }
  Answer<JsonValue> body = scale_body(request);
  if (!body) return refuse(std::move(body.error()));
  ApiRequest whole = request;
  whole.subresource.clear();
  const auto edit = [&](JsonValue& changed, const ObjectRef& current) -> Answer<void> {
    JsonValue scale = scale_of_kind(changed);
    if (request.http.method == "PUT") {
      scale = *body;
    } else if (request.content_type() == kJsonPatch) {
      if (auto done = apply_json_patch(scale, *body); !done) return done;
    } else if (auto done = apply_merge_patch(scale, *body); !done) {
      return done;
    }
    if (auto fits = check_body_types("autoscaling/v1", "Scale", scale); !fits) return fits;
    const std::int64_t replicas = int_at(scale, "spec.replicas").value_or(0);
    if (replicas < 0) {
      return refuse(
          ApiError::invalid(kScale, current->name,
                            {FieldProblem::invalid("spec.replicas", fmt::format("{}", replicas),
                                                   "must be greater than or equal to 0")}));
    }
    if (auto fits = check_version(resource, *current, text_at(scale, "metadata.resourceVersion"));
        !fits)
      return fits;
    if (resource.custom != nullptr) {
      set_custom_replicas(*resource.custom, changed, replicas);
    } else {
      set(object_at(changed, "spec"), "replicas", JsonValue::of_int(replicas));
    }
    return {};
  };
  Answer<Written> written = update_object(whole, edit, "scale");
  if (!written) return refuse(std::move(written.error()));
  return to_json(scale_of_kind(written->object->tree()));
}

}  // namespace berth::memapi
