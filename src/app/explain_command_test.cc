#include "app/explain_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/cli.h"
#include "base/testing/names.h"
#include "wire/json_tree.h"

namespace berth::app {
namespace {

constexpr char kDump[] = R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1, labels: {zone: a}}
  status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
- apiVersion: v1
  kind: Node
  metadata: {name: n2, labels: {zone: b}}
  spec: {taints: [{key: team, value: red, effect: NoSchedule}]}
  status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
- apiVersion: v1
  kind: Pod
  metadata: {name: placed, namespace: default, uid: u1}
  spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: fits, namespace: default, uid: u2}
  spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: large, namespace: team, uid: u3}
  spec: {containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: done, namespace: default, uid: u4}
  spec: {containers: [{name: c}]}
  status: {phase: Succeeded}
)";

struct ExplainCommandTest : ::testing::Test {
  std::filesystem::path folder;
  std::string cluster;
  std::ostringstream out, err;

  ExplainCommandTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(::testing::TempDir()) / ("berth_" + std::string(test->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    cluster = file("cluster.yaml", kDump);
  }
  ~ExplainCommandTest() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder / name;
    std::ofstream(path) << text;
    return path.string();
  }
  int explain(std::vector<std::string> args) {
    out.str(""), err.str("");
    args.insert(args.begin(), "explain");
    return run(args, out, err);
  }
  // "pod verdict chosen", a line for each, from -o json.
  int verdicts(std::vector<std::string> args, std::string& lines) {
    args.insert(args.end(), {"--cluster", cluster, "-o", "json"});
    const int code = explain(std::move(args));
    lines.clear();
    const Result<JsonValue> tree = parse_json(out.str());
    if (!tree) return code;
    for (const JsonValue& pod : tree->find("pods")->items) {
      lines += pod.find("pod")->text + " " + pod.find("verdict")->text;
      if (const JsonValue* chosen = pod.find("chosen")) lines += " " + chosen->text;
      lines += "\n";
    }
    return code;
  }
};

TEST_F(ExplainCommandTest, TheExitCodeSaysWhetherEveryPodHasANode) {
  std::string lines;
  EXPECT_EQ(verdicts({"fits", "default/placed"}, lines), 0) << err.str();
  EXPECT_EQ(lines, "default/fits Schedulable n1\ndefault/placed Scheduled n1\n");
  EXPECT_EQ(verdicts({"large", "-n", "team"}, lines), 3) << err.str();
  EXPECT_EQ(lines, "team/large Unschedulable\n");
  EXPECT_EQ(verdicts({"--all-pending"}, lines), 3) << err.str();
  EXPECT_EQ(lines, "default/fits Schedulable n1\nteam/large Unschedulable\n");
  EXPECT_EQ(verdicts({"pod/fits"}, lines), 0) << err.str();
}

TEST_F(ExplainCommandTest, APodThatIsNotThereYetIsJudged) {
  const std::string pod = file("pod.yaml", R"(apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 10
---
apiVersion: v1
kind: Pod
metadata: {name: new}
spec:
  priorityClassName: high
  tolerations: [{key: team, operator: Exists}]
  containers: [{name: c, resources: {limits: {cpu: "2"}}}]
)");
  std::string lines;
  EXPECT_EQ(verdicts({"-f", pod}, lines), 0) << err.str();
  EXPECT_EQ(lines, "default/new Schedulable n2\n");
}

TEST_F(ExplainCommandTest, ATableNamesEveryPluginThatRejectsANode) {
  EXPECT_EQ(explain({"team/large", "--cluster", cluster}), 3) << err.str();
  EXPECT_THAT(out.str(),
              AllOf(StartsWith("team/large fits on no node\n"), HasSubstr("1 node: n1"),
                    HasSubstr("TaintToleration"), HasSubstr("NodeResourcesFit"),
                    HasSubstr("Tried again after"), HasSubstr("only a running scheduler knows")));
  EXPECT_EQ(explain({"fits", "--cluster", cluster}), 0) << err.str();
  EXPECT_THAT(out.str(), Not(HasSubstr("only a running scheduler knows")));
}

TEST_F(ExplainCommandTest, PendingPodsThatAreAlikeAreExplainedOnce) {
  std::string two = kDump;
  for (const char* name : {"a", "b"})
    two += std::string("- apiVersion: v1\n  kind: Pod\n  metadata: {name: ") + name +
           ", namespace: team, labels: {app: a}, uid: " + name +
           "}\n  spec: {containers: [{name: c, resources: {requests: {cpu: \"9\"}}}]}\n";
  cluster = file("two.yaml", two);
  EXPECT_EQ(explain({"--all-pending", "--cluster", cluster, "-o", "json"}), 3) << err.str();
  const Result<JsonValue> tree = parse_json(out.str());
  ASSERT_TRUE(tree);
  const std::vector<JsonValue>& pods = tree->find("pods")->items;
  ASSERT_EQ(pods.size(), 3U);
  EXPECT_EQ(pods[2].find("pod")->text, "team/a");
  EXPECT_EQ(to_json(*pods[2].find("alike")), R"(["team/b"])");
  EXPECT_EQ(pods[1].find("alike"), nullptr) << "large asks for less";
}

TEST_F(ExplainCommandTest, YamlSaysTheSameAsJson) {
  EXPECT_EQ(explain({"fits", "--cluster", cluster, "-o", "yaml"}), 0) << err.str();
  EXPECT_THAT(out.str(), StartsWith("pods:\n- pod: default/fits\n  verdict: Schedulable\n"));
}

TEST_F(ExplainCommandTest, APageHasTheExplanationsAsData) {
  EXPECT_EQ(explain({"team/large", "--cluster", cluster, "-o", "html"}), 3) << err.str();
  EXPECT_THAT(out.str(),
              AllOf(StartsWith("<!"), HasSubstr("\"explanations\":[{\"pod\":\"team/large\"")));
}

TEST_F(ExplainCommandTest, APodOfAnotherSchedulerIsJudgedWithANote) {
  cluster = file("other.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: default}
spec: {schedulerName: mine, containers: [{name: c}]}
)");
  EXPECT_EQ(explain({"p", "--cluster", cluster}), 3) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("its schedulerName is mine"));
  EXPECT_THAT(out.str(), HasSubstr("no nodes available to schedule pods"));
}

TEST_F(ExplainCommandTest, WrongUseIsOneLineThatSaysWhatToDo) {
  const struct {
    std::vector<std::string> args;
    int code;
    std::string line;
  } cases[] = {
      {{"--cluster", cluster}, 2, "explain needs pods by name, -f FILE or --all-pending"},
      {{"fits", "--cluster", cluster, "--context", "x"}, 2, "either --cluster or --kubeconfig"},
      {{"fits", "--kubeconfig", "/nowhere"}, 1, "/nowhere"},
      {{"fits", "--all-pending", "--cluster", cluster}, 2, "either pods by name or --all-pending"},
      {{"-f", "-", "--cluster", "-"}, 2, "standard input can be read once only"},
      {{"fits", "--cluster", cluster, "-o", "xml"},
       2,
       "\"xml\" is none of table, json, yaml, html"},
      {{"nobody", "--cluster", cluster}, 1, "has no pod \"nobody\" in namespace \"default\""},
      {{"done", "--cluster", cluster}, 1, "pod default/done has finished: it needs no node"},
      {{"fits", "--cluster", cluster, "--profile", "x"}, 1, "no profile is named \"x\""},
      {{"-f", file("node.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: x}\n"), "--cluster",
        cluster},
       1,
       "no pod without a node to explain; in the place of a Deployment"},
      {{"fits", "--cluster", "/nowhere"}, 1, "cannot read /nowhere"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(explain(c.args), c.code) << c.line;
    EXPECT_THAT(err.str(), AllOf(StartsWith("berth: "), HasSubstr(c.line)));
    EXPECT_EQ(std::ranges::count(err.str(), '\n'), 1) << err.str();
    EXPECT_THAT(out.str(), IsEmpty());
  }
}

}  // namespace
}  // namespace berth::app
