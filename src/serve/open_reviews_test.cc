#include "serve/open_reviews.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>

namespace berth::serve {
namespace {

using Reviews = OpenReviews<int>;

TEST(OpenReviews, AnAnswerMayComeBeforeTheQuestionReturns) {
  Reviews reviews(1);
  int answered = 0, taken_back = 0;
  const auto ask = [&](const Reviews::Done& done) {
    done(7);
    return [&] { ++taken_back; };
  };
  for (int i = 0; i < 3; ++i) {
    const auto caller = reviews.join("a", [&](const Result<int>& got) { answered += *got; }, ask);
    ASSERT_TRUE(caller);
    EXPECT_FALSE(reviews.leave("a", *caller));
  }
  EXPECT_EQ(answered, 21);
}

TEST(OpenReviews, ClosingTakesAllQuestionsBack) {
  Reviews reviews(10);
  int taken_back = 0;
  const auto never = [](const Result<int>&) { FAIL(); };
  Reviews::Done late;
  const auto ask = [&](const Reviews::Done& done) {
    late = done;
    return [&] { ++taken_back; };
  };
  reviews.join("a", never, ask);
  reviews.join("a", never, ask);
  reviews.join("b", never, ask);
  reviews.close();
  EXPECT_EQ(taken_back, 2);
  late(1);
  EXPECT_FALSE(reviews.join("c", never, ask));
}

TEST(OpenReviews, WhatTheAnswerSetsForADepartureStays) {
  OpenReviews<int> reviews(1);
  Departure departure;
  int left = 0;
  bool gone = false;
  reviews.join(
      "a", [&](const Result<int>&) { departure.set([&] { gone = true; }); },
      [](const auto& answered) {
        answered(1);
        return CancelReview();
      },
      &departure, [&] { ++left; });
  departure.go();
  EXPECT_TRUE(gone);
  EXPECT_EQ(left, 0);
}

TEST(OpenReviews, NothingIsAskedForACallerThatHasGone) {
  OpenReviews<int> reviews(1);
  Departure departure;
  departure.go();
  int asked = 0;
  int left = 0;
  const auto ask = [&](const auto&) {
    ++asked;
    return CancelReview();
  };
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(reviews.join("a", [](const Result<int>&) {}, ask, &departure, [&] { ++left; }));
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(left, 2);
}

// Every caller is called back or has left, never both, and none is counted for ever.
TEST(OpenReviews, ConcurrentCallersAreCalledBackOrHaveLeft) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  Reviews reviews(kThreads * kEach);
  Mutex mutex;
  Condition changed;
  std::deque<Reviews::Done> asked;
  bool over = false;
  std::atomic<int> called_back = 0, left = 0;
  const auto ask = [&](const Reviews::Done& done) {
    const MutexLock lock(mutex);
    asked.push_back(done);
    changed.notify_one();
    return CancelReview([] {});
  };
  Thread answering("answering", [&] {
    for (;;) {
      Reviews::Done next;
      {
        const MutexLock lock(mutex);
        while (asked.empty() && !over) changed.wait(mutex);
        if (asked.empty()) return;
        next = std::move(asked.front());
        asked.pop_front();
      }
      next(1);
    }
  });
  {
    std::vector<Thread> callers;
    for (int t = 0; t < kThreads; ++t)
      callers.emplace_back("caller", [&, t] {
        for (int i = 0; i < kEach; ++i) {
          const std::string name = std::to_string(i % 3);
          Departure departure;
          ASSERT_TRUE(reviews.join(
              name, [&](const Result<int>&) { ++called_back; }, ask, &departure, [&] { ++left; }));
          if ((i + t) % 2 == 0) departure.go();
        }
      });
  }
  {
    const MutexLock lock(mutex);
    over = true;
    changed.notify_one();
  }
  answering.join();
  EXPECT_EQ(called_back + left, kThreads * kEach);
}

}  // namespace
}  // namespace berth::serve
