// Controller: one of the loops that make the cluster what its objects say. Names of objects that
// may need work are queued, each once, and handed to sync() in a later turn of the world's loop;
// sync() looks at what is there now, not at what happened.
//
// World thread only.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/lifetime.h"
#include "berth/loop.h"

namespace berth::controllers {

// How long a controller waits after the API server refused what it made.
inline constexpr Duration kRetryAfterRefusal = std::chrono::seconds(5);

class Controller {
 public:
  explicit Controller(Loop& loop) : loop_(loop) {}
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // The object "namespace/name", or "name".
  void enqueue(std::string key);
  // Keeps only the earliest timer per object and kind; sync() sets the next one.
  void enqueue_after(Duration delay, std::string key, TimerKind kind = TimerKind::kWork);
  // Syncs what is queued now, in this turn. False: nothing was.
  bool run_queued();

 protected:
  virtual void sync(const std::string& key) = 0;

  // Goes when the controller goes.
  const Lifetime& lifetime() const { return lifetime_; }
  WallTime now() const { return loop_.wall_now(); }

  Loop& loop_;

 private:
  std::deque<std::string> queue_;
  std::set<std::string, std::less<>> queued_;  // the same
  std::map<std::pair<std::string, TimerKind>, TimerId> timers_;
  bool posted_ = false;
  Lifetime lifetime_;
};

// "namespace/name", or "name" where there is no namespace; and back.
std::string object_key(std::string_view namespace_name, std::string_view name);
struct ObjectName {
  std::string namespace_name;
  std::string name;
};
ObjectName name_of(std::string_view key);

}  // namespace berth::controllers
