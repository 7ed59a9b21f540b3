#include "berth/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace berth {
namespace {

TEST(Cancel, ATokenWithoutASourceIsNeverCancelled) {
  const CancelToken token;
  int called = 0;
  {
    const auto registration = token.on_cancel([&] { ++called; });
  }
  EXPECT_FALSE(token.cancelled());
  EXPECT_EQ(token.cause(), "");
  EXPECT_EQ(called, 0);
}

TEST(Cancel, TheFirstCauseStays) {
  CancelSource source;
  const CancelToken token = source.token();
  EXPECT_EQ(token.cause(), "");
  source.cancel("preempted");
  source.cancel("shut down");
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(token.cause(), "preempted");
}

TEST(Cancel, CallsBackOnceInTheOrderOfRegistration) {
  CancelSource source;
  std::vector<int> calls;
  const auto first = source.token().on_cancel([&] { calls.push_back(1); });
  const auto second = source.token().on_cancel([&] { calls.push_back(2); });
  source.cancel("enough");
  source.cancel("really");
  EXPECT_EQ(calls, (std::vector<int>{1, 2}));
}

TEST(Cancel, CallsBackAtOnceWhenItIsTooLate) {
  CancelSource source;
  source.cancel("enough");
  int called = 0;
  const auto registration = source.token().on_cancel([&] { ++called; });
  EXPECT_EQ(called, 1);
}

TEST(Cancel, ARegistrationThatEndedIsNotCalled) {
  CancelSource source;
  std::vector<int> calls;
  const auto before = source.token().on_cancel([&] { calls.push_back(1); });
  {
    const auto ended = source.token().on_cancel([&] { calls.push_back(2); });
  }
  const auto after = source.token().on_cancel([&] { calls.push_back(3); });
  source.cancel("enough");
  EXPECT_EQ(calls, (std::vector<int>{1, 3}));
}

TEST(Cancel, ACallbackMayEndRegistrationsThatHaveNotBeenCalledYet) {
  CancelSource source;
  bool called = false;
  std::optional<CancelToken::Registration> first, second;
  first.emplace(&source, [&] { second.reset(); });
  second.emplace(&source, [&] { called = true; });
  source.cancel("enough");
  EXPECT_FALSE(called);
}

TEST(Cancel, ACallbackMayEndItsOwnRegistration) {
  CancelSource source;
  std::optional<CancelToken::Registration> own;
  own.emplace(&source, [&] { own.reset(); });
  source.cancel("enough");
  EXPECT_FALSE(own);
}

TEST(Cancel, ACallbackMayEndTheSource) {
  auto source = std::make_unique<CancelSource>();
  int called = 0;
  const auto first = source->token().on_cancel([&] { source.reset(); });
  const auto second = source->token().on_cancel([&] { ++called; });
  source->cancel("enough");
  EXPECT_EQ(called, 1) << "who was registered is still told";
}

TEST(Cancel, ARegistrationMayOutliveItsSource) {
  std::optional<CancelSource> source(std::in_place);
  int called = 0;
  const auto first = source->token().on_cancel([&] { ++called; });
  const auto second = source->token().on_cancel([&] { ++called; });
  source.reset();
  EXPECT_EQ(called, 0);
}

// The shape of PreBind: a task that waits for an answer or for being told to stop.
Task<void> wait_for(Eventual<std::string>& answer, CancelToken token, std::string& outcome) {
  const auto registration = token.on_cancel([&answer, token] { answer.set(token.cause()); });
  outcome = co_await answer;
}

TEST(Cancel, WakesATaskThatWaits) {
  CancelSource source;
  Eventual<std::string> answer;
  std::string outcome;
  TaskSet tasks;
  tasks.spawn(wait_for(answer, source.token(), outcome));
  source.cancel("preempted");
  EXPECT_EQ(outcome, "preempted");
  EXPECT_EQ(tasks.size(), 0U);
}

Task<void> own_the_source(CancelSource*& stop, Eventual<std::string>& answer,
                          std::string& outcome) {
  CancelSource source;
  stop = &source;
  Task<void> inner = wait_for(answer, source.token(), outcome);
  co_await inner;
}

TEST(Cancel, MayEndTheTaskThatOwnsTheSource) {
  CancelSource* stop = nullptr;
  Eventual<std::string> answer;
  std::string outcome;
  TaskSet tasks;
  tasks.spawn(own_the_source(stop, answer, outcome));
  stop->cancel("preempted");
  EXPECT_EQ(outcome, "preempted");
  EXPECT_EQ(tasks.size(), 0U);
}

}  // namespace
}  // namespace berth
