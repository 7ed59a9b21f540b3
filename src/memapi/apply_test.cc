// Server-side apply. Texts as kube-apiserver gives them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

constexpr const char* kApply = "application/apply-patch+yaml";
constexpr const char* kWeb = "/apis/apps/v1/namespaces/default/deployments/web";

struct ApplyTest : public ::testing::Test {
  JsonValue apply(std::string_view target, std::string_view manager, std::string body,
                  bool force = false) {
    return client.ask(
        "PATCH", fmt::format("{}?fieldManager={}{}", target, manager, force ? "&force=true" : ""),
        std::move(body), kApply);
  }
  JsonValue apply_map(std::string_view manager, std::string_view data, bool force = false) {
    return apply(fmt::format("{}/m", kConfigMaps), manager,
                 fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","data":{}}})", data), force);
  }
  JsonValue apply_web(std::string_view manager, std::string_view spec, bool force = false) {
    return apply(kWeb, manager,
                 fmt::format(R"({{"apiVersion":"apps/v1","kind":"Deployment","spec":{}}})", spec),
                 force);
  }
  // "team Apply {"f:data":{"f:a":{}}}" for each entry.
  static std::vector<std::string> managers(const JsonValue& object) {
    std::vector<std::string> all;
    for (const JsonValue& entry : items_at(object, "metadata.managedFields")) {
      std::string text = fmt::format("{} {} {}", text_at(entry, "manager"),
                                     text_at(entry, "operation"), to_json(*at(entry, "fieldsV1")));
      if (const auto part = text_at(entry, "subresource"); !part.empty())
        text += fmt::format(" {}", part);
      all.push_back(std::move(text));
    }
    return all;
  }
  static std::string data(const JsonValue& object) {
    const JsonValue* found = at(object, "data");
    return found != nullptr ? to_json(*found) : "";
  }
  static std::string web_spec(std::string_view containers, std::string_view more = "") {
    return fmt::format(R"({{"selector":{{"matchLabels":{{"a":"b"}}}},"template":{{"metadata":)"
                       R"({{"labels":{{"a":"b"}}}},"spec":{{"containers":{}}}}}{}}})",
                       containers, more);
  }
  Client client;
};

TEST_F(ApplyTest, CreatesAnObjectWhoseFieldsAreTheManagers) {
  const JsonValue made = apply_map("team", R"({"a":"1"})");
  EXPECT_EQ(client.code, 201);
  EXPECT_THAT(managers(made), ElementsAre(R"(team Apply {"f:data":{"f:a":{}}})"));
}

TEST_F(ApplyTest, RemovesWhatIsNoLongerSaid) {
  apply_map("team", R"({"a":"1","b":"2"})");
  const JsonValue changed = apply_map("team", R"({"a":"1"})");
  EXPECT_EQ(data(changed), R"({"a":"1"})");
  EXPECT_THAT(managers(changed), ElementsAre(R"(team Apply {"f:data":{"f:a":{}}})"));
}

TEST_F(ApplyTest, KeepsWhatAnotherManagerSaysToo) {
  apply_map("one", R"({"a":"1","b":"2"})");
  apply_map("two", R"({"b":"2"})");
  EXPECT_EQ(client.code, 200);
  EXPECT_EQ(data(apply_map("one", R"({"a":"1"})")), R"({"a":"1","b":"2"})");
}

TEST_F(ApplyTest, RefusesToChangeFieldsOfOthersUnlessForced) {
  apply_map("one", R"({"a":"1","b":"2"})");
  const JsonValue one = apply_map("two", R"({"a":"x"})");
  EXPECT_EQ(client.code, 409);
  EXPECT_EQ(text_at(one, "reason"), "Conflict");
  EXPECT_EQ(text_at(one, "message"),
            "Apply failed with 1 conflict: conflict with \"one\": .data.a");
  const JsonValue both = apply_map("two", R"({"a":"x","b":"y"})");
  EXPECT_EQ(text_at(both, "message"),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b");
  const auto& causes = items_at(both, "details.causes");
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(
      to_json(causes[0]),
      R"({"reason":"FieldManagerConflict","message":"conflict with \"one\"","field":".data.a"})");
  const JsonValue forced = apply_map("two", R"({"a":"x"})", true);
  EXPECT_THAT(managers(forced), ElementsAre(R"(one Apply {"f:data":{"f:b":{}}})",
                                            R"(two Apply {"f:data":{"f:a":{}}})"));
}

TEST_F(ApplyTest, TellsOfThoseWhoUpdate) {
  client.ask("POST", kConfigMaps + "?fieldManager=maker",
             R"({"metadata":{"name":"m"},"data":{"a":"1"}})");
  const JsonValue conflict = apply_map("team", R"({"a":"2"})");
  EXPECT_EQ(text_at(conflict, "message"),
            "Apply failed with 1 conflict: conflict with \"maker\" using v1: .data.a");
  apply_map("team", R"({"a":"1"})");
  EXPECT_EQ(client.code, 200);
  const JsonValue changed = client.ask("PATCH", fmt::format("{}/m?fieldManager=other", kConfigMaps),
                                       R"({"data":{"a":"3"}})", kMergePatch);
  EXPECT_THAT(managers(changed), ElementsAre(R"(maker Update {"f:data":{}})",
                                             R"(other Update {"f:data":{"f:a":{}}})"));
}

TEST_F(ApplyTest, LetsKubectlGoOnFromItsOwnClientSideApply) {
  client.ask(
      "POST", kConfigMaps + "?fieldManager=kubectl-client-side-apply",
      R"({"metadata":{"name":"m","annotations":{"kubectl.kubernetes.io/last-applied-configuration":)"
      R"("{\"data\":{\"a\":\"1\"}}"}},"data":{"a":"1","b":"1"}})");
  EXPECT_EQ(data(apply_map("kubectl", R"({"a":"2"})")), R"({"a":"2","b":"1"})");
  apply_map("kubectl", R"({"a":"2","b":"2"})");
  EXPECT_EQ(client.code, 409);
}

TEST_F(ApplyTest, MergesListsByTheirKeys) {
  apply_web("one", web_spec(R"([{"name":"c","image":"i:1","ports":[{"containerPort":80}]}])"));
  EXPECT_EQ(client.code, 201);
  const JsonValue object =
      apply_web("two", R"({"template":{"spec":{"containers":[{"name":"d","image":"j:1"}]}}})");
  EXPECT_EQ(client.code, 200);
  EXPECT_EQ(items_at(object, "spec.template.spec.containers").size(), 2u);
  EXPECT_THAT(
      managers(object)[1],
      R"(two Apply {"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"d\"}":)"
      R"({".":{},"f:image":{},"f:name":{}}}}}}})");
  EXPECT_THAT(managers(object)[0],
              HasSubstr(R"("k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},)"
                        R"("f:containerPort":{}})"));
  const JsonValue without = apply_web("two", R"({})");
  EXPECT_EQ(items_at(without, "spec.template.spec.containers").size(), 1u);
}

TEST_F(ApplyTest, LeavesAnUnchangedObjectAlone) {
  const JsonValue first = apply_map("team", R"({"a":"1"})");
  const JsonValue second = apply_map("team", R"({"a":"1"})");
  EXPECT_EQ(text_at(first, "metadata.resourceVersion"),
            text_at(second, "metadata.resourceVersion"));
}

TEST_F(ApplyTest, KeepsTheManagersOfSubresourcesApart) {
  apply_web("team", web_spec(R"([{"name":"c","image":"i"}])", R"(,"replicas":1)"));
  JsonValue object = apply(std::string(kWeb) + "/status", "keeper",
                           R"({"apiVersion":"apps/v1","kind":"Deployment","status":{"replicas":4},)"
                           R"("spec":{"replicas":9}})");
  EXPECT_EQ(int_at(object, "status.replicas"), 4);
  EXPECT_EQ(int_at(object, "spec.replicas"), 1);
  EXPECT_THAT(managers(object), Contains(R"(keeper Apply {"f:status":{"f:replicas":{}}} status)"));
  const std::string scale =
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","spec":{"replicas":3}})";
  const JsonValue refused = apply(std::string(kWeb) + "/scale", "scaler", scale);
  EXPECT_EQ(text_at(refused, "message"),
            "Apply failed with 1 conflict: conflict with \"team\": .spec.replicas");
  apply(std::string(kWeb) + "/scale", "scaler", scale, true);
  object = client.ask("GET", kWeb);
  EXPECT_EQ(int_at(object, "spec.replicas"), 3);
  EXPECT_THAT(managers(object), Contains(R"(scaler Apply {"f:spec":{"f:replicas":{}}} scale)"));
}

TEST_F(ApplyTest, RefusesFieldsThatTheKindDoesNotHave) {
  const JsonValue status = apply_web("team", R"({"foo":1})");
  EXPECT_EQ(text_at(status, "message"),
            "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): "
            ".spec.foo: field not declared in schema");
}

TEST_F(ApplyTest, DoesNotStoreADryRun) {
  client.ask("PATCH", fmt::format("{}/m?fieldManager=team&dryRun=All", kConfigMaps),
             R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1"}})", kApply);
  EXPECT_EQ(client.code, 201);
  client.ask("GET", kConfigMaps + "/m");
  EXPECT_EQ(client.code, 404);
}

TEST_F(ApplyTest, AppliesPodsThatNobodyApplied) {
  client.ask("POST", std::string(kPods) + "?fieldManager=maker", pod_json("p"));
  const JsonValue conflict =
      apply(std::string(kPods) + "/p", "team",
            R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"c","image":"j"}]}})");
  EXPECT_EQ(text_at(conflict, "message"),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: "
            ".spec.containers[name=\"c\"].image");
}

TEST_F(ApplyTest, FollowsTheSchemaOfACustomKind) {
  client.ask(
      "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      R"({"metadata":{"name":"ws.example.com"},"spec":{"group":"example.com","scope":"Cluster",)"
      R"("names":{"plural":"ws","kind":"W"},"versions":[{"name":"v1","served":true,"storage":)"
      R"(true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":)"
      R"("object","properties":{"set":{"type":"array","x-kubernetes-list-type":"set","items":)"
      R"({"type":"string"}},"whole":{"type":"array","items":{"type":"string"}},"map":)"
      R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],)"
      R"("items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"},"v":)"
      R"({"type":"integer"}}}}}}}}}}]}})");
  ASSERT_EQ(client.code, 201);
  const std::string self = "/apis/example.com/v1/ws/w";
  apply(
      self, "one",
      R"({"apiVersion":"example.com/v1","kind":"W","spec":{"set":["a"],"whole":["x"],"map":[{"k":"a","v":1}]}})");
  ASSERT_EQ(client.code, 201);
  const JsonValue object = apply(
      self, "two",
      R"({"apiVersion":"example.com/v1","kind":"W","spec":{"set":["b"],"map":[{"k":"b","v":2}]}})");
  EXPECT_EQ(to_json(*at(object, "spec")),
            R"({"map":[{"k":"a","v":1},{"k":"b","v":2}],"set":["a","b"],"whole":["x"]})");
  EXPECT_THAT(managers(object)[0],
              R"(one Apply {"f:spec":{"f:map":{"k:{\"k\":\"a\"}":{".":{},"f:k":{},"f:v":{}}},)"
              R"("f:set":{"v:\"a\"":{}},"f:whole":{}}})");
  const JsonValue conflict =
      apply(self, "two", R"({"apiVersion":"example.com/v1","kind":"W","spec":{"whole":["y"]}})");
  EXPECT_EQ(text_at(conflict, "message"),
            "Apply failed with 1 conflict: conflict with \"one\": .spec.whole");
  const JsonValue undeclared = apply(
      self, "two",
      R"({"apiVersion":"example.com/v1","kind":"W","metadata":{"never":1},"spec":{"set":["b"],"no":1}})");
  EXPECT_THAT(std::string(text_at(undeclared, "message")),
              HasSubstr("Kind=W): errors:\n  .metadata.never: field not declared in schema\n"
                        "  .spec.no: field not declared in schema"));
}

}  // namespace
}  // namespace berth::memapi::testing
