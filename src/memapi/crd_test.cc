// CustomResourceDefinitions and their objects, as clients see them. Texts as kube-apiserver gives
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kWidgets = "/apis/example.com/v1/namespaces/default/widgets";

std::string definition_json(std::string_view schema, std::string_view more_version = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"widgets.example.com"}},"spec":{{"group":"example.com",)"
      R"("scope":"Namespaced","names":{{"plural":"widgets","kind":"Widget","shortNames":["w"]}},)"
      R"("versions":[{{"name":"v1","served":true,"storage":true,{}"schema":{{"openAPIV3Schema":{}}}}}]}}}})",
      more_version, schema);
}

std::string spec_schema(std::string_view spec) {
  return fmt::format(R"({{"type":"object","properties":{{"spec":{},"status":{{"type":"object",)"
                     R"("x-kubernetes-preserve-unknown-fields":true}}}}}})",
                     spec);
}

std::string widget(std::string_view spec, std::string_view name = "w") {
  return fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{}}})", name, spec);
}

struct CrdTest : public ::testing::Test {
  void define(std::string_view spec, std::string_view more_version = "") {
    client.ask("POST", kDefinitions, definition_json(spec_schema(spec), more_version));
    ASSERT_EQ(client.code, 201);
  }
  std::string spec_of(std::string_view name = "w") {
    const JsonValue object = client.ask("GET", fmt::format("{}/{}", kWidgets, name));
    const JsonValue* spec = at(object, "spec");
    return spec != nullptr ? to_json(*spec) : "";
  }
  Client client;
};

// ---- definitions --------------------------------------------------------------------------------

struct DefinitionCase {
  const char* schema;
  const char* message;  // behind the name of the definition
};
void PrintTo(const DefinitionCase& one, std::ostream* out) { *out << one.schema; }

class RefusedDefinition : public ::testing::TestWithParam<DefinitionCase> {};
TEST_P(RefusedDefinition, SaysWhatIsNotStructural) {
  Client client;
  EXPECT_EQ(client.message("POST", kDefinitions, definition_json(GetParam().schema)),
            std::string("CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is "
                        "invalid: ") +
                GetParam().message);
  EXPECT_EQ(client.code, 422);
}
INSTANTIATE_TEST_SUITE_P(
    Table, RefusedDefinition,
    ::testing::Values(
        DefinitionCase{R"({"properties":{"a":{"type":"string"}}})",
                       "spec.validation.openAPIV3Schema.type: Required value: must not be empty at "
                       "the root"},
        DefinitionCase{R"({"type":"object","properties":{"a":{}}})",
                       "spec.validation.openAPIV3Schema.properties[a].type: Required value: must "
                       "not be empty for specified object fields"},
        DefinitionCase{R"({"type":"object","properties":{"a":{"type":"array"}}})",
                       "spec.validation.openAPIV3Schema.properties[a].items: Required value: must "
                       "be specified"},
        DefinitionCase{
            R"({"type":"object","properties":{"a":{"type":"string","pattern":"["}}})",
            "spec.validation.openAPIV3Schema.properties[a].pattern: Invalid value: "
            "\"[\": must be a valid regular expression, but isn't: error parsing regexp: "
            "missing closing ]: `[`"},
        DefinitionCase{R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":)"
                       R"({"type":"string"}},"anyOf":[{"type":"object"}]}}})",
                       "spec.validation.openAPIV3Schema.properties[a].anyOf[0].type: Forbidden: "
                       "must be empty to be structural"},
        DefinitionCase{R"({"type":"object","properties":{"a":{"type":"integer","default":"x"}}})",
                       "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: "
                       "\"string\":  in body must be of type integer: \"string\""},
        DefinitionCase{R"({"type":"object","x-kubernetes-validations":[{"rule":""}]})",
                       "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Required "
                       "value: rule is not specified"},
        DefinitionCase{
            R"({"type":"object","x-kubernetes-validations":[{"rule":"1"}]})",
            "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value: "
            R"({"Rule":"1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"",)"
            R"("OptionalOldSelf":null}: cel expression must evaluate to a bool)"}));

TEST_F(CrdTest, EstablishesADefinitionAndServesItsKind) {
  define(R"({"type":"object"})", R"("subresources":{"status":{}},)");
  const JsonValue definition =
      client.ask("GET", std::string(kDefinitions) + "/widgets.example.com");
  EXPECT_EQ(text_at(definition, "status.acceptedNames.listKind"), "WidgetList");
  EXPECT_EQ(items_at(definition, "status.storedVersions").front().text, "v1");
  EXPECT_EQ(text_at(items_at(definition, "status.conditions").back(), "type"), "Established");
  const JsonValue list = client.ask("GET", "/apis/example.com/v1");
  EXPECT_EQ(items_at(list, "resources").size(), 2u);
  const JsonValue aggregated =
      client.ask("GET", "/apis", "", "",
                 "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(text_at(items_at(aggregated, "items").back(), "metadata.name"), "example.com");
  EXPECT_EQ(client.ask("GET", "/openapi/v3/apis/example.com/v1").kind, JsonValue::Kind::kObject);
}

TEST_F(CrdTest, DoesNotAcceptNamesThatAnotherDefinitionHas) {
  define(R"({"type":"object"})");
  client.ask("POST", kDefinitions,
             R"({"metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com",)"
             R"("scope":"Cluster","names":{"plural":"gadgets","kind":"Widget"},"versions":[)"
             R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)"
             R"({"type":"object"}}}]}})");
  EXPECT_EQ(client.code, 201);
  const std::string gadgets = std::string(kDefinitions) + "/gadgets.example.com";
  EXPECT_EQ(text_at(items_at(client.ask("GET", gadgets), "status.conditions").front(), "message"),
            "\"WidgetList\" is already in use");
  client.ask("GET", "/apis/example.com/v1/gadgets");
  EXPECT_EQ(client.code, 404);
  client.ask("DELETE", std::string(kDefinitions) + "/widgets.example.com");
  client.ask("GET", "/apis/example.com/v1/gadgets");
  EXPECT_EQ(client.code, 200);
}

TEST_F(CrdTest, DeletesTheObjectsOfADefinitionThatGoes) {
  define(R"({"type":"object"})");
  client.ask("POST", kWidgets, widget("{}", "plain"));
  client.ask("POST", kWidgets,
             R"({"metadata":{"name":"kept","finalizers":["example.com/f"]},"spec":{}})");
  const auto watch = client.send("GET", std::string(kWidgets) + "?watch=1");
  const std::string self = std::string(kDefinitions) + "/widgets.example.com";
  client.ask("DELETE", self);
  EXPECT_THAT(watch->events(),
              ElementsAre("ADDED kept", "ADDED plain", "MODIFIED kept", "DELETED plain"));
  EXPECT_EQ(client.message("POST", kWidgets, widget("{}", "new")),
            "create not allowed while custom resource definition is terminating");
  client.ask("PATCH", std::string(kWidgets) + "/kept", R"({"metadata":{"finalizers":null}})",
             kMergePatch);
  client.ask("GET", self);
  EXPECT_EQ(client.code, 404);
  EXPECT_TRUE(watch->ended);
}

TEST_F(CrdTest, KeepsObjectsAndDefinitionsWhenSavedAndLoaded) {
  define(R"({"type":"object","properties":{"a":{"type":"string"}}})");
  client.ask("POST", kWidgets, widget(R"({"a":"x"})"));
  Client other;
  ASSERT_TRUE(other.server.load(client.server.save()));
  EXPECT_EQ(text_at(other.ask("GET", std::string(kWidgets) + "/w"), "spec.a"), "x");
}

// ---- objects ------------------------------------------------------------------------------------

struct ValueCase {
  const char* schema;  // of spec
  const char* spec;
  const char* message;  // behind `Widget.example.com "w" is invalid: `; empty: it is taken
};
void PrintTo(const ValueCase& one, std::ostream* out) { *out << one.schema << ' ' << one.spec; }

class ValueOfCustomKind : public ::testing::TestWithParam<ValueCase> {};
TEST_P(ValueOfCustomKind, IsValidatedByTheSchema) {
  Client client;
  const ValueCase& one = GetParam();
  client.ask("POST", kDefinitions, definition_json(spec_schema(one.schema)));
  ASSERT_EQ(client.code, 201);
  const std::string message = client.message("POST", kWidgets, widget(one.spec));
  EXPECT_EQ(message, one.message[0] == 0
                         ? ""
                         : std::string("Widget.example.com \"w\" is invalid: ") + one.message);
}
INSTANTIATE_TEST_SUITE_P(
    Table, ValueOfCustomKind,
    ::testing::Values(
        ValueCase{R"({"type":"object","properties":{"n":{"type":"integer"}}})", R"({"n":"x"})",
                  "spec.n: Invalid value: \"string\": spec.n in body must be of type integer: "
                  "\"string\""},
        ValueCase{R"({"type":"object","properties":{"n":{"type":"integer"}}})", R"({"n":1.0})", ""},
        ValueCase{R"({"type":"object","required":["n"]})", "{}", "spec.n: Required value"},
        ValueCase{R"({"type":"object","properties":{"s":{"type":"string","enum":["a","b"]}}})",
                  R"({"s":"c"})",
                  "spec.s: Unsupported value: \"c\": supported values: \"a\", \"b\""},
        ValueCase{R"({"type":"object","properties":{"s":{"type":"string","maxLength":2}}})",
                  R"({"s":"abc"})", "spec.s: Too long: may not be more than 2 bytes"},
        ValueCase{R"({"type":"object","properties":{"n":{"type":"number","maximum":1.5}}})",
                  R"({"n":2})",
                  "spec.n: Invalid value: 2: spec.n in body should be less than or equal to 1.5"},
        ValueCase{R"({"type":"object","properties":{"t":{"type":"string","format":"date-time"}}})",
                  R"({"t":"x"})",
                  "spec.t: Invalid value: \"x\": spec.t in body must be of type date-time: \"x\""},
        ValueCase{R"({"type":"object","properties":{"l":{"type":"array","maxItems":1,"items":)"
                  R"({"type":"integer"}}}})",
                  R"({"l":[1,2]})", "spec.l: Too many: 2: must have at most 1 item"},
        ValueCase{R"({"type":"object","properties":{"l":{"type":"array",)"
                  R"("x-kubernetes-list-type":"set","items":{"type":"string"}}}})",
                  R"({"l":["a","a"]})", "spec.l[1]: Duplicate value: \"a\""},
        ValueCase{R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},)"
                  R"("oneOf":[{"required":["a"]},{"required":["b"]}]})",
                  R"({"a":"x","b":"y"})",
                  "<nil>: Invalid value: \"\": \"spec\" must validate one and only one schema "
                  "(oneOf). Found 2 valid alternatives"},
        ValueCase{R"({"type":"object","properties":{"q":{"x-kubernetes-int-or-string":true}}})",
                  R"({"q":"5%"})", ""},
        // Rules.
        ValueCase{
            R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},)"
            R"("x-kubernetes-validations":[{"rule":"self.a <= self.b",)"
            R"json("messageExpression":"'a is ' + string(self.a)"}]})json",
            R"({"a":2,"b":1})", "spec: Invalid value: a is 2"},
        ValueCase{R"({"type":"object","properties":{"a":{"type":"string",)"
                  R"json("x-kubernetes-validations":[{"rule":"self.startsWith('x')"}]}}})json",
                  R"({"a":"y"})",
                  "spec.a: Invalid value: \"y\": failed rule: self.startsWith('x')"},
        ValueCase{R"({"type":"object","properties":{"m":{"type":"object","additionalProperties":)"
                  R"({"type":"integer","x-kubernetes-validations":[{"rule":"self > 0",)"
                  R"("message":"positive","reason":"FieldValueForbidden"}]}}}})",
                  R"({"m":{"k":0}})", "spec.m[k]: Forbidden: positive"},
        ValueCase{R"({"type":"object","properties":{"namespace":{"type":"string"},)"
                  R"("t":{"type":"string","format":"duration"}},"x-kubernetes-validations":)"
                  R"json([{"rule":"has(self.__namespace__) && self.t < duration('2h')"}]})json",
                  R"({"namespace":"n","t":"1h"})", ""}));

TEST_F(CrdTest, PrunesUnknownFieldsAndFillsInDefaults) {
  define(R"({"type":"object","properties":{"a":{"type":"string","default":"x"},)"
         R"("open":{"type":"object","x-kubernetes-preserve-unknown-fields":true},)"
         R"("list":{"type":"array","items":{"type":"object","properties":{"n":)"
         R"({"type":"integer","default":3}}}}}})");
  client.ask("POST", kWidgets, widget(R"({"no":1,"open":{"any":{"x":null}},"list":[{"no":2}]})"));
  EXPECT_EQ(spec_of(), R"({"a":"x","list":[{"n":3}],"open":{"any":{"x":null}}})");
  EXPECT_EQ(client.message("POST", std::string(kWidgets) + "?fieldValidation=Strict",
                           widget(R"({"no":1})", "v")),
            "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: "
            "unknown field \"spec.no\"");
}

TEST_F(CrdTest, ComparesWithTheOldObjectInRules) {
  define(R"({"type":"object","properties":{"a":{"type":"string"}},"x-kubernetes-validations":)"
         R"([{"rule":"self.a == oldSelf.a","message":"a stays"}]})");
  client.ask("POST", kWidgets, widget(R"({"a":"x"})"));
  EXPECT_EQ(client.code, 201);
  EXPECT_EQ(
      client.message("PATCH", std::string(kWidgets) + "/w", R"({"spec":{"a":"y"}})", kMergePatch),
      "Widget.example.com \"w\" is invalid: spec: Invalid value: a stays");
}

TEST_F(CrdTest, KeepsSpecAndStatusApart) {
  define(R"({"type":"object","properties":{"replicas":{"type":"integer"}}})",
         R"("subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas",)"
         R"("statusReplicasPath":".status.replicas"}},)");
  const std::string self = std::string(kWidgets) + "/w";
  client.ask("POST", kWidgets,
             R"({"metadata":{"name":"w"},"spec":{"replicas":1},"status":{"replicas":5}})");
  JsonValue object = client.ask("PATCH", self + "/status",
                                R"({"spec":{"replicas":7},"status":{"replicas":2}})", kMergePatch);
  EXPECT_EQ(int_at(object, "spec.replicas"), 1);
  EXPECT_EQ(int_at(object, "status.replicas"), 2);
  EXPECT_EQ(int_at(object, "metadata.generation"), 1);
  object = client.ask("PATCH", self + "/scale", R"({"spec":{"replicas":3}})", kMergePatch);
  EXPECT_EQ(text_at(object, "kind"), "Scale");
  object = client.ask("GET", self);
  EXPECT_EQ(int_at(object, "spec.replicas"), 3);
  EXPECT_EQ(int_at(object, "metadata.generation"), 2);
}

TEST_F(CrdTest, ShowsColumnsAndSelectsByFields) {
  define(
      R"({"type":"object","properties":{"color":{"type":"string"},"list":{"type":"array",)"
      R"("items":{"type":"object","properties":{"t":{"type":"string"},"v":{"type":"integer"}}}}}})",
      R"("selectableFields":[{"jsonPath":".spec.color"}],"additionalPrinterColumns":[)"
      R"({"name":"Color","type":"string","jsonPath":".spec.color"},)"
      R"json({"name":"B","type":"integer","jsonPath":".spec.list[?(@.t==\"b\")].v"}],)json");
  client.ask("POST", kWidgets,
             widget(R"({"color":"red","list":[{"t":"a","v":1},{"t":"b","v":2}]})", "r"));
  client.ask("POST", kWidgets, widget(R"({"color":"blue"})", "b"));
  const JsonValue table =
      client.ask("GET", std::string(kWidgets) + "?fieldSelector=spec.color%3Dred", "", "",
                 "application/json;as=Table;v=v1;g=meta.k8s.io");
  ASSERT_EQ(items_at(table, "rows").size(), 1u);
  EXPECT_EQ(to_json(*at(items_at(table, "rows")[0], "cells")), R"(["r","red",2])");
  EXPECT_EQ(client.message("GET", std::string(kWidgets) + "?fieldSelector=spec.list%3Dx"),
            "field label not supported: spec.list");
}

TEST_F(CrdTest, RefusesStrategicMergePatches) {
  define(R"({"type":"object"})");
  client.ask("POST", kWidgets, widget("{}"));
  client.ask("PATCH", std::string(kWidgets) + "/w", "{}", "application/strategic-merge-patch+json");
  EXPECT_EQ(client.code, 415);
}

TEST_F(CrdTest, ServesSeveralVersionsOfOneObject) {
  client.ask(
      "POST", kDefinitions,
      R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com",)"
      R"("scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[)"
      R"({"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":)"
      R"("object","x-kubernetes-preserve-unknown-fields":true}}},)"
      R"({"name":"v1beta1","served":true,"storage":false,"deprecated":true,"schema":)"
      R"({"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object"}}}}}]}})");
  ASSERT_EQ(client.code, 201);
  client.ask("POST", kWidgets, widget("{}"));
  const JsonValue object =
      client.ask("GET", "/apis/example.com/v1beta1/namespaces/default/widgets/w");
  EXPECT_EQ(text_at(object, "apiVersion"), "example.com/v1beta1");
  const JsonValue group = client.ask("GET", "/apis/example.com");
  EXPECT_EQ(text_at(group, "preferredVersion.version"), "v1");
}

}  // namespace
}  // namespace berth::memapi::testing
