// Server-side apply: a client says which fields it wants, and is their manager from then on.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/field_check.h"
#include "base/time_text.h"
#include "memapi/apply_managers.h"
#include "memapi/crd_kinds.h"
#include "memapi/crd_objects.h"
#include "memapi/crd_values.h"
#include "memapi/field_validation.h"
#include "memapi/json_edit.h"
#include "memapi/patch.h"
#include "memapi/writes.h"
#include "wire/yaml.h"

namespace berth::memapi {
namespace {

std::vector<std::string> undeclared_fields(const Resource& resource, const JsonValue& patch) {
  std::vector<std::string> paths;
  if (resource.custom != nullptr) {
    JsonValue pruned = patch;
    if (resource.custom->schema) paths = prune(pruned, *resource.custom->schema, true);
    return paths;
  }
  for (const FieldFault& fault : check_fields(resource.group_version(), resource.kind, patch))
    if (fault.kind == FieldFault::Kind::kUnknown) paths.push_back(fault.path);
  return paths;
}

// Fields that the kind does not have can have no manager.
Answer<void> check_declared(const ApiRequest& request, const JsonValue& patch) {
  const Resource& resource = *request.resource;
  std::vector<std::string> faults = undeclared_fields(resource, patch);
  if (faults.empty()) return {};
  for (std::string& fault : faults) fault = fmt::format(".{}: field not declared in schema", fault);
  ApiError error;
  error.message = fmt::format(
      "failed to create typed patch object ({}; {}, Kind={}): {}",
      object_key(request.namespace_name, request.name), resource.group_version(), resource.kind,
      faults.size() == 1 ? faults.front()
                         : fmt::format("errors:\n  {}", fmt::join(faults, "\n  ")));
  return refuse(std::move(error));
}

Answer<void> check_apply_patch(const ApiRequest& request, const JsonValue& patch) {
  const Resource& resource = *request.resource;
  if (patch.kind != JsonValue::Kind::kObject)
    return refuse(ApiError::bad_request("error decoding YAML: the patch is not an object"));
  if (const std::string_view version = text_at(patch, "apiVersion");
      version != resource.group_version()) {
    return refuse(ApiError::bad_request(
        version.empty()
            ? "couldn't get object's version: the patch says no apiVersion"
            : fmt::format("Incorrect version specified in apply patch. Specified patch version: "
                          "{}, expected: {}",
                          version, resource.group_version())));
  }
  if (!items_at(patch, "metadata.managedFields").empty())
    return refuse(ApiError::bad_request("metadata.managedFields must be nil"));
  const std::string_view name = text_at(patch, "metadata.name");
  if (!name.empty() && name != request.name) {
    return refuse(ApiError::bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                    request.name)));
  }
  return check_declared(request, patch);
}

// Without what a write to the subresource does not change.
void keep_own_part(const Resource& resource, std::string_view subresource, JsonValue& wish) {
  if (subresource == "status") {
    std::erase_if(wish.members, [](const JsonMember& member) {
      return member.name != "status" && member.name != "metadata";
    });
  } else if (resource.has("status")) {
    erase(wish, "status");
  }
}

}  // namespace

Answer<JsonValue> read_apply_patch(const ApiRequest& request) {
  if (request.parameter("fieldManager").empty()) {
    return refuse(ApiError::invalid_options(
        "PatchOptions", {FieldProblem::required("fieldManager", "is required for apply patch")}));
  }
  Result<std::vector<YamlDocument>> documents = parse_yaml(request.http.body);
  if (!documents) {
    return refuse(
        ApiError::bad_request(fmt::format("error decoding YAML: {}", documents.error().message)));
  }
  Result<JsonValue> wish = parse_json(documents->empty() ? "{}" : documents->front().json);
  if (wish) return std::move(*wish);
  return refuse(
      ApiError::bad_request(fmt::format("error decoding YAML: {}", wish.error().message)));
}

Answer<Written> Writes::apply(const ApiRequest& request, const JsonValue& patch) {
  const Resource& resource = *request.resource;
  if (!resource.stored_as.empty())
    return refuse(ApiError::bad_request("apply is not supported for events"));
  if (auto fits = check_apply_patch(request, patch); !fits) return refuse(std::move(fits.error()));
  JsonValue wish = patch;
  erase(wish, "kind");
  erase(wish, "apiVersion");
  keep_own_part(resource, request.subresource, wish);
  normalize_for(resource, wish);
  if (resource.custom != nullptr) {
    if (auto fits = prune_custom(request, wish); !fits) return refuse(std::move(fits.error()));
  }
  if (!store_.get(resource, request.namespace_name, request.name) && request.subresource.empty()) {
    JsonValue object = JsonValue::object();
    FieldManagers managers;
    FieldManager manager{manager_of(request),       true, resource.group_version(), "",
                         rfc3339(loop_.wall_now()), {}};
    static_cast<void>(managers.apply(std::move(manager), object, wish, resource, true));
    JsonValue& metadata = object_at(object, "metadata");
    set_text(metadata, "name", request.name);
    if (resource.namespaced) set_text(metadata, "namespace", request.namespace_name);
    if (auto fits = check_stored_types(resource, object); !fits) return refuse(fits.error());
    if (auto fits = check_escalation(request, object, nullptr); !fits) return refuse(fits.error());
    Answer<ObjectRef> created =
        prepare_and_create(resource, std::move(object), request.dry_run(),
                           [&](JsonValue& made) { managers.write_to(made); });
    if (created) {
      settle_after(resource);
      return Written{201, std::move(*created), ""};
    }
    if (created.error().reason != "AlreadyExists") return refuse(std::move(created.error()));
  }
  return apply_to_existing(request, wish, request.subresource);
}

Answer<Written> Writes::apply_to_existing(const ApiRequest& request, const JsonValue& wish,
                                          std::string_view part) {
  const Resource& resource = *request.resource;
  const bool force = request.flag("force");
  const auto edit = [&](JsonValue& object, const ObjectRef&) -> Answer<void> {
    FieldManagers managers = FieldManagers::of(object);
    if (managers.empty()) managers.begin(object, resource, loop_.wall_now());
    FieldManager manager{manager_of(request),       true,
                         resource.group_version(),  std::string(part),
                         rfc3339(loop_.wall_now()), {}};
    erase(object_at(object, "metadata"), "managedFields");
    if (auto done = managers.apply(std::move(manager), object, wish, resource, force); !done)
      return done;
    if (auto fits = check_stored_types(resource, object); !fits) return fits;
    managers.write_to(object);
    return {};
  };
  return update_object(request, edit, part, Recorded::kYes);
}

// What is said of a Scale is said of the object's own number of replicas.
Answer<Written> Writes::apply_scale(const ApiRequest& request) {
  Answer<JsonValue> scale = read_apply_patch(request);
  if (!scale) return refuse(std::move(scale.error()));
  const auto replicas = int_at(*scale, "spec.replicas");
  if (!replicas || *replicas < 0) {
    return refuse(ApiError::invalid(
        *request.resource, request.name,
        {FieldProblem::invalid("spec.replicas", replicas ? fmt::format("{}", *replicas) : "null",
                               "must be greater than or equal to 0")}));
  }
  JsonValue wish = JsonValue::object();
  if (request.resource->custom != nullptr) {
    set_custom_replicas(*request.resource->custom, wish, *replicas);
  } else {
    set(object_at(wish, "spec"), "replicas", JsonValue::of_int(*replicas));
  }
  ApiRequest whole = request;
  whole.subresource.clear();
  return apply_to_existing(whole, wish, "scale");
}

}  // namespace berth::memapi
