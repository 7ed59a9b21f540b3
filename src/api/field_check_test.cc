#include "api/field_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth {
namespace {

using Problems = std::vector<std::string>;

Problems problems(std::string_view api_version, std::string_view kind, std::string_view json,
                  bool patch = false) {
  const JsonValue tree = parse_json(json).value();
  Problems texts;
  for (const FieldFault& fault :
       patch ? check_patch_fields(api_version, kind, tree) : check_fields(api_version, kind, tree))
    texts.push_back(fault.text());
  return texts;
}

TEST(FieldCheck, FieldsThatAKindDoesNotHaveAreNamedByTheirPath) {
  EXPECT_EQ(
      problems("v1", "Pod",
               R"({"kind":"Pod","apiVersion":"v1","metadata":{"nam":"p","labels":{"any":"x"}},)"
               R"("spec":{"containers":[{"name":"c"},{"imag":"i"}],"foo":1}})"),
      (Problems{R"(unknown field "metadata.nam")", R"(unknown field "spec.containers[1].imag")",
                R"(unknown field "spec.foo")"}));
}

TEST(FieldCheck, FieldsThatStandTwiceAreNamedOnceEach) {
  EXPECT_EQ(problems("v1", "ConfigMap",
                     R"({"data":{"a":"1","a":"2"},"immutable":true,"immutable":false})"),
            (Problems{R"(duplicate field "data.a")", R"(duplicate field "immutable")"}));
}

TEST(FieldCheck, LongPathsDoNotMultiply) {
  const std::string key(100'000, 'k');
  std::string members;
  for (int i = 0; i < 1000; ++i) members += fmt::format("{}\"u{}\":1", i > 0 ? "," : "", i);
  const Problems texts = problems(
      "resource.k8s.io/v1", "ResourceSlice",
      fmt::format(R"({{"spec":{{"devices":[{{"capacity":{{"{}":{{{}}}}}}}]}}}})", key, members));
  EXPECT_GT(texts.size(), 0U);
  EXPECT_LT(texts.size(), 10U);
}

TEST(FieldCheck, WhatTheKindHasPasses) {
  EXPECT_EQ(problems("v1", "Pod",
                     R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}},)"
                     R"("livenessProbe":{"httpGet":{"port":80}}}],"volumes":[{"name":"v",)"
                     R"("emptyDir":{}}],"nodeSelector":{"a":"b"}},"status":{"phase":"Running"}})"),
            Problems{});
  EXPECT_EQ(problems("apps/v1", "StatefulSet",
                     R"({"spec":{"volumeClaimTemplates":[{"kind":"PersistentVolumeClaim",)"
                     R"("apiVersion":"v1","metadata":{"name":"d"}}]}})"),
            Problems{});
  EXPECT_EQ(problems("x.io/v1", "Thing", R"({"anything":1})"), Problems{});
}

TEST(FieldCheck, InAPatchNullsAndDirectivesAreNoFields) {
  EXPECT_EQ(problems("v1", "Pod",
                     R"({"spec":{"foo":null,"$setElementOrder/containers":[{"name":"c"}],)"
                     R"("containers":[{"$patch":"delete","name":"c"}]},"bar":1})",
                     true),
            (Problems{R"(unknown field "bar")"}));
}

TEST(FieldCheck, AFieldThatIsSpeltNearlySoIsNamed) {
  const auto meant = [](std::string_view json) {
    const auto faults = check_fields("v1", "Pod", parse_json(json).value());
    return faults.size() == 1 ? faults[0].meant() : "?";
  };
  EXPECT_EQ(meant(R"({"spec":{"nodeSelectr":{}}})"), "nodeSelector");
  EXPECT_EQ(meant(R"({"spec":{"nodeselector":{}}})"), "nodeSelector");
  EXPECT_EQ(meant(R"({"spec":{"containers":[{"imag":"i"}]}})"), "image");
  EXPECT_EQ(meant(R"({"spec":{"volumes":[{"emptydir":{}}]}})"), "emptyDir");  // an inline message
  EXPECT_EQ(meant(R"({"spec":{"replicas":3}})"), "");
  EXPECT_EQ(meant(R"({"spec":{"hostname":"a","hostname":"b"}})"), "");  // twice, not unknown
  EXPECT_EQ(meant(R"({"spec":{")" + std::string(10'000, 'x') + R"(":1}})"), "");
}

}  // namespace
}  // namespace berth
