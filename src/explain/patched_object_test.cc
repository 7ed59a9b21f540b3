#include "explain/patched_object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explain/testing/changed_manifest.h"

namespace berth::explain {
namespace {

JsonValue json(const char* text) { return *parse_json(text); }

TEST(PatchedObject, RecordsWhatItDoes) {
  struct Case {
    const char* name;
    const char* before;
    void (*edit)(PatchedObject&);
    const char* operations;
    const char* after;
  };
  const Case cases[] = {
      {"a member that is there", R"({"a":{"b":1}})",
       [](PatchedObject& o) { o.set({"a", "b"}, JsonValue::of_int(2)); },
       R"([{"op":"replace","path":"/a/b","value":2}])", R"({"a":{"b":2}})"},
      {"a member that is not, in objects that are not", R"({"a":{}})",
       [](PatchedObject& o) { o.set({"a", "b", "c/d~"}, JsonValue::of_int(2)); },
       R"([{"op":"add","path":"/a/b","value":{"c/d~":2}}])", R"({"a":{"b":{"c/d~":2}}})"},
      {"within null", R"({"a":null})",
       [](PatchedObject& o) { o.set({"a", "b"}, JsonValue::of_int(2)); },
       R"([{"op":"add","path":"/a","value":{"b":2}}])", R"({"a":{"b":2}})"},
      {"a name with a slash", R"({"a":{"b/c":1}})",
       [](PatchedObject& o) { o.set({"a", "b/c"}, JsonValue::of_int(2)); },
       R"([{"op":"replace","path":"/a/b~1c","value":2}])", R"({"a":{"b/c":2}})"},
      {"an item of a list", R"({"a":[1,2]})",
       [](PatchedObject& o) { o.append({"a"}, JsonValue::of_int(3)); },
       R"([{"op":"add","path":"/a/-","value":3}])", R"({"a":[1,2,3]})"},
      {"an item of no list", R"({"s":{}})",
       [](PatchedObject& o) { o.append({"s", "a"}, JsonValue::of_int(3)); },
       R"([{"op":"add","path":"/s/a","value":[3]}])", R"({"s":{"a":[3]}})"},
      {"an item of null", R"({"a":null})",
       [](PatchedObject& o) { o.append({"a"}, JsonValue::of_int(3)); },
       R"([{"op":"replace","path":"/a","value":[3]}])", R"({"a":[3]})"},
      {"items gone, one after the other", R"({"a":[1,2,3]})",
       [](PatchedObject& o) {
         EXPECT_TRUE(o.remove({"a", "0"}));
         EXPECT_TRUE(o.remove({"a", "1"}));
         EXPECT_FALSE(o.remove({"a", "1"}));
         EXPECT_FALSE(o.remove({"b", "c"}));
       },
       R"([{"op":"remove","path":"/a/0"},{"op":"remove","path":"/a/1"}])", R"({"a":[2]})"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    PatchedObject object(json(one.before));
    one.edit(object);
    EXPECT_EQ(to_json(object.patch()), one.operations);
    EXPECT_EQ(to_json(object.object()), one.after);
    JsonValue applied = json(one.before);
    EXPECT_TRUE(testing::apply_patch(applied, object.patch()));
    EXPECT_EQ(to_json(applied), one.after);
  }
}

}  // namespace
}  // namespace berth::explain
