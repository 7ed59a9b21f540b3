#include "extender/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "base/testing/names.h"

namespace berth::extender {
namespace {

// ---- requests

TEST(ExtenderWire, NodesByNameOrInFull) {
  const std::vector<std::string> names = {"n1", "n\"2"};
  EXPECT_EQ(args_with_names(R"({"spec":{}})", names),
            R"({"Pod":{"spec":{}},"Nodes":null,"NodeNames":["n1","n\"2"]})");
  const std::vector<std::string_view> nodes = {R"({"a":1})", R"({"b":2})"};
  EXPECT_EQ(args_with_nodes("{}", nodes),
            R"({"Pod":{},"Nodes":{"metadata":{},"items":[{"a":1},{"b":2}]},"NodeNames":null})");
  EXPECT_EQ(args_with_names("{}", {}), R"({"Pod":{},"Nodes":null,"NodeNames":[]})");
}

TEST(ExtenderWire, Bindings) {
  World world;
  const Ref<const Pod> pod = world.pod("web").in("shop").uid("u-1");
  EXPECT_EQ(binding_args(*pod, "n1"),
            R"({"PodName":"web","PodNamespace":"shop","PodUID":"u-1","Node":"n1"})");
}

TEST(ExtenderWire, VictimsByUidOrInFull) {
  EXPECT_EQ(preemption_args("{}", MetaVictimsByNode{{"n1", {{"a", "b"}, 1}}, {"n2", {{}, 0}}}),
            R"({"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{)"
            R"("n1":{"Pods":[{"UID":"a"},{"UID":"b"}],"NumPDBViolations":1},)"
            R"("n2":{"Pods":[],"NumPDBViolations":0}}})");
  const std::vector<WholeVictims> victims = {{"n1", {R"({"x":1})", "{}"}, 2}};
  EXPECT_EQ(preemption_args("{}", victims),
            R"({"Pod":{},"NodeNameToVictims":{"n1":{"Pods":[{"x":1},{}],"NumPDBViolations":2}},)"
            R"("NodeNameToMetaVictims":null})");
}

// ---- answers

std::string error_of(const auto& result) { return result ? "" : result.error().message; }

TEST(ExtenderWire, FilterByName) {
  const auto verdicts = read_filter_result(
      R"({"Nodes":null,"NodeNames":["n2","n1"],"FailedNodes":{"n3":"no gpu"},)"
      R"("FailedAndUnresolvableNodes":{"n4":"never"},"Error":"","Extra":{"x":[1,2]}})",
      true);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_THAT(verdicts->nodes, ElementsAre("n2", "n1"));
  EXPECT_THAT(verdicts->failed, ElementsAre(Pair("n3", "no gpu")));
  EXPECT_THAT(verdicts->failed_unresolvable, ElementsAre(Pair("n4", "never")));
}

TEST(ExtenderWire, FilterInFull) {
  const std::string answer =
      R"({"nodes":{"metadata":{},"items":[{"metadata":{"labels":{"name":"x"},"name":"n1"}},)"
      R"({"Metadata":{"Name":"n2"},"status":{"images":[]}}]},"NodeNames":["n3"]})";
  EXPECT_THAT(read_filter_result(answer, false)->nodes, ElementsAre("n1", "n2"));
  EXPECT_THAT(read_filter_result(answer, true)->nodes, ElementsAre("n3"));
  // Who was given names may answer with nodes.
  EXPECT_THAT(
      read_filter_result(R"({"Nodes":{"items":[{"metadata":{"name":"n1"}}]}})", true)->nodes,
      ElementsAre("n1"));
  // Who was given nodes and answers with names has left none.
  EXPECT_THAT(read_filter_result(R"({"NodeNames":["n3"]})", false)->nodes, IsEmpty());
  EXPECT_EQ(error_of(read_filter_result(R"({"Nodes":{"items":[{"metadata":3}]}})", false)),
            "the extender's Nodes: items[0].metadata: expected a map, got a number");
}

TEST(ExtenderWire, FilterKeysInAnyCase) {
  const auto verdicts = read_filter_result(
      " {\"nodenames\":[\"a\"],\"FAILEDNODES\":{\"b\":\"c\"},\"failedAndUnresolvableNodes\":null}"
      "\n",
      true);
  ASSERT_TRUE(verdicts) << verdicts.error().message;
  EXPECT_THAT(verdicts->nodes, ElementsAre("a"));
  EXPECT_THAT(verdicts->failed, ElementsAre(Pair("b", "c")));
  EXPECT_EQ(error_of(read_filter_result(R"({"error":"out of order","NodeNames":["a"]})", true)),
            "out of order");
}

struct Broken {
  const char* json;
  const char* error;
};

TEST(ExtenderWire, FilterAnswersThatAreNone) {
  for (const Broken& broken : {
           Broken{"", "EOF"},
           Broken{" \n", "EOF"},
           Broken{"{", "unexpected EOF"},
           Broken{R"({"NodeNames":["a)", "unexpected EOF"},
           Broken{"<html>", "invalid character '<' looking for beginning of value"},
           Broken{R"({"a":1,})",
                  "invalid character '}' looking for beginning of object key string"},
           Broken{"[]",
                  "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"},
           Broken{"3",
                  "json: cannot unmarshal number into Go value of type v1.ExtenderFilterResult"},
           Broken{R"({"NodeNames":3})",
                  "json: cannot unmarshal number into Go struct field "
                  "ExtenderFilterResult.NodeNames of type []string"},
           Broken{R"({"NodeNames":[3]})",
                  "json: cannot unmarshal number into Go struct field "
                  "ExtenderFilterResult.NodeNames of type string"},
           Broken{R"({"Nodes":[]})",
                  "json: cannot unmarshal array into Go struct field ExtenderFilterResult.Nodes of "
                  "type v1.NodeList"},
           Broken{R"({"FailedNodes":[]})",
                  "json: cannot unmarshal array into Go struct field "
                  "ExtenderFilterResult.FailedNodes of type v1.FailedNodesMap"},
           Broken{R"({"FailedAndUnresolvableNodes":{"a":3}})",
                  "json: cannot unmarshal number into Go struct field "
                  "ExtenderFilterResult.FailedAndUnresolvableNodes of type string"},
           Broken{R"({"Error":true,"NodeNames":{}})",
                  "json: cannot unmarshal bool into Go struct field ExtenderFilterResult.Error of "
                  "type string"},
       })
    EXPECT_EQ(error_of(read_filter_result(broken.json, true)), broken.error) << broken.json;
  for (const char* nothing : {"null", "{}", R"({"NodeNames":null})"})
    EXPECT_THAT(read_filter_result(nothing, true)->nodes, IsEmpty()) << nothing;
}

std::string shown(const Result<std::vector<ExtenderScore>>& scores) {
  if (!scores) return scores.error().message;
  std::string text;
  for (const ExtenderScore& score : *scores)
    text += score.node + "=" + std::to_string(score.score) + " ";
  return text;
}

TEST(ExtenderWire, Scores) {
  EXPECT_EQ(shown(read_host_priorities(
                R"([{"Host":"a","Score":5},{"score":-3,"HOST":"b","x":1},{"Host":"c"},null])")),
            "a=5 b=-3 c=0 =0 ");
  EXPECT_EQ(shown(read_host_priorities("null")), "");
  EXPECT_EQ(shown(read_host_priorities("{}")),
            "json: cannot unmarshal object into Go value of type v1.HostPriorityList");
  EXPECT_EQ(shown(read_host_priorities("[3]")),
            "json: cannot unmarshal number into Go value of type v1.HostPriority");
  for (const char* number : {"1.5", "5.0", "1e2", "99999999999999999999"})
    EXPECT_EQ(shown(read_host_priorities(std::string(R"([{"Score":)") + number + "}]")),
              std::string("json: cannot unmarshal number ") + number +
                  " into Go struct field HostPriority.Score of type int64");
  EXPECT_EQ(shown(read_host_priorities(R"([{"Score":"5"},{"Host":3}])")),
            "json: cannot unmarshal string into Go struct field HostPriority.Score of type int64");
  EXPECT_EQ(shown(read_host_priorities("")), "EOF");
  EXPECT_EQ(shown(read_host_priorities("[")), "unexpected EOF");
}

TEST(ExtenderWire, BindingResults) {
  EXPECT_EQ(error_of(read_binding_result("{}")), "");
  EXPECT_EQ(error_of(read_binding_result("null")), "");
  EXPECT_EQ(error_of(read_binding_result(R"({"error":"taken"})")), "taken");
  EXPECT_EQ(error_of(read_binding_result(R"({"Error":3})")),
            "json: cannot unmarshal number into Go struct field ExtenderBindingResult.Error of "
            "type string");
  EXPECT_EQ(error_of(read_binding_result("[]")),
            "json: cannot unmarshal array into Go value of type v1.ExtenderBindingResult");
  EXPECT_EQ(error_of(read_binding_result("OK")),
            "invalid character 'O' looking for beginning of value");
}

TEST(ExtenderWire, PreemptionResults) {
  const auto victims = read_preemption_result(
      R"({"nodeNameToMetaVictims":{"n1":{"pods":[{"uid":"a"},{"UID":"b"}],"numPDBViolations":2},)"
      R"("n2":null,"n3":{"Pods":[null]}}})");
  ASSERT_TRUE(victims) << victims.error().message;
  ASSERT_EQ(victims->size(), 3U);
  EXPECT_THAT(victims->at("n1").pod_uids, ElementsAre("a", "b"));
  EXPECT_EQ(victims->at("n1").pdb_violations, 2);
  EXPECT_THAT(victims->at("n2").pod_uids, IsEmpty());
  EXPECT_THAT(victims->at("n3").pod_uids, ElementsAre(""));
  EXPECT_THAT(*read_preemption_result("{}"), IsEmpty());

  const std::string of_nodes = R"({"NodeNameToMetaVictims":)";
  for (const Broken& broken : {
           Broken{"[]}",
                  "array into Go struct field ExtenderPreemptionResult.NodeNameToMetaVictims of "
                  "type map[string]*v1.MetaVictims"},
           Broken{R"({"a":3}})",
                  "number into Go struct field ExtenderPreemptionResult.NodeNameToMetaVictims of "
                  "type v1.MetaVictims"},
           Broken{R"({"a":{"Pods":3}}})",
                  "number into Go struct field MetaVictims.NodeNameToMetaVictims.Pods of type "
                  "[]*v1.MetaPod"},
           Broken{R"({"a":{"Pods":[3]}}})",
                  "number into Go struct field MetaVictims.NodeNameToMetaVictims.Pods of type "
                  "v1.MetaPod"},
           Broken{R"({"a":{"Pods":[{"UID":3}]}}})",
                  "number into Go struct field MetaPod.NodeNameToMetaVictims.Pods.UID of type "
                  "string"},
           Broken{R"({"a":{"NumPDBViolations":"3"}}})",
                  "string into Go struct field "
                  "MetaVictims.NodeNameToMetaVictims.NumPDBViolations of type int64"},
       })
    EXPECT_EQ(error_of(read_preemption_result(of_nodes + broken.json)),
              std::string("json: cannot unmarshal ") + broken.error);
}

}  // namespace
}  // namespace berth::extender
