// Cancellation with a cause: one side asks a running task to end early and says why, the other side
// notices at its next await. World thread only.
//
//   CancelSource source;                       // whoever may want to stop the work
//   Task<Outcome> task = plugin.pre_bind(…, source.token());
//   source.cancel("preempted by DefaultPreemption");
//
// A token may be asked (cancelled(), cause()) or told to call back (on_cancel). The source must
// outlive the tasks that hold its token.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/loop.h"

namespace berth {

class CancelSource;

namespace cancel_detail {

// A ring of registrations that each can leave by itself, whoever owns the ring by then.
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

}  // namespace cancel_detail

class CancelToken {
 public:
  CancelToken() = default;  // never cancelled

  bool cancelled() const;
  const std::string& cause() const;  // empty unless cancelled

  // Calls `work` when the source is cancelled (at once if it already is), unless the registration
  // goes first.
  class [[nodiscard]] Registration : private cancel_detail::Link {
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
  cancel_detail::Link waiting_;  // the ring's head
};

}  // namespace berth
