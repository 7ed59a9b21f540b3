// ChangeGate: delays changes of the scheduling state while a suspended coroutine reads it.
//
// A coroutine that reads the state and suspends in the middle closes the gate first. Timers and
// other coroutines go on, but changes of the state wait here, in order, until the gate opens: the
// reader sees one state from its first line to its last, without a copy of it.
//
//   gate.pass([this] { add_node(…); });             // now, or when the gate opens
//   ChangeGate::Passed passed(gate);                // the same, in a coroutine
//   co_await passed;
//
// World thread only.
#pragma once

#include <coroutine>
#include <cstdint>
#include <deque>
#include <utility>

#include "berth/loop.h"

namespace berth {

class ChangeGate {
 public:
  // Runs `change` at once, or in its turn when the gate opens. It becomes a Callback only when it
  // has to wait.
  template <typename Change>
  void pass(Change&& change) {
    if (!closed_ && parked_.empty())
      change();
    else
      park(std::forward<Change>(change));
  }

  void close() { closed_ = true; }
  // Lets everything that waits through, in order. A change may close the gate again; the rest then
  // waits for the next opening.
  void open();

  bool closed() const { return closed_; }
  std::size_t parked() const { return parked_.size(); }

  // Awaitable any number of times. A task that is destroyed while it waits gives up its turn.
  class [[nodiscard]] Passed {
   public:
    explicit Passed(ChangeGate& gate) : gate_(gate) {}
    Passed(const Passed&) = delete;
    Passed& operator=(const Passed&) = delete;
    ~Passed();
    bool await_ready() const { return !gate_.closed_ && gate_.parked_.empty(); }
    void await_suspend(std::coroutine_handle<> awaiter);
    void await_resume() { waiting_ = false; }

   private:
    ChangeGate& gate_;
    std::uint64_t turn_ = 0;
    bool waiting_ = false;
  };

 private:
  struct Parked {
    std::uint64_t turn;
    Callback change;
  };
  std::uint64_t park(Callback change);

  bool closed_ = false;
  bool opening_ = false;
  std::uint64_t last_turn_ = 0;
  std::deque<Parked> parked_;
};

}  // namespace berth
