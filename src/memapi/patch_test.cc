#include "memapi/patch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "memapi/json_edit.h"
#include "memapi/strategic_merge.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

std::optional<schema::MessageId> pod_type() { return schema::find_message("v1", "Pod"); }

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
        PatchCase{"the last one", R"({"l":[1,2,3]})", R"([{"op":"remove","path":"/l/-1"}])",
                  R"({"l":[1,2]})"},
        PatchCase{"at the end by its number from there", R"({"l":[1,2]})",
                  R"([{"op":"add","path":"/l/-1","value":3}])", R"({"l":[1,2,3]})"},
        PatchCase{"in the last one", R"({"l":[{},{}]})",
                  R"([{"op":"add","path":"/l/-1/a","value":1}])", R"({"l":[{},{"a":1}]})"},
        PatchCase{"before the first", R"({"l":[1]})", R"([{"op":"remove","path":"/l/-2"}])", "!"},
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

TEST(JsonPatch, NothingNestsDeeperThanCanBeReadAgain) {
  JsonValue object = parse_json(R"({"a":{}})").value();
  const auto apply = [&](const std::string& patch) {
    return apply_json_patch(object, parse_json(patch).value()).has_value();
  };
  EXPECT_TRUE(apply(R"([{"op":"add","path":"/a/x","value":)" + nested_lists(600) + "}]"));
  std::string innermost = "/a/x";
  for (int i = 0; i < 599; ++i) innermost += "/0";
  // One patch may have many operations, each of which goes deeper.
  const std::string deeper = nested_lists(400) + "}]";
  EXPECT_FALSE(apply(R"([{"op":"add","path":")" + innermost + R"(/-","value":)" + deeper));
  EXPECT_FALSE(apply(R"([{"op":"replace","path":")" + innermost + R"(","value":)" + deeper));
  EXPECT_FALSE(apply(R"([{"op":"copy","from":"/a","path":")" + innermost + R"(/-"}])"));
  EXPECT_TRUE(apply(R"([{"op":"add","path":"/b","value":)" + deeper));
  EXPECT_FALSE(apply(R"([{"op":"move","from":"/b","path":")" + innermost + R"(/-"}])"));
  EXPECT_TRUE(parse_json(to_json(object)).has_value());
}

// `count` members "key0", "key1", … with this value.
std::string many_members(int count, const std::string& value) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += "\"key" + std::to_string(i) + "\":" + value;
  }
  return text + "}";
}

// ["f0","f1",…], or [{"name":"f0"},…]
std::string many_items(int count, bool keyed) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    const std::string name = "\"f" + std::to_string(i) + "\"";
    text += keyed ? R"({"name":)" + name + "}" : name;
  }
  return text + "]";
}

// Every key of a large patch is in a large object: a look through all members for each of them
// would be a step for each pair.
TEST(Patches, TheWorkGrowsWithPatchAndObjectNotWithTheirProduct) {
  constexpr int kMany = 5'000;
  const PatchWork enough(40 * kMany);  // the product is 25,000,000
  const auto parsed = [](const std::string& text) { return parse_json(text).value(); };
  const JsonValue object = parsed(R"({"metadata":)" + many_members(kMany, "1") + "}");
  for (const char* value : {"2", "null", "{}"}) {
    const JsonValue patch = parsed(R"({"metadata":)" + many_members(kMany, value) + "}");
    JsonValue merged = object, strategic = object;
    EXPECT_TRUE(apply_merge_patch(merged, patch, enough)) << value;
    EXPECT_TRUE(apply_strategic_merge(pod_type(), strategic, patch, enough)) << value;
    EXPECT_TRUE(equal(merged, strategic)) << value;
    EXPECT_EQ(merged.members[0].value.members.size(), value[0] == 'n' ? 0U : kMany);
  }

  const std::string texts = many_items(kMany, false), items = many_items(kMany, true);
  const JsonValue pod =
      parsed(R"({"metadata":{"finalizers":)" + texts + R"(},"spec":{"containers":)" + items + "}}");
  std::string deletions = "[";
  for (int i = 0; i < kMany; ++i)
    deletions +=
        (i > 0 ? "," : "") + (R"({"$patch":"delete","name":"f)" + std::to_string(i) + "\"}");
  for (const std::string& patch :
       {R"({"metadata":{"finalizers":)" + texts + "}}",
        R"({"metadata":{"$deleteFromPrimitiveList/finalizers":)" + texts + "}}",
        R"({"metadata":{"$setElementOrder/finalizers":)" + texts + "}}",
        R"({"spec":{"containers":)" + items + "}}", R"({"spec":{"containers":)" + deletions + "]}}",
        R"({"spec":{"$setElementOrder/containers":)" + items + "}}"}) {
    JsonValue patched = pod;
    EXPECT_TRUE(apply_strategic_merge(pod_type(), patched, parsed(patch), enough))
        << patch.substr(0, 60);
  }

  JsonValue patched = object;
  std::string operations = "[";
  for (int i = 0; i < kMany; ++i) {
    if (i > 0) operations += ',';
    operations += R"({"op":"remove","path":"/metadata/key)" + std::to_string(i) +
                  R"("},{"op":"add","path":"/metadata/new)" + std::to_string(i) +
                  R"(","value":{"a":1}})";
  }
  EXPECT_TRUE(apply_json_patch(patched, parsed(operations + "]"), enough));
  EXPECT_EQ(patched.members[0].value.members.size(), kMany);
}

// Whoever names a member again and again does not have it done again and again.
TEST(Patches, OfEqualNamesTheLastCounts) {
  JsonValue object = parse_json(R"({"a":{"x":1}})").value();
  const JsonValue patch = parse_json(R"({"a":{"y":2},"a":{"z":3}})").value();
  EXPECT_TRUE(apply_merge_patch(object, patch));
  EXPECT_EQ(to_json(object), R"({"a":{"x":1,"z":3}})");
}

TEST(Patches, InsertingAtTheFrontOfALongListAgainAndAgainIsRefused) {
  constexpr int kMany = 300;
  JsonValue object = parse_json(R"({"list":)" + many_items(kMany, false) + "}").value();
  std::string operations = "[";
  for (int i = 0; i < kMany; ++i) {
    if (i > 0) operations += ',';
    operations += R"({"op":"add","path":"/list/0","value":1})";
  }
  const JsonValue patch = parse_json(operations + "]").value();
  EXPECT_EQ(apply_json_patch(object, patch, PatchWork(10'000)).error().code, 413);
  EXPECT_EQ(object.members[0].value.items.size(), kMany) << "what is refused changes nothing";
  EXPECT_TRUE(apply_json_patch(object, patch));
}

TEST(Patches, MembersAreComparedByName) {
  JsonValue a = parse_json(many_members(100, "1")).value();
  JsonValue b = a;
  std::reverse(b.members.begin(), b.members.end());
  EXPECT_TRUE(equal(a, b));
  b.members[7].value.text = "2";
  EXPECT_FALSE(equal(a, b));
}

TEST(MergePatch, NullRemovesAndObjectsMerge) {
  JsonValue object = parse_json(R"({"a":{"x":1,"y":2},"b":[1,2],"c":3})").value();
  const JsonValue patch = parse_json(R"({"a":{"x":null,"z":4},"b":[9],"d":{"e":null}})").value();
  EXPECT_TRUE(apply_merge_patch(object, patch));
  normalize(object);
  EXPECT_EQ(to_json(object), R"({"a":{"y":2,"z":4},"b":[9],"c":3,"d":{}})");
}

class StrategicMerge : public ::testing::TestWithParam<PatchCase> {};
TEST_P(StrategicMerge, OfAPod) {
  JsonValue object = parse_json(GetParam().object).value();
  const JsonValue patch = parse_json(GetParam().patch).value();
  Answer<void> done = apply_strategic_merge(pod_type(), object, patch);
  EXPECT_EQ(outcome(std::move(done), object), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(
    Table, StrategicMerge,
    ::testing::Values(
        PatchCase{"conditions by type",
                  R"({"status":{"conditions":[{"type":"A","status":"1"},{"type":"B"}]}})",
                  R"({"status":{"conditions":[{"type":"A","status":"2"},{"type":"C"}]}})",
                  R"({"status":{"conditions":[{"status":"2","type":"A"},{"type":"C"},)"
                  R"({"type":"B"}]}})"},
        PatchCase{"new items go first, in the patch's order",
                  R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                  R"({"spec":{"containers":[{"name":"x"},{"name":"b","image":"i"},{"name":"y"}]}})",
                  R"({"spec":{"containers":[{"name":"x"},{"name":"a"},{"image":"i","name":"b"},)"
                  R"({"name":"y"}]}})"},
        PatchCase{"an order that the patch does not keep to",
                  R"({"spec":{"containers":[{"name":"a"}]}})",
                  R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],)"
                  R"("containers":[{"name":"b"},{"name":"a"}]}})",
                  "!"},
        PatchCase{"merging cannot be asked for", R"({"spec":{"containers":[{"name":"a"}]}})",
                  R"({"spec":{"containers":[{"$patch":"merge","name":"a"}]}})", "!"},
        PatchCase{"an object goes", R"({"spec":{"affinity":{"podAffinity":{}},"nodeName":"n"}})",
                  R"({"spec":{"affinity":{"$patch":"delete"}}})",
                  R"({"spec":{"affinity":{},"nodeName":"n"}})"},
        PatchCase{"a key that is not retained", R"({"spec":{"volumes":[{"name":"v"}]}})",
                  R"({"spec":{"volumes":[{"$retainKeys":["name"],"name":"v","hostPath":{}}]}})",
                  "!"},
        PatchCase{"lists within lists", R"({"metadata":{"finalizers":["a"]}})",
                  R"({"metadata":{"finalizers":[["b"]]}})", "!"},
        PatchCase{"constraints by topology key",
                  R"({"spec":{"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone"}]}})",
                  R"({"spec":{"topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone"},)"
                  R"({"topologyKey":"host"}]}})",
                  R"({"spec":{"topologySpreadConstraints":[{"maxSkew":2,"topologyKey":"zone"},)"
                  R"({"topologyKey":"host"}]}})"},
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
                  R"({"metadata":{"finalizers":["c","a"]}})"},
        PatchCase{
            "an order with items it does not name",
            R"({"metadata":{"finalizers":["a","b","c","d"]}})",
            R"({"metadata":{"$setElementOrder/finalizers":["d","e","b"],"finalizers":["e"]}})",
            R"({"metadata":{"finalizers":["a","c","d","e","b"]}})"},
        PatchCase{"an item goes and comes again",
                  R"({"spec":{"containers":[{"name":"a","image":"i"},{"name":"b"}]}})",
                  R"({"spec":{"containers":[{"$patch":"delete","name":"a"},{"name":"a"}]}})",
                  R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})"},
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
}  // namespace berth::memapi::testing
