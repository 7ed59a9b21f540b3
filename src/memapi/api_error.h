// ApiError: why a request is refused, and how that is told: as a metav1.Status with the texts of a
// Kubernetes API server.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "wire/json_tree.h"

namespace berth::memapi {

struct Resource;

// One thing that is wrong with a field: "spec.containers: Required value".
struct FieldProblem {
  std::string reason;   // "FieldValueRequired"
  std::string message;  // "Required value"
  std::string field;

  static FieldProblem required(std::string field, std::string_view detail = {});
  static FieldProblem invalid(std::string field, std::string_view shown, std::string_view detail);
  static FieldProblem duplicate(std::string field, std::string_view shown);
  static FieldProblem not_found(std::string field, std::string_view shown);
  static FieldProblem forbidden(std::string field, std::string_view detail);
  static FieldProblem not_supported(std::string field, std::string_view shown,
                                    std::string_view supported);
};

struct ApiError {
  int code = 500;
  std::string reason;
  std::string message;
  bool has_details = false;
  std::string name;
  std::string group;
  std::string kind;  // the resource, or the kind for Invalid
  std::string uid;
  std::vector<FieldProblem> causes;
  int retry_after_seconds = 0;

  JsonValue to_status() const;

  static ApiError not_found(const Resource& resource, std::string_view name);
  static ApiError already_exists(const Resource& resource, std::string_view name);
  // `why` is the part after the colon.
  static ApiError conflict(const Resource& resource, std::string_view name, std::string_view why);
  static ApiError modified(const Resource& resource, std::string_view name);
  static ApiError forbidden(const Resource& resource, std::string_view name, std::string_view why);
  static ApiError bad_request(std::string message);
  static ApiError invalid(const Resource& resource, std::string_view name,
                          std::vector<FieldProblem> problems);
  static ApiError invalid_options(std::string_view kind, std::vector<FieldProblem> problems);
  static ApiError method_not_allowed();
  static ApiError no_such_resource();
  static ApiError not_acceptable();
  static ApiError unsupported_media_type(std::string_view accepted);
  static ApiError expired(std::string message);
  static ApiError unauthorized();
  static ApiError too_large_version(std::uint64_t asked, std::uint64_t current);
  static ApiError internal(std::string message);
};

template <typename T>
using Answer = std::expected<T, ApiError>;

inline std::unexpected<ApiError> refuse(ApiError error) {
  return std::unexpected<ApiError>(std::move(error));
}

}  // namespace berth::memapi
