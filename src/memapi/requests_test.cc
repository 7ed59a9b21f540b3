// Requests in the forms in which client-go and kubectl send them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"
#include "memapi/table_codec.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

const std::string kProtobuf = "application/vnd.kubernetes.protobuf";
const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments";

constexpr const char* kDeployment =
    R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":)"
    R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})";

struct ProtobufClient : Client {
  ProtobufClient() : Client(options()) {}

  static ApiServerOptions options() {
    static const TableCodec codec;
    ApiServerOptions options;
    options.protobuf = &codec;
    return options;
  }
  // Sends `json` in protobuf; the answer, read from protobuf.
  JsonValue send_protobuf(std::string method, std::string target, std::string_view json) {
    const TableCodec codec;
    const auto answer = send(std::move(method), std::move(target), codec.to_protobuf(json).value(),
                             kProtobuf, kProtobuf);
    code = answer->response.status;
    return parse_json(codec.to_json(answer->response.body).value()).value();
  }
};

TEST(Requests, OptionsOfEveryGroupAreReadFromProtobuf) {
  ProtobufClient client;
  for (const char* version : {"v1", "apps/v1", "batch/v1", "resource.k8s.io/v1"}) {
    const std::string options = std::string(R"({"kind":"DeleteOptions","apiVersion":")") + version +
                                R"(","propagationPolicy":"Orphan"})";
    client.ask("POST", kDeployments, kDeployment);
    ASSERT_EQ(client.code, 201);
    const JsonValue left = client.send_protobuf("DELETE", kDeployments + "/d", options);
    EXPECT_EQ(client.code, 200) << version;
    EXPECT_EQ(items_at(left, "metadata.finalizers")[0].text, "orphan");
    client.ask("PATCH", kDeployments + "/d", R"({"metadata":{"finalizers":null}})", kMergePatch);
    client.ask("POST", kDeployments, kDeployment);
    client.send_protobuf("DELETE", kDeployments, options);
    EXPECT_EQ(client.code, 200) << version;
    client.ask("PATCH", kDeployments + "/d", R"({"metadata":{"finalizers":null}})", kMergePatch);
  }
}

TEST(Requests, DefinitionsOfKindsAreReadAndServedInProtobuf) {
  ProtobufClient client;
  const std::string path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const JsonValue made = client.send_protobuf(
      "POST", path,
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",)"
      R"("metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,)"
      R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",)"
      R"("additionalProperties":{"type":"number","minimum":0.5}}}}}}]}})");
  ASSERT_EQ(client.code, 201);
  EXPECT_EQ(text_at(made, "spec.conversion.strategy"), "None");
  client.ask(
      "POST", "/apis/example.com/v1/namespaces/default/widgets",
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"a":0.25}})");
  EXPECT_EQ(client.code, 422);
  const TableCodec codec;
  const auto listed = client.send("GET", path, "", kProtobuf, kProtobuf);
  const JsonValue list = parse_json(codec.to_json(listed->response.body).value()).value();
  const JsonValue& schema =
      *at(items_at(items_at(list, "items")[0], "spec.versions")[0], "schema.openAPIV3Schema");
  EXPECT_EQ(to_json(*at(schema, "properties.spec.additionalProperties")),
            R"({"type":"number","minimum":0.5})");
}

TEST(Requests, FieldsOfSchemasAreKnown) {
  ProtobufClient client;
  const auto strict = client.send(
      "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldValidation=Strict",
      R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",)"
      R"("metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",)"
      R"("names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,)"
      R"("schema":{"openAPIV3Schema":{"type":"object","additionalProperties":{"items":{"tipe":"x"}}}}}]}})");
  EXPECT_EQ(strict->response.status, 400);
  EXPECT_THAT(strict->response.body,
              HasSubstr("unknown field \\\"spec.versions[0].schema.openAPIV3Schema."
                        "additionalProperties.items.tipe\\\""));
}

TEST(Requests, WhoWritesAPolicyIsToldThatNobodyAsksIt) {
  ProtobufClient client;
  const std::string policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
  const auto made =
      client.send("POST", policies, R"({"metadata":{"name":"p"},"spec":{"failurePolicy":"Fail"}})");
  EXPECT_EQ(made->response.status, 201);
  EXPECT_EQ(made->response.headers.find("Warning"),
            R"(299 - "admission policies are stored here, and nobody asks them")");
  const auto read = client.send("GET", policies + "/p", "", kProtobuf, kProtobuf);
  EXPECT_EQ(read->response.status, 200);
  EXPECT_EQ(read->response.headers.find("Warning"), std::nullopt);
  EXPECT_EQ(client.send("DELETE", policies + "/p")->response.headers.find("Warning"), std::nullopt);
}

TEST(Requests, ScaleIsReadFromProtobufAndSaysWhatIsSelected) {
  ProtobufClient client;
  client.ask("POST", kDeployments, kDeployment);
  const JsonValue scale = client.send_protobuf(
      "PUT", kDeployments + "/d/scale",
      R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d"},)"
      R"("spec":{"replicas":3}})");
  EXPECT_EQ(client.code, 200);
  EXPECT_EQ(int_at(scale, "spec.replicas"), 3);
  EXPECT_EQ(text_at(scale, "status.selector"), "a=b");
  EXPECT_EQ(client.message("PUT", kDeployments + "/d/scale",
                           R"({"metadata":{"name":"d"},"spec":{"replicas":"x"}})"),
            "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal string "
            "into Go struct field ScaleSpec.spec.replicas of type int32");
  EXPECT_EQ(client.message("PUT", kDeployments + "/d/scale", R"({"metadata":{"name":"e"}})"),
            "the name of the object (e) does not match the name on the URL (d)");
}

TEST(Requests, AValueOfAWrongTypeIsRefusedWhoeverSaysIt) {
  Client client;
  client.ask("POST", std::string(kPods), pod_json("p"));
  EXPECT_EQ(client.message("POST", std::string(kPods),
                           pod_json("q", R"(,"terminationGracePeriodSeconds":"abc")")),
            "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal string into "
            "Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64");
  EXPECT_EQ(client.code, 400);
  const std::string path = std::string(kPods) + "/p";
  const std::string patch = R"({"spec":{"terminationGracePeriodSeconds":"abc"}})";
  EXPECT_EQ(client.message("PATCH", path, patch, "application/strategic-merge-patch+json"),
            " \"\" is invalid: patch: Invalid value: \"map[spec:map[terminationGracePeriodSeconds:"
            "abc]]\": unrecognized type: int64");
  EXPECT_EQ(client.code, 422);
  EXPECT_THAT(client.message("PATCH", path, patch, kMergePatch),
              HasSubstr("cannot unmarshal string into Go struct field PodSpec.spec."
                        "terminationGracePeriodSeconds of type int64"));
  EXPECT_EQ(client.code, 422);
}

TEST(Requests, VersionZeroMeansWhateverIsStored) {
  Client client;
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"m"}})");
  client.ask("PUT", kConfigMaps + "/m",
             R"({"metadata":{"name":"m","resourceVersion":"0"},"data":{"a":"1"}})");
  EXPECT_EQ(client.code, 200);
  EXPECT_EQ(client.message("PUT", kConfigMaps + "/m",
                           R"({"metadata":{"name":"m","resourceVersion":"abc"}})"),
            "strconv.ParseUint: parsing \"abc\": invalid syntax");
  const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  client.ask("POST", leases, R"({"metadata":{"name":"l"}})");
  EXPECT_EQ(
      client.message("PUT", leases + "/l", R"({"metadata":{"name":"l","resourceVersion":"0"}})"),
      "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
      "0: must be specified for an update");
}

TEST(Requests, ATimeoutIsADuration) {
  Client client;
  EXPECT_EQ(client.message("GET", kConfigMaps + "?timeout=abc"),
            "invalid timeout specified in the request URL - time: invalid duration \"abc\"");
  EXPECT_EQ(client.code, 400);
  client.ask("GET", "/version?timeout=abc");
  EXPECT_EQ(client.code, 400);
  client.ask("GET", kConfigMaps + "?timeout=30s");
  EXPECT_EQ(client.code, 200);
}

TEST(Requests, AReviewIsNoTable) {
  Client client;
  client.ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "{}",
             "application/json", "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(client.code, 406);
}

TEST(Requests, TheRootNamesThePathsAndMetricsCountRequests) {
  Client client;
  const JsonValue root = client.ask("GET", "/");
  EXPECT_EQ(items_at(root, "paths").front().text, "/api");
  client.ask("GET", kConfigMaps);
  const std::string metrics = client.send("GET", "/metrics")->response.body;
  EXPECT_THAT(metrics, HasSubstr("apiserver_request_total{code=\"200\",component=\"apiserver\","
                                 "dry_run=\"\",group=\"\",resource=\"configmaps\",scope=\"namespace"
                                 "\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 1\n"));
  EXPECT_THAT(metrics,
              HasSubstr("apiserver_resource_objects{group=\"\",resource=\"namespaces\"} 4"));
}

TEST(Requests, SecretsJobsAndServicesGetWhatTheServerGives) {
  Client client;
  const JsonValue secret = client.ask("POST", "/api/v1/namespaces/default/secrets",
                                      R"({"metadata":{"name":"s"},"stringData":{"a":"hi"}})");
  EXPECT_EQ(text_at(secret, "data.a"), "aGk=");
  EXPECT_EQ(text_at(secret, "type"), "Opaque");
  EXPECT_EQ(at(secret, "stringData"), nullptr);

  const JsonValue job =
      client.ask("POST", "/apis/batch/v1/namespaces/default/jobs",
                 R"({"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never",)"
                 R"("containers":[{"name":"c","image":"i"}]}}}})");
  const std::string uid(text_at(job, "metadata.uid"));
  const JsonValue* labels = at(job, "spec.template.metadata.labels");
  ASSERT_NE(labels, nullptr);
  EXPECT_EQ(labels->find("batch.kubernetes.io/controller-uid")->text, uid);
  EXPECT_EQ(labels->find("job-name")->text, "j");

  const std::string services = "/api/v1/namespaces/default/services";
  const JsonValue first =
      client.ask("POST", services,
                 R"({"metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[{"port":80}]}})");
  const JsonValue second =
      client.ask("POST", services, R"({"metadata":{"name":"b"},"spec":{"ports":[{"port":80}]}})");
  EXPECT_NE(text_at(first, "spec.clusterIP"), text_at(second, "spec.clusterIP"));
  EXPECT_EQ(items_at(first, "spec.clusterIPs")[0].text, text_at(first, "spec.clusterIP"));
  EXPECT_GE(int_at(items_at(first, "spec.ports")[0], "nodePort").value_or(0), 30000);
  const JsonValue changed = client.ask(
      "PUT", services + "/b", R"({"metadata":{"name":"b"},"spec":{"ports":[{"port":81}]}})");
  EXPECT_EQ(text_at(changed, "spec.clusterIP"), text_at(second, "spec.clusterIP"));
}

TEST(Requests, ADaemonSetCountsItsTemplatesAndBeginsWithCountsOfZero) {
  Client client;
  const std::string path = "/apis/apps/v1/namespaces/default/daemonsets";
  const auto generation = [](const JsonValue& set) {
    return at(set, "metadata.annotations")->find("deprecated.daemonset.template.generation")->text;
  };
  std::string body = kDeployment;
  const JsonValue made = client.ask("POST", path, body);
  EXPECT_EQ(generation(made), "1");
  EXPECT_EQ(int_at(made, "status.desiredNumberScheduled"), 0);
  const auto patch = [&](const std::string& text) {
    return client.ask("PATCH", path + "/d", text, kMergePatch);
  };
  EXPECT_EQ(generation(patch(R"({"spec":{"minReadySeconds":3}})")), "1");
  EXPECT_EQ(generation(patch(R"({"spec":{"template":{"metadata":{"labels":{"c":"d"}}}}})")), "2");
}

TEST(Requests, AServiceWithoutAddressAndSelectorHasAddressesOfBothFamilies) {
  Client client;
  const JsonValue service = client.ask("POST", "/api/v1/namespaces/default/services",
                                       R"({"metadata":{"name":"a"},"spec":{"clusterIP":"None"}})");
  EXPECT_EQ(items_at(service, "spec.ipFamilies").size(), 2U);
  EXPECT_EQ(text_at(service, "spec.ipFamilyPolicy"), "RequireDualStack");
}

// A codec that cannot tell one object.
struct PickyCodec final : ProtobufCodec {
  Result<std::string> to_json(std::string_view body) const override { return table.to_json(body); }
  Result<std::string> to_protobuf(std::string_view json) const override {
    if (json.contains("unspeakable")) return fail(ErrorKind::kInvalid, "it cannot be told");
    return table.to_protobuf(json);
  }
  TableCodec table;
};

TEST(Requests, AWatchThatCannotGoOnEndsWithAnError) {
  const PickyCodec codec;
  ApiServerOptions options;
  options.protobuf = &codec;
  Client client(options);
  const auto watch = client.send("GET", kConfigMaps + "?watch=1", "", "", kProtobuf);
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"m"}})");
  EXPECT_FALSE(watch->ended);
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"unspeakable"}})");
  ASSERT_EQ(watch->chunks.size(), 2u);
  EXPECT_THAT(watch->chunks[1], HasSubstr("ERROR"));
  EXPECT_THAT(watch->chunks[1], HasSubstr("it cannot be told"));
  EXPECT_TRUE(watch->ended);
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(watch->chunks.size(), 2u);
}

}  // namespace
}  // namespace berth::memapi::testing
