#include "memapi/field_validation.h"

#include <gtest/gtest.h>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

std::string pod_with_more() {
  return R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i:1"}],"foo":1}})";
}

TEST(FieldValidation, StrictRefusesWithUpstreamsSentence) {
  Client client;
  EXPECT_EQ(
      client.message("POST", std::string(kPods) + "?fieldValidation=Strict", pod_with_more()),
      R"(Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "spec.foo")");
  EXPECT_EQ(client.code, 400);
}

TEST(FieldValidation, OtherwiseTheAnswerWarns) {
  for (const std::string query : {"", "?fieldValidation=Warn"}) {
    Client client;
    const auto answer = client.send("POST", std::string(kPods) + query, pod_with_more());
    EXPECT_EQ(answer->response.status, 201);
    EXPECT_EQ(answer->response.headers.find("Warning").value_or(""),
              R"(299 - "unknown field \"spec.foo\"")");
  }
  Client client;
  const auto answer =
      client.send("POST", std::string(kPods) + "?fieldValidation=Ignore", pod_with_more());
  EXPECT_FALSE(answer->response.headers.find("Warning").has_value());
}

TEST(FieldValidation, PatchesAreLookedAtToo) {
  Client client;
  client.ask("POST", std::string(kPods), testing::pod_json("p"));
  const std::string strict = std::string(kPods) + "/p?fieldValidation=Strict";
  EXPECT_EQ(
      client.message("PATCH", strict, R"({"spec":{"foo":"bar"}})",
                     "application/strategic-merge-patch+json"),
      R"( "" is invalid: patch: Invalid value: "map[spec:map[foo:bar]]": strict decoding error: unknown field "spec.foo")");
  EXPECT_EQ(client.code, 422);
  client.message("PATCH", strict, R"({"spec":{"foo":"bar"}})", kMergePatch);
  EXPECT_EQ(client.code, 422);
  client.message("PATCH", strict, R"({"metadata":{"labels":{"a":"b"}}})", kMergePatch);
  EXPECT_EQ(client.code, 200);
}

}  // namespace
}  // namespace berth::memapi::testing
