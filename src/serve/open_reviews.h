// OpenReviews: questions to an API server that are under way, and the callers that wait for the
// answers. Callers with the same question share it; a question is taken back when the last of its
// callers has gone; and only so many callers may wait at a time. Any thread.
//
//   join("t1") ──► asked ──► answered ──► every caller is called back
//   join("t1") ──┘       └─ all left ──► taken back
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "base/thread.h"
#include "berth/result.h"

namespace berth::serve {

// Cancels a review whose answer is not needed any more. May come too late. Empty: not possible.
using CancelReview = std::function<void()>;

// What becomes of a caller that goes before it is answered. Any thread.
class Departure {
 public:
  // What is to be done then, in place of what was to be done before. False: it has gone already.
  bool set(std::function<void()> work) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (gone_) return false;
    work_.swap(work);
    return true;
  }
  void go() EXCLUDES(mutex_) {
    std::function<void()> work;
    {
      const MutexLock lock(mutex_);
      gone_ = true;
      work.swap(work_);
    }
    if (work) work();
  }

 private:
  Mutex mutex_;
  bool gone_ GUARDED_BY(mutex_) = false;
  std::function<void()> work_ GUARDED_BY(mutex_);
};

template <typename Answer>
class OpenReviews {
 public:
  using Done = std::function<void(const Result<Answer>&)>;
  // Asks. Calls back at most once that counts, maybe before it returns.
  using Ask = std::function<CancelReview(std::function<void(const Result<Answer>&)> answered)>;
  using Caller = std::uint64_t;

  explicit OpenReviews(std::size_t most_callers) : most_callers_(most_callers) {}

  // Waits for the answer to the review of that name, which is started unless it is running already.
  // A caller with a departure leaves when that goes, and `left` is called. Nothing: too many wait
  // already. This must outlive the answer, and the departure unless `left` holds it.
  std::optional<Caller> join(const std::string& name, Done done, const Ask& ask,
                             Departure* departure = nullptr, std::function<void()> left = {})
      EXCLUDES(mutex_) {
    Caller caller = 0;
    bool first = false;
    bool gone = false;
    {
      const MutexLock lock(mutex_);
      if (closed_ || callers_ >= most_callers_) return std::nullopt;
      caller = ++last_;
      // Before the answer can come: it may set what is to be done next.
      gone = departure && !departure->set([this, name, caller, left] {
        if (leave(name, caller) && left) left();
      });
      if (!gone) {
        ++callers_;
        Question& question = questions_[name];
        first = question.callers.empty();
        if (first) question.number = caller;
        question.callers.emplace_back(caller, std::move(done));
      }
    }
    if (gone && left) left();
    if (!first) return caller;
    CancelReview cancel =
        ask([this, name, caller](const Result<Answer>& answer) { settle(name, caller, answer); });
    {
      const MutexLock lock(mutex_);
      if (const auto found = questions_.find(name);
          found != questions_.end() && found->second.number == caller) {
        found->second.cancel = std::move(cancel);
        return caller;
      }
    }
    if (cancel) cancel();  // it is answered, or all have left
    return caller;
  }

  // True: the caller was still waiting; it will not be called back.
  bool leave(const std::string& name, Caller caller) EXCLUDES(mutex_) {
    Done dropped;
    CancelReview cancel;
    {
      const MutexLock lock(mutex_);
      const auto found = questions_.find(name);
      if (found == questions_.end()) return false;
      auto& callers = found->second.callers;
      const auto mine =
          std::ranges::find(callers, caller, [](const auto& entry) { return entry.first; });
      if (mine == callers.end()) return false;
      dropped = std::move(mine->second);
      callers.erase(mine);
      --callers_;
      if (callers.empty()) {
        cancel = std::move(found->second.cancel);
        questions_.erase(found);
      }
    }
    if (cancel) cancel();
    return true;
  }

  // Cancels all reviews; no callback is called any more.
  void close() EXCLUDES(mutex_) {
    std::unordered_map<std::string, Question, TextHash> dropped;
    {
      const MutexLock lock(mutex_);
      closed_ = true;
      callers_ = 0;
      dropped.swap(questions_);
    }
    for (const auto& [name, question] : dropped)
      if (question.cancel) question.cancel();
  }

 private:
  struct Question {
    std::uint64_t number = 0;  // that of its first caller: a name may be asked again
    std::vector<std::pair<Caller, Done>> callers;
    CancelReview cancel;
  };

  void settle(const std::string& name, std::uint64_t number, const Result<Answer>& answer)
      EXCLUDES(mutex_) {
    std::vector<std::pair<Caller, Done>> callers;
    {
      const MutexLock lock(mutex_);
      const auto found = questions_.find(name);
      if (found == questions_.end() || found->second.number != number) return;
      callers = std::move(found->second.callers);
      callers_ -= callers.size();
      questions_.erase(found);
    }
    for (const auto& [caller, done] : callers) done(answer);
  }

  const std::size_t most_callers_;
  Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
  std::size_t callers_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::string, Question, TextHash> questions_ GUARDED_BY(mutex_);
};

}  // namespace berth::serve
