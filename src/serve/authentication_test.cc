#include "serve/authentication.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "serve/testing/served.h"

namespace berth::serve::testing {
namespace {

class AuthenticationTest : public ::testing::Test {
 protected:
  // Everybody that is asked about, and where to send the answer.
  struct Question {
    std::string token;
    std::function<void(Result<TokenReview>)> answer;
  };

  AuthenticationTest() {
    AuthenticationOptions options;
    options.most_waiting = 3;
    options.review_token = [this](std::string token,
                                  std::function<void(Result<TokenReview>)> done) {
      questions.push_back({std::move(token), std::move(done)});
      return [this] { ++taken_back; };
    };
    authenticator.emplace(loop, options, metrics, log.log);
  }

  static net::HttpRequest with_token(std::string token) {
    net::HttpRequest request;
    request.headers.add("Authorization", "Bearer " + std::move(token));
    return request;
  }
  static net::HttpRequest with_certificate(std::string common_name, std::string_view authority) {
    net::HttpRequest request;
    request.peer.certificate_shown = true;
    request.peer.certificate_sha256 = "ab12";
    if (!authority.empty()) {
      request.peer.common_name = std::move(common_name);
      request.peer.organizations = {"staff"};
      request.peer.verified_by = {std::string(authority)};
    }
    return request;
  }
  static TokenReview user(std::string name) {
    TokenReview review;
    review.authenticated = true;
    review.user.name = std::move(name);
    return review;
  }

  // "name [groups]"; "401"; "…" while there is no answer.
  // "429" when too many wait.
  std::string ask(const net::HttpRequest& request, Departure* departure = nullptr) {
    auto text = std::make_shared<std::string>("…");
    const bool taken = authenticator->authenticate(
        request,
        [text](const std::optional<UserInfo>& known) {
          *text = "401";
          if (!known) return;
          *text = known->name + " [";
          for (const std::string& group : known->groups)
            *text += (text->ends_with('[') ? "" : " ") + group;
          *text += "]";
        },
        departure);
    if (!taken) *text = "429";
    answers.push_back(text);
    return *text;
  }

  std::string metric(std::string_view series) const {
    const std::string text = "\n" + registry.text();
    const std::string line = "\n" + std::string(series) + " ";
    const std::size_t at = text.find(line);
    if (at == std::string::npos) return "";
    return text.substr(at + line.size(), text.find('\n', at + 1) - at - line.size());
  }

  VirtualLoop loop;
  telemetry::Registry registry;
  telemetry::ServingMetrics metrics{registry};
  TestLog log;
  std::vector<Question> questions;
  int taken_back = 0;
  std::vector<std::shared_ptr<std::string>> answers;
  std::optional<Authenticator> authenticator;
};

TEST_F(AuthenticationTest, WhoShowsNothingIsAnonymous) {
  EXPECT_EQ(ask({}), "system:anonymous [system:unauthenticated]");
  for (const char* header : {"Basic YWRtaW46YWRtaW4=", "Bearer", "Bearer  admintoken", "x"}) {
    net::HttpRequest request;
    request.headers.add("Authorization", header);
    EXPECT_EQ(ask(request), "system:anonymous [system:unauthenticated]") << header;
  }
  EXPECT_TRUE(questions.empty());
  EXPECT_EQ(metric("authentication_attempts{result=\"success\"}"), "5");
  EXPECT_EQ(metric("authenticated_user_requests{username=\"other\"}"), "5");
}

TEST_F(AuthenticationTest, AKnownTokenIsItsUser) {
  net::HttpRequest request;
  request.headers.add("authorization", " bEARER t1 ignored");
  EXPECT_EQ(ask(request), "…");
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(questions[0].token, "t1");
  questions[0].answer(user("admin"));
  EXPECT_EQ(*answers[0], "admin [system:authenticated]");
  EXPECT_EQ(metric("authenticated_user_requests{username=\"admin\"}"), "1");
}

TEST_F(AuthenticationTest, AnAnswerIsKeptForTheTimeGiven) {
  ask(with_token("t1"));
  questions[0].answer(user("jane"));
  EXPECT_EQ(ask(with_token("t1")), "jane [system:authenticated]");
  loop.run_until(loop.now() + std::chrono::milliseconds(9999));
  EXPECT_EQ(ask(with_token("t1")), "jane [system:authenticated]");
  loop.run_until(loop.now() + std::chrono::milliseconds(1));
  EXPECT_EQ(ask(with_token("t1")), "…");
  EXPECT_EQ(questions.size(), 2u);
  questions[1].answer(TokenReview{});
  EXPECT_EQ(*answers.back(), "401");
  EXPECT_EQ(ask(with_token("t1")), "401");  // a refusal is kept, too
  EXPECT_EQ(questions.size(), 2u);
  EXPECT_EQ(metric("authentication_token_cache_request_total{status=\"hit\"}"), "3");
  EXPECT_EQ(metric("authentication_token_cache_request_total{status=\"miss\"}"), "2");
  EXPECT_EQ(metric("authentication_token_cache_fetch_total{status=\"ok\"}"), "2");
  EXPECT_EQ(metric("authentication_token_cache_active_fetch_count{status=\"blocked\"}"), "0");
  EXPECT_EQ(metric("authentication_token_cache_active_fetch_count{status=\"in_flight\"}"), "0");
}

TEST_F(AuthenticationTest, ErrorsAreNotKept) {
  ask(with_token("t1"));
  questions[0].answer(fail(ErrorKind::kUnavailable, "no route to host"));
  EXPECT_EQ(*answers[0], "401");
  EXPECT_THAT(log.text,
              HasSubstr("\"Unable to authenticate the request\" err=\"no route to host\""));
  ask(with_token("t1"));
  ASSERT_EQ(questions.size(), 2u);
  TokenReview unknown;
  unknown.error = "[invalid bearer token]";
  questions[1].answer(unknown);
  EXPECT_EQ(*answers[1], "401");
  EXPECT_EQ(ask(with_token("t1")), "…");
  EXPECT_EQ(metric("authentication_attempts{result=\"error\"}"), "2");
}

TEST_F(AuthenticationTest, OneQuestionServesAllWhoAskTheSame) {
  ask(with_token("t1"));
  ask(with_token("t1"));
  ask(with_token("t2"));
  ASSERT_EQ(questions.size(), 2u);
  questions[0].answer(user("jane"));
  questions[0].answer(user("mallory"));  // a second answer is dropped
  EXPECT_EQ(*answers[0], "jane [system:authenticated]");
  EXPECT_EQ(*answers[1], "jane [system:authenticated]");
  EXPECT_EQ(*answers[2], "…");
}

TEST_F(AuthenticationTest, AQuestionIsTakenBackWhenAllWhoAskedHaveGone) {
  Departure first, second;
  ask(with_token("t1"), &first);
  ask(with_token("t1"), &second);
  first.go();
  EXPECT_EQ(taken_back, 0);
  second.go();
  EXPECT_EQ(taken_back, 1);
  second.go();
  EXPECT_EQ(taken_back, 1);
  EXPECT_EQ(metric("authentication_token_cache_active_fetch_count{status=\"blocked\"}"), "0");
  EXPECT_EQ(metric("authentication_token_cache_active_fetch_count{status=\"in_flight\"}"), "0");
  // It is asked again for the next, who does not get the old answer.
  ask(with_token("t1"));
  ASSERT_EQ(questions.size(), 2u);
  questions[0].answer(user("mallory"));
  questions[1].answer(user("jane"));
  EXPECT_EQ(*answers[0], "…");
  EXPECT_EQ(*answers[2], "jane [system:authenticated]");
  Departure late;
  EXPECT_EQ(ask(with_token("t1"), &late), "jane [system:authenticated]");
  late.go();
  EXPECT_EQ(taken_back, 1);
}

TEST_F(AuthenticationTest, OnlySoManyMayWait) {
  Departure first;
  ask(with_token("t1"), &first);
  ask(with_token("t1"));
  ask(with_token("t2"));
  EXPECT_EQ(ask(with_token("t3")), "429");
  EXPECT_EQ(ask(with_token("t1")), "429");
  EXPECT_EQ(questions.size(), 2u);
  EXPECT_EQ(ask({}), "system:anonymous [system:unauthenticated]") << "no review is needed";
  first.go();
  EXPECT_EQ(ask(with_token("t3")), "…");
  EXPECT_EQ(ask(with_token("t4")), "429");
  questions[1].answer(user("jane"));
  EXPECT_EQ(ask(with_token("t4")), "…");
  EXPECT_EQ(metric("authentication_token_cache_active_fetch_count{status=\"blocked\"}"), "3");
}

TEST_F(AuthenticationTest, AnAnswerThatComesTooLateIsDropped) {
  ask(with_token("t1"));
  authenticator.reset();
  questions[0].answer(user("jane"));
  EXPECT_EQ(*answers[0], "…");
}

TEST_F(AuthenticationTest, ACertificateIsItsUser) {
  authenticator->believe(true, std::nullopt);
  UserInfo seen;
  EXPECT_TRUE(
      authenticator->authenticate(with_certificate("jane", kClientAuthority),
                                  [&](const std::optional<UserInfo>& known) { seen = *known; }));
  EXPECT_EQ(seen.name, "jane");
  EXPECT_THAT(seen.groups, ElementsAre("staff", "system:authenticated"));
  EXPECT_THAT(seen.extra["authentication.kubernetes.io/credential-id"],
              ElementsAre("X509SHA256=ab12"));
  EXPECT_EQ(metric("apiserver_client_certificate_expiration_seconds_count"), "1");
}

TEST_F(AuthenticationTest, AStrangersCertificateIsWorseThanNone) {
  authenticator->believe(true, std::nullopt);
  EXPECT_EQ(ask(with_certificate("", "")), "401");
  net::HttpRequest both = with_certificate("", "");
  both.headers.add("Authorization", "Bearer t1");
  ask(both);
  questions.at(0).answer(user("jane"));
  EXPECT_EQ(*answers.back(), "jane [system:authenticated]");
  authenticator->believe(false, std::nullopt);  // nobody judges certificates
  EXPECT_EQ(ask(with_certificate("", "")), "system:anonymous [system:unauthenticated]");
}

TEST_F(AuthenticationTest, ACertificateGoesBeforeAToken) {
  authenticator->believe(true, std::nullopt);
  net::HttpRequest both = with_certificate("jane", kClientAuthority);
  both.headers.add("Authorization", "Bearer wrong");
  EXPECT_EQ(ask(both), "jane [staff system:authenticated]");
  EXPECT_TRUE(questions.empty());
}

TEST_F(AuthenticationTest, AProxySpeaksForOthers) {
  RequestHeaders headers;
  headers.allowed_names = {"front-proxy"};
  headers.username = {"X-Other-User", "X-Remote-User"};
  headers.uid = {"X-Remote-Uid"};
  headers.group = {"X-Remote-Group"};
  headers.extra_prefixes = {"X-Remote-Extra-"};
  authenticator->believe(true, headers);

  net::HttpRequest request = with_certificate("front-proxy", kRequestHeaderAuthority);
  request.headers = {{"x-remote-user", "bob"},          {"X-Remote-Uid", "7"},
                     {"X-Remote-Group", "a"},           {"x-remote-group", "b"},
                     {"X-Remote-Extra-Sco%2Fpe", "s1"}, {"X-Remote-Extra-sco%2fpe", "s2"}};
  UserInfo seen;
  EXPECT_TRUE(authenticator->authenticate(
      request, [&](const std::optional<UserInfo>& known) { seen = *known; }));
  EXPECT_EQ(seen.name, "bob");
  EXPECT_EQ(seen.uid, "7");
  EXPECT_THAT(seen.groups, ElementsAre("a", "b", "system:authenticated"));
  EXPECT_THAT(seen.extra["sco/pe"], ElementsAre("s1", "s2"));

  // It must be the proxy, and it must name somebody; else it is a client like any other.
  net::HttpRequest other = request;
  other.peer.common_name = "not-front-proxy";
  EXPECT_EQ(ask(other), "401");
  other = request;
  other.headers = {};
  EXPECT_EQ(ask(other), "401");
  authenticator->believe(false, headers);
  EXPECT_EQ(ask(other), "system:anonymous [system:unauthenticated]");

  // Headers of somebody who is no proxy say nothing.
  authenticator->believe(true, headers);
  other = with_certificate("jane", kClientAuthority);
  other.headers.add("X-Remote-User", "bob");
  EXPECT_EQ(ask(other), "jane [staff system:authenticated]");
  net::HttpRequest bare;
  bare.headers.add("X-Remote-User", "bob");
  EXPECT_EQ(ask(bare), "system:anonymous [system:unauthenticated]");
}

TEST_F(AuthenticationTest, ManyDifferentTokensAreForgotten) {
  for (int i = 0; i < 3000; ++i) {
    ask(with_token("t" + std::to_string(i)));
    questions.back().answer(user("jane"));
  }
  const std::size_t asked = questions.size();
  EXPECT_EQ(ask(with_token("t2999")), "jane [system:authenticated]");
  EXPECT_EQ(ask(with_token("t0")), "…");
  EXPECT_EQ(questions.size(), asked + 1);
}

}  // namespace
}  // namespace berth::serve::testing
