// What is said about files that can be read but make no sense. The sentences are those of
// kube-scheduler v1.37.1, taken from runs of it.
#include "config/load.h"

#include <gtest/gtest.h>

#include "config/testing/parse.h"

namespace berth::config {
namespace {

const std::string kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const std::string kRemoved =
    ": was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
    "\"kubescheduler.config.k8s.io/v1\")";

struct Case {
  std::string_view text;
  std::string error;
};

void expect_errors(std::initializer_list<Case> cases) {
  for (const Case& one : cases) EXPECT_EQ(error_of(file(one.text)), one.error) << one.text;
}

TEST(Validate, TopLevel) {
  expect_errors({
      {"parallelism: 0",
       "parallelism: Invalid value: 0: should be an integer value greater than zero"},
      {"percentageOfNodesToScore: 101",
       "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"},
      {"percentageOfNodesToScore: -1",
       "percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"},
      {"percentageOfNodesToScore: 100", ""},
      {"podInitialBackoffSeconds: 0",
       "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"},
      {"podMaxBackoffSeconds: 0",
       "podMaxBackoffSeconds: Invalid value: 0: must be greater than or equal to "
       "PodInitialBackoffSeconds"},
      {"podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 5", ""},
      {"clientConnection: {burst: -3, qps: -1}",
       "clientConnection.burst: Invalid value: -3: must be non-negative"},
  });
}

TEST(Validate, AllComplaintsAreMadeAtOnceAndInOrder) {
  expect_errors({
      {"extenders: [{prioritizeVerb: x}]\npodMaxBackoffSeconds: -2\npodInitialBackoffSeconds: 0\n"
       "percentageOfNodesToScore: 101\nprofiles: [{schedulerName: \"\", percentageOfNodesToScore: "
       "-1}]\nparallelism: -1\nleaderElection: {leaseDuration: 5s, resourceLock: endpoints}\n"
       "clientConnection: {burst: -3}",
       "[clientConnection.burst: Invalid value: -3: must be non-negative, "
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`, leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock "
       "value must be \"leases\", parallelism: Invalid value: -1: should be an integer value "
       "greater than zero, profiles[0].schedulerName: Required value, "
       "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100], "
       "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], "
       "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0, podMaxBackoffSeconds: "
       "Invalid value: -2: must be greater than or equal to PodInitialBackoffSeconds, "
       "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it]"},
  });
}

TEST(Validate, LeaderElection) {
  expect_errors({
      {"leaderElection: {leaseDuration: 0s}", ""},  // as if it were not there
      {"leaderElection: {leaseDuration: -1s}",
       "[leaderElection.leaseDuration: Invalid value: \"-1s\": must be greater than zero, "
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`]"},
      {"leaderElection: {renewDeadline: -1s, retryPeriod: -2s}",
       "[leaderElection.renewDeadline: Invalid value: \"-1s\": must be greater than zero, "
       "leaderElection.retryPeriod: Invalid value: \"-2s\": must be greater than zero]"},
      {"leaderElection: {leaseDuration: 10s}",
       "leaderElection.leaseDuration: Invalid value: \"10s\": must be greater than "
       "`RenewDeadline`"},
      {"leaderElection: {resourceLock: endpoints}",
       "leaderElection.resourceLock: Invalid value: \"endpoints\": resourceLock value must be "
       "\"leases\""},
      {"leaderElection: {leaderElect: false, resourceLock: endpoints, leaseDuration: -1s}", ""},
  });
}

TEST(Validate, ProfilesHaveDistinctNames) {
  expect_errors({
      {"profiles: [{schedulerName: a}, {schedulerName: b}, {}]",
       "profiles[2].schedulerName: Required value"},
      {"profiles: [{schedulerName: a}, {schedulerName: a}]",
       "profiles[1].schedulerName: Duplicate value: {}"},
      {"profiles: [{}, {}]",
       "[profiles[0].schedulerName: Required value, profiles[1].schedulerName: Required value, "
       "profiles[1].schedulerName: Duplicate value: {}]"},
  });
}

TEST(Validate, PluginsThatWereRemovedAreRefusedByName) {
  const std::string refusal = ": Invalid value: ";
  expect_errors({
      {"profiles: [{plugins: {score: {enabled: [{name: EBSLimits}]}, filter: {enabled: [{name: X}, "
       "{name: CinderLimits}]}}, pluginConfig: [{name: AzureDiskLimits}]}]",
       "[profiles[0].plugins.filter.enabled[1]" + refusal + "\"CinderLimits\"" + kRemoved +
           ", profiles[0].plugins.score.enabled[0]" + refusal + "\"EBSLimits\"" + kRemoved +
           ", profiles[0].pluginConfig[0]" + refusal + "\"AzureDiskLimits\"" + kRemoved + "]"},
      {"profiles: [{plugins: {podGroupPostFilter: {enabled: [{name: EBSLimits}]}}}]",
       "profiles[0].plugins.podGroupPostFilter.enabled[0]" + refusal + "\"EBSLimits\"" + kRemoved},
      {"profiles: [{plugins: {multiPoint: {enabled: [{name: GCEPDLimits}]}}}]", ""},
  });
}

TEST(Validate, APluginIsConfiguredOnce) {
  expect_errors({
      {"profiles: [{pluginConfig: [{name: DefaultPreemption}, {name: DefaultPreemption}]}]",
       "profiles[0].pluginConfig[1]: Duplicate value: \"DefaultPreemption\""},
      {"profiles: [{pluginConfig: [{name: Foo}, {name: Foo}]}]",
       "profiles[0].pluginConfig[1]: Duplicate value: \"Foo\""},
  });
}

TEST(Validate, AllProfilesSortTheQueueInOneWay) {
  expect_errors({
      {"profiles: [{plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: X}]}}}]",
       "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be "
       "enabled"},
      {"profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {enabled: [{name: "
       "PrioritySort, weight: 3}], disabled: [{name: \"*\"}]}}}]",
       "profiles[1].plugins.queueSort: Invalid value: "
       "{\"Enabled\":[{\"Name\":\"PrioritySort\",\"Weight\":3}],\"Disabled\":[{\"Name\":\"*\","
       "\"Weight\":0}]}: must be the same for all profiles"},
      {"profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: Mine}]}}}, "
       "{schedulerName: b}]",
       "profiles[1].plugins.queueSort: Invalid value: {\"Enabled\":null,\"Disabled\":null}: must "
       "be "
       "the same for all profiles"},
      {"profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: Mine}]}}}, "
       "{schedulerName: b, plugins: {queueSort: {enabled: [{name: Mine}]}}, pluginConfig: [{name: "
       "Mine, args: {a: 2}}]}]",
       "profiles[1].pluginConfig.args: Invalid value: {\"a\":2}: queueSort must be the same for "
       "all "
       "profiles"},
      {"profiles: [{schedulerName: a, plugins: {queueSort: {enabled: []}}}, {schedulerName: b, "
       "plugins: {queueSort: {disabled: []}}}]",
       ""},
  });
}

TEST(Validate, Extenders) {
  const std::string name = "extenders[0].managedResources[0].name: Invalid value: ";
  expect_errors({
      {"extenders: [{bindVerb: a}, {bindVerb: b, prioritizeVerb: z, weight: -1}]",
       "[extenders[1].weight: Invalid value: -1: must have a positive weight applied to it, "
       "extenders: Invalid value: \"found 2 extenders implementing bind\": only one extender can "
       "implement bind]"},
      {"extenders: [{managedResources: [{name: a.b/c}]}, {managedResources: [{name: a.b/c}]}]",
       "extenders[1].managedResources[0].name: Invalid value: \"a.b/c\": duplicate extender "
       "managed "
       "resource name"},
      {"extenders: [{managedResources: [{name: foo}]}]",
       name + "\"foo\": is an invalid extended resource name"},
      {"extenders: [{managedResources: [{name: kubernetes.io/x}]}]",
       name + "\"kubernetes.io/x\": is an invalid extended resource name"},
      {"extenders: [{managedResources: [{name: requests.a/b}]}]",
       name + "\"requests.a/b\": is an invalid extended resource name"},
      {"extenders: [{managedResources: [{name: \"\"}]}]",
       "[" + name + "\"\": name part must be non-empty, " + name + "\"\": name part " + kNameRule +
           "]"},
      {"extenders: [{managedResources: [{name: a/b/c}]}]",
       name + "\"a/b/c\": a valid label key " + kNameRule +
           " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
      {"extenders: [{managedResources: [{name: /a}]}]",
       name + "\"/a\": prefix part must be non-empty"},
  });
}

struct ArgsCase {
  std::string_view plugin;
  std::string_view args;
  std::vector<std::string> errors;  // without what is before `args.`
};

void expect_args_errors(std::initializer_list<ArgsCase> cases, const FeatureGates& gates = {}) {
  for (const ArgsCase& one : cases) {
    std::string expected;
    for (const std::string& error : one.errors) {
      expected += (expected.empty() ? "" : ", ") + ("profiles[0].pluginConfig[0].args." + error);
    }
    if (one.errors.size() > 1) expected = "[" + expected + "]";
    EXPECT_EQ(error_of(with_args(one.plugin, one.args), gates), expected) << one.args;
  }
}

TEST(ValidateArgs, DefaultPreemption) {
  expect_args_errors({
      {"DefaultPreemption",
       "{minCandidateNodesPercentage: -1, minCandidateNodesAbsolute: -1}",
       {"minCandidateNodesPercentage: Invalid value: -1: not in valid range [0, 100]",
        "minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"}},
      {"DefaultPreemption",
       "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}",
       {"minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
        "minCandidateNodesAbsolute",
        "minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as "
        "minCandidateNodesPercentage"}},
      {"DefaultPreemption",
       "{minCandidateNodesPercentage: 101}",
       {"minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"}},
      {"DefaultPreemption", "{minCandidateNodesPercentage: 0}", {}},
  });
}

TEST(ValidateArgs, DynamicResources) {
  expect_args_errors({
      {"DynamicResources",
       "{filterTimeout: -1s, bindingTimeout: 999ms}",
       {"filterTimeout: Invalid value: \"-1s\": must be zero or positive",
        "bindingTimeout: Invalid value: \"999ms\": must be at least 1 second"}},
      {"DynamicResources", "{filterTimeout: 0s, bindingTimeout: 1s}", {}},
  });
  expect_args_errors(
      {{"DynamicResources",
        "{filterTimeout: 1s, bindingTimeout: 2s}",
        {"filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate is disabled",
         "bindingTimeout: Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus "
         "feature gate is disabled"}}},
      gates("DRASchedulerFilterTimeout=false,DRADeviceBindingConditions=false"));
}

TEST(ValidateArgs, InterPodAffinity) {
  expect_args_errors({
      {"InterPodAffinity",
       "{hardPodAffinityWeight: 101}",
       {"hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"}},
      {"InterPodAffinity",
       "{hardPodAffinityWeight: -1}",
       {"hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]"}},
      {"InterPodAffinity", "{hardPodAffinityWeight: 0}", {}},
  });
}

TEST(ValidateArgs, NodeAffinity) {
  const std::string required =
      "addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const std::string preferred = "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution";
  const std::string bad =
      ".operator: Unsupported value: \"Bad\": supported values: \"In\", \"NotIn\", \"Exists\", "
      "\"DoesNotExist\", \"Gt\", \"Lt\"";
  expect_args_errors({
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}, "
       "{matchExpressions: [{key: a, operator: Bad}, {key: b, operator: In}], matchFields: [{key: "
       "a, operator: Exists}, {key: metadata.name, operator: In, values: [c, d]}]}]}}}",
       {required + "[1].matchExpressions[0]" + bad,
        required + "[1].matchExpressions[1].values: Invalid value: null: for 'in', 'notin' "
                   "operators, values set can't be empty",
        required + "[1].matchFields[0].operator: Unsupported value: \"Exists\": supported values: "
                   "\"In\", \"NotIn\"",
        required + "[1].matchFields[1].values: Invalid value: [\"c\",\"d\"]: must have one "
                   "element"}},
      {"NodeAffinity",
       "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
       "{matchExpressions: [{key: a, operator: Bad}]}}, {weight: 0, preference: {matchExpressions: "
       "[{key: a, operator: Bad}]}}, {weight: 500}]}}",
       {preferred + "[0].matchExpressions[0]" + bad}},
      {"NodeAffinity",
       "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}",
       {}},
  });
}

TEST(ValidateArgs, NodeResourcesBalancedAllocation) {
  expect_args_errors({
      {"NodeResourcesBalancedAllocation",
       "{resources: [{name: cpu, weight: 2}, {name: cpu}, {name: \"\", weight: -1}]}",
       {"resources[0].weight: Invalid value: 2: must be 1",
        "resources[1].name: Duplicate value: \"cpu\"",
        "resources[2].weight: Invalid value: -1: must be 1"}},
  });
}

TEST(ValidateArgs, PodTopologySpread) {
  expect_args_errors({
      {"PodTopologySpread",
       "{defaultingType: Foo}",
       {"defaultingType: Unsupported value: \"Foo\": supported values: \"System\", \"List\""}},
      {"PodTopologySpread",
       "{defaultConstraints: [{maxSkew: 1, topologyKey: a, whenUnsatisfiable: DoNotSchedule}]}",
       {"defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"}},
      {"PodTopologySpread",
       "{defaultingType: List, defaultConstraints: [{}, {maxSkew: 1, topologyKey: \"a b\", "
       "whenUnsatisfiable: Foo, labelSelector: {}}, {maxSkew: 1, topologyKey: a, "
       "whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: "
       "DoNotSchedule}, {maxSkew: 2, topologyKey: a, whenUnsatisfiable: ScheduleAnyway}]}",
       {"defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
        "defaultConstraints[0].topologyKey: Required value: can not be empty",
        "defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty",
        "defaultConstraints[1].topologyKey: Invalid value: \"a b\": name part " + kNameRule,
        "defaultConstraints[1].whenUnsatisfiable: Unsupported value: \"Foo\": supported values: "
        "\"DoNotSchedule\", \"ScheduleAnyway\"",
        "defaultConstraints[1].labelSelector: Forbidden: constraint must not define a selector, as "
        "they deduced for each pod",
        "defaultConstraints[3]: Duplicate value: \"{a, DoNotSchedule}\""}},
      {"PodTopologySpread", "{defaultingType: List, defaultConstraints: []}", {}},
  });
}

TEST(ValidateArgs, VolumeBinding) {
  const std::string unexpected =
      ": unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring";
  expect_args_errors({
      {"VolumeBinding",
       "{shape: [{utilization: 50, score: 11}, {utilization: 40}]}",
       {"shape[1].utilization: Invalid value: 40: values must be sorted in increasing order",
        "shape[0].score: Invalid value: 11: not in valid range [0, 10]"}},
      {"VolumeBinding", "{shape: [{utilization: 0, score: 1}]}", {}},
      {"VolumeBinding", "{shape: []}", {}},
  });
  expect_args_errors(
      {{"VolumeBinding",
        "{bindTimeoutSeconds: -1, shape: [{utilization: 0, score: 1}]}",
        {"bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a "
         "negative value",
         "shape: Invalid value: [{\"Utilization\":0,\"Score\":1}]" + unexpected}},
       {"VolumeBinding", "{shape: []}", {"shape: Invalid value: []" + unexpected}},
       {"VolumeBinding", "{shape: null}", {}}},
      gates("StorageCapacityScoring=false"));
}

TEST(ValidateArgs, NodeResourcesFitIsCheckedAsIfItWereBuilt) {
  const std::string built =
      "initializing profiles: creating profile for scheduler name a: initializing plugin "
      "\"NodeResourcesFit\": ";
  const std::string ratio = "scoringStrategy.requestedToCapacityRatio";
  const std::string supported =
      ": supported values: \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\"";
  const std::pair<std::string_view, std::string> cases[] = {
      {"{ignoredResources: [a b], ignoredResourceGroups: [a/b, c d]}",
       "[ignoredResources[0]: Invalid value: \"a b\": name part " + kNameRule +
           ", ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain "
           "'/', ignoredResourceGroups[1]: Invalid value: \"c d\": name part " +
           kNameRule + "]"},
      {"{scoringStrategy: {type: Foo, resources: [{name: cpu, weight: 101}, {name: x, weight: "
       "-1}]}}",
       "[scoringStrategy.type: Unsupported value: \"Foo\"" + supported +
           ", scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not "
           "in valid range (0, 100], scoringStrategy.resources[1].weight: Invalid value: -1: "
           "resource weight of x not in valid range (0, 100]]"},
      {"{scoringStrategy: {}}", "scoringStrategy.type: Unsupported value: \"\"" + supported},
      {"{scoringStrategy: {type: RequestedToCapacityRatio}}",
       ratio + ": Required value: must be specified when type is RequestedToCapacityRatio"},
      {"{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {}}}",
       ratio + ".shape: Required value: at least one point must be specified"},
      {"{scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
       "[{utilization: 50, score: 11}, {utilization: 50, score: -1}, {utilization: 101}]}}}",
       "[" + ratio +
           ".shape[1].utilization: Invalid value: 50: values must be sorted in increasing order, " +
           ratio + ".shape[0].score: Invalid value: 11: not in valid range [0, 10], " + ratio +
           ".shape[1].score: Invalid value: -1: not in valid range [0, 10], " + ratio +
           ".shape[2].utilization: Invalid value: 101: not in valid range [0, 100]]"},
      {"{scoringStrategy: {type: MostAllocated, requestedToCapacityRatio: {}}}",
       ratio + ": Forbidden: must be nil when type is not RequestedToCapacityRatio"},
  };
  for (const auto& [args, error] : cases) {
    EXPECT_EQ(error_of(with_args("NodeResourcesFit", args)), built + error) << args;
  }
  // What is not built is not checked.
  EXPECT_EQ(error_of(with_args("NodeResourcesFit", "{scoringStrategy: {}}") +
                     "  plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}\n"),
            "");
}

TEST(Validate, ConfigurationsMadeInCodeAreCheckedToo) {
  const FeatureGates defaults;
  Configuration configuration = default_configuration(defaults);
  EXPECT_TRUE(validate(configuration, defaults));
  configuration.profiles.front().plugin_config.front().args = InterPodAffinityArgs{};
  configuration.leader_election.resource_name = "";
  const Result<void> result = validate(configuration, defaults);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().message.starts_with(
      "[leaderElection.resourceName: Required value, profiles[0].pluginConfig[0].args: Invalid "
      "value: {"));
  EXPECT_TRUE(result.error().message.ends_with("}: has to match plugin args]"));
  configuration.profiles.clear();
  configuration.leader_election = {};
  EXPECT_EQ(validate(configuration, defaults).error().message, "profiles: Required value");
}

}  // namespace
}  // namespace berth::config
