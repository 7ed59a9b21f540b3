#include "cluster/kept_answers.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

struct Answer {
  int question;
  std::size_t size;
  std::size_t bytes() const { return size; }
};

struct Kept : ::testing::Test {
  KeptAnswers<Answer> kept{1000};

  bool has(int question, std::size_t hash) {
    return kept.find(hash, [=](const Answer& answer) { return answer.question == question; });
  }
  bool has(int question) { return has(question, static_cast<std::size_t>(question)); }
  void put(int question, std::size_t bytes) {
    kept.insert(static_cast<std::size_t>(question),
                std::make_unique<Answer>(Answer{question, bytes}));
  }
};

TEST_F(Kept, AreFoundByTheirQuestionAlsoAmongOthersOfTheSameHash) {
  for (int question = 0; question < 100; ++question)
    kept.insert(7, std::make_unique<Answer>(Answer{question, 1}));
  for (int question = 0; question < 100; ++question) EXPECT_TRUE(has(question, 7));
  EXPECT_FALSE(has(100, 7));
  EXPECT_FALSE(has(1, 8));
}

TEST_F(Kept, AllOfACycleStayHoweverManyTheyAre) {
  kept.begin_cycle();
  for (int question = 0; question < 100; ++question) put(question, 500);
  for (int question = 0; question < 100; ++question) EXPECT_TRUE(has(question));
}

TEST_F(Kept, WithTooMuchTheLeastRecentlyAskedGo) {
  for (int question = 0; question < 4; ++question) {
    kept.begin_cycle();
    put(question, 400);
  }
  kept.begin_cycle();
  EXPECT_TRUE(has(2));
  EXPECT_TRUE(has(3));
  EXPECT_FALSE(has(0));
  EXPECT_FALSE(has(1));
  EXPECT_EQ(kept.size(), 2U);
}

TEST_F(Kept, WhatAnAnswerGrowsToInItsCycleCounts) {
  for (int question = 0; question < 4; ++question) {
    kept.begin_cycle();
    kept.insert(static_cast<std::size_t>(question), std::make_unique<Answer>(Answer{question, 0}))
        .size = 400;
  }
  kept.begin_cycle();
  EXPECT_EQ(kept.size(), 2U);
  EXPECT_TRUE(has(3));
}

TEST_F(Kept, WhatNobodyAsksForGoesAfterAWhile) {
  put(1, 10);
  put(2, 10);
  for (int cycle = 0; cycle < 40000; ++cycle) {
    kept.begin_cycle();
    ASSERT_TRUE(has(2));
  }
  EXPECT_FALSE(has(1));
}

TEST_F(Kept, WithinACycleThereIsRoomForTheLimit) {
  kept.begin_cycle();
  int inserted = 0;
  for (; kept.has_room() && inserted < 100; ++inserted) put(inserted, 400);
  EXPECT_EQ(inserted, 3) << "the third is one too many, and the last";
  for (int question = 0; question < inserted; ++question) EXPECT_TRUE(has(question));
  EXPECT_FALSE(kept.has_room());
  kept.begin_cycle();
  EXPECT_TRUE(kept.has_room());
}

TEST_F(Kept, AnswersOfEarlierCyclesMakeRoom) {
  kept.begin_cycle();
  put(1, 200);
  put(2, 700);
  kept.begin_cycle();
  EXPECT_TRUE(has(1));
  put(3, 700);
  EXPECT_TRUE(kept.has_room());
  EXPECT_TRUE(has(1)) << "asked for in this cycle";
  EXPECT_TRUE(has(3));
  EXPECT_FALSE(has(2));
}

TEST_F(Kept, WhatAnAnswerGrowsByTakesRoom) {
  kept.begin_cycle();
  put(1, 400);
  EXPECT_TRUE(kept.has_room());
  kept.find(1, [](const Answer&) { return true; })->size = 2000;
  kept.grew(1600);
  EXPECT_FALSE(kept.has_room());
}

}  // namespace
}  // namespace berth
