// Reading bodies, and new objects.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/schema.h"
#include "base/time_text.h"
#include "memapi/apply_managers.h"
#include "memapi/crd_objects.h"
#include "memapi/field_validation.h"
#include "memapi/json_edit.h"
#include "memapi/validation.h"
#include "memapi/views.h"
#include "memapi/writes.h"
#include "wire/json_text.h"
#include "wire/yaml.h"

namespace berth::memapi {
namespace {

constexpr int kGenerateNameTries = 8;
constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

Answer<JsonValue> parse_body(std::string_view json, std::string_view kind) {
  Result<JsonValue> parsed = parse_json(json);
  if (!parsed) {
    return refuse(ApiError::bad_request(
        fmt::format("the object provided is unrecognized (must be of type {}): couldn't get "
                    "version/kind; json parse error: {} ({})",
                    kind, parsed.error().message, json.substr(0, 100))));
  }
  if (parsed->kind != JsonValue::Kind::kObject) {
    return refuse(ApiError::bad_request(
        fmt::format("the object provided is unrecognized (must be of type {}): couldn't get "
                    "version/kind; json parse error: json: cannot unmarshal value into Go value of "
                    "type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
                    "string \"json:\\\"kind,omitempty\\\"\" }}",
                    kind)));
  }
  return std::move(*parsed);
}

// The apiVersion of a body that need not say it.
std::string body_version(const ApiRequest& request, std::string_view kind,
                         std::string_view given_version) {
  if (request.resource != nullptr && request.resource->kind == kind)
    return request.resource->group_version();
  if (schema::find_message(given_version, kind)) return std::string(given_version);
  constexpr std::string_view kVersions[] = {"v1", "autoscaling/v1", "policy/v1",
                                            "authentication.k8s.io/v1"};
  const auto* found = std::ranges::find_if(kVersions, [&](std::string_view version) {
    return schema::find_message(version, kind).has_value();
  });
  return std::string(found == std::end(kVersions) ? given_version : *found);
}

bool shape_is_wrong(const JsonValue& object, std::string_view path, JsonValue::Kind kind) {
  const JsonValue* found = at(object, path);
  return found != nullptr && !found->is_null() && found->kind != kind;
}

}  // namespace

std::string Writes::random_suffix() {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  const MutexLock lock(random_mutex_);
  std::string suffix;
  for (int i = 0; i < 5; ++i) suffix += kAlphabet[random_.below(kAlphabet.size())];
  return suffix;
}

std::string Writes::random_uid() {
  const MutexLock lock(random_mutex_);
  const std::uint64_t high = random_.next();
  const std::uint64_t low = random_.next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xffff,
                     high & 0xfff, (low >> 48 & 0x3fff) | 0x8000, low & 0xffffffffffffULL);
}

Answer<JsonValue> Writes::decode(const ApiRequest& request, std::string_view kind) const {
  const std::string_view type = request.content_type();
  std::string translated;
  std::string_view json = request.http.body;
  const bool custom = request.resource != nullptr && request.resource->custom != nullptr;
  if (type == kProtobufType && codec_ != nullptr && !custom) {
    Result<std::string> text = codec_->to_json(json);
    if (!text) return refuse(ApiError::bad_request(std::move(text.error().message)));
    translated = std::move(*text);
    json = translated;
  } else if (type == "application/yaml") {
    Result<std::vector<YamlDocument>> documents = parse_yaml(json);
    if (!documents) return refuse(ApiError::bad_request(std::move(documents.error().message)));
    translated = documents->empty() ? "{}" : std::move(documents->front().json);
    json = translated;
  } else if (!type.empty() && type != "application/json") {
    return refuse(ApiError::unsupported_media_type(
        codec_ != nullptr && !custom
            ? "application/json, application/yaml, application/vnd.kubernetes.protobuf"
            : "application/json, application/yaml"));
  }
  Answer<JsonValue> object = parse_body(json, kind);
  if (!object) return object;
  const std::string given_kind(text_at(*object, "kind"));
  const std::string given_version(text_at(*object, "apiVersion"));
  if (!given_kind.empty() && given_kind != kind) {
    return refuse(ApiError::bad_request(fmt::format(
        "{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is registered "
        "for this request",
        given_kind, given_version.substr(given_version.find('/') + 1), kind, given_kind)));
  }
  if (request.resource != nullptr && !given_version.empty() && request.resource->kind == kind &&
      given_version != request.resource->group_version()) {
    return refuse(ApiError::bad_request(
        fmt::format("the API version in the data ({}) does not match the expected API version ({})",
                    given_version, request.resource->group_version())));
  }
  if (translated.empty() || type == "application/yaml") {
    if (auto fits = check_body_types(body_version(request, kind, given_version), kind, *object);
        !fits)
      return refuse(std::move(fits.error()));
  }
  for (const std::string_view path : {"metadata", "metadata.labels", "metadata.annotations"}) {
    if (!shape_is_wrong(*object, path, JsonValue::Kind::kObject)) continue;
    return refuse(ApiError::bad_request(
        fmt::format("{} in version \"{}\" cannot be handled as a {}: json: cannot unmarshal value "
                    "into Go struct field {}.{} of type object",
                    kind, request.resource->version, kind, kind, path)));
  }
  // Protobuf has no fields but those that the table knows.
  if (translated.empty() || type == "application/yaml") {
    if (auto fits = validate_fields(request, kind, *object); !fits) return refuse(fits.error());
  }
  erase(*object, "kind");
  erase(*object, "apiVersion");
  if (custom) {
    sort_members(*object);
  } else {
    normalize(*object);
  }
  return object;
}

Answer<void> Writes::check_namespace(const Resource& resource, std::string_view namespace_name,
                                     std::string_view name) const {
  if (!resource.namespaced || !plugins_.namespace_lifecycle) return {};
  const Resource& namespaces = resource_of("namespaces");
  const ObjectRef found = store_.get(namespaces, "", namespace_name);
  if (!found) return refuse(ApiError::not_found(namespaces, namespace_name));
  if (at(found->tree(), "metadata.deletionTimestamp") == nullptr) return {};
  ApiError error = ApiError::forbidden(
      resource, name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  namespace_name));
  error.causes = {{"NamespaceTerminating",
                   fmt::format("namespace {} is being terminated", namespace_name),
                   "metadata.namespace"}};
  return refuse(std::move(error));
}

Answer<ObjectRef> Writes::prepare_and_create(const Resource& resource, JsonValue object,
                                             bool dry_run, const Track& track) {
  if (resource.custom != nullptr) {
    if (auto fits = check_creatable(*resource.custom); !fits) return refuse(fits.error());
  }
  begin_status(resource, object, loop_.wall_now());
  apply_defaults(resource, object, loop_.wall_now());
  JsonValue& metadata = object_at(object, "metadata");
  for (const std::string_view own : {"deletionTimestamp", "deletionGracePeriodSeconds",
                                     "managedFields", "selfLink", "generation"})
    erase(metadata, own);
  set_text(metadata, "uid", random_uid());
  set_text(metadata, "creationTimestamp", rfc3339(loop_.wall_now()));
  if (resource.generation) set(metadata, "generation", JsonValue::of_int(1));

  const std::string prefix(text_at(metadata, "generateName"));
  const bool generated = text_at(metadata, "name").empty() && !prefix.empty();
  // Parity: what is generated keeps to 63 characters.
  if (generated) set_text(metadata, "name", prefix.substr(0, 58) + random_suffix());
  const std::string name(text_at(metadata, "name"));
  if (auto done = check_namespace(resource, text_at(metadata, "namespace"), name); !done)
    return refuse(done.error());
  if (auto done = admit_new(resource, object, store_, plugins_, loop_.wall_now()); !done)
    return refuse(done.error());
  if (auto problems = validate_new(resource, object); !problems.empty())
    return refuse(ApiError::invalid(resource, name, std::move(problems)));

  if (track) track(object);
  if (auto fits = check_size(resource, name, object); !fits) return refuse(fits.error());
  return write_charged(resource, object, nullptr, dry_run, [&] {
    return store_new(resource, object, generated ? prefix : std::string(), dry_run);
  });
}

Answer<ObjectRef> Writes::write_charged(const Resource& resource, const JsonValue& object,
                                        const StoredObject* old, bool dry_run,
                                        const QuotaLedger::Write& write) {
  if (!plugins_.resource_quota) return write();
  return quotas_.charge(resource, object, old, dry_run, write);
}

Answer<ObjectRef> Writes::store_new(const Resource& resource, JsonValue& object,
                                    const std::string& prefix, bool dry_run) {
  for (int attempt = 1;; ++attempt) {
    if (dry_run) {
      const std::string now_name(text_at(object, "metadata.name"));
      if (store_.get(resource, text_at(object, "metadata.namespace"), now_name))
        return refuse(ApiError::already_exists(resource, now_name));
      normalize_for(resource, object);
      auto shown = std::make_shared<StoredObject>();
      shown->json = to_json(object);
      return shown;
    }
    Answer<ObjectRef> created = store_.create(resource, object);
    if (created || prefix.empty() || attempt == kGenerateNameTries) return created;
    set_text(object_at(object, "metadata"), "name", prefix.substr(0, 58) + random_suffix());
  }
}

Answer<ObjectRef> Writes::add(const Resource& resource, JsonValue object) {
  Answer<ObjectRef> created = prepare_and_create(resource, std::move(object), false);
  if (created) settle_after(resource);
  return created;
}

Answer<Written> Writes::create(const ApiRequest& request) {
  const Resource& resource = *request.resource;
  Answer<JsonValue> object = decode(request, resource.kind);
  if (!object) return refuse(std::move(object.error()));
  if (!resource.stored_as.empty()) event_to_stored_view(*object);
  JsonValue& metadata = object_at(*object, "metadata");
  if (!text_at(metadata, "resourceVersion").empty()) {
    ApiError error;
    error.message = "resourceVersion should not be set on objects to be created";
    return refuse(std::move(error));
  }
  const std::string given(text_at(metadata, "namespace"));
  if (resource.namespaced) {
    if (!given.empty() && given != request.namespace_name) {
      return refuse(ApiError::bad_request(
          "the namespace of the provided object does not match the namespace sent on the request"));
    }
    set_text(metadata, "namespace", request.namespace_name);
  } else {
    erase(metadata, "namespace");
  }
  if (resource.custom != nullptr) {
    if (auto fits = prune_custom(request, *object); !fits) return refuse(std::move(fits.error()));
  }
  if (auto fits = check_escalation(request, *object, nullptr); !fits)
    return refuse(std::move(fits.error()));
  const auto track = [&](JsonValue& made) {
    track_update(request, made, nullptr, loop_.wall_now());
  };
  Answer<ObjectRef> created =
      prepare_and_create(resource, std::move(*object), request.dry_run(), track);
  if (!created) return refuse(std::move(created.error()));
  settle_after(resource);
  return Written{201, std::move(*created), ""};
}

}  // namespace berth::memapi
