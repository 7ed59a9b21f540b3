#include "memapi/patch.h"

#include <gtest/gtest.h>

#include <string>

#include "memapi/json_edit.h"
#include "memapi/strategic_merge.h"

namespace berth::memapi {
namespace {

struct PatchCase {
  const char* name;
  const char* object;
  const char* patch;
  const char* expected;  // "!": refused
};

void PrintTo(const PatchCase& one, std::ostream* out) { *out << one.name; }

std::string outcome(Answer<void> done, JsonValue object) {
  if (!done) return "!";
  normalize(object);
  return to_json(object);
}

class JsonPatch : public ::testing::TestWithParam<PatchCase> {};
TEST_P(JsonPatch, Applies) {
  JsonValue object = parse_json(GetParam().object).value();
  const JsonValue patch = parse_json(GetParam().patch).value();
  Answer<void> done = apply_json_patch(object, patch);
  EXPECT_EQ(outcome(std::move(done), object), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Table, JsonPatch,
    ::testing::Values(
        PatchCase{"add a member", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])",
                  R"({"a":1,"b":2})"},
        PatchCase{"insert", R"({"l":[1,3]})", R"([{"op":"add","path":"/l/1","value":2}])",
                  R"({"l":[1,2,3]})"},
        PatchCase{"append", R"({"l":[1]})", R"([{"op":"add","path":"/l/-","value":2}])",
                  R"({"l":[1,2]})"},
        PatchCase{"escaped", R"({"a/b":1})", R"([{"op":"remove","path":"/a~1b"}])", "{}"},
        PatchCase{"replace nothing", R"({})", R"([{"op":"replace","path":"/b","value":2}])", "!"},
        PatchCase{"remove nothing", R"({})", R"([{"op":"remove","path":"/b"}])", "!"},
        PatchCase{"test fails", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", "!"},
        PatchCase{"test holds", R"({"a":{"x":1,"y":2}})",
                  R"([{"op":"test","path":"/a","value":{"y":2,"x":1}}])", R"({"a":{"x":1,"y":2}})"},
        PatchCase{"move", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/b"}])", R"({"b":1})"},
        PatchCase{"into itself", R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])",
                  "!"},
        PatchCase{"past the end", R"({"l":[1]})", R"([{"op":"add","path":"/l/5","value":2}])", "!"},
        PatchCase{"unknown operation", R"({})", R"([{"op":"jump","path":"/a"}])", "!"},
        PatchCase{"no list", R"({})", R"({})", "!"}));

TEST(JsonPatch, CopyCannotGrowWithoutBound) {
  JsonValue object = parse_json(R"({"a":["0123456789"]})").value();
  std::string patch = "[";
  for (int i = 0; i < 60; ++i) {
    if (i > 0) patch += ',';
    patch += R"({"op":"copy","from":"/a","path":"/a/-"})";
  }
  patch += "]";
  EXPECT_FALSE(apply_json_patch(object, parse_json(patch).value()).has_value());
}

TEST(MergePatch, NullRemovesAndObjectsMerge) {
  JsonValue object = parse_json(R"({"a":{"x":1,"y":2},"b":[1,2],"c":3})").value();
  apply_merge_patch(object, parse_json(R"({"a":{"x":null,"z":4},"b":[9],"d":{"e":null}})").value());
  normalize(object);
  EXPECT_EQ(to_json(object), R"({"a":{"y":2,"z":4},"b":[9],"c":3,"d":{}})");
}

class StrategicMerge : public ::testing::TestWithParam<PatchCase> {};
TEST_P(StrategicMerge, OfAPod) {
  JsonValue object = parse_json(GetParam().object).value();
  const JsonValue patch = parse_json(GetParam().patch).value();
  Answer<void> done = apply_strategic_merge("Pod", object, patch);
  EXPECT_EQ(outcome(std::move(done), object), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Table, StrategicMerge,
    ::testing::Values(
        PatchCase{"conditions by type",
                  R"({"status":{"conditions":[{"type":"A","status":"1"},{"type":"B"}]}})",
                  R"({"status":{"conditions":[{"type":"A","status":"2"},{"type":"C"}]}})",
                  R"({"status":{"conditions":[{"status":"2","type":"A"},{"type":"B"},)"
                  R"({"type":"C"}]}})"},
        PatchCase{"the scheduler's order of conditions",
                  R"({"status":{"conditions":[{"type":"A"}]}})",
                  R"({"status":{"$setElementOrder/conditions":[{"type":"P"},{"type":"A"}],)"
                  R"("conditions":[{"type":"P","status":"False"}]}})",
                  R"({"status":{"conditions":[{"status":"False","type":"P"},{"type":"A"}]}})"},
        PatchCase{"an item goes", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                  R"({"spec":{"containers":[{"$patch":"delete","name":"a"}]}})",
                  R"({"spec":{"containers":[{"name":"b"}]}})"},
        PatchCase{"a list is replaced", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                  R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
                  R"({"spec":{"containers":[{"name":"c"}]}})"},
        PatchCase{"tolerations are atomic", R"({"spec":{"tolerations":[{"key":"a"}]}})",
                  R"({"spec":{"tolerations":[{"key":"b"}]}})",
                  R"({"spec":{"tolerations":[{"key":"b"}]}})"},
        PatchCase{"an object is replaced", R"({"spec":{"nodeSelector":{"a":"1"}}})",
                  R"({"spec":{"nodeSelector":{"$patch":"replace","b":"2"}}})",
                  R"({"spec":{"nodeSelector":{"b":"2"}}})"},
        PatchCase{"retained keys", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
                  R"({"spec":{"volumes":[{"$retainKeys":["name","hostPath"],"name":"v",)"
                  R"("hostPath":{}}]}})",
                  R"({"spec":{"volumes":[{"hostPath":{},"name":"v"}]}})"},
        PatchCase{"finalizers are a set", R"({"metadata":{"finalizers":["a","b"]}})",
                  R"({"metadata":{"finalizers":["c","a"],)"
                  R"("$deleteFromPrimitiveList/finalizers":["b"]}})",
                  R"({"metadata":{"finalizers":["a","c"]}})"},
        PatchCase{"numbers as keys",
                  R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}})",
                  R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,)"
                  R"("hostPort":1}]}]}})",
                  R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,)"
                  R"("hostPort":1}]}]}})"},
        PatchCase{"no key", R"({"status":{"conditions":[]}})",
                  R"({"status":{"conditions":[{"status":"1"}]}})", "!"},
        PatchCase{"unknown directive", R"({"spec":{}})", R"({"spec":{"$patch":"jump"}})", "!"}));

}  // namespace
}  // namespace berth::memapi
