#include "memapi/field_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "api/field_check.h"
#include "api/proto_json.h"
#include "api/schema.h"
#include "base/go_quote.h"
#include "memapi/json_edit.h"
#include "wire/json_text.h"

namespace berth::memapi {
namespace {

enum class Directive : std::uint8_t { kIgnore, kWarn, kStrict };
Directive directive_of(const ApiRequest& request) {
  const std::string_view said = request.parameter("fieldValidation");
  if (said == "Strict") return Directive::kStrict;
  return said == "Ignore" ? Directive::kIgnore : Directive::kWarn;
}

void warn(const ApiRequest& request, const std::vector<std::string>& problems) {
  if (!request.warnings) return;
  request.warnings->insert(request.warnings->end(), problems.begin(), problems.end());
}

std::vector<std::string> texts_of(const std::vector<FieldFault>& faults) {
  std::vector<std::string> texts;
  for (const FieldFault& fault : faults) texts.push_back(fault.text());
  return texts;
}

}  // namespace

Answer<void> validate_fields(const ApiRequest& request, std::string_view kind,
                             const JsonValue& object) {
  const Directive directive = directive_of(request);
  if (request.resource == nullptr || directive == Directive::kIgnore) return {};
  const Resource& resource = *request.resource;
  if (resource.kind != kind) return {};
  const std::vector<std::string> problems =
      texts_of(check_fields(resource.group_version(), kind, object));
  if (problems.empty()) return {};
  if (directive == Directive::kWarn) {
    warn(request, problems);
    return {};
  }
  return refuse(ApiError::bad_request(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}", kind,
                  resource.version, kind, fmt::join(problems, ", "))));
}

Answer<void> validate_patch_fields(const ApiRequest& request, const JsonValue& patch,
                                   const std::function<std::string()>& shown) {
  const Directive directive = directive_of(request);
  if (directive == Directive::kIgnore) return {};
  const std::vector<std::string> problems = texts_of(
      check_patch_fields(request.resource->group_version(), request.resource->kind, patch));
  if (problems.empty()) return {};
  if (directive == Directive::kWarn) {
    warn(request, problems);
    return {};
  }
  ApiError error = ApiError::invalid_options(
      "",
      {FieldProblem::invalid("patch", go_quoted(shown()),
                             fmt::format("strict decoding error: {}", fmt::join(problems, ", ")))});
  // Parity: the error is about no kind and no name.
  error.group.clear();
  error.message = fmt::format(" \"\" is invalid: patch: {}", error.causes.front().message);
  return refuse(std::move(error));
}

Answer<void> check_types(const Resource& resource, const JsonValue& object) {
  const Resource& stored = resource.stored_as.empty() ? resource : resource_of(resource.stored_as);
  if (!schema::find_message(stored.group_version(), stored.kind)) return {};
  JsonValue whole = object;
  set_text(whole, "kind", stored.kind);
  set_text(whole, "apiVersion", stored.group_version());
  const Result<std::string> told = json_to_envelope(to_json(whole));
  if (told) return {};
  return refuse(ApiError::bad_request(
      fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", stored.kind, stored.version,
                  stored.kind, told.error().message)));
}

namespace {

std::string sorted_map_text(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull: return "<nil>";
    case JsonValue::Kind::kBool: return value.boolean ? "true" : "false";
    case JsonValue::Kind::kNumber:
    case JsonValue::Kind::kString: return value.text;
    case JsonValue::Kind::kArray: {
      std::vector<std::string> items;
      for (const JsonValue& item : value.items) items.push_back(sorted_map_text(item));
      return fmt::format("[{}]", fmt::join(items, " "));
    }
    case JsonValue::Kind::kObject: break;
  }
  std::vector<std::string> members;
  for (const JsonMember& member : value.members)
    members.push_back(fmt::format("{}:{}", member.name, sorted_map_text(member.value)));
  return fmt::format("map[{}]", fmt::join(members, " "));
}

}  // namespace

std::string go_map_text(const JsonValue& value) {
  JsonValue sorted = value;
  sort_members(sorted);
  return sorted_map_text(sorted);
}

}  // namespace berth::memapi
