#include "serve/authorization.h"

#include <gtest/gtest.h>

#include "serve/testing/served.h"

namespace berth::serve::testing {
namespace {

class AuthorizationTest : public ::testing::Test {
 protected:
  void start(std::vector<std::string> always_allow = {"/healthz", "/readyz", "/livez"}) {
    AuthorizationOptions options;
    options.always_allow_paths = std::move(always_allow);
    options.deny_cache_ttl = std::chrono::seconds(5);
    options.most_waiting = 2;
    options.review_access = [this](AccessAttributes wanted,
                                   const std::function<void(Result<AccessReview>)>& done) {
      questions.push_back(std::move(wanted));
      if (silent) return CancelReview([this] { ++taken_back; });
      done(verdict);
      return CancelReview();
    };
    authorizer.emplace(loop, options, metrics, log.log);
  }

  // "allowed", "denied", "no opinion" or the error.
  std::string ask(UserInfo user, std::string path, std::string verb = "get") {
    std::string text;
    const bool taken =
        authorizer->authorize({std::move(user), std::move(path), std::move(verb)},
                              [&](const Result<AccessReview>& review) {
                                if (!review) {
                                  text = review.error().message;
                                  return;
                                }
                                text = review->decision == AccessDecision::kAllowed  ? "allowed"
                                       : review->decision == AccessDecision::kDenied ? "denied"
                                                                                     : "no opinion";
                              });
    if (!taken) text = "too many";
    return text;
  }
  std::string count(std::string_view result) const {
    return std::to_string(metrics.authorization_attempts.counter({result}).value());
  }

  VirtualLoop loop;
  telemetry::Registry registry;
  telemetry::ServingMetrics metrics{registry};
  TestLog log;
  Result<AccessReview> verdict = AccessReview{AccessDecision::kAllowed, {}};
  std::vector<AccessAttributes> questions;
  bool silent = false;  // the API server does not answer
  int taken_back = 0;
  std::optional<Authorizer> authorizer;
};

TEST_F(AuthorizationTest, MastersMayDoEverythingUnasked) {
  start();
  EXPECT_EQ(ask({"tadmin", "", {"system:masters"}, {}}, "/configz", "delete"), "allowed");
  EXPECT_TRUE(questions.empty());
  EXPECT_EQ(count("allowed"), "1");
}

TEST_F(AuthorizationTest, SomePathsAreOpenToAll) {
  start({"/healthz", "livez", "/metrics/*", "/"});
  verdict = AccessReview{};
  const UserInfo nobody{"system:anonymous", "", {}, {}};
  for (const char* path : {"/healthz", "/livez", "/metrics/", "/metrics/slis", "/"})
    EXPECT_EQ(ask(nobody, path), "allowed") << path;
  EXPECT_TRUE(questions.empty());
  for (const char* path : {"/healthz/ping", "/metrics", "//healthz", "/readyz"})
    EXPECT_EQ(ask(nobody, path), "no opinion") << path;
  EXPECT_EQ(questions.size(), 4u);
}

TEST_F(AuthorizationTest, AStarStandsAtTheEnd) {
  EXPECT_TRUE(check_always_allow_paths({"/a", "/a/*", "/", "*"}));
  const Result<void> wrong = check_always_allow_paths({"/a/*/b"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "only trailing * allowed in \"a/*/b\"");
}

TEST_F(AuthorizationTest, AnswersAreKeptForTheirTime) {
  start();
  const UserInfo jane{"jane", "7", {"staff"}, {{"k", {"v"}}}};
  EXPECT_EQ(ask(jane, "/metrics"), "allowed");
  EXPECT_EQ(questions.back().user, jane);
  EXPECT_EQ(questions.back().path, "/metrics");
  EXPECT_EQ(questions.back().verb, "get");
  verdict = AccessReview{AccessDecision::kDenied, {}};
  loop.run_until(loop.now() + std::chrono::milliseconds(9999));
  EXPECT_EQ(ask(jane, "/metrics"), "allowed");
  EXPECT_EQ(ask(jane, "/metrics", "delete"), "denied");
  loop.run_until(loop.now() + std::chrono::milliseconds(1));
  EXPECT_EQ(ask(jane, "/metrics"), "denied");
  EXPECT_EQ(questions.size(), 3u);
  verdict = AccessReview{AccessDecision::kAllowed, {}};
  EXPECT_EQ(ask(jane, "/metrics"), "denied");
  loop.run_until(loop.now() + std::chrono::seconds(5));
  EXPECT_EQ(ask(jane, "/metrics"), "allowed");
  EXPECT_EQ(count("denied"), "3");
}

TEST_F(AuthorizationTest, DifferentUsersAreNotMistakenForEachOther) {
  start();
  ask({"a", "", {"b", "c"}, {}}, "/x");
  ask({"a", "", {"b c"}, {}}, "/x");
  ask({"a", "", {"b"}, {{"c", {}}}}, "/x");
  ask({"a", "b", {"c"}, {}}, "/x");
  EXPECT_EQ(questions.size(), 4u);
}

TEST_F(AuthorizationTest, ErrorsAreNotKept) {
  start();
  verdict = fail(ErrorKind::kUnavailable, "no route to host");
  EXPECT_EQ(ask({"jane", "", {}, {}}, "/metrics"), "no route to host");
  EXPECT_EQ(count("error"), "1");
  verdict = AccessReview{AccessDecision::kAllowed, {}};
  EXPECT_EQ(ask({"jane", "", {}, {}}, "/metrics"), "allowed");
}

TEST_F(AuthorizationTest, WithoutAnybodyToAskNothingElseIsAllowed) {
  authorizer.emplace(loop, AuthorizationOptions{}, metrics, log.log);
  EXPECT_EQ(ask({"jane", "", {}, {}}, "/metrics"), "no opinion");
  EXPECT_EQ(ask({"jane", "", {}, {}}, "/healthz"), "allowed");
}

TEST_F(AuthorizationTest, OnlySoManyMayWaitAndWhoGoesIsNotWaitedFor) {
  start();
  silent = true;
  const UserInfo jane{"jane", "", {}, {}};
  Departure departure;
  const auto never = [](const Result<AccessReview>&) { FAIL(); };
  EXPECT_TRUE(authorizer->authorize({jane, "/metrics", "get"}, never, &departure));
  EXPECT_TRUE(authorizer->authorize({jane, "/metrics", "get"}, never));
  EXPECT_EQ(questions.size(), 1u) << "the same question is asked once";
  EXPECT_EQ(ask(jane, "/metrics"), "too many");
  EXPECT_EQ(ask(jane, "/livez"), "allowed");
  departure.go();
  EXPECT_EQ(taken_back, 0);
  EXPECT_TRUE(authorizer->authorize({jane, "/configz", "get"}, never, &departure));
  EXPECT_EQ(questions.size(), 1u) << "nothing is asked for one that had gone already";
}

}  // namespace
}  // namespace berth::serve::testing
