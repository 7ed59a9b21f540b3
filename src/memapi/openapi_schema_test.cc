#include "memapi/openapi_schema.h"

#include <gtest/gtest.h>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

const JsonValue& member(const JsonValue& value, std::initializer_list<std::string_view> names) {
  static const JsonValue kNothing;
  const JsonValue* found = &value;
  for (const std::string_view name : names) {
    found = found->find(name);
    if (found == nullptr) return kNothing;
  }
  return *found;
}

TEST(OpenApiSchema, AKindsFieldsAreThereWithTheirTypes) {
  Client client;
  const JsonValue document = client.ask("GET", "/openapi/v3/api/v1");
  const JsonValue& schemas = member(document, {"components", "schemas"});
  const JsonValue& pod = member(schemas, {"io.k8s.api.core.v1.Pod"});
  EXPECT_EQ(text_at(items_at(pod, "x-kubernetes-group-version-kind")[0], "kind"), "Pod");
  const JsonValue& pod_spec = member(pod, {"properties", "spec"});
  EXPECT_EQ(text_at(items_at(pod_spec, "allOf")[0], "$ref"),
            "#/components/schemas/io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(text_at(pod_spec, "description"), "What is wanted.");
  EXPECT_EQ(member(pod, {"properties", "apiVersion", "type"}).text, "string");
  const JsonValue& spec = member(schemas, {"io.k8s.api.core.v1.PodSpec", "properties"});
  EXPECT_EQ(member(spec, {"containers", "type"}).text, "array");
  EXPECT_EQ(member(spec, {"containers", "items", "$ref"}).text,
            "#/components/schemas/io.k8s.api.core.v1.Container");
  EXPECT_EQ(member(spec, {"nodeSelector", "additionalProperties", "type"}).text, "string");
  EXPECT_EQ(member(spec, {"hostNetwork", "type"}).text, "boolean");
  EXPECT_EQ(member(spec, {"priority", "format"}).text, "int32");
}

TEST(OpenApiSchema, SaysHowListsAreMerged) {
  Client client;
  const JsonValue document = client.ask("GET", "/openapi/v3/api/v1");
  const JsonValue& spec =
      member(document, {"components", "schemas", "io.k8s.api.core.v1.PodSpec", "properties"});
  EXPECT_EQ(member(spec, {"containers", "x-kubernetes-patch-merge-key"}).text, "name");
  EXPECT_EQ(member(spec, {"volumes", "x-kubernetes-patch-strategy"}).text, "merge,retainKeys");
  EXPECT_EQ(member(spec, {"containers", "x-kubernetes-list-type"}).text, "map");
}

TEST(OpenApiSchema, VersionTwoHasEveryKindInOneDocument) {
  Client client;
  const JsonValue document = client.ask("GET", "/openapi/v2");
  EXPECT_EQ(client.code, 200);
  const JsonValue& definitions = member(document, {"definitions"});
  const JsonValue& pod = member(definitions, {"io.k8s.api.core.v1.Pod"});
  EXPECT_EQ(member(pod, {"properties", "spec", "$ref"}).text,
            "#/definitions/io.k8s.api.core.v1.PodSpec");
  EXPECT_NE(definitions.find("io.k8s.api.apps.v1.Deployment"), nullptr);
  for (const char* accepted : {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
                               "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"}) {
    const auto protobuf = client.send("GET", "/openapi/v2", "", "", accepted);
    EXPECT_EQ(protobuf->response.status, 200);
    EXPECT_EQ(protobuf->response.headers.find("Content-Type"),
              "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
    EXPECT_EQ(protobuf->response.body.substr(0, 5), std::string("\x0a\x03") + "2.0");
  }
}

TEST(OpenApiSchema, EveryReferenceLeadsSomewhere) {
  for (const std::string_view group : {"", "apps", "batch", "policy", "resource.k8s.io"}) {
    const JsonValue schemas = openapi_schemas(group, "v1", CustomKinds());
    EXPECT_FALSE(schemas.members.empty()) << group;
    const std::string text = to_json(schemas);
    static constexpr std::string_view kMark = "#/components/schemas/";
    for (std::size_t at = text.find(kMark); at != std::string::npos;
         at = text.find(kMark, at + 1)) {
      const std::size_t begin = at + kMark.size();
      const std::string name = text.substr(begin, text.find('"', begin) - begin);
      EXPECT_NE(schemas.find(name), nullptr) << name;
    }
  }
}

}  // namespace
}  // namespace berth::memapi::testing
