#include "memapi/crd_objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/go_quote.h"
#include "memapi/crd_validation.h"
#include "memapi/crd_values.h"
#include "memapi/json_edit.h"

namespace berth::memapi {

Answer<void> prune_custom(const ApiRequest& request, JsonValue& object) {
  const CustomKind& kind = *request.resource->custom;
  if (request.warnings && !kind.deprecation.empty() &&
      std::ranges::find(*request.warnings, kind.deprecation) == request.warnings->end())
    request.warnings->push_back(kind.deprecation);
  if (!kind.schema) return {};
  std::vector<std::string> problems = prune(object, *kind.schema, true);
  const std::string_view directive = request.parameter("fieldValidation");
  if (problems.empty() || directive == "Ignore") return {};
  for (std::string& problem : problems)
    problem = fmt::format("unknown field {}", go_quoted(problem));
  if (directive != "Strict") {
    if (request.warnings)
      request.warnings->insert(request.warnings->end(), problems.begin(), problems.end());
    return {};
  }
  return refuse(ApiError::bad_request(
      fmt::format("{0} in version \"{1}\" cannot be handled as a {0}: strict decoding error: {2}",
                  kind.kind, kind.version, fmt::join(problems, ", "))));
}

void default_custom(const CustomKind& kind, JsonValue& object) {
  if (!kind.schema) return;
  static_cast<void>(prune(object, *kind.schema, true));
  fill_in_defaults(object, *kind.schema, true);
}

void keep_custom_parts(const CustomKind& kind, std::string_view subresource, JsonValue& object,
                       const JsonValue& old) {
  if (subresource == "status") {
    JsonValue changed = old;
    copy_member(changed, object, "status");
    copy_member(object_at(changed, "metadata"), *at(object, "metadata"), "managedFields");
    object = std::move(changed);
  } else if (kind.resource.has("status")) {
    copy_member(object, old, "status");
  }
}

bool same_custom_wish(const CustomKind& kind, const JsonValue& object, const JsonValue& old) {
  const auto wish = [&](JsonValue one) {
    erase(one, "metadata");
    if (kind.resource.has("status")) erase(one, "status");
    return one;
  };
  return equal(wish(object), wish(old));
}

std::vector<FieldProblem> custom_problems(const CustomKind& kind, const JsonValue& object,
                                          const JsonValue* old) {
  if (!kind.schema) return {};
  const auto whole = [&](JsonValue one) {
    set_text(one, "kind", kind.kind);
    set_text(one, "apiVersion", kind.resource.group_version());
    return one;
  };
  const JsonValue now = whole(object);
  if (old == nullptr) return validate_custom(now, nullptr, *kind.schema);
  const JsonValue before = whole(*old);
  return validate_custom(now, &before, *kind.schema);
}

Answer<void> check_creatable(const CustomKind& kind) {
  if (!kind.going) return {};
  ApiError error = ApiError::method_not_allowed();
  error.message = "create not allowed while custom resource definition is terminating";
  error.group = kind.group;
  error.kind = kind.plural;
  return refuse(std::move(error));
}

}  // namespace berth::memapi
