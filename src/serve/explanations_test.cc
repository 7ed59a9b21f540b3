#include "serve/explanations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "base/thread.h"
#include "serve/testing/served.h"

namespace berth::serve {
namespace {

net::HttpRequest request_for(std::string method, std::string target, std::string body = {}) {
  net::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.body = std::move(body);
  return request;
}

TEST(ExplainQuestionTest, APodAndItsNodesAreReadFromTheQuery) {
  const auto question = read_question(
      request_for("GET", "/explain?pod=a%2Fb&pod=c/d&node=n1&suggestions=false&pretty=true"));
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_THAT(question->pods, ElementsAre("a/b", "c/d"));
  EXPECT_THAT(question->nodes, ElementsAre("n1"));
  EXPECT_FALSE(question->suggestions);
  EXPECT_FALSE(question->all_pending);
  EXPECT_TRUE(read_question(request_for("GET", "/explain?all-pending"))->all_pending);
  EXPECT_TRUE(read_question(request_for("GET", "/explain?all-pending=true"))->suggestions);
  EXPECT_EQ(read_question(request_for("POST", "/explain?node=n1", "{}"))->new_pod, "{}");
}

TEST(ExplainQuestionTest, WhatIsWrongIsSaidInOneLine) {
  struct Row {
    const char *method, *target, *body, *why;
  };
  for (const Row& row : {
           Row{"GET", "/explain", "",
               "which pods? pod=NAMESPACE/NAME or all-pending=true is missing"},
           Row{"GET", "/explain?all-pending=false", "",
               "which pods? pod=NAMESPACE/NAME or all-pending=true is missing"},
           Row{"GET", "/explain?pods=a/b", "",
               "unknown parameter \"pods\"; there are pod, all-pending, node and suggestions"},
           Row{"GET", "/explain?pod=a/b&suggestions=maybe", "",
               "suggestions: \"maybe\" is neither true nor false"},
           Row{"GET", "/explain?pod=a/b&all-pending=true", "",
               "pods are asked about by name or with all-pending, not both"},
           Row{"POST", "/explain", "", "the body is to be a pod as JSON, and is empty"},
           Row{"POST", "/explain?pod=a/b", "{}",
               "a pod is asked about in the body or by name, not both"},
       }) {
    const auto question = read_question(request_for(row.method, row.target, row.body));
    ASSERT_FALSE(question) << row.target;
    EXPECT_EQ(question.error().message, row.why);
  }
  std::string many = "/explain?pod=a/b";
  for (int i = 0; i < 100; ++i) many += "&pod=a/b";
  EXPECT_FALSE(read_question(request_for("GET", many)));
}

TEST(ExplainResponseTest, ErrorsAreStatusesAndABusySchedulerSaysWhenToComeAgain) {
  const net::HttpRequest request = request_for("GET", "/explain?pod=a/b");
  const auto status = [&](std::optional<explain::Answer> answer) {
    return explain_response(request, answer);
  };
  EXPECT_EQ(status(fail(ErrorKind::kInvalid, "x")).status, 400);
  EXPECT_EQ(status(fail(ErrorKind::kNotFound, "x")).status, 404);
  EXPECT_EQ(status(fail(ErrorKind::kConflict, "x")).status, 409);
  EXPECT_EQ(status(fail(ErrorKind::kInternal, "x")).status, 500);
  const net::HttpResponse later = status(fail(ErrorKind::kUnavailable, "it does not lead"));
  EXPECT_EQ(later.status, 503);
  EXPECT_EQ(later.headers.find("Retry-After"), "1");
  EXPECT_THAT(later.body, HasSubstr(R"("message":"it does not lead")"));
  const net::HttpResponse busy = status(std::nullopt);
  EXPECT_EQ(busy.status, 429);
  EXPECT_EQ(busy.headers.find("Retry-After"), "1");
}

// A scheduler whose answers the test gives.
struct ServedExplanationsTest : ::testing::Test {
  testing::Served served;
  Mutex mutex;
  Condition changed;
  std::vector<explain::Question> questions;
  std::vector<std::function<void(std::optional<explain::Answer>)>> open;
  int given_up = 0;

  ServedExplanationsTest() {
    served.options.explain = [this](explain::Question question, auto done) -> CancelReview {
      const MutexLock lock(mutex);
      questions.push_back(std::move(question));
      open.push_back(std::move(done));
      changed.notify_all();
      return [this] {
        const MutexLock inner(mutex);
        ++given_up;
        changed.notify_all();
      };
    };
    served.start();
  }
  void wait_for_questions(std::size_t count) {
    const MutexLock lock(mutex);
    while (questions.size() < count) changed.wait(mutex);
  }
};

TEST_F(ServedExplanationsTest, AnswersWhoMayAskAndNobodyElse) {
  EXPECT_EQ(served.get("/explain?pod=a/b", "plaintoken").status, 403);
  EXPECT_EQ(served.get("/explain?pod=a/b", "no-such-token").status, 401);
  EXPECT_EQ(served.get("/explain", "admintoken").status, 400);
  const net::HttpResponse put =
      served.ask({.path = "/explain", .method = "PUT", .token = "admintoken"});
  EXPECT_EQ(put.status, 405);
  EXPECT_EQ(put.headers.find("Allow"), "GET, POST");
  EXPECT_THAT(questions, IsEmpty());

  Thread scheduler("scheduler", [this] {
    wait_for_questions(1);
    std::vector<explain::Explanation> explanations(1);
    explanations[0].pod = "a/b";
    explanations[0].verdict = "Schedulable";
    open[0](std::move(explanations));
  });
  const net::HttpResponse answer = served.get("/explain?pod=a/b");
  scheduler.join();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.find("Content-Type"), "application/json");
  EXPECT_EQ(answer.body,
            "{\"pods\":[{\"pod\":\"a/b\",\"verdict\":\"Schedulable\",\"nodes\":0}]}\n");
}

TEST_F(ServedExplanationsTest, APodInTheBodyIsReadUpToALimit) {
  Thread scheduler("scheduler", [this] {
    wait_for_questions(1);
    open[0](std::nullopt);
  });
  EXPECT_EQ(
      served.ask({.path = "/explain", .method = "POST", .token = "admintoken", .body = "{\"a\":1}"})
          .status,
      429);
  scheduler.join();
  EXPECT_EQ(questions[0].new_pod, "{\"a\":1}");
  EXPECT_EQ(served
                .ask({.path = "/explain",
                      .method = "POST",
                      .token = "admintoken",
                      .body = std::string(kMostPodBytes + 1, ' ')})
                .status,
            413);
}

TEST_F(ServedExplanationsTest, QuestionsEndWithTheServer) {
  served.ask({.path = "/explain?pod=a/b", .token = "admintoken"}, [](net::HttpResponse) {});
  wait_for_questions(1);
  served.server->stop(Duration::zero());
  const MutexLock lock(mutex);
  EXPECT_EQ(given_up, 1);
}

}  // namespace
}  // namespace berth::serve
