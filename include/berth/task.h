// Task<T>: a coroutine that runs on the world thread and finishes with a T.
//
// A task begins when it is awaited, or when a TaskSet spawns it. It awaits only what resumes on the
// world thread. An exception that leaves a task comes out of the co_await on it; in a task that is
// not awaited it ends the process. Outcomes are values here; exceptions only come from foreign
// code, and are caught where it is called.
//
//   Task<Result<void>> call = api.bind(pod, node);     // nothing has happened yet
//   Result<void> answer = co_await call;               // now it runs, and we wait
//
// Limits of g++ 12: give the awaited object a name; write coroutines as functions, not as capturing
// lambdas; take parameters that must outlive the call by value.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/loop.h"

namespace berth {

class TaskSet;

namespace internal {

// What every promise has: the coroutine that awaits it, and its exception.
struct PromiseCore {
  std::coroutine_handle<> awaiter = std::noop_coroutine();
  std::exception_ptr exception;

  std::suspend_always initial_suspend() noexcept { return {}; }
  void unhandled_exception() { exception = std::current_exception(); }
  void rethrow() const {
    if (exception) std::rethrow_exception(exception);
  }
};

// Aborts: two tasks wait for one Eventual.
[[noreturn]] void second_waiter();

struct ResumeAwaiter {
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
    return done.promise().awaiter;
  }
  void await_resume() const noexcept {}
};

}  // namespace internal

template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type : internal::PromiseCore {
    std::optional<T> value;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    internal::ResumeAwaiter final_suspend() noexcept { return {}; }
    void return_value(T result) { value.emplace(std::move(result)); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    handle_.promise().awaiter = awaiter;
    return handle_;
  }
  T await_resume() {
    handle_.promise().rethrow();
    return std::move(*handle_.promise().value);
  }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

template <>
class [[nodiscard]] Task<void> {
 public:
  struct promise_type : internal::PromiseCore {
    // Set while a TaskSet owns the frame; the links make the set a list without a node per task.
    TaskSet* owner = nullptr;
    promise_type* previous = nullptr;
    promise_type* next = nullptr;

    struct FinalAwaiter {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> done) const noexcept;
      void await_resume() const noexcept {}
    };

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    FinalAwaiter final_suspend() noexcept { return {}; }
    void return_void() {}
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiter) noexcept {
    handle_.promise().awaiter = awaiter;
    return handle_;
  }
  void await_resume() const { handle_.promise().rethrow(); }

 private:
  friend class TaskSet;
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

// Owns tasks that are not awaited, until they finish. Unfinished tasks are destroyed with the set,
// where they are suspended: the destructors of their local variables run, the code after the await
// does not.
class TaskSet {
 public:
  TaskSet() = default;
  TaskSet(const TaskSet&) = delete;
  TaskSet& operator=(const TaskSet&) = delete;
  ~TaskSet() { clear(); }

  // Begins the task; it may finish before this returns.
  void spawn(Task<void> task);

  std::size_t size() const { return size_; }

  // Destroys all that is unfinished, newest first. Not to be called by one of its own tasks.
  void clear();

 private:
  friend struct Task<void>::promise_type::FinalAwaiter;
  template <typename T>
  friend class WhenAll;
  using Promise = Task<void>::promise_type;
  void unlink(Promise& promise);

  Promise* newest_ = nullptr;
  std::size_t size_ = 0;
  std::coroutine_handle<> when_empty_;  // resumed once, when the last task is gone
};

// Runs the tasks side by side and finishes with all their results, in the order given. An exception
// waits until all have finished; of several, the one of the first task comes out.
template <typename T>
class [[nodiscard]] WhenAll {
 public:
  explicit WhenAll(std::vector<Task<T>> tasks) : answers_(tasks.size()) {
    runners_.reserve(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i)
      runners_.push_back(run(std::move(tasks[i]), answers_[i]));
  }
  WhenAll(const WhenAll&) = delete;
  WhenAll& operator=(const WhenAll&) = delete;

  bool await_ready() const noexcept { return answers_.empty(); }
  bool await_suspend(std::coroutine_handle<> awaiter) {
    for (Task<void>& runner : runners_) set_.spawn(std::move(runner));
    if (set_.size() == 0) return false;
    // Resumed by the set after the last runner's frame is gone, not by that runner: what the
    // awaiter does next may well end this object, and the runners with it.
    set_.when_empty_ = awaiter;
    return true;
  }
  std::vector<T> await_resume() {
    for (const Answer& answer : answers_)
      if (answer.exception) std::rethrow_exception(answer.exception);
    std::vector<T> values;
    values.reserve(answers_.size());
    for (Answer& answer : answers_) values.push_back(std::move(*answer.value));
    return values;
  }

 private:
  struct Answer {
    std::optional<T> value;
    std::exception_ptr exception;
  };

  static Task<void> run(Task<T> task, Answer& answer) {
    try {
      T value = co_await task;
      answer.value.emplace(std::move(value));
    } catch (...) {
      answer.exception = std::current_exception();
    }
  }

  std::vector<Answer> answers_;
  std::vector<Task<void>> runners_;
  TaskSet set_;
};

// Awaitable: until the loop reaches `when`. Destroying the waiting task cancels the timer.
class [[nodiscard]] SleepUntil {
 public:
  SleepUntil(Loop& loop, TimePoint when) : loop_(loop), when_(when) {}
  SleepUntil(const SleepUntil&) = delete;
  SleepUntil& operator=(const SleepUntil&) = delete;
  ~SleepUntil() {
    if (timer_) loop_.cancel(*timer_);
  }

  bool await_ready() const { return when_ <= loop_.now(); }
  void await_suspend(std::coroutine_handle<> awaiter) {
    timer_ = loop_.at(when_, [this, awaiter] {
      timer_.reset();
      awaiter.resume();
    });
  }
  void await_resume() const noexcept {}

 private:
  Loop& loop_;
  TimePoint when_;
  std::optional<TimerId> timer_;
};

// Awaitable: until the loop has done what was posted and what is due. Destroying the waiting task
// cancels it.
class [[nodiscard]] NextTurn : public SleepUntil {
 public:
  explicit NextTurn(Loop& loop) : SleepUntil(loop, loop.now()) {}
  bool await_ready() const { return false; }
};

// A value that arrives later, once; the answer to a question asked somewhere else. One task may
// wait for it, and either side may end while it does. World thread.
template <typename T>
class Eventual {
 public:
  class [[nodiscard]] Waiter {
   public:
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() {
      if (waiting_ && eventual_) eventual_->waiter_ = nullptr;
    }

    bool await_ready() const noexcept { return eventual_->is_set(); }
    void await_suspend(std::coroutine_handle<> awaiter) {
      if (eventual_->waiter_ != nullptr) internal::second_waiter();
      awaiter_ = awaiter;
      waiting_ = true;
      eventual_->waiter_ = this;
    }
    T await_resume() { return std::move(*eventual_->value_); }

   private:
    friend class Eventual;
    explicit Waiter(Eventual& eventual) : eventual_(&eventual) {}
    Eventual* eventual_;  // null when it ended first
    bool waiting_ = false;
    std::coroutine_handle<> awaiter_;
  };

  Eventual() = default;
  Eventual(const Eventual&) = delete;
  Eventual& operator=(const Eventual&) = delete;
  ~Eventual() {
    if (waiter_) waiter_->eventual_ = nullptr;
  }

  // The first value counts; a second one is dropped. Resumes the waiting coroutine before
  // returning.
  void set(T value) {
    if (value_) return;
    value_.emplace(std::move(value));
    Waiter* waiter = std::exchange(waiter_, nullptr);
    if (waiter == nullptr) return;
    waiter->waiting_ = false;
    waiter->awaiter_.resume();
  }
  bool is_set() const { return value_.has_value(); }

  // The value is moved out: it is awaited once.
  Waiter operator co_await() { return Waiter(*this); }

 private:
  std::optional<T> value_;
  Waiter* waiter_ = nullptr;
};

// ---- cancellation -------------------------------------------------------------------------------
//
// One side asks a running task to end early and says why, the other side notices at its next await.
//
//   CancelSource source;                       // held by the side that may stop the work
//   Task<Outcome> task = plugin.pre_bind(…, source.token());
//   source.cancel("preempted by DefaultPreemption");
//
// A token can be polled (cancelled(), cause()) or calls back (on_cancel). The source must outlive
// the tasks that hold its token.

class CancelSource;

namespace internal {

// A ring of registrations. Each can leave the ring by itself, also after the ring's owner is gone.
struct Link {
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() { unlink(); }

  bool alone() const { return next == this; }
  void unlink() {
    previous->next = next;
    next->previous = previous;
    previous = next = this;
  }
  void insert_before(Link& other) {
    previous = other.previous;
    next = &other;
    previous->next = this;
    other.previous = this;
  }

  Link* previous = this;
  Link* next = this;
};

}  // namespace internal

class CancelToken {
 public:
  CancelToken() = default;  // never cancelled

  bool cancelled() const;
  const std::string& cause() const;  // empty unless cancelled

  // Calls `work` when the source is cancelled (at once if it already is), unless the registration
  // goes first.
  class [[nodiscard]] Registration : private internal::Link {
   public:
    Registration(CancelSource* source, Callback work);

   private:
    friend class CancelSource;
    Callback work_;
  };
  Registration on_cancel(Callback work) const { return Registration(source_, std::move(work)); }

 private:
  friend class CancelSource;
  explicit CancelToken(CancelSource* source) : source_(source) {}
  CancelSource* source_ = nullptr;
};

class CancelSource {
 public:
  CancelSource() = default;
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;

  CancelToken token() { return CancelToken(this); }
  bool cancelled() const { return cause_.has_value(); }

  // The first cause stays. What is called back may end this source.
  void cancel(std::string cause);

 private:
  friend class CancelToken;
  friend class CancelToken::Registration;
  std::optional<std::string> cause_;
  internal::Link waiting_;  // the ring's head
};

}  // namespace berth
