#include "sim/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"

namespace berth::sim {
namespace {

Scenario parsed(const std::string& text) {
  Result<Scenario> scenario = parse_scenario("kind: Scenario\n" + text, "s.yaml");
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : scenario.error().message);
  return scenario.value_or(Scenario{});
}

template <typename Action>
Action only_action(const std::string& action) {
  const Scenario scenario = parsed("events: [{at: 1s, " + action + "}]");
  EXPECT_THAT(scenario.events, SizeIs(1));
  if (scenario.events.empty() || !std::holds_alternative<Action>(scenario.events[0].action)) {
    ADD_FAILURE() << "not the action that was asked for: " << action;
    return {};
  }
  return std::get<Action>(scenario.events[0].action);
}

// ---- the parts

TEST(Scenario, AllPartsAreOptional) {
  const Scenario scenario = parsed("");
  EXPECT_EQ(scenario.timing.call, 1ms);
  EXPECT_EQ(scenario.timing.watch, 1ms);
  EXPECT_THAT(scenario.node_pools, IsEmpty());
  EXPECT_THAT(scenario.events, IsEmpty());
  EXPECT_THAT(scenario.faults, IsEmpty());
  EXPECT_THAT(scenario.quorums, IsEmpty());
}

TEST(Scenario, JsonWillDoAsWell) {
  const Result<Scenario> scenario =
      parse_scenario(R"({"kind": "Scenario", "timing": {"call": "2s"}})", "s.json");
  ASSERT_TRUE(scenario.has_value());
  EXPECT_EQ(scenario->timing.call, 2s);
}

TEST(Scenario, TimingSaysHowLongCallsAndTheWatchTake) {
  const Scenario scenario = parsed("apiVersion: berth/v1\ntiming: {call: 250ms, watch: 1m30s}");
  EXPECT_EQ(scenario.timing.call, 250ms);
  EXPECT_EQ(scenario.timing.watch, 90s);
}

TEST(Scenario, ANodePoolHasANameACountZonesAndAPattern) {
  const Scenario scenario = parsed(
      "nodePools:\n"
      "- {name: big, count: 3, zones: [a, b], node: {spec: {unschedulable: true}}}\n"
      "- {name: small, node: {}}");
  ASSERT_THAT(scenario.node_pools, SizeIs(2));
  EXPECT_EQ(scenario.node_pools[0].name, "big");
  EXPECT_EQ(scenario.node_pools[0].count, 3);
  EXPECT_THAT(scenario.node_pools[0].zones, ElementsAre("a", "b"));
  EXPECT_THAT(scenario.node_pools[0].node_json, ::testing::HasSubstr("unschedulable"));
  EXPECT_EQ(scenario.node_pools[1].count, 1);
}

TEST(Scenario, AQuorumHasALabelASizeATimeoutAndAName) {
  const Scenario scenario =
      parsed("quorums: [{label: job, quorum: 8, timeout: 30s, plugin: Together}, {label: job}]");
  ASSERT_THAT(scenario.quorums, SizeIs(2));
  EXPECT_EQ(scenario.quorums[0].plugin, "Together");
  EXPECT_EQ(scenario.quorums[0].label, "job");
  EXPECT_EQ(scenario.quorums[0].quorum, 8);
  EXPECT_EQ(scenario.quorums[0].timeout, 30s);
  EXPECT_EQ(scenario.quorums[1].plugin, "Quorum");
  EXPECT_EQ(scenario.quorums[1].quorum, 2);
  EXPECT_EQ(scenario.quorums[1].timeout, 5min);
}

// ---- events

TEST(ScenarioEvents, KeepTheirTimeAndOrder) {
  const Scenario scenario = parsed("events: [{at: 1m, cordon: b}, {at: 0s, cordon: a}]");
  ASSERT_THAT(scenario.events, SizeIs(2));
  EXPECT_EQ(scenario.events[0].at, 1min);
  EXPECT_EQ(scenario.events[1].at, 0s);
}

TEST(ScenarioEvents, CreateAndApplyCarryAManifest) {
  for (const char* verb : {"create", "apply"})
    EXPECT_THAT(only_action<ApplyManifest>(std::string(verb) + ": {kind: Pod}").json,
                ::testing::HasSubstr("Pod"));
}

TEST(ScenarioEvents, DeleteNamesAnObject) {
  const auto pod = only_action<DeleteObject>("delete: {kind: Pod, name: web}");
  EXPECT_EQ(pod.kind, ObjectKind::kPod);
  EXPECT_EQ(pod.namespace_name, "default");
  EXPECT_EQ(pod.name, "web");
  EXPECT_EQ(only_action<DeleteObject>("delete: {kind: Job, namespace: x, name: j}").namespace_name,
            "x");
  for (const char* kind : {"Node", "Namespace", "PriorityClass"})
    EXPECT_EQ(only_action<DeleteObject>(std::string("delete: {name: n1, kind: ") + kind + "}")
                  .namespace_name,
              "")
        << kind;
}

TEST(ScenarioEvents, NodesAreCordonedTaintedAndLabelled) {
  EXPECT_TRUE(only_action<CordonNode>("cordon: n1").cordoned);
  EXPECT_FALSE(only_action<CordonNode>("uncordon: n1").cordoned);
  const auto taint =
      only_action<TaintNode>("taint: {node: n1, key: gpu, value: x, effect: NoSchedule}");
  EXPECT_EQ(taint.node + taint.key + taint.value + taint.effect, "n1gpuxNoSchedule");
  EXPECT_FALSE(taint.remove);
  EXPECT_TRUE(only_action<TaintNode>("untaint: {node: n1, key: gpu}").remove);

  const auto label = only_action<LabelObject>("label: {kind: Node, name: n1, key: a, value: b}");
  EXPECT_EQ(label.kind, ObjectKind::kNode);
  EXPECT_EQ(label.value, "b");
  EXPECT_EQ(label.namespace_name, "");
  const auto unlabel =
      only_action<LabelObject>("label: {kind: Pod, name: p, key: a, remove: true}");
  EXPECT_EQ(unlabel.kind, ObjectKind::kPod);
  EXPECT_EQ(unlabel.value, std::nullopt);
  EXPECT_EQ(unlabel.namespace_name, "default");
}

TEST(ScenarioEvents, PodsAreNamedWithOrWithoutANamespace) {
  const auto gate = only_action<RemoveGate>("removeGate: {pod: shop/web, gate: g}");
  EXPECT_EQ(gate.namespace_name, "shop");
  EXPECT_EQ(gate.pod, "web");
  EXPECT_EQ(gate.gate, "g");
  const auto finish = only_action<FinishPod>("finish: web");
  EXPECT_EQ(finish.namespace_name, "default");
  EXPECT_TRUE(finish.succeeded);
  EXPECT_FALSE(only_action<FinishPod>("fail: shop/web").succeeded);
}

TEST(ScenarioEvents, WaitsAreSettled) {
  const auto allow = only_action<SettleWaitingPod>("allow: {pod: p, plugin: Gang}");
  EXPECT_TRUE(allow.allow);
  EXPECT_EQ(allow.plugin, "Gang");
  const auto reject =
      only_action<SettleWaitingPod>("reject: {pod: a/p, plugin: Gang, message: not you}");
  EXPECT_FALSE(reject.allow);
  EXPECT_EQ(reject.message, "not you");
  EXPECT_EQ(reject.namespace_name, "a");
}

TEST(ScenarioEvents, ClockAndWatchAreMoved) {
  EXPECT_EQ(only_action<JumpWallClock>("jumpWallClock: -1h").by, -1h);
  EXPECT_EQ(only_action<LagWatch>("lagWatch: 5s").by, 5s);
}

// ---- volumes

TEST(ScenarioVolumes, SayHowLongThingsTakeAndForWhomNot) {
  const Scenario usual = parsed("");
  EXPECT_EQ(usual.volumes.bind, 10ms);
  EXPECT_EQ(usual.volumes.provision, 1s);
  EXPECT_THAT(usual.volumes.claims, IsEmpty());
  const Scenario scenario = parsed(
      "volumes:\n  bind: 1s\n  provision: 2s\n  rules:\n"
      "  - {claims: \"data-*\", outcome: fail, times: 2}\n"
      "  - {outcome: never, delay: 1m}\n");
  EXPECT_EQ(scenario.volumes.bind, 1s);
  EXPECT_EQ(scenario.volumes.provision, 2s);
  ASSERT_THAT(scenario.volumes.claims, SizeIs(2));
  const VolumeRule& first = scenario.volumes.claims[0];
  EXPECT_EQ(first.claims, "data-*");
  EXPECT_EQ(first.outcome, VolumeRule::Outcome::kFail);
  EXPECT_EQ(first.times, 2);
  EXPECT_EQ(first.delay, std::nullopt);
  const VolumeRule& second = scenario.volumes.claims[1];
  EXPECT_EQ(second.claims, "*");
  EXPECT_EQ(second.outcome, VolumeRule::Outcome::kNever);
  EXPECT_EQ(second.delay, 1min);
}

// ---- faults

TEST(ScenarioFaults, HaveDefaults) {
  const Scenario scenario = parsed("faults: [{call: bind}]");
  ASSERT_THAT(scenario.faults, SizeIs(1));
  const FaultRule& rule = scenario.faults[0];
  EXPECT_EQ(rule.call, ApiCall::kBind);
  EXPECT_EQ(rule.pods, "*");
  EXPECT_EQ(rule.from, 0s);
  EXPECT_EQ(rule.until, std::nullopt);
  EXPECT_EQ(rule.times, std::nullopt);
  EXPECT_EQ(rule.probability, 1.0);
  EXPECT_EQ(rule.fate.error, std::nullopt);
  EXPECT_TRUE(rule.fate.takes_effect);
}

TEST(ScenarioFaults, SayEverythingThatCanGoWrong) {
  const Scenario scenario = parsed(
      "faults:\n"
      "- {call: patchStatus, pods: 'web-*', from: 1s, until: 1m, times: 3, probability: 0.25,\n"
      "   error: Timeout, message: no answer, takesEffect: true, twice: true, delay: 2s,\n"
      "   answerDelay: 3s}");
  ASSERT_THAT(scenario.faults, SizeIs(1));
  const FaultRule& rule = scenario.faults[0];
  EXPECT_EQ(rule.call, ApiCall::kPatchStatus);
  EXPECT_EQ(rule.pods, "web-*");
  EXPECT_EQ(rule.from, 1s);
  EXPECT_EQ(rule.until, 1min);
  EXPECT_EQ(rule.times, 3);
  EXPECT_EQ(rule.probability, 0.25);
  EXPECT_EQ(rule.fate.error, (Error{ErrorKind::kTimeout, "no answer"}));
  EXPECT_TRUE(rule.fate.takes_effect);
  EXPECT_TRUE(rule.fate.takes_effect_twice);
  EXPECT_EQ(rule.fate.extra_delay, 2s);
  EXPECT_EQ(rule.fate.answer_delay, 3s);
}

TEST(ScenarioFaults, AnErrorMeansNoEffectUnlessItSaysOtherwise) {
  const Scenario scenario =
      parsed("faults: [{call: evict, error: Conflict}, {call: update, takesEffect: false}]");
  ASSERT_THAT(scenario.faults, SizeIs(2));
  EXPECT_FALSE(scenario.faults[0].fate.takes_effect);
  EXPECT_EQ(scenario.faults[0].fate.error,
            (Error{ErrorKind::kConflict, "evict answered Conflict"}));
  EXPECT_FALSE(scenario.faults[1].fate.takes_effect);
  EXPECT_EQ(scenario.faults[1].fate.error, std::nullopt);
}

TEST(ScenarioFaults, KnowEveryKindOfError) {
  for (const char* kind : {"NotFound", "Conflict", "Gone", "Timeout", "Unavailable", "Invalid",
                           "Forbidden", "Internal"}) {
    const Scenario scenario = parsed(std::string("faults: [{call: bind, error: ") + kind + "}]");
    ASSERT_THAT(scenario.faults, SizeIs(1)) << kind;
    EXPECT_EQ(to_string(scenario.faults[0].fate.error->kind), kind);
  }
}

// ---- what is wrong is said with file and field

struct Wrong {
  const char* text;
  const char* message;
};

TEST(Scenario, MistakesNameFileAndField) {
  const Wrong cases[] = {
      {"a: b", "s.yaml: a: unknown field"},
      {"kind: Pod", "s.yaml: kind: must be Scenario"},
      {"timing: {}", "s.yaml: kind: must be Scenario"},
      {"kind: Scenario\n---\nkind: Scenario",
       "s.yaml: a scenario is one document, this file has 2"},
      {"", "s.yaml: a scenario is one document, this file has 0"},
      {"kind: Scenario\ntiming: {speed: 1s}", "s.yaml: timing.speed: unknown field"},
      {"kind: Scenario\ntiming: {call: soon}",
       "s.yaml: timing.call: time: invalid duration \"soon\""},
      {"kind: Scenario\ntiming: {call: \"5\"}",
       "s.yaml: timing.call: time: missing unit in duration \"5\""},
      {"kind: Scenario\nevents: {}", "s.yaml: events: expected a list, got a map"},
      {"kind: Scenario\nevents: [{cordon: n1}]", "s.yaml: events[0]: has no time; say `at: 30s`"},
      {"kind: Scenario\nevents: [{at: 1s}]",
       "s.yaml: events[0]: must have exactly one action, such as create, delete or cordon"},
      {"kind: Scenario\nevents: [{at: 1s, cordon: a, uncordon: b}]",
       "s.yaml: events[0]: must have exactly one action, such as create, delete or cordon"},
      {"kind: Scenario\nevents: [{at: 0s, cordon: n1}, {at: later, cordon: n1}]",
       "s.yaml: events[1].at: time: invalid duration \"later\""},
      {"kind: Scenario\nevents: [{at: 1s, explode: n1}]",
       "s.yaml: events[0].explode: unknown action; there are create, apply, delete, cordon, "
       "uncordon, taint, untaint, label, removeGate, finish, fail, jumpWallClock, lagWatch, allow "
       "and reject"},
      {"kind: Scenario\nevents: [{at: 1s, cordon: [n]}]",
       "s.yaml: events[0].cordon: expected a string, got a list"},
      {"kind: Scenario\nevents: [{at: 1s, delete: {kind: Pod}}]",
       "s.yaml: events[0].delete: has no name"},
      {"kind: Scenario\nevents: [{at: 1s, delete: {kind: Sheep, name: x}}]",
       "s.yaml: events[0].delete.kind: unknown kind \"Sheep\""},
      {"kind: Scenario\nevents: [{at: 1s, delete: {kind: Pod, name: x, force: true}}]",
       "s.yaml: events[0].delete.force: unknown field"},
      {"kind: Scenario\nevents: [{at: 1s, taint: {node: n1, effect: NoSchedule}}]",
       "s.yaml: events[0].taint: needs node and key"},
      {"kind: Scenario\nevents: [{at: 1s, taint: {node: n1, key: k, effect: Never}}]",
       "s.yaml: events[0].taint: effect must be NoSchedule, PreferNoSchedule or NoExecute"},
      {"kind: Scenario\nevents: [{at: 1s, label: {kind: Job, name: n1, key: k, value: v}}]",
       "s.yaml: events[0].label: only the kinds Node and Pod can be labelled"},
      {"kind: Scenario\nevents: [{at: 1s, label: {kind: Node, name: n1, key: k}}]",
       "s.yaml: events[0].label: needs name, key, and either value or `remove: true`"},
      {"kind: Scenario\nevents: [{at: 1s, label: {name: n1, key: k, value: v, remove: true}}]",
       "s.yaml: events[0].label: needs name, key, and either value or `remove: true`"},
      {"kind: Scenario\nevents: [{at: 1s, removeGate: {pod: p}}]",
       "s.yaml: events[0].removeGate: needs pod and gate"},
      {"kind: Scenario\nevents: [{at: 1s, allow: {pod: p}}]",
       "s.yaml: events[0].allow: needs pod and plugin"},
      {"kind: Scenario\nfaults: [{call: dance}]",
       "s.yaml: faults[0].call: unknown call; there are bind, patchStatus and evict, and for "
       "volumes "
       "and claims update, updateStatus, create, delete and get"},
      {"kind: Scenario\nvolumes: {rules: [{outcome: maybe}]}",
       "s.yaml: volumes.rules[0].outcome: unknown outcome; there are done, fail and never"},
      {"kind: Scenario\nfaults: [{call: bind, error: Bad}]",
       "s.yaml: faults[0].error: unknown error; there are NotFound, Conflict, Gone, Timeout, "
       "Unavailable, Invalid, Forbidden and Internal"},
      {"kind: Scenario\nfaults: [{call: bind, probability: 2}]",
       "s.yaml: faults[0].probability: must be a number between 0 and 1"},
      {"kind: Scenario\nfaults: [{call: bind, probability: often}]",
       "s.yaml: faults[0].probability: must be a number between 0 and 1"},
      {"kind: Scenario\nfaults: [{call: bind, times: many}]",
       "s.yaml: faults[0].times: expected an integer, got a string"},
      {"kind: Scenario\nnodePools: [{name: n1}]", "s.yaml: nodePools[0]: needs name and node"},
      {"kind: Scenario\nnodePools: [{name: n1, count: -1, node: {}}]",
       "s.yaml: nodePools[0]: count must be between 0 and 1000000"},
      {"kind: Scenario\nquorums: [{quorum: 3}]", "s.yaml: quorums[0]: has no label"},
      {"kind: Scenario\nquorums: [{label: a, quorum: 0}]",
       "s.yaml: quorums[0]: quorum must be at least 1"},
  };
  for (const Wrong& wrong : cases) {
    const Result<Scenario> scenario = parse_scenario(wrong.text, "s.yaml");
    ASSERT_FALSE(scenario.has_value()) << wrong.text;
    EXPECT_EQ(scenario.error().message, wrong.message) << wrong.text;
  }
}

TEST(Scenario, BrokenYamlIsAnErrorOfTheFile) {
  const Result<Scenario> scenario = parse_scenario("kind: [", "s.yaml");
  ASSERT_FALSE(scenario.has_value());
  EXPECT_THAT(scenario.error().message, ::testing::StartsWith("s.yaml: "));
}

TEST(Glob, KnowsStarsAndQuestionMarks) {
  struct Case {
    const char* pattern;
    const char* text;
    bool matches;
  };
  const Case cases[] = {
      {"*", "", true},
      {"*", "web", true},
      {"web", "web", true},
      {"web", "web-1", false},
      {"web-*", "web-1", true},
      {"web-*", "web-", true},
      {"web-*", "db-1", false},
      {"*-1", "web-1", true},
      {"*-1", "web-12", false},
      {"w*b-?", "web-1", true},
      {"w*b-?", "web-", false},
      {"?", "", false},
      {"a*b*c", "axxbxxbc", true},
      {"a*b*c", "axxbxx", false},
      {"", "", true},
      {"", "a", false},
      {"shop/*", "shop/web-1", true},
  };
  for (const Case& c : cases)
    EXPECT_EQ(glob_matches(c.pattern, c.text), c.matches) << c.pattern << " ~ " << c.text;
}

}  // namespace
}  // namespace berth::sim
