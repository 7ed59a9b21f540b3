#include "berth/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/testing/names.h"

namespace berth {
namespace {

// Tells when the frame it lives in is gone.
struct Witness {
  explicit Witness(int& gone) : gone_(gone) {}
  Witness(const Witness&) = delete;
  ~Witness() { ++gone_; }
  int& gone_;
};

Task<int> number(int value) { co_return value; }
Task<int> broken(std::string why) {
  throw std::runtime_error(why);
  co_return 0;
}
Task<int> arrives(Eventual<int>& eventual) {
  const int value = co_await eventual;
  co_return value;
}
Task<int> sum(Task<int> a, Task<int> b) {
  const int first = co_await a;
  const int second = co_await b;
  co_return first + second;
}
Task<void> store(Task<int> task, std::optional<int>& out) {
  const int value = co_await task;
  out = value;
}

TEST(Task, BeginsWhenItIsAwaited) {
  std::optional<int> out;
  TaskSet tasks;
  Task<void> task = store(number(7), out);
  EXPECT_FALSE(out);
  tasks.spawn(std::move(task));
  EXPECT_EQ(out, 7);
  EXPECT_EQ(tasks.size(), 0U);
}

TEST(Task, AwaitsOthers) {
  std::optional<int> out;
  TaskSet tasks;
  tasks.spawn(store(sum(number(1), sum(number(2), number(3))), out));
  EXPECT_EQ(out, 6);
}

TEST(Task, CarriesWhatCanOnlyBeMoved) {
  struct Coroutines {
    static Task<std::unique_ptr<int>> make() { co_return std::make_unique<int>(5); }
    static Task<void> take(std::unique_ptr<int>& out) {
      Task<std::unique_ptr<int>> made = make();
      out = co_await made;
    }
  };
  std::unique_ptr<int> out;
  TaskSet tasks;
  tasks.spawn(Coroutines::take(out));
  ASSERT_TRUE(out);
  EXPECT_EQ(*out, 5);
}

TEST(Task, OneThatNeverBeganJustGoes) {
  int gone = 0;
  struct Coroutines {
    static Task<void> keep(std::shared_ptr<Witness> kept) {
      kept.reset();
      co_return;
    }
  };
  {
    Task<void> first = Coroutines::keep(std::make_shared<Witness>(gone));
    Task<void> second = Coroutines::keep(std::make_shared<Witness>(gone));
    first = std::move(second);
  }
  EXPECT_EQ(gone, 2);
}

Task<void> catching(Task<int> task, std::string& out) {
  try {
    const int value = co_await task;
    out = std::to_string(value);
  } catch (const std::runtime_error& error) {
    out = error.what();
  }
}

TEST(Task, AnExceptionComesOutOfTheAwait) {
  std::string out;
  TaskSet tasks;
  tasks.spawn(catching(broken("bad luck"), out));
  EXPECT_EQ(out, "bad luck");
  tasks.spawn(catching(sum(number(1), broken("worse luck")), out));
  EXPECT_EQ(out, "worse luck");
}

TEST(Task, AnExceptionComesOutOfAVoidTaskToo) {
  struct Coroutines {
    static Task<void> fail() {
      throw std::runtime_error("bad luck");
      co_return;
    }
    static Task<int> wrap() {
      Task<void> failing = fail();
      co_await failing;
      co_return 1;
    }
  };
  std::string out;
  TaskSet tasks;
  tasks.spawn(catching(Coroutines::wrap(), out));
  EXPECT_EQ(out, "bad luck");
}

TEST(TaskSet, AnExceptionThatNobodyAwaitsEndsTheProcess) {
  struct Coroutines {
    static Task<void> fail() {
      throw std::runtime_error("bad luck");
      co_return;
    }
  };
  EXPECT_DEATH(
      {
        TaskSet tasks;
        tasks.spawn(Coroutines::fail());
      },
      "");
}

Task<void> hold_until(Eventual<int>& eventual, int& gone, int& finished) {
  Witness witness(gone);
  const int value = co_await eventual;
  finished += value;
}

TEST(TaskSet, OwnsTasksUntilTheyFinishInWhateverOrder) {
  int gone = 0, finished = 0;
  Eventual<int> first, second, third;
  TaskSet tasks;
  tasks.spawn(hold_until(first, gone, finished));
  tasks.spawn(hold_until(second, gone, finished));
  tasks.spawn(hold_until(third, gone, finished));
  EXPECT_EQ(tasks.size(), 3U);
  second.set(10);
  EXPECT_EQ(tasks.size(), 2U);
  EXPECT_EQ(gone, 1);
  third.set(100);
  first.set(1);
  EXPECT_EQ(tasks.size(), 0U);
  EXPECT_EQ(gone, 3);
  EXPECT_EQ(finished, 111);
}

TEST(TaskSet, DestroysWhatIsUnfinishedWhereItStands) {
  int gone = 0, finished = 0;
  Eventual<int> eventual;
  {
    TaskSet tasks;
    tasks.spawn(hold_until(eventual, gone, finished));
  }
  EXPECT_EQ(gone, 1);
  eventual.set(1);
  EXPECT_EQ(finished, 0) << "a task that is gone is not woken";
}

TEST(TaskSet, ClearsTheNewestFirst) {
  struct Leaver {
    std::vector<int>& left;
    int id;
    ~Leaver() { left.push_back(id); }
  };
  struct Coroutines {
    static Task<void> wait(Eventual<int>& eventual, std::vector<int>& left, int id) {
      Leaver leaver{left, id};
      co_await eventual;
    }
  };
  std::vector<int> left;
  Eventual<int> one, two;
  TaskSet tasks;
  tasks.spawn(Coroutines::wait(one, left, 1));
  tasks.spawn(Coroutines::wait(two, left, 2));
  tasks.clear();
  EXPECT_EQ(left, (std::vector<int>{2, 1}));
  EXPECT_EQ(tasks.size(), 0U);
}

TEST(TaskSet, ATaskMaySpawnAnother) {
  struct Coroutines {
    static Task<void> parent(TaskSet& tasks, Eventual<int>& eventual, int& gone, int& finished) {
      tasks.spawn(hold_until(eventual, gone, finished));
      co_return;
    }
  };
  int gone = 0, finished = 0;
  Eventual<int> eventual;
  TaskSet tasks;
  tasks.spawn(Coroutines::parent(tasks, eventual, gone, finished));
  EXPECT_EQ(tasks.size(), 1U);
  eventual.set(1);
  EXPECT_EQ(finished, 1);
  EXPECT_EQ(tasks.size(), 0U);
}

std::vector<Task<int>> list(Task<int> a, Task<int> b, Task<int> c) {
  std::vector<Task<int>> tasks;
  tasks.push_back(std::move(a));
  tasks.push_back(std::move(b));
  tasks.push_back(std::move(c));
  return tasks;
}

using Numbers = std::optional<std::vector<int>>;

Task<void> collect(std::vector<Task<int>> tasks, Numbers& out, std::string& error) {
  try {
    WhenAll<int> all(std::move(tasks));
    std::vector<int> values = co_await all;
    out = std::move(values);
  } catch (const std::runtime_error& caught) {
    error = caught.what();
  }
}

struct Collected {
  Numbers out;
  std::string error;
  TaskSet tasks;
  explicit Collected(std::vector<Task<int>> list) {
    tasks.spawn(collect(std::move(list), out, error));
  }
};

TEST(WhenAll, NothingToWaitForIsDoneAtOnce) {
  const Collected collected({});
  EXPECT_EQ(collected.out, std::vector<int>{});
}

TEST(WhenAll, TasksThatFinishSynchronouslyDoNotSuspend) {
  const Collected collected(list(number(1), number(2), number(3)));
  EXPECT_EQ(collected.out, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(collected.tasks.size(), 0U);
}

TEST(WhenAll, ResultsComeInTheOrderGivenNotOfFinishing) {
  Eventual<int> first, third;
  const Collected collected(list(arrives(first), number(2), arrives(third)));
  third.set(3);
  EXPECT_FALSE(collected.out);
  first.set(1);
  EXPECT_EQ(collected.out, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(collected.tasks.size(), 0U);
}

TEST(WhenAll, TheLastTaskMayFinishSynchronouslyAfterOthersWait) {
  Eventual<int> first, second;
  const Collected collected(list(arrives(first), arrives(second), number(3)));
  EXPECT_FALSE(collected.out);
  first.set(1);
  second.set(2);
  EXPECT_EQ(collected.out, (std::vector<int>{1, 2, 3}));
}

TEST(WhenAll, TheAwaiterMayEndAtOnceWhileTheLastTaskIsStillOnTheStack) {
  // collect() returns as soon as the last one is there, taking WhenAll and its runners with it.
  VirtualLoop loop;
  struct Coroutines {
    static Task<int> later(Loop& loop, Duration delay, int value) {
      SleepUntil sleep(loop, loop.now() + delay);
      co_await sleep;
      co_return value;
    }
  };
  const Collected collected(list(Coroutines::later(loop, 3s, 1), Coroutines::later(loop, 1s, 2),
                                 Coroutines::later(loop, 2s, 3)));
  loop.run();
  EXPECT_EQ(collected.out, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(loop.now().since_start, 3s);
}

TEST(WhenAll, AnExceptionComesOutWhenAllHaveFinished) {
  Eventual<int> second;
  const Collected collected(list(broken("first"), arrives(second), broken("third")));
  EXPECT_EQ(collected.error, "") << "the second is still under way";
  second.set(2);
  EXPECT_EQ(collected.error, "first");
  EXPECT_FALSE(collected.out);
}

TEST(WhenAll, DestroyedWhileWaitingItTakesItsTasksAlong) {
  Eventual<int> first, second, third;
  {
    const Collected collected(list(arrives(first), arrives(second), arrives(third)));
    second.set(2);
  }
  first.set(1);  // nobody is woken
  third.set(3);
}

Task<void> sleep_for(Loop& loop, Duration delay, std::vector<TimePoint>& woke) {
  SleepUntil sleep(loop, loop.now() + delay);
  co_await sleep;
  woke.push_back(loop.now());
}

TEST(SleepUntil, WakesWhenTheTimeHasCome) {
  VirtualLoop loop;
  std::vector<TimePoint> woke;
  TaskSet tasks;
  tasks.spawn(sleep_for(loop, 2s, woke));
  tasks.spawn(sleep_for(loop, 1s, woke));
  loop.run();
  EXPECT_EQ(woke, (std::vector<TimePoint>{{1s}, {2s}}));
}

TEST(SleepUntil, DoesNotSuspendWhenTheTimeIsPast) {
  VirtualLoop loop;
  std::vector<TimePoint> woke;
  TaskSet tasks;
  tasks.spawn(sleep_for(loop, 0s, woke));
  tasks.spawn(sleep_for(loop, -1s, woke));
  EXPECT_EQ(woke.size(), 2U);
}

Task<void> take_turns(VirtualLoop& loop, std::vector<std::string>& order, std::string name) {
  for (int i = 0; i < 2; ++i) {
    order.push_back(name);
    NextTurn next(loop);
    co_await next;
  }
}

TEST(NextTurn, LetsWhatWasPostedAndWhatIsDueRunFirst) {
  VirtualLoop loop;
  std::vector<std::string> order;
  TaskSet tasks;
  tasks.spawn(take_turns(loop, order, "a"));
  tasks.spawn(take_turns(loop, order, "b"));
  loop.post([&] { order.emplace_back("posted"); });
  loop.run();
  EXPECT_EQ(order, (std::vector<std::string>{"a", "b", "posted", "a", "b"}));
  EXPECT_EQ(loop.now(), TimePoint{});
}

TEST(NextTurn, DestroyedWhileWaitingItIsForgotten) {
  VirtualLoop loop;
  std::vector<std::string> order;
  TaskSet tasks;
  tasks.spawn(take_turns(loop, order, "a"));
  tasks.clear();
  EXPECT_FALSE(loop.work_pending());
}

TEST(SleepUntil, DestroyedWhileWaitingItTakesItsTimerAlong) {
  VirtualLoop loop;
  std::vector<TimePoint> woke;
  TaskSet tasks;
  tasks.spawn(sleep_for(loop, 1s, woke));
  EXPECT_TRUE(loop.work_pending());
  tasks.clear();
  EXPECT_FALSE(loop.work_pending());
  loop.run();
  EXPECT_TRUE(woke.empty());
}

TEST(Eventual, AValueThatComesFirstIsKept) {
  Eventual<int> eventual;
  EXPECT_FALSE(eventual.is_set());
  eventual.set(1);
  eventual.set(2);
  EXPECT_TRUE(eventual.is_set());
  std::optional<int> out;
  TaskSet tasks;
  tasks.spawn(store(arrives(eventual), out));
  EXPECT_EQ(out, 1);
}

TEST(Eventual, WakesItsWaiterOnce) {
  Eventual<int> eventual;
  std::optional<int> out;
  TaskSet tasks;
  tasks.spawn(store(arrives(eventual), out));
  EXPECT_FALSE(out);
  eventual.set(1);
  EXPECT_EQ(out, 1);
  eventual.set(2);
  EXPECT_EQ(out, 1);
}

TEST(Eventual, MayEndWhileSomebodyWaits) {
  std::optional<int> out;
  TaskSet tasks;
  {
    Eventual<int> eventual;
    tasks.spawn(store(arrives(eventual), out));
  }
  EXPECT_EQ(tasks.size(), 1U);
  tasks.clear();
  EXPECT_FALSE(out);
}

TEST(Eventual, MayLiveInTheFrameThatItsValueEnds) {
  struct Coroutines {
    static Task<void> own(Eventual<int>*& door, int& got) {
      Eventual<int> eventual;
      door = &eventual;
      const int value = co_await eventual;
      got = value;
    }
  };
  Eventual<int>* door = nullptr;
  int got = 0;
  TaskSet tasks;
  tasks.spawn(Coroutines::own(door, got));
  door->set(4);
  EXPECT_EQ(got, 4);
  EXPECT_EQ(tasks.size(), 0U);
}

}  // namespace
}  // namespace berth
