#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing/names.h"
#include "perf/result.h"
#include "perf/test_case.h"
#include "perf/workload_run.h"
#include "plugins/table.h"

namespace berth::perf {
namespace {

constexpr const char* kBasic = R"(
- name: Basic
  labels: [fast]
  defaultPodTemplatePath: pod.yaml
  featureGates: {A: true}
  workloadTemplate:
  - {opcode: createNodes, countParam: $initNodes}
  - {opcode: createPods, count: 3, collectMetrics: true}
  workloads:
  - name: Small
    labels: [performance]
    featureGates: {B: false}
    params: {initNodes: 5}
  - {name: Empty}
)";

TEST(TestCases, AreReadWithTheirWorkloads) {
  const Result<std::vector<TestCase>> read = parse_test_cases(kBasic, "folder/x.yaml");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 1U);
  const TestCase& basic = read->front();
  EXPECT_EQ(basic.name, "Basic");
  EXPECT_EQ(basic.folder, "folder");
  EXPECT_EQ(basic.default_pod_template, "pod.yaml");
  ASSERT_EQ(basic.workloads.size(), 2U);
  const Workload& small = basic.workloads.front();
  EXPECT_THAT(small.labels, ElementsAre("fast", "performance"));
  EXPECT_EQ(small.feature_gates, (std::map<std::string, bool>{{"A", true}, {"B", false}}));
  EXPECT_EQ(*basic.operations[0].number("count", small, 0), 5);
  EXPECT_EQ(*basic.operations[1].number("count", small, 0), 3);
  EXPECT_TRUE(basic.operations[1].flag("collectMetrics"));
  const Result<std::int64_t> missing = basic.operations[0].number("count", basic.workloads[1], 0);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message,
            "Basic: operation 1: workload Empty has no parameter $initNodes");
}

TEST(TestCases, ComplaintsSayWhatAndWhere) {
  for (const auto& [text, complaint] : std::vector<std::pair<std::string, std::string>>{
           {"a: b", "x.yaml: line 1: expected a list of test cases"},
           {"- {}", "x.yaml: a test case has no name"},
           {"- name: A", "x.yaml: A needs a list workloadTemplate"},
           {"- {name: A, workloadTemplate: [{}], workloads: []}",
            "x.yaml: A: operation 1 has no opcode"},
           {"- {name: A, workloadTemplate: [], workloads: [{}]}",
            "x.yaml: A has a workload without a name"}}) {
    const Result<std::vector<TestCase>> read = parse_test_cases(text, "x.yaml");
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().message, complaint);
  }
}

TEST(Results, GoThroughJsonUnchanged) {
  Progress::Measured measured;
  measured.pods = 4;
  measured.took = std::chrono::seconds(2);
  measured.computed = std::chrono::seconds(1);
  for (int i = 1; i <= 4; ++i) measured.when.push_back(std::chrono::milliseconds(500 * i));
  measured.attempts = {Duration(1000), Duration(3000), Duration(2000), Duration(4000)};
  WorkloadResult result = summarize("A/B", measured);
  result.peak_rss_bytes = 123456789;
  EXPECT_EQ(result.pods_per_second, 2);
  EXPECT_EQ(result.pods_per_cpu_second, 4);
  EXPECT_EQ(result.attempt_seconds.p50, 2e-6);
  EXPECT_EQ(result.attempt_seconds.p99, 4e-6);
  WorkloadResult skipped;
  skipped.name = "A/C";
  skipped.skipped = "opcode \"x\" is not supported";
  const std::string json = to_json({result, skipped});
  const Result<std::vector<WorkloadResult>> read = results_from_json(json);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(to_json(*read), json);
  EXPECT_THAT(to_table(*read), HasSubstr("A/C       skipped: opcode \"x\" is not supported"));
}

TEST(Templates, AreFilledInWithNumbers) {
  Interner interner;
  const auto name_of = [&](const std::string& name) -> std::string {
    ObjectTemplate nodes("apiVersion: v1\nkind: Node\nmetadata: {name: \"" + name + "\"}\n", "x");
    const Result<AnyObject> made = nodes.make({7, 10, 1}, {}, interner);
    return made ? std::get<Ref<const Object>>(*made)->name : made.error().message;
  };
  for (const auto& [written, name] : std::vector<std::pair<std::string, std::string>>{
           {"n-{{.Index}}", "n-7"},
           {"n-{{ Mod .Index 4 }}-{{DivideInt 30 .Count}}", "n-3-3"},
           {"n-{{AddInt .Index .Count}}-{{SubtractInt .Count 1}}", "n-17-9"},
           {"n-{{MultiplyInt .Index 2}}", "n-14"},
           {"n-{{Mod .Index 0}}", "x: \"{{Mod .Index 0}}\" cannot be computed"},
           {"n-{{.Name}}", "n-<no value>"},
           {"n-{{Name}}", "x: \"{{Name}}\" cannot be read"},
           {"n-{{if .Index}}", "x: \"{{if .Index}}\" has no end"},
           {"n-{{end}}", "x: \"{{end}}\" without a beginning"}})
    EXPECT_EQ(name_of(written), name);
}

TEST(Templates, KnowTheConditionsLoopsAndVariablesOfGo) {
  const JsonValue data =
      *parse_json(R"({"Index":7,"class":"gpu","count":2,"none":0,"list":[{"a":"b"}],"text":"3"})");
  for (const auto& [written, filled] : std::vector<std::pair<std::string, std::string>>{
           {"plain", "plain"},
           {"{{AddInt 8000 (Mod .Index (DivideInt 9 2))}}", "8003"},
           {"{{AddInt 0 .text}} {{.text | Int}}", "3 3"},
           {"{{if .class}}a{{else}}b{{end}}{{if .none}}c{{else}}d{{end}}", "ad"},
           {"{{if .absent}}a{{end}}{{if eq .class \"gpu\"}}b{{end}}", "b"},
           {"{{$n := or .absent 3}}{{range ($n | Int)}}<{{.}}>{{end}}", "<0><1><2>"},
           {"{{range $i := .count}}{{if ge $i (1 | Int)}}{{$i}}{{.}}{{end}}{{end}}", "11"},
           {"{{range .absent}}a{{else}}b{{end}}", "b"},
           {"{{(or .absent nil) | JSON}} {{.list | JSON}}", "null [{\"a\":\"b\"}]"},
           {"{{$x := 1}}{{if true}}{{end}}", "\"{{if true}}\" cannot be read"},
           {"{{if .class}}{{$x := 1}}{{end}}{{$x}}", "\"{{$x}}\" cannot be computed"},
           {"{{.list}}", "\"{{.list}}\" cannot be computed"}}) {
    const Result<GoTemplate> read = GoTemplate::parse(written);
    const Result<std::string> got =
        read ? read->execute(data) : Result<std::string>(fail(read.error()));
    EXPECT_EQ(got ? *got : got.error().message, filled) << written;
  }
}

TEST(TestCases, PassParametersToTemplates) {
  const Result<std::vector<TestCase>> read = parse_test_cases(R"(
- name: A
  workloadTemplate:
  - opcode: createAny
    templateParams: {a: $one, b: "$two|2", c: "$three|", d: plain, e: 5, f: $list}
  - {opcode: createAny, templateParams: {a: $four}}
  workloads:
  - {name: W, params: {one: x, list: [{matchAttribute: m}]}}
)",
                                                              "x.yaml");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const Workload& workload = read->front().workloads.front();
  const Result<JsonValue> params = read->front().operations[0].template_params(workload);
  ASSERT_TRUE(params.has_value()) << params.error().message;
  EXPECT_EQ(to_json(*params),
            R"({"a":"x","b":2,"c":null,"d":"plain","e":5,"f":[{"matchAttribute":"m"}]})");
  EXPECT_EQ(read->front().operations[1].template_params(workload).error().message,
            "A: operation 2: workload W has no parameter $four");
}

// Runs the workload of a test case whose templates are the given files.
class Workloads : public ::testing::Test {
 protected:
  Workloads() { std::filesystem::create_directories(folder_); }
  ~Workloads() override { std::filesystem::remove_all(folder_); }

  void file(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  // Nodes n-0, n-1, … and a slice with `devices` devices of d.example.com for each.
  void write_devices() const {
    file("slice.yaml",
         "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: "
         "\"n-{{.Index}}\"}, spec: {driver: d.example.com, nodeName: \"n-{{.Index}}\", pool: "
         "{name: \"n-{{.Index}}\", generation: 1, resourceSliceCount: 1}, devices: [{{range "
         "(.devices | Int)}}{name: \"d-{{.}}\"},{{end}}]}}");
    file("node.yaml",
         "{apiVersion: v1, kind: Node, metadata: {name: \"n-{{.Index}}\"}, status: {allocatable: "
         "{cpu: 4, memory: 32Gi, pods: 110}}}");
  }
  Result<WorkloadResult> run(std::string_view test_case) const {
    const Result<std::vector<TestCase>> read = parse_test_cases(test_case, folder_ + "/x.yaml");
    if (!read) return fail(read.error());
    const PluginTable plugins = plugins::make_plugin_table();
    return WorkloadRun(read->front(), read->front().workloads.front(), plugins,
                       {.seed = 0, .verify_increments = true})
        .run();
  }

 private:
  std::string folder_ = ::testing::TempDir() + "berth-perf-" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Workloads, BringVolumesWithTheirPods) {
  file("pv.yaml",
       "{apiVersion: v1, kind: PersistentVolume, spec: {accessModes: [ReadOnlyMany], capacity: "
       "{storage: 1Gi}, csi: {driver: ebs.csi.aws.com, volumeHandle: x}}}");
  file("pvc.yaml",
       "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {annotations: "
       "{pv.kubernetes.io/bind-completed: \"true\"}}, spec: {accessModes: [ReadOnlyMany], "
       "resources: {requests: {storage: 1Gi}}}}");
  constexpr const char* kVolumes = R"(
- name: Volumes
  workloadTemplate:
  - opcode: createNodes
    count: 2
    nodeAllocatableStrategy: {csiNodeAllocatable: {ebs.csi.aws.com: {count: 3}}}
  - opcode: createPods
    countParam: $pods
    persistentVolumeTemplatePath: pv.yaml
    persistentVolumeClaimTemplatePath: pvc.yaml
    skipWaitToCompletion: true
  - {opcode: barrier, stageRequirement: Attempted}
  - {opcode: createPods, count: 1, collectMetrics: true}
  workloads:
  - {name: W, params: {pods: 7}}
)";
  const Result<WorkloadResult> result = run(kVolumes);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(result->skipped.has_value());
  // Two nodes attach three volumes each: one pod waits, and the pod without a volume passes it.
  EXPECT_EQ(result->pods, 1U);
}

TEST_F(Workloads, MakeDevicesAndTheClaimsOfPods) {
  write_devices();
  file("class.yaml",
       "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}, spec: {selectors: "
       "[{cel: {expression: 'device.driver == \"d.example.com\"'}}]}}");
  file("template.yaml",
       "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: t}, spec: "
       "{spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}}");
  file("pod.yaml",
       "{apiVersion: v1, kind: Pod, metadata: {generateName: p-}, spec: {containers: [{name: c, "
       "resources: {claims: [{name: d}]}}], resourceClaims: [{name: d, "
       "resourceClaimTemplateName: t}]}}");
  // As many pods as there are devices, again and again: each that goes gives its device back.
  constexpr const char* kDevices = R"(
- name: Devices
  defaultPodTemplatePath: pod.yaml
  workloadTemplate:
  - {opcode: createNodes, count: 3, nodeTemplatePath: node.yaml}
  - {opcode: createAny, count: 3, templatePath: slice.yaml, templateParams: {devices: 2}}
  - {opcode: createAny, templatePath: class.yaml}
  - {opcode: createAny, templatePath: template.yaml, namespace: test}
  - {opcode: createPods, namespace: test, count: 6}
  - {opcode: deletePods, namespace: test, deletePodsPerSecond: 1000}
  - {opcode: createPods, namespace: test, count: 6, collectMetrics: true}
  - {opcode: deletePods, namespace: test}
  - opcode: createPods
    namespace: test
    count: 6
    steadyState: true
    durationParam: $duration
    collectMetrics: true
  workloads:
  - {name: W, params: {duration: 50ms}}
)";
  const Result<WorkloadResult> result = run(kDevices);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(result->skipped.has_value());
  EXPECT_GE(result->pods, 12U);
}

TEST_F(Workloads, UpdateWhatIsThere) {
  file("large.yaml",
       "{apiVersion: v1, kind: Pod, metadata: {name: \"p-{{.Index}}\"}, spec: {containers: [{name: "
       "c, resources: {requests: {cpu: 100}}}]}}");
  file("node.yaml",
       "{apiVersion: v1, kind: Node, metadata: {name: n}, spec: {unschedulable: true}, status: "
       "{allocatable: {cpu: 200, memory: 1Gi, pods: 10}}}");
  file("node-update.yaml",
       "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: 200, memory: "
       "1Gi, pods: 10}}}");
  const Result<WorkloadResult> result = run(R"(
- name: Updates
  workloadTemplate:
  - {opcode: createNodes, count: 1, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 2, podTemplatePath: large.yaml, namespace: a,
     skipWaitToCompletion: true}
  - {opcode: updateAny, templatePath: node-update.yaml, updatePerSecond: 100}
  - {opcode: barrier, namespaces: [a]}
  - {opcode: createPods, count: 0, collectMetrics: true}
  workloads:
  - {name: W}
)");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(result->skipped.has_value());
}

TEST_F(Workloads, FindDevicesTakenByClaimsThatSomebodyElseAllocated) {
  write_devices();
  file("class.yaml", "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: c}}");
  file("claim.yaml",
       "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: \"c-{{.Index}}\"}, "
       "spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c}}]}}}");
  file("pod.yaml",
       "{apiVersion: v1, kind: Pod, metadata: {generateName: p-}, spec: {containers: [{name: c, "
       "resources: {claims: [{name: d}]}}], resourceClaims: [{name: d, resourceClaimName: "
       "\"c-{{.Index}}\"}]}}");
  // Six devices, of which three are taken; three pods with claims of their own find the others.
  constexpr const char* kTaken = R"(
- name: Taken
  workloadTemplate:
  - {opcode: createNodes, count: 3, nodeTemplatePath: node.yaml}
  - {opcode: createAny, count: 3, templatePath: slice.yaml, templateParams: {devices: 2}}
  - {opcode: createAny, templatePath: class.yaml}
  - {opcode: createAny, templatePath: claim.yaml, namespace: init, countParam: $taken}
  - {opcode: allocResourceClaims, namespace: init}
  - {opcode: createAny, templatePath: claim.yaml, namespace: test, count: 3}
  - {opcode: createPods, namespace: test, count: 3, podTemplatePath: pod.yaml,
     collectMetrics: true}
  workloads:
  - {name: W, params: {taken: %TAKEN%}}
)";
  const auto taking = [&](const std::string& count) {
    std::string text = kTaken;
    text.replace(text.find("%TAKEN%"), 7, count);
    return run(text);
  };
  const Result<WorkloadResult> result = taking("3");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(result->skipped.has_value());
  EXPECT_EQ(result->pods, 3U);
  EXPECT_EQ(taking("7").error().message, "Taken: operation 5: no node has devices for claim c-6");
}

TEST_F(Workloads, DoNotWaitForPodsThatAreHeldBackAndNameTheHostOfEveryNode) {
  file(
      "gated.yaml",
      "{apiVersion: v1, kind: Pod, spec: {schedulingGates: [{name: g}], containers: [{name: c}]}}");
  file("spread.yaml",
       "{apiVersion: v1, kind: Pod, metadata: {labels: {a: b}}, spec: {containers: [{name: c}], "
       "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
       "whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]}}");
  const Result<WorkloadResult> result = run(R"(
- name: Gated
  workloadTemplate:
  - {opcode: createNodes, count: 3}
  - {opcode: createPods, count: 2, podTemplatePath: gated.yaml, skipWaitToCompletion: true}
  - {opcode: barrier, stageRequirement: Attempted}
  - {opcode: createPods, count: 6, podTemplatePath: spread.yaml, collectMetrics: true}
  workloads:
  - {name: W}
)");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_EQ(result->pods, 6U);
}

TEST_F(Workloads, AreSkippedForWhatIsNotKnown) {
  const Result<WorkloadResult> result = run(R"(
- name: Odd
  workloadTemplate:
  - {opcode: rename, namespace: init}
  workloads:
  - {name: W}
)");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->skipped, "Odd: operation 1: opcode rename is not supported");
}

TEST_F(Workloads, MultiplyPodsAndGiveBatchesOfThemALabel) {
  file("node.yaml",
       "{apiVersion: v1, kind: Node, metadata: {generateName: n-}, status: {allocatable: {cpu: 4, "
       "memory: 32Gi, pods: 6}}}");
  // Twelve pods fill two nodes; the four of the second batch go, and make room for four others.
  const Result<WorkloadResult> result = run(R"(
- name: Batches
  workloadTemplate:
  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}
  - {opcode: startCollectingProfile, type: CPU, filePath: x}
  - opcode: createPods
    namespace: a
    countParam: $groups
    countMultiplierParam: $perGroup
    signatureBatchSizeParam: $perGroup
  - {opcode: stopCollectingProfile, type: CPU}
  - {opcode: deletePods, namespace: a, labelSelector: {signature: signature-label-1}}
  - opcode: createPods
    namespace: b
    count: 1
    countMultiplierParam: $perGroup
    collectMetrics: true
  workloads:
  - {name: W, params: {groups: 3, perGroup: 4}}
)");
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_FALSE(result->skipped.has_value());
  EXPECT_EQ(result->pods, 4U);
}

TEST_F(Workloads, AreSkippedWhenTheyNeedGroupsOfPods) {
  const std::string operations = R"(
- name: Groups
  workloadTemplate:
  - {opcode: createPodGroups, namespace: init, templatePath: group.yaml, count: 1}
  workloads:
)";
  for (const std::string workload :
       {"  - {name: W}", "  - {name: W, featureGates: {GenericWorkload: true}}"})
    EXPECT_EQ(run(operations + workload)->skipped,
              "workloads with groups of pods (GenericWorkload) are not read");
}

}  // namespace
}  // namespace berth::perf
