#include "memapi/api_error.h"

#include <fmt/format.h>

#include <utility>

#include "memapi/resources.h"

namespace berth::memapi {
namespace {

// "deployments.apps", "pods".
std::string qualified(std::string_view name, std::string_view group) {
  return group.empty() ? std::string(name) : fmt::format("{}.{}", name, group);
}

ApiError about(const Resource& resource, std::string_view name, int code, std::string_view reason) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.has_details = true;
  error.name = name;
  error.group = resource.group;
  error.kind = resource.plural;
  return error;
}

ApiError plain(int code, std::string_view reason, std::string message) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = std::move(message);
  return error;
}

std::string sentences(const std::vector<FieldProblem>& problems) {
  std::string text;
  for (const FieldProblem& problem : problems) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}: {}", problem.field, problem.message);
  }
  return problems.size() > 1 ? fmt::format("[{}]", text) : text;
}

ApiError invalid_object(std::string_view kind, std::string_view group, std::string_view name,
                        std::vector<FieldProblem> problems) {
  ApiError error = plain(
      422, "Invalid",
      fmt::format("{} \"{}\" is invalid: {}", qualified(kind, group), name, sentences(problems)));
  error.has_details = true;
  error.name = name;
  error.group = group;
  error.kind = kind;
  error.causes = std::move(problems);
  return error;
}

}  // namespace

FieldProblem FieldProblem::required(std::string field, std::string_view detail) {
  return {"FieldValueRequired",
          detail.empty() ? "Required value" : fmt::format("Required value: {}", detail),
          std::move(field)};
}

FieldProblem FieldProblem::invalid(std::string field, std::string_view shown,
                                   std::string_view detail) {
  return {"FieldValueInvalid", fmt::format("Invalid value: {}: {}", shown, detail),
          std::move(field)};
}

FieldProblem FieldProblem::duplicate(std::string field, std::string_view shown) {
  return {"FieldValueDuplicate", fmt::format("Duplicate value: {}", shown), std::move(field)};
}

FieldProblem FieldProblem::not_found(std::string field, std::string_view shown) {
  return {"FieldValueNotFound", fmt::format("Not found: {}", shown), std::move(field)};
}

FieldProblem FieldProblem::forbidden(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", fmt::format("Forbidden: {}", detail), std::move(field)};
}

FieldProblem FieldProblem::not_supported(std::string field, std::string_view shown,
                                         std::string_view supported) {
  return {"FieldValueNotSupported",
          fmt::format("Unsupported value: {}: supported values: {}", shown, supported),
          std::move(field)};
}

JsonValue ApiError::to_status() const {
  JsonValue status = JsonValue::object();
  status.add("kind", JsonValue::of_text("Status"));
  status.add("apiVersion", JsonValue::of_text("v1"));
  status.add("metadata", JsonValue::object());
  status.add("status", JsonValue::of_text("Failure"));
  status.add("message", JsonValue::of_text(message));
  if (!reason.empty()) status.add("reason", JsonValue::of_text(reason));
  if (has_details) {
    JsonValue details = JsonValue::object();
    if (!name.empty()) details.add("name", JsonValue::of_text(name));
    if (!group.empty()) details.add("group", JsonValue::of_text(group));
    if (!kind.empty()) details.add("kind", JsonValue::of_text(kind));
    if (!uid.empty()) details.add("uid", JsonValue::of_text(uid));
    if (!causes.empty()) {
      JsonValue list = JsonValue::array();
      for (const FieldProblem& problem : causes) {
        JsonValue cause = JsonValue::object();
        cause.add("reason", JsonValue::of_text(problem.reason));
        cause.add("message", JsonValue::of_text(problem.message));
        if (!problem.field.empty()) cause.add("field", JsonValue::of_text(problem.field));
        list.items.push_back(std::move(cause));
      }
      details.add("causes", std::move(list));
    }
    if (retry_after_seconds > 0)
      details.add("retryAfterSeconds", JsonValue::of_int(retry_after_seconds));
    status.add("details", std::move(details));
  }
  status.add("code", JsonValue::of_int(code));
  return status;
}

ApiError ApiError::not_found(const Resource& resource, std::string_view name) {
  ApiError error = about(resource, name, 404, "NotFound");
  error.message = fmt::format("{} \"{}\" not found", qualified(error.kind, error.group), name);
  return error;
}

ApiError ApiError::already_exists(const Resource& resource, std::string_view name) {
  ApiError error = about(resource, name, 409, "AlreadyExists");
  error.message = fmt::format("{} \"{}\" already exists", qualified(error.kind, error.group), name);
  return error;
}

ApiError ApiError::conflict(const Resource& resource, std::string_view name, std::string_view why) {
  ApiError error = about(resource, name, 409, "Conflict");
  error.message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                              qualified(error.kind, error.group), name, why);
  return error;
}

ApiError ApiError::modified(const Resource& resource, std::string_view name) {
  return conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

ApiError ApiError::forbidden(const Resource& resource, std::string_view name,
                             std::string_view why) {
  ApiError error = about(resource, name, 403, "Forbidden");
  error.message =
      fmt::format("{} \"{}\" is forbidden: {}", qualified(error.kind, error.group), name, why);
  return error;
}

ApiError ApiError::bad_request(std::string message) {
  return plain(400, "BadRequest", std::move(message));
}

ApiError ApiError::invalid(const Resource& resource, std::string_view name,
                           std::vector<FieldProblem> problems) {
  return invalid_object(resource.kind, resource.group, name, std::move(problems));
}

ApiError ApiError::invalid_options(std::string_view kind, std::vector<FieldProblem> problems) {
  return invalid_object(kind, "meta.k8s.io", "", std::move(problems));
}

ApiError ApiError::method_not_allowed() {
  ApiError error = plain(405, "MethodNotAllowed",
                         "the server does not allow this method on the requested resource");
  error.has_details = true;
  return error;
}

ApiError ApiError::no_such_resource() {
  ApiError error = plain(404, "NotFound", "the server could not find the requested resource");
  error.has_details = true;
  return error;
}

ApiError ApiError::not_acceptable() {
  ApiError error =
      plain(406, "NotAcceptable",
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, "
            "application/vnd.kubernetes.protobuf, application/json;stream=watch, "
            "application/vnd.kubernetes.protobuf;stream=watch");
  error.has_details = true;
  return error;
}

ApiError ApiError::unsupported_media_type(std::string_view accepted) {
  return plain(415, "UnsupportedMediaType",
               fmt::format("the body of the request was in an unknown format - accepted media "
                           "types include: {}",
                           accepted));
}

ApiError ApiError::expired(std::string message) {
  return plain(410, "Expired", std::move(message));
}

ApiError ApiError::unauthorized() { return plain(401, "Unauthorized", "Unauthorized"); }

ApiError ApiError::too_large_version(std::uint64_t asked, std::uint64_t current) {
  ApiError error =
      plain(504, "Timeout",
            fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current));
  error.has_details = true;
  error.causes = {{"ResourceVersionTooLarge", "Too large resource version", ""}};
  error.retry_after_seconds = 1;
  return error;
}

ApiError ApiError::internal(std::string message) {
  return plain(500, "InternalError",
               fmt::format("Internal error occurred: {}", std::move(message)));
}

}  // namespace berth::memapi
