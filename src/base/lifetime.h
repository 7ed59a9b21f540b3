// Lifetime: callbacks that do nothing once the object that asked for them is gone.
//
// A member of a class that posts work to a Loop, or registers callbacks that it cannot take back:
//
//   loop_.post(lifetime_.guard([this] { run(); }));
//
// The callbacks run on the thread that destroys the object.
#pragma once

#include <memory>
#include <utility>

namespace berth {

class Lifetime {
 public:
  // Tells whether the Lifetime that it was taken from still exists. May outlive it.
  class Watch {
   public:
    bool ended() const { return token_.expired(); }

   private:
    friend class Lifetime;
    explicit Watch(const std::shared_ptr<int>& token) : token_(token) {}
    std::weak_ptr<int> token_;
  };

  Lifetime() = default;
  Lifetime(const Lifetime&) = delete;
  Lifetime& operator=(const Lifetime&) = delete;

  Watch watch() const { return Watch(token_); }

  // Calls `callback` as long as this object exists, and does nothing from then on.
  template <typename Callback>
  auto guard(Callback callback) const {
    return [callback = std::move(callback),
            watch = watch()]<typename... Args>(Args&&... arguments) mutable {
      if (!watch.ended()) callback(std::forward<Args>(arguments)...);
    };
  }

 private:
  std::shared_ptr<int> token_ = std::make_shared<int>(0);
};

}  // namespace berth
