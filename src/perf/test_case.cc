#include "perf/test_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/time_text.h"
#include "wire/yaml.h"

namespace berth::perf {
namespace {

using Kind = JsonValue::Kind;

std::string text_of(const JsonValue* value) {
  return value && value->kind == Kind::kString ? value->text : std::string();
}

std::vector<std::string> texts_of(const JsonValue* value) {
  std::vector<std::string> texts;
  if (value && value->kind == Kind::kArray)
    for (const JsonValue& item : value->items) texts.push_back(text_of(&item));
  return texts;
}

void read_gates(const JsonValue* gates, std::map<std::string, bool>& into) {
  if (!gates) return;
  for (const JsonMember& gate : gates->members)
    if (gate.value.kind == Kind::kBool) into[gate.name] = gate.value.boolean;
}

std::string folder_of(const std::string& file_name) {
  const std::size_t slash = file_name.find_last_of('/');
  return slash == std::string::npos ? "." : file_name.substr(0, slash);
}

class Reader {
 public:
  explicit Reader(std::string file_name) : file_name_(std::move(file_name)) {}

  Result<TestCase> test_case(const JsonValue& written) const {
    TestCase read;
    read.name = text_of(written.find("name"));
    if (read.name.empty()) return wrong("a test case", "has no name");
    read.folder = folder_of(file_name_);
    read.default_pod_template = text_of(written.find("defaultPodTemplatePath"));
    read.scheduler_config = text_of(written.find("schedulerConfigPath"));
    const JsonValue* operations = written.find("workloadTemplate");
    if (!operations || operations->kind != Kind::kArray)
      return wrong(read.name, "needs a list workloadTemplate");
    for (std::size_t i = 0; i < operations->items.size(); ++i) {
      const std::string where = fmt::format("{}: operation {}", read.name, i + 1);
      read.operations.emplace_back(operations->items[i], where);
      if (read.operations.back().opcode().empty()) return wrong(where, "has no opcode");
    }
    const JsonValue* workloads = written.find("workloads");
    if (!workloads || workloads->kind != Kind::kArray)
      return wrong(read.name, "needs a list workloads");
    for (const JsonValue& one : workloads->items) {
      Result<Workload> made = workload(written, one, read.name);
      if (!made) return fail(made.error());
      read.workloads.push_back(std::move(*made));
    }
    return read;
  }

 private:
  Result<Workload> workload(const JsonValue& test_case, const JsonValue& written,
                            const std::string& name) const {
    Workload read;
    read.name = text_of(written.find("name"));
    if (read.name.empty()) return wrong(name, "has a workload without a name");
    read.labels = texts_of(test_case.find("labels"));
    std::ranges::copy(texts_of(written.find("labels")), std::back_inserter(read.labels));
    read_gates(test_case.find("featureGates"), read.feature_gates);
    read_gates(written.find("featureGates"), read.feature_gates);
    if (const JsonValue* params = written.find("params"); params && params->kind == Kind::kObject)
      read.params = *params;
    return read;
  }

  std::unexpected<Error> wrong(std::string_view what, std::string_view complaint) const {
    return fail(ErrorKind::kInvalid, fmt::format("{}: {} {}", file_name_, what, complaint));
  }

  std::string file_name_;
};

}  // namespace

bool Workload::has_label(std::string_view label) const {
  return std::ranges::find(labels, label) != labels.end();
}

const JsonValue* Workload::param(std::string_view reference) const {
  return params.find(reference.substr(reference.starts_with('$') ? 1 : 0));
}

std::string_view Operation::text(std::string_view field) const {
  const JsonValue* value = find(field);
  return value && value->kind == Kind::kString ? std::string_view(value->text) : std::string_view();
}

bool Operation::flag(std::string_view field) const {
  const JsonValue* value = find(field);
  return value && value->kind == Kind::kBool && value->boolean;
}

std::vector<std::string> Operation::texts(std::string_view field) const {
  return texts_of(find(field));
}

std::unexpected<Error> Operation::missing(const Workload& workload, std::string_view param) const {
  return fail(ErrorKind::kInvalid,
              fmt::format("{}: workload {} has no parameter {}", where_, workload.name, param));
}

Result<std::int64_t> Operation::number(std::string_view field, const Workload& workload,
                                       std::int64_t otherwise) const {
  const JsonValue* value = find(field);
  if (!value || value->kind != Kind::kNumber) {
    const std::string_view param = text(fmt::format("{}Param", field));
    if (param.empty()) return otherwise;
    value = workload.param(param);
    if (value && value->kind == Kind::kBool) return value->boolean ? 1 : 0;
    if (!value || value->kind != Kind::kNumber) return missing(workload, param);
  }
  return static_cast<std::int64_t>(std::strtod(value->text.c_str(), nullptr));
}

Result<Duration> Operation::duration(std::string_view field, const Workload& workload) const {
  std::string written(text(field));
  const std::string_view param = text(fmt::format("{}Param", field));
  if (!param.empty()) {
    const JsonValue* found = workload.param(param);
    if (!found || found->kind != Kind::kString) return missing(workload, param);
    written = found->text;
  }
  if (written.empty()) return Duration(0);
  const Result<Duration> read = parse_go_duration(written);
  if (!read) return fail(ErrorKind::kInvalid, fmt::format("{}: {}", where_, read.error().message));
  return read;
}

Result<JsonValue> Operation::template_params(const Workload& workload) const {
  const JsonValue* written = find("templateParams");
  if (!written) return JsonValue::object();
  JsonValue resolved = *written;
  for (JsonMember& one : resolved.members) {
    if (one.value.kind != Kind::kString || !one.value.text.starts_with('$')) continue;
    const std::string reference = one.value.text;
    const std::size_t bar = reference.find('|');
    if (const JsonValue* found = workload.param(std::string_view(reference).substr(0, bar))) {
      one.value = *found;
    } else if (bar == std::string::npos) {
      return missing(workload, reference);
    } else {
      const Result<std::vector<YamlDocument>> standard = parse_yaml(reference.substr(bar + 1));
      if (!standard)
        return fail(ErrorKind::kInvalid, fmt::format("{}: {}", where_, standard.error().message));
      one.value = JsonValue();
      if (!standard->empty()) one.value = parse_json(standard->front().json).value_or(JsonValue());
    }
  }
  return resolved;
}

Result<Operation> Operation::nested(std::string_view field) const {
  const JsonValue* value = find(field);
  if (!value || value->kind != Kind::kObject)
    return fail(ErrorKind::kInvalid, fmt::format("{}: needs {}", where_, field));
  return Operation(*value, where_);
}

Result<std::vector<TestCase>> parse_test_cases(std::string_view text,
                                               const std::string& file_name) {
  const Result<std::vector<YamlDocument>> documents = parse_yaml(text);
  if (!documents)
    return fail(documents.error().kind,
                fmt::format("{}: {}", file_name, documents.error().message));
  const Reader reader(file_name);
  std::vector<TestCase> read;
  for (const YamlDocument& document : *documents) {
    const Result<JsonValue> tree = parse_json(document.json);
    if (!tree || tree->kind != JsonValue::Kind::kArray)
      return fail(ErrorKind::kInvalid, fmt::format("{}: line {}: expected a list of test cases",
                                                   file_name, document.line));
    for (const JsonValue& item : tree->items) {
      Result<TestCase> test_case = reader.test_case(item);
      if (!test_case) return fail(test_case.error());
      read.push_back(std::move(*test_case));
    }
  }
  return read;
}

}  // namespace berth::perf
