// Texts as kube-scheduler gives them, byte for byte.
#include "serve/responses.h"

#include <gtest/gtest.h>

#include "serve/testing/served.h"

namespace berth::serve::testing {
namespace {

net::HttpRequest request(net::HttpHeaders headers, std::string target = "/metrics") {
  net::HttpRequest made;
  made.method = "GET";
  made.target = std::move(target);
  made.headers = std::move(headers);
  return made;
}

TEST(Responses, UnauthorizedForPeople) {
  const net::HttpResponse response = unauthorized(request({{"User-Agent", "curl/7.88.1"}}));
  EXPECT_EQ(head_of(response), "401; content-type: application/json");
  EXPECT_EQ(response.body, R"({
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "Unauthorized",
  "reason": "Unauthorized",
  "code": 401
})");
}

TEST(Responses, UnauthorizedForPrograms) {
  const net::HttpResponse response = unauthorized(request({{"User-Agent", "x"}}));
  EXPECT_EQ(response.body, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
                           R"("message":"Unauthorized","reason":"Unauthorized","code":401})"
                           "\n");
}

TEST(Responses, PrettinessIsAskedForOrGuessed) {
  EXPECT_TRUE(wants_pretty(request({{"User-Agent", "Mozilla/5.0"}})));
  EXPECT_TRUE(wants_pretty(request({{"User-Agent", "x"}}, "/a?pretty=1")));
  EXPECT_TRUE(wants_pretty(request({{"User-Agent", "x"}}, "/a?pretty")));
  EXPECT_FALSE(wants_pretty(request({{"User-Agent", "curl/7"}}, "/a?pretty=0")));
  EXPECT_FALSE(wants_pretty(request({{"User-Agent", "kubectl/v1.37"}})));
}

TEST(Responses, AStatusComesInTheEncodingThatIsAccepted) {
  net::HttpResponse response =
      forbidden(request({{"Accept", "application/yaml"}}), "plain", "get", "/metrics", "");
  EXPECT_EQ(head_of(response),
            "403; content-type: application/yaml; x-content-type-options: nosniff");
  EXPECT_EQ(response.body,
            "apiVersion: v1\ncode: 403\ndetails: {}\nkind: Status\n"
            "message: 'forbidden: User \"plain\" cannot get path \"/metrics\"'\n"
            "metadata: {}\nreason: Forbidden\nstatus: Failure\n");

  response = unauthorized(request({{"Accept", "application/vnd.kubernetes.protobuf"}}));
  EXPECT_EQ(head_of(response), "401; content-type: application/vnd.kubernetes.protobuf");
  const unsigned char wanted[] = {
      0x6b, 0x38, 0x73, 0x00, 0x0a, 0x0c, 0x0a, 0x02, 0x76, 0x31, 0x12, 0x06, 0x53, 0x74, 0x61,
      0x74, 0x75, 0x73, 0x12, 0x30, 0x0a, 0x06, 0x0a, 0x00, 0x12, 0x00, 0x1a, 0x00, 0x12, 0x07,
      0x46, 0x61, 0x69, 0x6c, 0x75, 0x72, 0x65, 0x1a, 0x0c, 0x55, 0x6e, 0x61, 0x75, 0x74, 0x68,
      0x6f, 0x72, 0x69, 0x7a, 0x65, 0x64, 0x22, 0x0c, 0x55, 0x6e, 0x61, 0x75, 0x74, 0x68, 0x6f,
      0x72, 0x69, 0x7a, 0x65, 0x64, 0x30, 0x91, 0x03, 0x1a, 0x00, 0x22, 0x00};
  EXPECT_EQ(response.body, std::string(reinterpret_cast<const char*>(wanted), sizeof wanted));

  for (const char* accept : {"text/plain", "application/json;as=Table", "*/*", ""})
    EXPECT_EQ(head_of(unauthorized(request({{"Accept", accept}}))),
              "401; content-type: application/json")
        << accept;
}

TEST(Responses, ForbiddenSaysWhoAndWhat) {
  const net::HttpResponse response =
      forbidden(request({{"User-Agent", "curl"}}), "plain", "get", "/nope a\"b<c>", "RBAC says no");
  EXPECT_EQ(response.body, R"({
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "forbidden: User \"plain\" cannot get path \"/nope a\\\"b\u0026lt;c\u0026gt;\": RBAC says no",
  "reason": "Forbidden",
  "details": {},
  "code": 403
})");
}

TEST(Responses, InternalErrorsNameTheTarget) {
  const net::HttpResponse response =
      internal_error(request({}, "/metrics?pretty=0"), "x is forbidden");
  EXPECT_EQ(head_of(response),
            "500; content-type: text/plain; charset=utf-8; x-content-type-options: nosniff");
  EXPECT_EQ(response.body, "Internal Server Error: \"/metrics?pretty=0\": x is forbidden\n");
}

TEST(Responses, AcceptIsReadByQualityThenByPrecision) {
  const auto ranges = parse_accept(
      "text/plain;q=0.1, */*;q=0.5, application/*, application/json;as=Flagz;v=v1, broken, *");
  ASSERT_EQ(ranges.size(), 5u);
  EXPECT_EQ(ranges[0].subtype, "json");
  EXPECT_EQ(ranges[0].parameter("as"), "Flagz");
  EXPECT_EQ(ranges[0].parameter("v"), "v1");
  EXPECT_EQ(ranges[0].parameter("x"), "");
  EXPECT_EQ(ranges[1].type + "/" + ranges[1].subtype, "application/*");
  EXPECT_EQ(ranges[2].type + "/" + ranges[2].subtype, "*/*");
  EXPECT_EQ(ranges[2].quality, 1);
  EXPECT_EQ(ranges[3].quality, 0.5);
  EXPECT_EQ(ranges[4].type, "text");
  EXPECT_TRUE(ranges[1].covers("application", "yaml"));
  EXPECT_FALSE(ranges[1].covers("text", "yaml"));
}

}  // namespace
}  // namespace berth::serve::testing
