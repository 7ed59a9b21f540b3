// PodsInPreBind: pods whose reservations are being made durable, and the way to stop that when the
// place is needed for a more important pod (core.md §4.4). Shared by all profiles; world thread.
#pragma once

#include <map>
#include <string>

#include "berth/pod.h"
#include "berth/task.h"

namespace berth {

class PodsInPreBind {
 public:
  // A pod's stay; ends with the binding cycle that made it.
  class Stay {
   public:
    Stay(PodsInPreBind& pods, const Uid& uid) : pods_(pods), uid_(uid) {
      pods_.stays_.insert_or_assign(uid_, this);
    }
    ~Stay() { pods_.stays_.erase(uid_); }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

    CancelToken token() { return source_.token(); }
    // From now on it cannot be cancelled. False: it was, before.
    bool mark_prebound() {
      if (source_.cancelled()) return false;
      finished_ = true;
      return true;
    }

   private:
    friend class PodsInPreBind;
    PodsInPreBind& pods_;
    Uid uid_;
    CancelSource source_;
    bool finished_ = false;
  };

  bool contains(const Uid& uid) const { return stays_.contains(uid); }

  // Stops the pod's PreBind. False if it is not there, or already past that point.
  bool cancel(const Uid& uid, std::string cause) {
    const auto found = stays_.find(uid);
    if (found == stays_.end() || found->second->finished_) return false;
    found->second->source_.cancel(std::move(cause));
    return true;
  }

 private:
  std::map<Uid, Stay*> stays_;
};

}  // namespace berth
