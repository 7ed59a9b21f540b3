#include "explain/explanation_text.h"

#include <gtest/gtest.h>

namespace berth::explain {
namespace {

Explanation explanation_of_stuck_pod() {
  Explanation explanation;
  explanation.pod = "default/web";
  explanation.verdict = "Unschedulable";
  explanation.message =
      "0/3 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient cpu.";
  explanation.all_nodes = 3;
  const NodeObstacle cpu{"NodeResourcesFit",
                         Code::kUnschedulable,
                         false,
                         {.code = "InsufficientResource",
                          .reason = "Insufficient cpu",
                          .subject = "cpu",
                          .text = "needs 3 cpu, 1250m free of 8",
                          .facts = {{"free", "1250m"}, {"requested", "3"}}}};
  const NodeObstacle taint{"TaintToleration",
                           Code::kUnschedulableAndUnresolvable,
                           false,
                           {.code = "UntoleratedTaint",
                            .reason = "node(s) had untolerated taint(s)",
                            .subject = "team=red:NoSchedule",
                            .text = "taint team=red:NoSchedule is not tolerated",
                            .facts = {}}};
  explanation.rejections = {{{"n1"}, {cpu}}, {{"n2", "n3"}, {taint, cpu}}};
  Suggestion less;
  less.code = "ReduceRequest";
  less.summary = "request 1250m cpu instead of 3";
  less.cost = 0.6;
  less.nodes = {"n1"};
  less.changes = {{Change::Op::kPatch, "Pod", "default", "web",
                   *parse_json(R"([{"op":"replace","path":"/spec/x","value":"1250m"}])")}};
  less.commands = {"kubectl patch …"};
  Suggestion gone;
  gone.code = "DeletePods";
  gone.summary = "delete 1 pod";
  gone.cost = 10;
  gone.nodes = {"n1"};
  gone.changes = {{Change::Op::kDelete, "Pod", "default", "old", {}},
                  {Change::Op::kCreate, "", "", "", *parse_json(R"({"kind":"Node"})")}};
  explanation.suggestions = {less, gone};
  explanation.preemption = {.node = "", .victims = {}, .message = "no victims"};
  explanation.wakes = {{"NodeResourcesFit", {"AssignedPodDelete", "NodeAdd"}}};
  return explanation;
}

Explanation explanation_of_fitting_pod() {
  Explanation explanation;
  explanation.pod = "default/ok";
  explanation.verdict = "Schedulable";
  explanation.all_nodes = 2;
  explanation.chosen = "b";
  explanation.ties = {"b"};
  explanation.margin = 3;
  explanation.scores = {{"a", 10, {{"Fit", 5, 10, 10}}}, {"b", 13, {{"Fit", 6, 13, 13}}}};
  return explanation;
}

TEST(ExplanationText, JsonHasTheFieldsInTheirOrderAndLeavesOutWhatIsEmpty) {
  const Explanation explanations[] = {explanation_of_stuck_pod(), explanation_of_fitting_pod()};
  EXPECT_EQ(
      to_json(to_json_tree(explanations)),
      R"json({"pods":[{"pod":"default/web","verdict":"Unschedulable",)json"
      R"json("message":"0/3 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient cpu.",)json"
      R"json("nodes":3,"rejections":[{"nodes":["n1"],"plugins":[{"plugin":"NodeResourcesFit",)json"
      R"json("code":"InsufficientResource","reason":"Insufficient cpu","subject":"cpu",)json"
      R"json("text":"needs 3 cpu, 1250m free of 8","facts":{"free":"1250m","requested":"3"},)json"
      R"json("status":"Unschedulable"}]},{"nodes":["n2","n3"],"plugins":[{"plugin":"TaintToleration",)json"
      R"json("code":"UntoleratedTaint","reason":"node(s) had untolerated taint(s)",)json"
      R"json("subject":"team=red:NoSchedule","text":"taint team=red:NoSchedule is not tolerated",)json"
      R"json("status":"UnschedulableAndUnresolvable"},{"plugin":"NodeResourcesFit",)json"
      R"json("code":"InsufficientResource","reason":"Insufficient cpu","subject":"cpu",)json"
      R"json("text":"needs 3 cpu, 1250m free of 8","facts":{"free":"1250m","requested":"3"},)json"
      R"json("status":"Unschedulable"}]}],"suggestions":[{"code":"ReduceRequest",)json"
      R"json("summary":"request 1250m cpu instead of 3","cost":0.6,"nodes":["n1"],)json"
      R"json("changes":[{"op":"patch","kind":"Pod","namespace":"default","name":"web",)json"
      R"json("patch":[{"op":"replace","path":"/spec/x","value":"1250m"}]}],"commands":["kubectl patch …"]},)json"
      R"json({"code":"DeletePods","summary":"delete 1 pod","cost":10,"nodes":["n1"],)json"
      R"json("changes":[{"op":"delete","kind":"Pod","namespace":"default","name":"old"},)json"
      R"json({"op":"create","object":{"kind":"Node"}}]}],"preemption":{"message":"no victims"},)json"
      R"json("wakes":{"NodeResourcesFit":["AssignedPodDelete","NodeAdd"]}},)json"
      R"json({"pod":"default/ok","verdict":"Schedulable","nodes":2,"chosen":"b","ties":["b"],"margin":3,)json"
      R"json("scores":[{"node":"a","total":10,"plugins":[{"plugin":"Fit","raw":5,"normalized":10,)json"
      R"json("weighted":10}]},{"node":"b","total":13,"plugins":[{"plugin":"Fit","raw":6,)json"
      R"json("normalized":13,"weighted":13}]}]}]})json");
}

TEST(ExplanationText, ATableSaysWhyNotWhatWouldHelpAndWhatWakesThePod) {
  const Explanation explanations[] = {explanation_of_stuck_pod()};
  EXPECT_EQ(to_table(explanations), R"(default/web fits on no node
  0/3 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient cpu.

  Why not on 3 of 3 nodes, nearest first
    1 node: n1
      NodeResourcesFit  needs 3 cpu, 1250m free of 8
    2 nodes: n2, n3
      TaintToleration   taint team=red:NoSchedule is not tolerated (preemption cannot help)
      NodeResourcesFit  needs 3 cpu, 1250m free of 8

  What would help, cheapest first
    1. request 1250m cpu instead of 3: it fits on n1
         kubectl patch …
    2. delete 1 pod: it fits on n1

  Preemption does not help: no victims

  Tried again after
    NodeResourcesFit: AssignedPodDelete, NodeAdd
)");
}

TEST(ExplanationText, ATableShowsTheScoresOfTheChosenNodeFirst) {
  const Explanation explanations[] = {explanation_of_fitting_pod()};
  EXPECT_EQ(to_table(explanations), R"(default/ok fits: it would go to b

  Scores, after normalising and weighting
               b      a
    Fit       13     10
    total     13     10
    3 more than the next lower total
)");
}

// As of a running scheduler: everything there is.
Explanation explanation_of_held_pod() {
  Explanation explanation = explanation_of_stuck_pod();
  explanation.verdict = "WaitingOnPermit";
  explanation.chosen = "n1";
  explanation.margin = 3;
  explanation.ties = {"n1", "n2"};
  explanation.scores = {{"n1", 5, {{"Score", 1, 2, 5}}}};
  explanation.nominated = {{"n2", {"default/other"}}};
  explanation.preemption = {"", {}, "no", {{"NoLowerPriorityPods", "none is lower", {"n1", "n2"}}}};
  const WallTime since = VirtualLoop::kDefaultStart;
  explanation.queue = {"waitingOnPermit", since,      since + std::chrono::minutes(5), 2,
                       {"Full"},          {"NodeAdd"}};
  explanation.permit = {"n1", since, {{"Hold", since + std::chrono::minutes(1)}}};
  return explanation;
}

TEST(ExplanationText, WhatIsWrittenAsJsonIsReadAsItWas) {
  const std::vector<Explanation> all{explanation_of_stuck_pod(), explanation_of_held_pod()};
  const JsonValue tree = to_json_tree(all);
  const Result<std::vector<Explanation>> read = read_explanations(tree);
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(to_json_tree(*read)), to_json(tree));
  EXPECT_EQ(to_table(*read), to_table(all));
}

TEST(ExplanationText, WhatIsNoExplanationIsRefusedOrLeftOut) {
  for (const char* wrong : {"{}", "[]", R"({"pods":7})", "null"})
    EXPECT_FALSE(read_explanations(*parse_json(wrong))) << wrong;
  const auto read = read_explanations(*parse_json(
      R"({"pods":[{"pod":7,"nodes":"x","rejections":{},"scores":[null],"queue":[],"new":1},null]})"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 2U);
}

TEST(ExplanationText, ATableSaysWhereThePodWaitsWhoHoldsItAndWhyPreemptionDoesNotHelp) {
  const std::string table = to_table(std::vector{explanation_of_held_pod()});
  EXPECT_TRUE(table.starts_with("default/web has a place on n1, and is held before binding\n"))
      << table;
  const auto has = [&](const char* text) {
    EXPECT_NE(table.find(text), std::string::npos) << text << " is not in\n" << table;
  };
  has("  Held for node n1 since 2026-01-01T00:00:00Z\n"
      "    Hold: until 2026-01-01T00:01:00Z, then it rejects the pod\n");
  has("  It would fit if pods that are nominated did not come\n    n2: default/other\n");
  has("  Preemption does not help: no\n    2 nodes: n1, n2\n      none is lower\n");
  has("NodeAdd");
}

}  // namespace
}  // namespace berth::explain
