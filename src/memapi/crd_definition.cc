#include "memapi/crd_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/go_quote.h"
#include "memapi/crd_schema.h"
#include "memapi/json_edit.h"
#include "memapi/validation.h"

namespace berth::memapi {
namespace {

constexpr std::string_view kOldLabelRule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kGroupRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kApproval = "api-approved.kubernetes.io";

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_old_label(std::string_view text) {
  return is_dns_label(text) && text.front() >= 'a' && text.front() <= 'z';
}

class DefinitionCheck {
 public:
  DefinitionCheck(const JsonValue& definition, const JsonValue* old)
      : definition_(definition), old_(old) {}

  std::vector<FieldProblem> run() {
    check_name();
    check_group();
    check_scope();
    check_names();
    check_versions();
    check_conversion();
    check_stored_versions();
    if (old_ != nullptr) check_unchanged();
    if (true_at(definition_, "spec.preserveUnknownFields")) {
      problems_.push_back(FieldProblem::invalid(
          "spec.preserveUnknownFields", "true",
          "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
          "spec.versions[*].schema instead"));
    }
    return std::move(problems_);
  }

 private:
  std::string_view text(std::string_view path) const { return text_at(definition_, path); }
  void required(std::string path, std::string_view why = {}) {
    problems_.push_back(FieldProblem::required(std::move(path), why));
  }
  void invalid(std::string path, std::string_view shown, std::string_view why) {
    problems_.push_back(FieldProblem::invalid(std::move(path), shown, why));
  }

  void check_name() {
    const std::string wanted = fmt::format("{}.{}", text("spec.names.plural"), text("spec.group"));
    if (const std::string_view name = text("metadata.name"); name != wanted)
      invalid("metadata.name", go_quoted(name), "must be spec.names.plural+\".\"+spec.group");
  }

  void check_group() {
    const std::string_view group = text("spec.group");
    if (group.empty()) return required("spec.group");
    if (!is_dns_subdomain(group)) return invalid("spec.group", go_quoted(group), kGroupRule);
    if (group.find('.') == std::string_view::npos)
      return invalid("spec.group", go_quoted(group), "should be a domain with at least one dot");
    check_approval(group);
  }

  // Groups of the project itself need a link to who approved them.
  void check_approval(std::string_view group) {
    const bool guarded = group == "k8s.io" || group == "kubernetes.io" ||
                         group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
    if (!guarded || old_ != nullptr) return;
    const JsonValue* annotations = at(definition_, "metadata.annotations");
    const JsonValue* said = is_object(annotations) ? annotations->find(kApproval) : nullptr;
    const std::string place = fmt::format("metadata.annotations[{}]", kApproval);
    if (said == nullptr || said->text.empty()) {
      return required(place, fmt::format("protected groups must have approval annotation \"{}\", "
                                         "see https://github.com/kubernetes/enhancements/pull/1111",
                                         kApproval));
    }
    if (said->text.starts_with("unapproved") || said->text.find("://") != std::string::npos) return;
    invalid(place, go_quoted(said->text),
            fmt::format("protected groups must have approval annotation \"{}\" with either a URL "
                        "or a reason starting with \"unapproved\", see "
                        "https://github.com/kubernetes/enhancements/pull/1111",
                        kApproval));
  }

  void check_scope() {
    const std::string_view scope = text("spec.scope");
    if (scope.empty()) return required("spec.scope");
    if (scope == "Cluster" || scope == "Namespaced") return;
    problems_.push_back(
        FieldProblem::not_supported("spec.scope", go_quoted(scope), R"("Cluster", "Namespaced")"));
  }

  void check_label(std::string path, std::string_view value, std::string_view before = {}) {
    if (value.empty()) return;
    const std::string seen = before.empty() ? std::string(value) : lower(value);
    if (is_old_label(seen)) return;
    const std::string_view why = seen.size() > 63 ? "must be no more than 63 bytes" : kOldLabelRule;
    invalid(std::move(path), go_quoted(value), fmt::format("{}{}", before, why));
  }

  void check_names() {
    constexpr std::string_view kMixed = "may have mixed case, but should otherwise match: ";
    for (const std::string_view name : {"plural", "singular", "kind", "listKind"})
      if (text(fmt::format("spec.names.{}", name)).empty())
        required(fmt::format("spec.names.{}", name));
    check_label("spec.names.plural", text("spec.names.plural"));
    check_label("spec.names.singular", text("spec.names.singular"));
    check_label("spec.names.kind", text("spec.names.kind"), kMixed);
    check_label("spec.names.listKind", text("spec.names.listKind"), kMixed);
    if (const auto kind = text("spec.names.kind");
        !kind.empty() && kind == text("spec.names.listKind"))
      invalid("spec.names.listKind", go_quoted(kind), "kind and listKind may not be the same");
    for (const std::string_view list : {"shortNames", "categories"}) {
      const auto& names = items_at(definition_, fmt::format("spec.names.{}", list));
      for (std::size_t i = 0; i < names.size(); ++i)
        check_label(fmt::format("spec.names.{}[{}]", list, i), names[i].text);
    }
  }

  // Parity: what all versions have alike is said of the definition as a whole.
  bool alike(std::string_view path) const {
    const auto& versions = items_at(definition_, "spec.versions");
    if (versions.empty() || at(versions.front(), path) == nullptr) return false;
    return std::ranges::all_of(versions, [&](const JsonValue& version) {
      return equal(at(version, path), at(versions.front(), path));
    });
  }

  void check_versions() {
    const auto& versions = items_at(definition_, "spec.versions");
    const JsonValue* whole = at(definition_, "spec.versions");
    const std::string shown = whole != nullptr ? to_json(*whole) : "null";
    std::set<std::string_view> names;
    std::size_t storage = 0;
    bool unique = true;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const std::string here = fmt::format("spec.versions[{}]", i);
      const std::string_view name = text_at(versions[i], "name");
      unique = names.insert(name).second && unique;
      storage += true_at(versions[i], "storage") ? 1 : 0;
      if (!is_old_label(name)) invalid(here + ".name", go_quoted(name), kOldLabelRule);
      check_version(versions[i], i, here);
    }
    if (!unique) invalid("spec.versions", shown, "must contain unique version names");
    if (storage != 1)
      invalid("spec.versions", shown, "must have exactly one version marked as storage version");
  }

  void check_version(const JsonValue& version, std::size_t place, const std::string& here) {
    const bool first = place == 0;
    const bool schemas_alike = alike("schema");
    if (const JsonValue* schema = at(version, "schema.openAPIV3Schema"); schema == nullptr) {
      required(here + ".schema.openAPIV3Schema");
    } else if (!schemas_alike || first) {
      check_structure(
          *schema,
          schemas_alike ? "spec.validation.openAPIV3Schema" : here + ".schema.openAPIV3Schema",
          problems_);
    }
    const bool subresources_alike = alike("subresources");
    if (!subresources_alike || first)
      check_subresources(version,
                         subresources_alike ? "spec.subresources" : here + ".subresources");
    const bool columns_alike = alike("additionalPrinterColumns");
    if (!columns_alike || first)
      check_columns(version, columns_alike ? "spec.additionalPrinterColumns"
                                           : here + ".additionalPrinterColumns");
    const bool fields_alike = alike("selectableFields");
    if (!fields_alike || first)
      check_selectable(version,
                       fields_alike ? "spec.selectableFields" : here + ".selectableFields");
  }

  void check_subresources(const JsonValue& version, const std::string& here) {
    const JsonValue* scale = at(version, "subresources.scale");
    if (!is_object(scale)) return;
    const auto check = [&](std::string_view name, std::string_view below, bool needed) {
      const std::string_view path = text_at(*scale, name);
      const std::string place = fmt::format("{}.scale.{}", here, name);
      if (path.empty()) {
        if (needed) required(place);
      } else if (!path.starts_with('.')) {
        invalid(place, go_quoted(path), "must be a simple json path starting with .");
      } else if (path.find_first_of("[]") != std::string_view::npos) {
        invalid(place, go_quoted(path), "must be a json path in the dot notation");
      } else if (below.empty() ? !path.starts_with(".spec.") && !path.starts_with(".status.")
                               : !path.starts_with(below)) {
        invalid(place, go_quoted(path),
                below.empty() ? "should be a json path under either .spec or .status"
                              : fmt::format("should be a json path under {}",
                                            below.substr(0, below.size() - 1)));
      }
    };
    check("specReplicasPath", ".spec.", true);
    check("statusReplicasPath", ".status.", true);
    check("labelSelectorPath", "", false);
  }

  void check_columns(const JsonValue& version, const std::string& here) {
    static constexpr std::array<std::string_view, 5> kTypes = {"boolean", "date", "integer",
                                                               "number", "string"};
    static constexpr std::string_view kTypeRule =
        "must be one of boolean,date,integer,number,string";
    static constexpr std::array<std::string_view, 9> kFormats = {
        "byte", "date", "date-time", "double", "float", "int32", "int64", "password", "binary"};
    const auto& columns = items_at(version, "additionalPrinterColumns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string place = fmt::format("{}[{}]", here, i);
      if (text_at(columns[i], "name").empty()) required(place + ".name");
      const std::string_view type = text_at(columns[i], "type");
      if (type.empty()) {
        required(place + ".type", kTypeRule);
      } else if (std::ranges::find(kTypes, type) == kTypes.end()) {
        invalid(place + ".type", go_quoted(type), kTypeRule);
      }
      const std::string_view format = text_at(columns[i], "format");
      if (!format.empty() && std::ranges::find(kFormats, format) == kFormats.end())
        invalid(place + ".format", go_quoted(format),
                "must be one of binary,byte,date,date-time,double,float,int32,int64,password");
      if (text_at(columns[i], "jsonPath").empty()) required(place + ".JSONPath");
    }
  }

  // The schema that a simple path leads to; null: none.
  static const JsonValue* schema_at(const JsonValue& schema, std::string_view path) {
    const JsonValue* here = &schema;
    while (!path.empty() && here != nullptr) {
      if (path.front() == '.') path.remove_prefix(1);
      const std::size_t end = std::min(path.find('.'), path.size());
      const JsonValue* properties = at(*here, "properties");
      here = is_object(properties) ? properties->find(path.substr(0, end)) : nullptr;
      path.remove_prefix(end);
    }
    return here;
  }

  void check_selectable(const JsonValue& version, const std::string& here) {
    const auto& fields = items_at(version, "selectableFields");
    const JsonValue* schema = at(version, "schema.openAPIV3Schema");
    if (fields.empty() || schema == nullptr) return;
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string place = fmt::format("{}[{}].jsonPath", here, i);
      const std::string_view path = text_at(fields[i], "jsonPath");
      if (path.empty()) {
        required(place);
        continue;
      }
      const JsonValue* found = path.starts_with('.') && path.find('[') == std::string_view::npos
                                   ? schema_at(*schema, path)
                                   : nullptr;
      if (path.starts_with(".metadata.") || path == ".metadata") {
        invalid(place, go_quoted(path), "must not point to fields in metadata");
      } else if (found == nullptr) {
        invalid(place, go_quoted(path), "is an invalid path: does not refer to a valid field");
      } else if (const auto type = text_at(*found, "type");
                 type != "string" && type != "boolean" && type != "integer") {
        invalid(place, go_quoted(path),
                "must point to a field of type string, boolean or integer. Enum string fields and "
                "strings with formats are allowed.");
      } else if (!seen.insert(path).second) {
        problems_.push_back(
            {"FieldValueDuplicate", fmt::format("Duplicate value: {}", go_quoted(path)), place});
      }
    }
    if (seen.size() > 8)
      problems_.push_back({"FieldValueTooMany",
                           fmt::format("Too many: {}: must have at most 8 items", seen.size()),
                           here});
  }

  void check_conversion() {
    const std::string_view strategy = text("spec.conversion.strategy");
    if (strategy == "None") return;
    if (strategy == "Webhook") {
      problems_.push_back(FieldProblem::forbidden(
          "spec.conversion.strategy",
          "this server calls no webhooks; versions that differ in their apiVersion only convert "
          "with strategy None"));
      return;
    }
    problems_.push_back(FieldProblem::not_supported("spec.conversion.strategy", go_quoted(strategy),
                                                    R"("None", "Webhook")"));
  }

  void check_stored_versions() {
    const auto& stored = items_at(definition_, "status.storedVersions");
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const auto same = [&](const JsonValue& version) {
        return text_at(version, "name") == stored[i].text;
      };
      if (std::ranges::any_of(items_at(definition_, "spec.versions"), same)) continue;
      invalid(fmt::format("status.storedVersions[{}]", i), go_quoted(stored[i].text),
              fmt::format("missing from spec.versions; {} was previously a storage version, and "
                          "must remain in spec.versions until a storage migration ensures no data "
                          "remains persisted in {} and removes {} from status.storedVersions",
                          stored[i].text, stored[i].text, stored[i].text));
    }
  }

  void check_unchanged() {
    for (const std::string_view path :
         {"spec.group", "spec.names.plural", "spec.scope", "spec.names.kind"}) {
      const bool established_only = path == "spec.scope" || path == "spec.names.kind";
      if (established_only && !is_established(*old_)) continue;
      if (text(path) != text_at(*old_, path))
        invalid(std::string(path), go_quoted(text(path)), "field is immutable");
    }
  }

  static bool is_established(const JsonValue& definition) {
    return std::ranges::any_of(items_at(definition, "status.conditions"), [](const JsonValue& one) {
      return text_at(one, "type") == "Established" && text_at(one, "status") == "True";
    });
  }

  const JsonValue& definition_;
  const JsonValue* old_;
  std::vector<FieldProblem> problems_;
};

}  // namespace

void default_definition(JsonValue& definition) {
  JsonValue& names = object_at(definition, "spec.names");
  if (const std::string kind(text_at(names, "kind")); !kind.empty()) {
    if (text_at(names, "singular").empty()) set_text(names, "singular", lower(kind));
    if (text_at(names, "listKind").empty()) set_text(names, "listKind", kind + "List");
  }
  JsonValue& conversion = object_at(definition, "spec.conversion");
  if (text_at(conversion, "strategy").empty()) set_text(conversion, "strategy", "None");
  for (const JsonValue& version : items_at(definition, "spec.versions")) {
    if (!true_at(version, "storage")) continue;
    const std::string name(text_at(version, "name"));
    JsonValue& stored = array_at(definition, "status.storedVersions");
    const auto same = [&](const JsonValue& one) { return one.text == name; };
    if (std::ranges::none_of(stored.items, same)) stored.items.push_back(JsonValue::of_text(name));
    break;
  }
}

std::vector<FieldProblem> check_definition(const JsonValue& definition, const JsonValue* old) {
  return DefinitionCheck(definition, old).run();
}

}  // namespace berth::memapi
