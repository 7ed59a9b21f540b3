#include "api/proto_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/envelope.h"
#include "api/schema.h"
#include "api/testing/golden.h"
#include "api/testing/protobuf.h"
#include "api/type_check.h"
#include "base/testing/names.h"
#include "wire/json_tree.h"

namespace berth {
namespace {

std::string to_proto(std::string_view kind, std::string_view json) {
  const auto bytes = json_to_proto("v1", kind, json);
  return bytes ? *bytes : bytes.error().message;
}

std::string round_trip(std::string_view kind, std::string_view json) {
  const auto bytes = json_to_proto("v1", kind, json);
  if (!bytes) return bytes.error().message;
  const auto again = proto_to_json("v1", kind, *bytes);
  return again ? *again : again.error().message;
}

TEST(ProtoJson, WritesTheJsonThatUpstreamWrites) {
  for (const auto& object : golden_objects()) {
    const auto json = envelope_to_json(object.proto);
    ASSERT_TRUE(json) << json.error().message << "\n" << object.json;
    EXPECT_EQ(*json, object.json);
  }
}

TEST(ProtoJson, SchemasWithinSchemasHaveALimit) {
  const auto definition = [](int depth) {
    std::string schema = "{}";
    for (int i = 0; i < depth; ++i) schema = R"({"not":)" + schema + "}";
    return R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","spec":{)"
           R"("versions":[{"name":"v1","schema":{"openAPIV3Schema":)" +
           schema + "}}]}}";
  };
  const auto back = [&](int depth) {
    return envelope_to_json(json_to_envelope(definition(depth)).value());
  };
  ASSERT_TRUE(back(200));
  EXPECT_THAT(*back(200), HasSubstr(R"({"not":{"not":{)"));
  EXPECT_EQ(back(400).error().message, "too many messages within each other");
}

TEST(ProtoJson, AValueOfNoFormThatTheFieldTakesIsRefused) {
  const auto message = schema::find_message("apiextensions.k8s.io/v1", "CustomResourceDefinition");
  const auto fault = [&](const std::string& schema) {
    const auto found = check_types(
        message.value(),
        parse_json(R"({"spec":{"versions":[{"schema":{"openAPIV3Schema":)" + schema + "}}]}}")
            .value());
    return found ? found->text : "";
  };
  EXPECT_EQ(fault(R"({"items":{"type":"string"},"additionalProperties":true,"minimum":1.5})"), "");
  EXPECT_EQ(fault(R"({"additionalProperties":"yes"})"), "boolean or JSON schema expected");
  EXPECT_EQ(fault(R"({"items":true})"), "list or JSON schema expected");
  EXPECT_EQ(fault(R"({"items":{"type":5}})"),
            "json: cannot unmarshal number into Go struct field JSONSchemaProps."
            "spec.versions.schema.openAPIV3Schema.items.type of type string");
  EXPECT_EQ(fault(R"({"maximum":"5"})"),
            "json: cannot unmarshal string into Go struct field JSONSchemaProps."
            "spec.versions.schema.openAPIV3Schema.maximum of type float64");
}

TEST(ProtoJson, WritesTheBytesThatUpstreamWrites) {
  for (const auto& object : golden_objects()) {
    const auto bytes = json_to_envelope(object.json);
    ASSERT_TRUE(bytes) << bytes.error().message << "\n" << object.json;
    EXPECT_EQ(*bytes, object.proto) << object.json;
  }
}

TEST(ProtoJson, KnowsWhatAnApiServerServes) {
  EXPECT_TRUE(has_proto("v1", "Pod"));
  EXPECT_TRUE(has_proto("v1", "PodList"));
  EXPECT_TRUE(has_proto("events.k8s.io/v1", "EventList"));
  EXPECT_TRUE(has_proto("meta.k8s.io/v1", "PartialObjectMetadataList"));
  EXPECT_FALSE(has_proto("v1", "Deployment"));
  EXPECT_FALSE(has_proto("", ""));
  EXPECT_EQ(proto_to_json("v2", "Pod", "").error().message, "no kind v2, Pod");
  EXPECT_EQ(json_to_envelope("{}").error().message, "no kind , ");
}

TEST(ProtoJson, FieldsThatNobodyKnowsAreDropped) {
  EXPECT_EQ(round_trip("ConfigMap", R"({"metadata":{"name":"c","new":1},"alien":{"a":[1]}})"),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}})");
  std::string bytes = to_proto("ConfigMap", "{}");
  bytes += testing::from_hex("e03e07ea3e0161");  // field 1004: 7, field 1005: "a"
  EXPECT_EQ(proto_to_json("v1", "ConfigMap", bytes).value(),
            R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{}})");
}

TEST(ProtoJson, NullIsAbsent) {
  EXPECT_EQ(round_trip("Pod", R"({"metadata":null,"spec":{"priority":null,"containers":null,
                                  "nodeSelector":null,"nodeName":null}})"),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{},"spec":{"containers":null},)"
            R"("status":{}})");
}

TEST(ProtoJson, AmountsBecomeCanonical) {
  EXPECT_THAT(round_trip("Node", R"({"status":{"capacity":{"cpu":2,"memory":"1024Mi"}}})"),
              HasSubstr(R"("capacity":{"cpu":"2","memory":"1Gi"})"));
}

TEST(ProtoJson, SaysWhereTheJsonIsWrong) {
  EXPECT_EQ(to_proto("Pod", R"({"spec":{"containers":[{"name":"a"},{"name":7}]}})"),
            "spec.containers[1].name: expected a string, got a number");
  EXPECT_EQ(to_proto("Pod", R"({"spec":{"priority":3000000000}})"),
            "spec.priority: expected an integer of 32 bits, got 3000000000");
  EXPECT_EQ(to_proto("Pod", R"({"spec":{"priority":1.5}})"),
            "spec.priority: expected an integer of 32 bits, got 1.5");
  EXPECT_EQ(to_proto("Pod", R"({"spec":[]})"), "spec: expected a map, got a list");
  EXPECT_EQ(to_proto("Pod", R"({"metadata":{"labels":{"a":1}}})"),
            "metadata.labels[a]: expected a string, got a number");
  EXPECT_THAT(to_proto("Node", R"({"status":{"capacity":{"cpu":"x"}}})"),
              StartsWith("status.capacity[cpu]: "));
  EXPECT_THAT(to_proto("Pod", R"({"metadata":{"creationTimestamp":"yesterday"}})"),
              StartsWith("metadata.creationTimestamp: "));
  EXPECT_EQ(to_proto("ConfigMap", R"({"binaryData":{"a":"?"}})"),
            "binaryData[a]: expected bytes in base64");
  EXPECT_EQ(to_proto("Pod", R"([])"), "expected a map, got a list");
  EXPECT_THAT(to_proto("Pod", "{"), HasSubstr("unexpected end of JSON input"));
}

TEST(ProtoJson, SaysWhereTheBytesAreWrong) {
  // spec.priority as text
  const auto json = proto_to_json("v1", "Pod", testing::from_hex("1204ca010161"));
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().message, "field 25: expected a number, got bytes");
}

TEST(ProtoJson, AnObjectWithinAnObjectIsShownByItsEnvelope) {
  const std::string status = testing::golden("Status", "x").proto;
  const std::string event = watch_frame({.type = "ERROR", .object = status}).substr(4);
  const auto json = proto_to_json("v1", "WatchEvent", event);
  ASSERT_TRUE(json);
  EXPECT_EQ(*json, R"({"kind":"WatchEvent","apiVersion":"v1","type":"ERROR","object":)" +
                       testing::golden("Status", "x").json + "}");
  // What is neither JSON nor an object cannot be shown.
  const std::string odd = watch_frame({.type = "ERROR", .object = "{"}).substr(4);
  EXPECT_EQ(proto_to_json("v1", "WatchEvent", odd).value(),
            R"({"kind":"WatchEvent","apiVersion":"v1","type":"ERROR","object":null})");
}

TEST(ProtoJson, NestedEnvelopesEnd) {
  std::string object = seal_envelope("v1", "WatchEvent", "");
  for (int i = 0; i < 100; ++i) {
    const std::string event = watch_frame({.type = "E", .object = object}).substr(4);
    object = seal_envelope("v1", "WatchEvent", event);
  }
  const auto json = envelope_to_json(object);
  ASSERT_TRUE(json);
  EXPECT_THAT(*json, HasSubstr(R"("object":null)"));
}

TEST(ProtoJson, EveryTruncationIsReadOrRefused) {
  for (const auto& object : golden_objects()) {
    for (std::size_t size = 0; size < object.proto.size(); size += 7)
      static_cast<void>(envelope_to_json(std::string_view(object.proto).substr(0, size)));
  }
}

}  // namespace
}  // namespace berth
