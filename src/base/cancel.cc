#include "berth/task.h"

namespace berth {

bool CancelToken::cancelled() const { return source_ && source_->cancelled(); }

const std::string& CancelToken::cause() const {
  static const std::string kNone;
  return cancelled() ? *source_->cause_ : kNone;
}

CancelToken::Registration::Registration(CancelSource* source, Callback work)
    : work_(std::move(work)) {
  if (!source) return;
  if (source->cancelled())
    work_();
  else
    insert_before(source->waiting_);
}

void CancelSource::cancel(std::string cause) {
  if (cause_) return;
  cause_ = std::move(cause);
  // One at a time, from a ring of our own: what a callback resumes may end other tasks, and their
  // registrations with them, or the task that owns this source.
  internal::Link ring;
  if (!waiting_.alone()) {
    ring.insert_before(waiting_);
    waiting_.unlink();
  }
  while (!ring.alone()) {
    auto& next = static_cast<CancelToken::Registration&>(*ring.next);
    next.unlink();
    Callback work = std::move(next.work_);
    work();
  }
}

}  // namespace berth
