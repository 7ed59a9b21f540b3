#include "kube/reviews.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/testing/names.h"
#include "kube/testing/fake_api_client.h"

namespace berth::kube::testing {
namespace {

class ReviewsTest : public ::testing::Test {
 protected:
  ReviewsTest() {
    const auto output = std::make_shared<telemetry::LogOutput>(
        telemetry::LogOptions{}, [this] { return loop.wall_now(); },
        std::make_unique<telemetry::StringSink>(log));
    Reviews::Options options;
    options.observe_token = [this](std::string_view code, Duration) {
      token_codes.emplace_back(code);
    };
    options.observe_access = [this](std::string_view code, Duration) {
      access_codes.emplace_back(code);
    };
    reviews = std::make_unique<Reviews>(loop, authentication, authorization, Random(3),
                                        std::move(options), telemetry::Log(output));
  }

  void ask_about_token(CancelToken cancel = {}) { tasks.spawn(token_task(cancel)); }
  void ask_about_access(AccessAttributes attributes) {
    tasks.spawn(access_task(std::move(attributes)));
  }
  void run_for(Duration duration) { loop.run_until(loop.now() + duration); }

  VirtualLoop loop;
  FakeApiClient authentication{loop}, authorization{loop};
  std::string log;
  std::vector<std::string> token_codes, access_codes;
  std::unique_ptr<Reviews> reviews;
  std::optional<Result<TokenReview>> token;
  std::optional<Result<AccessReview>> access;
  TaskSet tasks;

 private:
  Task<void> token_task(CancelToken cancel) {
    Task<Result<TokenReview>> asking = reviews->review_token("s3\"cret", cancel);
    token = co_await asking;
  }
  Task<void> access_task(AccessAttributes attributes) {
    Task<Result<AccessReview>> asking = reviews->review_access(std::move(attributes));
    access = co_await asking;
  }
};

TEST_F(ReviewsTest, ATokenIsSomebodys) {
  authentication.script(answered(R"({"kind":"TokenReview","status":{"authenticated":true,
    "user":{"username":"system:serviceaccount:m:p","uid":"u1","groups":["a","b"],
            "extra":{"k":["v","w"]}},"audiences":["x"]}})",
                                 201));
  ask_about_token();
  run_for(seconds(0));
  ASSERT_TRUE(token && *token);
  EXPECT_TRUE((*token)->authenticated);
  EXPECT_EQ((*token)->user, (UserInfo{.name = "system:serviceaccount:m:p",
                                      .uid = "u1",
                                      .groups = {"a", "b"},
                                      .extra = {{"k", {"v", "w"}}}}));
  ASSERT_EQ(authentication.calls().size(), 1U);
  const ApiCall& call = authentication.calls()[0];
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.path, "/apis/authentication.k8s.io/v1/tokenreviews");
  EXPECT_EQ(call.content_type, "application/json");
  EXPECT_EQ(call.body, R"({"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1",)"
                       R"("spec":{"token":"s3\"cret"}})");
  EXPECT_THAT(token_codes, ElementsAre("201"));
}

TEST_F(ReviewsTest, AnUnknownTokenIsAnAnswer) {
  authentication.script(answered(R"({"status":{"user":{},"error":"invalid bearer token"}})", 201));
  ask_about_token();
  run_for(seconds(0));
  ASSERT_TRUE(token && *token);
  EXPECT_FALSE((*token)->authenticated);
  EXPECT_EQ((*token)->error, "invalid bearer token");
}

TEST_F(ReviewsTest, AskedAgainAfterGrowingPausesFiveTimesInAll) {
  authentication.set_responder(
      [](const ApiCall&) { return refused(500, "InternalError", "etcdserver: timed out"); });
  ask_about_token();
  // 0.5, 0.75, 1.125 and 1.6875 s, each up to a fifth longer.
  const std::pair<Duration, std::size_t> expected[] = {
      {milliseconds(499), 1U},  {milliseconds(600), 2U},  {milliseconds(1249), 2U},
      {milliseconds(1500), 3U}, {milliseconds(2374), 3U}, {milliseconds(2850), 4U},
      {milliseconds(4061), 4U}, {milliseconds(4875), 5U}, {milliseconds(9000), 5U}};
  for (const auto& [when, calls] : expected) {
    loop.run_until({when});
    EXPECT_EQ(authentication.calls().size(), calls) << when.count();
  }
  ASSERT_TRUE(token && !*token);
  EXPECT_EQ(token->error().message, "etcdserver: timed out");
  EXPECT_THAT(token_codes, ElementsAre("500", "500", "500", "500", "500"));
  EXPECT_THAT(log,
              HasSubstr("Failed to make webhook authenticator request: etcdserver: timed out"));
}

TEST_F(ReviewsTest, WhichFailuresAreWorthAnotherTry) {
  ApiResult overloaded = refused(503, "ServiceUnavailable", "later");
  overloaded.error().status.retry_after_seconds = 1;
  const std::pair<ApiResult, bool> cases[] = {
      {refused(500, "InternalError", "x"), true},
      {refused(504, "Timeout", "x"), true},
      {refused(429, "TooManyRequests", "x"), true},
      {overloaded, true},
      {no_answer("read tcp 1.2.3.4:1->5.6.7.8:2: read: connection reset by peer"), true},
      {refused(403, "Forbidden", "x"), false},
      {refused(401, "Unauthorized", "x"), false},
      {refused(503, "ServiceUnavailable", "x"), false},
      {no_answer("dial tcp 1.2.3.4:1: connect: connection refused"), false},
      {no_answer("context deadline exceeded", ErrorKind::kTimeout), false},
  };
  for (const auto& [failure, again] : cases) {
    token.reset();
    const std::size_t before = authentication.calls().size();
    authentication.script(failure);
    authentication.script(answered(R"({"status":{"authenticated":true}})"));
    ask_about_token();
    run_for(seconds(5));
    ASSERT_TRUE(token) << failure.error().error.message;
    EXPECT_EQ(token->has_value(), again) << failure.error().error.message;
    EXPECT_EQ(authentication.calls().size() - before, again ? 2U : 1U);
    if (!again) {  // the answer that was not asked for
      ask_about_token();
      run_for(seconds(0));
    }
  }
}

TEST_F(ReviewsTest, ATokenReviewTakesTenSecondsAtMost) {
  ask_about_token();
  run_for(milliseconds(9999));
  EXPECT_FALSE(token);
  run_for(milliseconds(1));
  ASSERT_TRUE(token && !*token);
  EXPECT_EQ(token->error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(token->error().message, "context deadline exceeded");
  EXPECT_THAT(token_codes, ElementsAre("<error>"));
}

TEST_F(ReviewsTest, WhoAskedMayGiveUp) {
  CancelSource stop;
  ask_about_token(stop.token());
  run_for(seconds(1));
  stop.cancel("gone");
  run_for(seconds(0));
  ASSERT_TRUE(token && !*token);
  EXPECT_EQ(authentication.given_up(), 1U);
}

TEST_F(ReviewsTest, AnAnswerThatIsNoReviewIsAnError) {
  for (const char* body : {"<html>", "{}", R"({"status":"Failure"})", "[]"}) {
    token.reset();
    authentication.script(answered(body));
    ask_about_token();
    run_for(seconds(0));
    EXPECT_TRUE(token && !*token) << body;
  }
}

TEST_F(ReviewsTest, AccessIsAskedAboutWithAllThatIsKnownOfTheUser) {
  authorization.script(answered(R"({"status":{"allowed":true,"reason":"RBAC: allowed"}})", 201));
  ask_about_access({.user = {.name = "jane", .uid = "7", .groups = {"g"}, .extra = {{"k", {"v"}}}},
                    .path = "/metrics",
                    .verb = "get"});
  run_for(seconds(0));
  ASSERT_TRUE(access && *access);
  EXPECT_EQ((*access)->decision, AccessDecision::kAllowed);
  EXPECT_EQ((*access)->reason, "RBAC: allowed");
  ASSERT_EQ(authorization.calls().size(), 1U);
  const ApiCall& call = authorization.calls()[0];
  EXPECT_EQ(call.path, "/apis/authorization.k8s.io/v1/subjectaccessreviews?timeout=10s");
  EXPECT_EQ(call.timeout, seconds(10));
  EXPECT_EQ(call.body,
            R"({"kind":"SubjectAccessReview","apiVersion":"authorization.k8s.io/v1","spec":)"
            R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"jane",)"
            R"("groups":["g"],"extra":{"k":["v"]},"uid":"7"}})");
  EXPECT_THAT(access_codes, ElementsAre("201"));
  EXPECT_TRUE(authentication.calls().empty());
}

TEST_F(ReviewsTest, Decisions) {
  struct Case {
    const char* status;
    AccessDecision decision;
  };
  for (const Case& c : {Case{R"({"allowed":true})", AccessDecision::kAllowed},
                        Case{R"({"allowed":false})", AccessDecision::kNoOpinion},
                        Case{R"({"allowed":false,"denied":true})", AccessDecision::kDenied}}) {
    authorization.script(answered(std::string(R"({"status":)") + c.status + "}"));
    ask_about_access({});
    run_for(seconds(0));
    ASSERT_TRUE(access && *access);
    EXPECT_EQ((*access)->decision, c.decision) << c.status;
  }
  authorization.script(answered(R"({"status":{"allowed":true,"denied":true}})"));
  ask_about_access({});
  run_for(seconds(0));
  ASSERT_TRUE(access && !*access);
  EXPECT_EQ(access->error().message,
            "webhook subject access review returned both allow and deny response");
}

}  // namespace
}  // namespace berth::kube::testing
