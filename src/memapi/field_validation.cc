#include "memapi/field_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "api/field_check.h"
#include "api/schema.h"
#include "api/type_check.h"
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

struct StoredType {
  std::string api_version;
  std::string_view kind;
};

StoredType stored_type(const Resource& resource) {
  const Resource& stored = resource.stored_as.empty() ? resource : resource_of(resource.stored_as);
  return {stored.group_version(), stored.kind};
}

std::string not_handled(std::string_view api_version, std::string_view kind, std::string_view why) {
  return fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind,
                     api_version.substr(api_version.find('/') + 1), kind, why);
}

std::optional<TypeFault> type_fault(std::string_view api_version, std::string_view kind,
                                    const JsonValue& object) {
  const auto message = schema::find_message(api_version, kind);
  return message ? check_types(*message, object) : std::nullopt;
}

// Parity: an error about a patch is about no kind and no name.
ApiError unusable_patch(std::string_view shown, std::string_view why) {
  ApiError error =
      ApiError::invalid_options("", {FieldProblem::invalid("patch", go_quoted(shown), why)});
  error.group.clear();
  error.message = fmt::format(" \"\" is invalid: patch: {}", error.causes.front().message);
  return error;
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
  return refuse(
      unusable_patch(shown(), fmt::format("strict decoding error: {}", fmt::join(problems, ", "))));
}

Answer<void> check_body_types(std::string_view api_version, std::string_view kind,
                              const JsonValue& object) {
  const auto fault = type_fault(api_version, kind, object);
  if (!fault) return {};
  // Parity: options are read without a word about what they are.
  return refuse(ApiError::bad_request(
      kind == "DeleteOptions" ? fault->text : not_handled(api_version, kind, fault->text)));
}

Answer<void> check_stored_types(const Resource& resource, const JsonValue& object) {
  const StoredType type = stored_type(resource);
  return check_body_types(type.api_version, type.kind, object);
}

Answer<void> check_patched_types(const Resource& resource, const JsonValue& object,
                                 const JsonValue* tree_patch) {
  const StoredType type = stored_type(resource);
  const auto fault = type_fault(type.api_version, type.kind, object);
  if (!fault) return {};
  if (tree_patch != nullptr)
    return refuse(unusable_patch(go_map_text(*tree_patch), fault->conversion_text));
  JsonValue shown = object;
  set_text(shown, "kind", type.kind);
  set_text(shown, "apiVersion", type.api_version);
  sort_members(shown);
  return refuse(
      unusable_patch(to_json(shown), not_handled(type.api_version, type.kind, fault->text)));
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
