#include "memapi/field_validation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "api/json_text.h"
#include "api/proto_json.h"
#include "api/proto_table.h"
#include "base/go_quote.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

using proto_table::Field;
using proto_table::Type;

const Field* find_field(proto_table::MessageId message, std::string_view name) {
  for (const Field& field : proto_table::fields_of(message)) {
    if (field.is(proto_table::kInline)) {
      if (const Field* inner = find_field(field.message, name)) return inner;
    } else if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

class Walk {
 public:
  explicit Walk(bool patch) : patch_(patch) {}

  void object(proto_table::MessageId message, const JsonValue& value, const std::string& path) {
    if (value.kind != JsonValue::Kind::kObject) return;
    std::set<std::string_view> seen;
    for (const JsonMember& member : value.members) {
      if (patch_ && (member.name.starts_with('$') || member.value.is_null())) continue;
      const std::string here = path.empty() ? member.name : fmt::format("{}.{}", path, member.name);
      if (!seen.insert(member.name).second) {
        problems.push_back(fmt::format("duplicate field {}", go_quoted(here)));
        continue;
      }
      const Field* field = find_field(message, member.name);
      if (field == nullptr) {
        // Objects inside others (claim templates) may name their kind.
        const bool names_kind = (member.name == "kind" || member.name == "apiVersion") &&
                                find_field(message, "metadata") != nullptr;
        if (!names_kind) problems.push_back(fmt::format("unknown field {}", go_quoted(here)));
        continue;
      }
      this->value(*field, member.value, here);
    }
  }

  std::vector<std::string> problems;

 private:
  void value(const Field& field, const JsonValue& value, const std::string& path) {
    const bool message = field.type == Type::kMessage;
    if (field.is(proto_table::kMap) && value.kind == JsonValue::Kind::kObject) {
      std::set<std::string_view> seen;
      for (const JsonMember& member : value.members) {
        const std::string here = fmt::format("{}.{}", path, member.name);
        if (!seen.insert(member.name).second) {
          problems.push_back(fmt::format("duplicate field {}", go_quoted(here)));
        } else if (message) {
          object(field.message, member.value, here);
        }
      }
    } else if (message && field.is(proto_table::kRepeated)) {
      for (std::size_t i = 0; i < value.items.size(); ++i)
        object(field.message, value.items[i], fmt::format("{}[{}]", path, i));
    } else if (message) {
      object(field.message, value, path);
    }
  }

  const bool patch_;
};

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

}  // namespace

std::vector<std::string> field_problems(std::string_view api_version, std::string_view kind,
                                        const JsonValue& object, bool patch) {
  const auto message = proto_table::find_message(api_version, kind);
  if (!message) return {};
  Walk walk(patch);
  walk.object(*message, object, "");
  return std::move(walk.problems);
}

Answer<void> validate_fields(const ApiRequest& request, std::string_view kind,
                             const JsonValue& object) {
  const Directive directive = directive_of(request);
  if (request.resource == nullptr || directive == Directive::kIgnore) return {};
  const Resource& resource = *request.resource;
  if (resource.kind != kind) return {};
  const std::vector<std::string> problems = field_problems(resource.group_version(), kind, object);
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
  const std::vector<std::string> problems = field_problems(
      request.resource->group_version(), request.resource->kind, patch, /*patch=*/true);
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
  if (!proto_table::find_message(stored.group_version(), stored.kind)) return {};
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
