#include "app/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace berth::app {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kCluster[] = R"(apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: fits}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: huge}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "100"}}}]}
)";

struct CliTest : ::testing::Test {
  std::filesystem::path folder;
  std::ostringstream out, err;

  CliTest() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder =
        std::filesystem::path(::testing::TempDir()) / ("berth_cli_" + std::string(test->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~CliTest() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder / name;
    std::ofstream(path) << text;
    return path.string();
  }
  int call(const std::vector<std::string>& args) {
    out.str(""), err.str("");
    return run(args, out, err);
  }
  // One line that begins with the program's name.
  void expect_one_line(const std::string& text) {
    EXPECT_THAT(text, AllOf(StartsWith("berth: "), EndsWith("\n")));
    EXPECT_EQ(std::ranges::count(text, '\n'), 1) << text;
  }
};

// ---- what it says about itself

TEST_F(CliTest, TheVersionIsPrinted) {
  EXPECT_EQ(call({"--version"}), 0);
  EXPECT_THAT(out.str(),
              MatchesRegex("berth [0-9]+\\.[0-9]+\\.[0-9]+( \\(commit [0-9a-f]+\\+?\\))?, "
                           "as Kubernetes v1\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_THAT(err.str(), IsEmpty());
}

TEST_F(CliTest, HelpNamesTheCommands) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"--help"}, {"-h"}, {"help"}}) {
    EXPECT_EQ(call(args), 0);
    EXPECT_THAT(out.str(), AllOf(HasSubstr("simulate"), HasSubstr("evaluate"), HasSubstr("plugins"),
                                 HasSubstr("--version")));
    EXPECT_THAT(err.str(), IsEmpty());
  }
}

TEST_F(CliTest, ACommandsHelpNamesItsFlags) {
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"simulate", "--help"}, {"help", "simulate"}}) {
    EXPECT_EQ(call(args), 0);
    for (const char* flag :
         {"--file", "--scenario", "--config", "--seed", "--until", "--output", "--feature-gates"})
      EXPECT_THAT(out.str(), HasSubstr(flag));
    EXPECT_THAT(err.str(), IsEmpty());
  }
  EXPECT_EQ(call({"evaluate", "--help"}), 0);
  for (const char* flag : {"--cluster", "--config", "--profile", "--sequence", "--preempt",
                           "--feature-gates", "--output"})
    EXPECT_THAT(out.str(), HasSubstr(flag));
  EXPECT_EQ(call({"plugins", "--help"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("List the plugins"));
}

TEST_F(CliTest, WithoutACommandItSaysWhatThereIs) {
  EXPECT_EQ(call({}), 2);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), HasSubstr("simulate"));
}

TEST_F(CliTest, ThePluginsAreListedWithThoseThatAreNotBuiltMarked) {
  EXPECT_EQ(call({"plugins"}), 0);
  EXPECT_THAT(out.str(), StartsWith("NAME "));
  EXPECT_THAT(out.str(), HasSubstr("EXTENSION POINTS"));
  EXPECT_THAT(out.str(), HasSubstr("Rejects every node but the one that the pod itself names."));
  EXPECT_THAT(out.str(), HasSubstr("(not available yet)"));
  std::istringstream lines(out.str());
  bool seen = false;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("TaintToleration ")) {
      seen = true;
      EXPECT_THAT(line, AllOf(HasSubstr("Filter, PreScore, Score"), HasSubstr(" 3  ")));
    }
  EXPECT_TRUE(seen);
}

// ---- wrong usage

TEST_F(CliTest, WrongUsageIsOneLineAndCodeTwo) {
  const std::string cluster = file("cluster.yaml", kCluster);
  struct Case {
    std::vector<std::string> args;
    const char* message;
  };
  const Case cases[] = {
      {{"--frobnicate"}, "berth: unknown flag --frobnicate (see `berth --help`)\n"},
      {{"frobnicate"}, "berth: unknown command \"frobnicate\" (see `berth --help`)\n"},
      {{"help", "frobnicate"}, "berth: unknown command \"frobnicate\" (see `berth --help`)\n"},
      {{"simulate"},
       "berth: give manifests with -f FILE, or a trace with --trace FILE (see `berth simulate "
       "--help`)\n"},
      {{"simulate", "--frobnicate"},
       "berth: unknown flag --frobnicate (see `berth simulate --help`)\n"},
      {{"simulate", "-f", cluster, "--frobnicate=1"},
       "berth: unknown flag --frobnicate=1 (see `berth simulate --help`)\n"},
      {{"simulate", "-f"}, "berth: --file needs a value (see `berth simulate --help`)\n"},
      {{"simulate", "-f", cluster, "--seed"},
       "berth: --seed needs a value (see `berth simulate --help`)\n"},
      {{"simulate", "-f", cluster, "--seed", "x"},
       "berth: --seed: \"x\" is not a whole number from 0 to 18446744073709551615"
       " (see `berth simulate --help`)\n"},
      {{"simulate", "-f", cluster, "--seed=-1"},
       "berth: --seed: \"-1\" is not a whole number from 0 to 18446744073709551615"
       " (see `berth simulate --help`)\n"},
      {{"simulate", "-f", cluster, "--until", "5"},
       "berth: --until: time: missing unit in duration \"5\" (see `berth simulate --help`)\n"},
      {{"simulate", "-f", cluster, "--until=-5s"},
       "berth: --until: \"-5s\" is negative (see `berth simulate --help`)\n"},
      {{"simulate", "-f", cluster, "-o", "xml"},
       "berth: --output: \"xml\" is none of table, json, yaml, html (see `berth simulate "
       "--help`)\n"},
      {{"simulate", "-f", cluster, "--feature-gates", "Foo=true"},
       "berth: --feature-gates: unrecognized feature gate: Foo (see `berth simulate --help`)\n"},
      {{"evaluate"}, "berth: --cluster is required (see `berth evaluate --help`)\n"},
      {{"evaluate", "--cluster"}, "berth: --cluster needs a value (see `berth evaluate --help`)\n"},
      {{"evaluate", "--cluster", cluster, "-o", "yaml"},
       "berth: --output: \"yaml\" is none of json, table (see `berth evaluate --help`)\n"},
      {{"evaluate", "--cluster", cluster, "--feature-gates", "Foo=true"},
       "berth: --feature-gates: unrecognized feature gate: Foo (see `berth evaluate --help`)\n"},
      {{"plugins", "all"}, "berth: unexpected argument \"all\" (see `berth plugins --help`)\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    EXPECT_EQ(call(c.args), 2);
    EXPECT_EQ(err.str(), c.message);
    EXPECT_THAT(out.str(), IsEmpty());
  }
}

// ---- what goes wrong

TEST_F(CliTest, FieldsThatAKindDoesNotHaveAreWarnedOfAndStrictlyRefused) {
  const std::string text = std::string(kCluster) +
                           "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: odd}\n"
                           "spec: {nodeSelectr: {disk: ssd}, containers: [{name: c}]}\n";
  const std::string odd = file("odd.yaml", text);
  const std::string fault =
      "Pod default/odd: unknown field \"spec.nodeSelectr\", did you mean \"nodeSelector\"?\n";
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"simulate", "-f", odd}, {"evaluate", "--cluster", odd}}) {
    SCOPED_TRACE(args.front());
    EXPECT_EQ(call(args), 0);
    EXPECT_THAT(err.str(), AllOf(StartsWith("warning: " + odd), EndsWith(fault)));
    EXPECT_THAT(out.str(), HasSubstr("odd"));
    std::vector<std::string> strict = args;
    strict.emplace_back("--strict");
    EXPECT_EQ(call(strict), 1);
    expect_one_line(err.str());
    EXPECT_THAT(err.str(), EndsWith(fault));
    EXPECT_THAT(out.str(), IsEmpty());
  }
}

TEST_F(CliTest, AFailureIsOneLineAndCodeOne) {
  const std::string cluster = file("cluster.yaml", kCluster);
  const std::string missing = (folder / "missing.yaml").string();
  const std::string broken = file("broken.yaml", "kind: Pod\nspec: [\n");
  const std::string bad_pod =
      file("bad.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {priority: high}\n");
  const std::string bad_config =
      file("config.yaml",
           "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nfoo: 1\n"
           "bar: 2\n");
  const std::string unbuilt =
      file("unbuilt.yaml",
           "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
           "profiles: [{plugins: {permit: {enabled: [{name: DeferredPodScheduling}]}}}]\n");
  const std::string bad_scenario = file("scenario.yaml", "kind: Scenario\nfrobnicate: 1\n");
  struct Case {
    std::vector<std::string> args;
    std::string message;
  };
  const Case cases[] = {
      {{"simulate", "-f", missing}, "cannot read " + missing + ": No such file or directory"},
      {{"simulate", "-f", folder.string()}, "cannot read " + folder.string() + ": Is a directory"},
      {{"simulate", "-f", broken}, broken},
      {{"simulate", "-f", bad_pod}, "Pod default/p: spec.priority"},
      {{"simulate", "-f", cluster, "--config", missing}, missing},
      {{"simulate", "-f", cluster, "--config", bad_config}, "foo"},
      {{"simulate", "-f", cluster, "--config", unbuilt},
       "plugin \"DeferredPodScheduling\" is not available yet"},
      {{"simulate", "-f", cluster, "--scenario", missing}, missing},
      {{"evaluate", "--cluster", missing},
       "cannot read " + missing + ": No such file or directory"},
      {{"evaluate", "--cluster", broken}, broken},
      {{"evaluate", "--cluster", bad_pod}, "spec.priority"},
      {{"evaluate", "--cluster", cluster, "--config", bad_config}, bad_config + ": "},
      {{"evaluate", "--cluster", cluster, "--profile", "packer"},
       "no profile is named \"packer\"; there are: default-scheduler"},
      {{"simulate", "-f", cluster, "--scenario", bad_scenario}, bad_scenario},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.message);
    EXPECT_EQ(call(c.args), 1);
    expect_one_line(err.str());
    EXPECT_THAT(err.str(), HasSubstr(c.message));
    EXPECT_THAT(out.str(), IsEmpty());
  }
}

TEST_F(CliTest, OutputThatCannotBeWrittenIsAFailure) {
  out.setstate(std::ios::badbit);
  EXPECT_EQ(run({"plugins"}, out, err), 1);
  expect_one_line(err.str());
}

// ---- simulate

TEST_F(CliTest, ATableSaysWhoWentWhereAndWhyNot) {
  EXPECT_EQ(call({"simulate", "-f", file("cluster.yaml", kCluster)}), 0);
  EXPECT_THAT(out.str(), AllOf(StartsWith("NAMESPACE"), HasSubstr("fits"), HasSubstr("n1"),
                               HasSubstr("0/1 nodes are available: 1 Insufficient cpu."),
                               HasSubstr("2 pods: 1 bound, 1 pending after ")));
  EXPECT_THAT(err.str(), IsEmpty());
}

TEST_F(CliTest, JsonAndYamlTellTheWholeStory) {
  const std::string cluster = file("cluster.yaml", kCluster);
  EXPECT_EQ(call({"simulate", "-f", cluster, "-o", "json"}), 0);
  EXPECT_THAT(out.str(), AllOf(StartsWith("{\n"), HasSubstr("\"timeline\": ["),
                               HasSubstr("\"name\": \"huge\"")));
  EXPECT_EQ(call({"simulate", "-f", cluster, "--output=yaml"}), 0);
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr("\ntimeline:\n"), HasSubstr("name: huge"), Not(HasSubstr("{"))));
  EXPECT_THAT(err.str(), IsEmpty());
}

TEST_F(CliTest, TheSameInputsGiveTheSameBytes) {
  const std::string cluster = file("cluster.yaml", kCluster);
  std::set<std::string> printed;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(call({"simulate", "-f", cluster, "--seed", "5", "-o", "json"}), 0);
    printed.insert(out.str());
  }
  EXPECT_EQ(printed.size(), 1u);
}

TEST_F(CliTest, AnHtmlPageHasTheRunInIt) {
  const std::string cluster = file("cluster.yaml", kCluster);
  EXPECT_EQ(call({"simulate", "-f", cluster, "-o", "html", "--trace-pod", "huge"}), 0);
  const std::string page = out.str();
  // Not by matchers, which would print all of it.
  EXPECT_TRUE(page.starts_with("<!doctype html>\n"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* part : {"\"history\": {\"duration\": ", "\"what\": \"bound\"",
                           "\"traces\": [{\"at\": ", "\"pod\": \"default/huge\""})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_THAT(err.str(), IsEmpty());
  EXPECT_EQ(call({"simulate", "-f", cluster, "-o", "html", "--trace-pod", "huge"}), 0);
  EXPECT_TRUE(out.str() == page) << "the same run is another page";
}

TEST_F(CliTest, SeveralFilesAreOneCluster) {
  const std::string nodes = file("nodes.yaml",
                                 "apiVersion: v1\nkind: Node\nmetadata: {name: n9}\n"
                                 "status: {capacity: {cpu: '1', pods: '1'}}\n");
  const std::string pods = file("pods.json", R"({"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})");
  for (const std::vector<std::string>& args :
       std::vector<std::vector<std::string>>{{"simulate", "-f", nodes, "-f", pods},
                                             {"simulate", "-f", nodes, pods},
                                             {"simulate", "--file=" + pods, "--file", nodes}}) {
    EXPECT_EQ(call(args), 0);
    EXPECT_THAT(out.str(), HasSubstr("1 pods: 1 bound"));
  }
}

TEST_F(CliTest, AnEmptyFileIsAnEmptyCluster) {
  EXPECT_EQ(call({"simulate", "-f", file("empty.yaml", "")}), 0) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("0 pods after 0s"));
}

TEST_F(CliTest, KindsThatAreNotReadAreOneLineEachAndNoError) {
  const std::string more = file("more.yaml",
                                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
                                "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\n");
  EXPECT_EQ(call({"simulate", "-f", file("cluster.yaml", kCluster), "-f", more}), 0);
  EXPECT_EQ(std::ranges::count(err.str(), '\n'), 2);
  EXPECT_THAT(err.str(), AllOf(HasSubstr("ConfigMap a is not read by scheduling, skipped\n"),
                               HasSubstr("Secret b is not read by scheduling, skipped\n")));
  EXPECT_THAT(out.str(), HasSubstr("2 pods"));
}

TEST_F(CliTest, TheLastOfAFlagCounts) {
  const std::string cluster = file("cluster.yaml", kCluster);
  EXPECT_EQ(call({"simulate", "-f", cluster, "-o", "json", "-o", "table"}), 0) << err.str();
  EXPECT_THAT(out.str(), StartsWith("NAMESPACE"));
}

TEST_F(CliTest, UntilCutsShort) {
  const std::string scenario = file(
      "scenario.yaml", "kind: Scenario\nevents: [{at: 1h, delete: {kind: Pod, name: fits}}]\n");
  EXPECT_EQ(call({"simulate", "-f", file("cluster.yaml", kCluster), "--scenario", scenario,
                  "--until", "30s"}),
            0)
      << err.str();
  EXPECT_THAT(out.str(), HasSubstr("after 30s of virtual time, cut short by --until"));
}

TEST_F(CliTest, ExtendersAreNotAskedAndThatIsSaid) {
  const std::string config =
      file("config.yaml",
           "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
           "extenders: [{urlPrefix: 'http://localhost:1', filterVerb: filter}]\n");
  EXPECT_EQ(call({"simulate", "-f", file("cluster.yaml", kCluster), "--config", config}), 0);
  EXPECT_THAT(err.str(), HasSubstr("1 extender(s) are configured"));
}

// ---- evaluate

constexpr char kListed[] = R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "2", pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: "2", pods: "10"}},
   spec: {unschedulable: true}}
- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default},
   spec: {containers: [{name: c, resources: {requests: {cpu: "1500m"}}}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: default},
   spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}}
)";

TEST_F(CliTest, EveryPendingPodIsJudged) {
  const std::string cluster = file("cluster.yaml", kListed);
  EXPECT_EQ(call({"evaluate", "--cluster", cluster}), 0) << err.str();
  EXPECT_THAT(out.str(), StartsWith("{\n \"decisions\": [\n  {\n   \"pod\": \"default/a\",\n"));
  EXPECT_THAT(out.str(), AllOf(HasSubstr("\"pod\": \"default/b\""),
                               HasSubstr("\"node(s) were unschedulable\""),
                               HasSubstr("\"chosen\": \"n1\""), Not(HasSubstr("\"message\""))));
  EXPECT_EQ(call({"evaluate", "--cluster", cluster, "--sequence"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("\"message\": \"0/2 nodes are available: 1 Insufficient cpu,"
                                   " 1 node(s) were unschedulable.\""));
  EXPECT_THAT(err.str(), IsEmpty());
}

TEST_F(CliTest, ADecisionAsATable) {
  EXPECT_EQ(call({"evaluate", "--cluster", file("cluster.yaml", kListed), "-o", "table"}), 0);
  EXPECT_THAT(out.str(), AllOf(StartsWith("default/a  ->  n1\n"), HasSubstr("1 of 2 nodes fits\n"),
                               HasSubstr("NodeUnschedulable: node(s) were unschedulable"),
                               EndsWith("2 pending pods: 2 with a node, 0 without\n")));
}

TEST_F(CliTest, AnEmptyClusterHasNoDecisions) {
  EXPECT_EQ(call({"evaluate", "--cluster", file("empty.yaml", "")}), 0) << err.str();
  EXPECT_EQ(out.str(), "{\n \"decisions\": []\n}\n");
}

TEST_F(CliTest, AProfileIsChosenByItsName) {
  const std::string config =
      file("config.yaml",
           "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
           "profiles: [{schedulerName: first}, {schedulerName: second, plugins: {filter:"
           " {disabled: [{name: NodeUnschedulable}]}}}]\n");
  const std::string cluster = file("cluster.yaml", kListed);
  EXPECT_EQ(call({"evaluate", "--cluster", cluster, "--config", config}), 0) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("were unschedulable"));
  EXPECT_EQ(call({"evaluate", "--cluster", cluster, "--config", config, "--profile", "second"}), 0);
  EXPECT_THAT(out.str(), Not(HasSubstr("were unschedulable")));
}

TEST_F(CliTest, CalledAsKubeSchedulerItTakesThatProgramsFlags) {
  out.str(""), err.str("");
  EXPECT_EQ(run("/usr/bin/kube-scheduler", {"--version"}, out, err), 0);
  EXPECT_EQ(out.str(), "Kubernetes v1.37.1\n");
  out.str("");
  EXPECT_EQ(run("bin/berth", {"--version"}, out, err), 0);
  EXPECT_THAT(out.str(), StartsWith("berth "));
}

TEST_F(CliTest, SchedulerHelpAndMistakes) {
  EXPECT_EQ(call({"scheduler", "--help"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("\nLeader election flags:\n"));
  EXPECT_THAT(err.str(), IsEmpty());
  EXPECT_EQ(call({"help", "scheduler"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("\nLeader election flags:\n"));
  EXPECT_EQ(call({"scheduler", "--foo"}), 1);
  EXPECT_THAT(out.str(), IsEmpty());
  EXPECT_THAT(err.str(), StartsWith("Usage:\n  kube-scheduler [flags]\n"));
  EXPECT_THAT(err.str(), EndsWith("\n\nError: unknown flag: --foo\n"));
  EXPECT_EQ(call({"scheduler", "--secure-port=-1"}), 1);
  EXPECT_THAT(err.str(),
              MatchesRegex("E[0-9]{4} [0-9:.]{15} +[0-9]+ run.go:72\\] \"command failed\" "
                           "err=\"--secure-port -1 must be between 0 and 65535, inclusive. 0 for "
                           "turning off secure port\"\n"));
  EXPECT_EQ(call({"scheduler", "--secure-port=-1", "--logging-format=json"}), 1);
  EXPECT_THAT(err.str(), StartsWith("{\"ts\":"));
  EXPECT_THAT(err.str(), HasSubstr("\"caller\":\"cli/run.go:72\",\"msg\":\"command failed\","
                                   "\"err\":\"--secure-port -1 must"));
}

TEST_F(CliTest, SchedulerWritesItsConfiguration) {
  const std::string kubeconfig = file("kubeconfig", R"(current-context: here
contexts: [{name: here, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
)");
  const std::string target = (folder / "written.yaml").string();
  EXPECT_EQ(call({"scheduler", "--kubeconfig=" + kubeconfig, "--kube-api-qps=7",
                  "--write-config-to=" + target}),
            0)
      << err.str();
  EXPECT_THAT(err.str(),
              EndsWith("configfile.go:106] \"Wrote configuration\" file=\"" + target + "\"\n"));
  std::ifstream written(target);
  const std::string text{std::istreambuf_iterator<char>(written), {}};
  EXPECT_THAT(text, StartsWith("apiVersion: kubescheduler.config.k8s.io/v1\n"));
  EXPECT_THAT(text, HasSubstr("\n  qps: 7\n"));

  // What was written can be read, and gives the same again.
  const std::string again = (folder / "again.yaml").string();
  EXPECT_EQ(call({"scheduler", "--config=" + target, "--write-config-to=" + again}), 0);
  std::ifstream second(again);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(second), {}), text);
}

}  // namespace
}  // namespace berth::app
