#include "kube/api_client.h"

#include <gtest/gtest.h>

#include "api/envelope.h"

namespace berth::kube {
namespace {

constexpr std::string_view kJson = "application/json";

TEST(FailureOf, AStatusSpeaksForItself) {
  const ApiFailure failure = failure_of(
      409, "application/json; charset=utf-8",
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"pod is assigned",)"
      R"("reason":"Conflict","details":{"name":"a","kind":"pods/binding"},"code":409})",
      "POST", "/api/v1/namespaces/ns/pods/a/binding");
  EXPECT_EQ(failure.error, (Error{ErrorKind::kConflict, "pod is assigned"}));
  EXPECT_EQ(failure.status.reason, "Conflict");
  EXPECT_EQ(failure.status.kind, "pods/binding");
  EXPECT_EQ(failure.status.code, 409);
}

TEST(FailureOf, AStatusInProtobufToo) {
  // status: "Failure", message: "no", reason: "Forbidden"
  const std::string message =
      "\x12\x07"
      "Failure\x1a\x02no\x22\x09"
      "Forbidden";
  const ApiFailure failure =
      failure_of(403, kProtoContentType, seal_envelope("v1", "Status", message));
  EXPECT_EQ(failure.error, (Error{ErrorKind::kForbidden, "no"}));
  EXPECT_EQ(failure.status.reason, "Forbidden");
  // Another kind of object is no Status.
  EXPECT_EQ(failure_of(403, kProtoContentType, seal_envelope("v1", "Pod", message)).error.message,
            "unknown");
}

struct Worded {
  int code;
  std::string_view type;
  std::string_view body;
  std::string_view method;
  std::string_view path;
  ErrorKind kind;
  std::string_view message;
  std::string_view reason;
};

TEST(FailureOf, WithoutAStatusTheCodeIsPutIntoWords) {
  const Worded cases[] = {
      {401, "text/plain", "go away", "GET", "/api/v1/pods?limit=500", ErrorKind::kForbidden,
       "the server has asked for the client to provide credentials (get pods)", "Unauthorized"},
      {403, "text/plain", " no entry\n", "GET", "/healthz", ErrorKind::kForbidden, "no entry",
       "Forbidden"},
      {404, kJson, "{}", "GET", "/apis/apps/v1/namespaces/ns/replicasets/a", ErrorKind::kNotFound,
       "the server could not find the requested resource (get replicasets.apps a)", "NotFound"},
      {404, kJson, "not JSON", "GET", "/api/v1/namespaces/ns", ErrorKind::kNotFound,
       "the server could not find the requested resource (get namespaces ns)", "NotFound"},
      {409, "", "", "POST", "/api/v1/namespaces/ns/pods/a/binding", ErrorKind::kConflict,
       "the server reported a conflict (post pods a)", "AlreadyExists"},
      {409, "", "", "PUT", "", ErrorKind::kConflict, "the server reported a conflict", "Conflict"},
      {410, "", "", "", "", ErrorKind::kGone,
       "the server responded with the status code 410 but did not return more information", ""},
      {429, "", "", "", "", ErrorKind::kUnavailable,
       "the server has received too many requests and has asked us to try again later",
       "TooManyRequests"},
      {500, "text/html; charset=utf-8", "<b>\"oops\"</b>", "", "", ErrorKind::kInternal,
       "an error on the server (\"<b>\\\"oops\\\"</b>\") has prevented the request from succeeding",
       "InternalError"},
      {502, "application/octet-stream", "\x01\x02", "", "", ErrorKind::kUnavailable,
       "an error on the server (\"unknown\") has prevented the request from succeeding",
       "InternalError"},
      {503, "", "", "", "", ErrorKind::kUnavailable,
       "the server is currently unable to handle the request", "ServiceUnavailable"},
      {504, "", "", "", "", ErrorKind::kTimeout,
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request",
       "Timeout"},
      {302, "", "", "", "", ErrorKind::kInternal,
       "the server responded with the status code 302 but did not return more information", ""},
  };
  for (const Worded& c : cases) {
    const ApiFailure failure = failure_of(c.code, c.type, c.body, c.method, c.path);
    EXPECT_EQ(failure.error, (Error{c.kind, std::string(c.message)})) << c.code;
    EXPECT_EQ(failure.status.reason, c.reason) << c.code;
    EXPECT_EQ(failure.status.code, c.code);
  }
}

TEST(FailureOf, ALongTextIsCut) {
  const ApiFailure failure = failure_of(403, "text/plain", std::string(10'000, 'x'));
  EXPECT_EQ(failure.error.message.size(), 2048u);
}

}  // namespace
}  // namespace berth::kube
