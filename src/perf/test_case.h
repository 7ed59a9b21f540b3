// Test cases in the form of upstream's scheduler_perf (performance-config.yaml): a template of
// operations, and workloads that fill in its parameters.
//
//   - name: SchedulingBasic
//     defaultPodTemplatePath: templates/pod-default.yaml
//     workloadTemplate:
//     - {opcode: createNodes, countParam: $initNodes}
//     - {opcode: createPods, countParam: $measurePods, collectMetrics: true}
//     workloads:
//     - {name: 5000Nodes, labels: [performance], params: {initNodes: 5000, measurePods: 10000}}
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "berth/result.h"
#include "wire/json_tree.h"

namespace berth::perf {

struct Workload {
  std::string name;
  std::vector<std::string> labels;  // the test case's own among them
  JsonValue params = JsonValue::object();
  std::map<std::string, bool> feature_gates;

  bool has_label(std::string_view label) const;
  // The parameter that `$name` refers to; null when there is none.
  const JsonValue* param(std::string_view reference) const;
};

// One operation, with its parameters still to be filled in.
class Operation {
 public:
  Operation(JsonValue fields, std::string where)
      : fields_(std::move(fields)), where_(std::move(where)) {}

  std::string_view opcode() const { return text("opcode"); }
  const std::string& where() const { return where_; }  // "SchedulingBasic: operation 2"
  bool has(std::string_view field) const { return find(field) != nullptr; }
  const JsonValue* find(std::string_view field) const { return fields_.find(field); }

  std::string_view text(std::string_view field) const;  // empty when absent
  bool flag(std::string_view field) const;              // false when absent
  std::vector<std::string> texts(std::string_view field) const;
  // `field`, or the workload's parameter that `fieldParam` names; `otherwise` when neither is
  // there.
  Result<std::int64_t> number(std::string_view field, const Workload& workload,
                              std::int64_t otherwise) const;
  // As number: "10s", "500ms".
  Result<Duration> duration(std::string_view field, const Workload& workload) const;
  // What templateParams passes to a template, an object. `$name` stands for the workload's
  // parameter, `$name|default` for a YAML value where it has none.
  Result<JsonValue> template_params(const Workload& workload) const;
  Result<Operation> nested(std::string_view field) const;

 private:
  std::unexpected<Error> missing(const Workload& workload, std::string_view param) const;

  JsonValue fields_;
  std::string where_;
};

struct TestCase {
  std::string name;
  std::string folder;                // of the file: paths are relative to it
  std::string default_pod_template;  // empty: there is none
  std::string scheduler_config;      // empty: the default
  std::vector<Operation> operations;
  std::vector<Workload> workloads;
};

// Errors name file, test case and operation.
Result<std::vector<TestCase>> parse_test_cases(std::string_view text, const std::string& file_name);

}  // namespace berth::perf
