#include "memapi/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/go_quote.h"
#include "berth/labels.h"
#include "memapi/crd_kinds.h"
#include "memapi/json_edit.h"
#include "memapi/resources.h"

namespace berth::memapi {
namespace {

using Op = LabelRequirement::Op;

constexpr SelectableField kPodFields[] = {
    {"spec.nodeName", "spec.nodeName", ""},
    {"spec.restartPolicy", "spec.restartPolicy", ""},
    {"spec.schedulerName", "spec.schedulerName", ""},
    {"spec.serviceAccountName", "spec.serviceAccountName", ""},
    {"spec.hostNetwork", "spec.hostNetwork", "false"},
    {"status.phase", "status.phase", ""},
    {"status.podIP", "status.podIP", ""},
    {"status.podIPs", "status.podIP", ""},
    {"status.nominatedNodeName", "status.nominatedNodeName", ""},
};
constexpr SelectableField kNodeFields[] = {{"spec.unschedulable", "spec.unschedulable", "false"}};
constexpr SelectableField kNamespaceFields[] = {{"status.phase", "status.phase", ""}};
constexpr SelectableField kEventFields[] = {
    {"involvedObject.kind", "involvedObject.kind", ""},
    {"involvedObject.namespace", "involvedObject.namespace", ""},
    {"involvedObject.name", "involvedObject.name", ""},
    {"involvedObject.uid", "involvedObject.uid", ""},
    {"involvedObject.apiVersion", "involvedObject.apiVersion", ""},
    {"involvedObject.resourceVersion", "involvedObject.resourceVersion", ""},
    {"involvedObject.fieldPath", "involvedObject.fieldPath", ""},
    {"reason", "reason", ""},
    {"reportingComponent", "reportingComponent", ""},
    {"source", "source.component", ""},
    {"type", "type", ""},
};
constexpr SelectableField kSliceFields[] = {
    {"spec.nodeName", "spec.nodeName", ""},
    {"spec.driver", "spec.driver", ""},
};
constexpr SelectableField kReplicasFields[] = {{"status.replicas", "status.replicas", "0"}};
constexpr SelectableField kJobFields[] = {{"status.successful", "status.succeeded", "0"}};
constexpr SelectableField kSecretFields[] = {{"type", "type", ""}};

// The two views of events name what they are about differently.
constexpr std::pair<std::string_view, std::string_view> kNewEventLabels[] = {
    {"regarding.", "involvedObject."},
    {"reportingController", "reportingComponent"},
};

class LabelParser {
 public:
  explicit LabelParser(std::string_view text) : text_(text) { advance(); }

  Answer<std::vector<LabelRequirement>> run() {
    std::vector<LabelRequirement> requirements;
    while (!token_.empty()) {
      if (token_ != "!" && !is_word()) {
        return wrong("found '{}', expected: !, identifier, or 'end of string'", token_);
      }
      Answer<LabelRequirement> requirement = parse_requirement();
      if (!requirement) {
        requirement.error().message =
            fmt::format("unable to parse requirement: {}", requirement.error().message);
        return refuse(std::move(requirement.error()));
      }
      requirements.push_back(std::move(*requirement));
      if (token_.empty()) break;
      if (token_ != ",") return wrong("found '{}', expected: ',' or 'end of string'", token_);
      advance();
      if (token_ != "!" && !is_word()) {
        return wrong("found '{}', expected: identifier after ','", token_);
      }
    }
    return requirements;
  }

 private:
  template <typename... Args>
  static std::unexpected<ApiError> wrong(fmt::format_string<Args...> form, Args&&... args) {
    return refuse(ApiError::bad_request(fmt::format(form, std::forward<Args>(args)...)));
  }

  static bool is_special(char c) { return std::string_view("=!(),><").contains(c); }
  static bool is_space(char c) { return std::string_view(" \t\r\n").contains(c); }
  bool is_word() const { return !token_.empty() && !is_special(token_.front()); }

  void advance() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    const std::size_t begin = at_;
    if (at_ == text_.size()) {
      token_ = {};
      return;
    }
    if (is_special(text_[at_])) {
      ++at_;
      const std::string_view two = text_.substr(begin, 2);
      if (two == "==" || two == "!=") ++at_;
    } else {
      while (at_ < text_.size() && !is_special(text_[at_]) && !is_space(text_[at_])) ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }

  Answer<LabelRequirement> parse_requirement() {
    LabelRequirement requirement;
    const bool negated = token_ == "!";
    if (negated) advance();
    if (!is_word()) return wrong("found '{}', expected: identifier", token_);
    requirement.key = token_;
    for (const std::string& problem : label_key_problems(requirement.key)) {
      return wrong("key: Invalid value: {}: {}", go_quoted(requirement.key), problem);
    }
    advance();
    if (negated || token_.empty() || token_ == ",") {
      requirement.op = negated ? Op::kDoesNotExist : Op::kExists;
      return requirement;
    }
    const std::string_view op = token_;
    advance();
    if (op == "in" || op == "notin") {
      requirement.op = op == "in" ? Op::kIn : Op::kNotIn;
      return parse_set(std::move(requirement));
    }
    if (op == "=" || op == "==") {
      requirement.op = Op::kIn;
    } else if (op == "!=") {
      requirement.op = Op::kNotIn;
    } else if (op == ">" || op == "<") {
      requirement.op = op == ">" ? Op::kGreaterThan : Op::kLessThan;
    } else {
      return wrong("found '{}', expected: in, notin, =, ==, !=, gt, lt", op);
    }
    std::string value;
    if (is_word()) {
      value = token_;
      advance();
    }
    return finish(std::move(requirement), {std::move(value)});
  }

  Answer<LabelRequirement> parse_set(LabelRequirement requirement) {
    if (token_ != "(") return wrong("found '{}' expected: '('", token_);
    advance();
    std::vector<std::string> values;
    for (;;) {
      if (is_word()) {
        values.emplace_back(token_);
        advance();
      } else {
        values.emplace_back();
      }
      if (token_ == ")") break;
      if (token_ != ",") return wrong("found '{}', expected: ',' or ')'", token_);
      advance();
    }
    advance();
    return finish(std::move(requirement), std::move(values));
  }

  static Answer<LabelRequirement> finish(LabelRequirement requirement,
                                         std::vector<std::string> values) {
    for (const std::string& value : values) {
      if (is_valid_label_value(value)) continue;
      return wrong(
          "values[0][{}]: Invalid value: {}: a valid label must be an empty string or consist of "
          "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
          "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
          "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
          requirement.key, go_quoted(value));
    }
    requirement.values = std::move(values);
    return requirement;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view token_;  // empty: the end
};

const std::string* find_label(const LabelPairs& labels, std::string_view key) {
  const auto found = std::ranges::lower_bound(
      labels, key, {}, [](const auto& label) { return std::string_view(label.first); });
  return found != labels.end() && found->first == key ? &found->second : nullptr;
}

// "a\=b" is one word.
std::vector<std::string_view> split_terms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  terms.push_back(text.substr(begin));
  return terms;
}

std::string unescape_value(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

std::optional<std::size_t> find_field(const Resource& resource, std::string label) {
  if (label == "metadata.name") return kNameField;
  if (label == "metadata.namespace" && resource.namespaced) return kNamespaceField;
  if (resource.custom != nullptr) {
    const bool known =
        std::ranges::find(resource.custom->selectable, label) != resource.custom->selectable.end();
    return known ? std::optional(kCustomField) : std::nullopt;
  }
  if (!resource.stored_as.empty()) {
    for (const auto& [here, stored] : kNewEventLabels) {
      if (label.starts_with(here)) label = fmt::format("{}{}", stored, label.substr(here.size()));
    }
  }
  const auto fields = selectable_fields(resource);
  const auto found = std::ranges::find(fields, std::string_view(label), &SelectableField::label);
  if (found == fields.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fields.begin());
}

// The value at a path of an object's text, as text.
std::string text_in(const std::string& json, const std::string& path) {
  const Result<JsonValue> tree = parse_json(json);
  const JsonValue* value = tree ? at(*tree, path) : nullptr;
  if (value == nullptr) return {};
  if (value->kind == JsonValue::Kind::kBool) return value->boolean ? "true" : "false";
  return value->text;
}

}  // namespace

bool LabelRequirement::matches(const LabelPairs& labels) const {
  const std::string* value = find_label(labels, key);
  switch (op) {
    case Op::kIn: return value != nullptr && std::ranges::find(values, *value) != values.end();
    case Op::kNotIn: return value == nullptr || std::ranges::find(values, *value) == values.end();
    case Op::kExists: return value != nullptr;
    case Op::kDoesNotExist: return value == nullptr;
    case Op::kGreaterThan:
    case Op::kLessThan: {
      if (value == nullptr || values.empty()) return false;
      const auto mine = parse_label_integer(*value);
      const auto bound = parse_label_integer(values.front());
      if (!mine || !bound) return false;
      return op == Op::kGreaterThan ? *mine > *bound : *mine < *bound;
    }
  }
  return false;
}

Answer<std::vector<LabelRequirement>> parse_label_selector(std::string_view text) {
  return LabelParser(text).run();
}

std::optional<std::vector<LabelRequirement>> label_selector_of(const JsonValue& selector) {
  std::vector<LabelRequirement> requirements;
  if (const JsonValue* labels = at(selector, "matchLabels"); is_object(labels)) {
    for (const JsonMember& member : labels->members)
      requirements.push_back({member.name, Op::kIn, {member.value.text}});
  }
  for (const JsonValue& expression : items_at(selector, "matchExpressions")) {
    LabelRequirement requirement;
    requirement.key = text_at(expression, "key");
    for (const JsonValue& value : items_at(expression, "values"))
      requirement.values.push_back(value.text);
    const std::string_view op = text_at(expression, "operator");
    if (op == "In") {
      requirement.op = Op::kIn;
    } else if (op == "NotIn") {
      requirement.op = Op::kNotIn;
    } else if (op == "Exists") {
      requirement.op = Op::kExists;
    } else if (op == "DoesNotExist") {
      requirement.op = Op::kDoesNotExist;
    } else {
      return std::nullopt;
    }
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

std::span<const SelectableField> selectable_fields(const Resource& resource) {
  if (resource.custom != nullptr) return {};
  const std::string_view plural = resource.plural;
  if (plural == "pods") return kPodFields;
  if (plural == "nodes") return kNodeFields;
  if (plural == "namespaces") return kNamespaceFields;
  if (plural == "events") return kEventFields;
  if (plural == "resourceslices") return kSliceFields;
  if (plural == "replicasets" || plural == "replicationcontrollers") return kReplicasFields;
  if (plural == "jobs") return kJobFields;
  if (plural == "secrets") return kSecretFields;
  return {};
}

std::vector<std::string> field_values(const Resource& resource, const JsonValue& object) {
  std::vector<std::string> values;
  const auto fields = selectable_fields(resource);
  values.reserve(fields.size());
  for (const SelectableField& field : fields) {
    const JsonValue* value = at(object, field.path);
    if (value == nullptr) {
      values.emplace_back(field.otherwise);
    } else if (value->kind == JsonValue::Kind::kBool) {
      values.emplace_back(value->boolean ? "true" : "false");
    } else {
      values.push_back(value->text);
    }
  }
  return values;
}

Answer<Selection> Selection::parse(const Resource& resource, std::string_view label_selector,
                                   std::string_view field_selector) {
  Selection selection;
  Answer<std::vector<LabelRequirement>> labels = parse_label_selector(label_selector);
  if (!labels) return refuse(std::move(labels.error()));
  selection.labels_ = std::move(*labels);

  for (const std::string_view term : split_terms(field_selector)) {
    if (term.empty()) continue;
    std::size_t place = 0;
    while (place < term.size() && term[place] != '=' && term[place] != '!') ++place;
    FieldRequirement requirement;
    std::size_t length = 1;
    if (term.substr(place, 2) == "!=") {
      requirement.equals = false;
      length = 2;
    } else if (term.substr(place, 2) == "==") {
      length = 2;
    } else if (place == term.size() || term[place] != '=') {
      return refuse(ApiError::bad_request(
          fmt::format("invalid selector: '{}'; can't understand '{}'", field_selector, term)));
    }
    const std::string_view label = term.substr(0, place);
    const auto field = find_field(resource, std::string(label));
    if (!field) {
      return refuse(ApiError::bad_request(fmt::format("field label not supported: {}", label)));
    }
    requirement.field = *field;
    if (*field == kCustomField) requirement.path = label;
    requirement.value = unescape_value(term.substr(place + length));
    selection.fields_.push_back(std::move(requirement));
  }
  return selection;
}

bool Selection::matches(const Selectable& object) const {
  for (const FieldRequirement& field : fields_) {
    std::string_view value;
    if (field.field == kNameField) {
      value = object.name;
    } else if (field.field == kNamespaceField) {
      value = object.namespace_name;
    } else if (field.field == kCustomField) {
      const std::string found = text_in(object.json, field.path);
      if ((found == field.value) != field.equals) return false;
      continue;
    } else if (field.field < object.fields.size()) {
      value = object.fields[field.field];
    }
    if ((value == field.value) != field.equals) return false;
  }
  return std::ranges::all_of(labels_, [&](const LabelRequirement& requirement) {
    return requirement.matches(object.labels);
  });
}

LabelPairs labels_of(const JsonValue& object) {
  LabelPairs labels;
  const JsonValue* found = at(object, "metadata.labels");
  if (!is_object(found)) return labels;
  for (const JsonMember& member : found->members)
    labels.emplace_back(member.name, member.value.text);
  std::ranges::sort(labels);
  return labels;
}

}  // namespace berth::memapi
