// What the controllers of the embedded API server have in common: they follow its objects, and
// record events about them. World thread only; all of them end before the server.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control_plane/api_server.h"
#include "controllers/controller.h"
#include "wire/json_tree.h"

namespace berth::control_plane {

using controllers::kRetryAfterRefusal;
using controllers::name_of;
using controllers::ObjectName;

// Records an event about `object`; a repeated one increments its count.
void record_event(LocalClient& api, const Resource& resource, const StoredObject& object,
                  std::string_view type, std::string_view reason, std::string_view message,
                  std::string_view component);

class ApiFollower {
 public:
  explicit ApiFollower(LocalClient& api) : api_(api) {}
  virtual ~ApiFollower() = default;
  ApiFollower(const ApiFollower&) = delete;
  ApiFollower& operator=(const ApiFollower&) = delete;

 protected:
  // Every change of the kind is told until the follower goes.
  Following& follow(const Resource& resource, Following::Handler handler);

  void record(const Resource& resource, const StoredObject& object, std::string_view type,
              std::string_view reason, std::string_view message, std::string_view component) {
    record_event(api_, resource, object, type, reason, message, component);
  }

  LocalClient& api_;

 private:
  std::vector<std::unique_ptr<Following>> followings_;
};

// A controller that works on JSON trees.
class Controller : public ApiFollower, public controllers::Controller {
 public:
  explicit Controller(LocalClient& api) : ApiFollower(api), controllers::Controller(api.loop()) {}
};

// "namespace/name".
std::string key_of(const StoredObject& object);

// The owner that is the object's controller; null when it has none.
const JsonValue* controller_of(const JsonValue& object);
// A reference for what `owner` makes.
JsonValue controller_reference(const Resource& resource, const StoredObject& owner);

bool is_terminating(const JsonValue& object);

}  // namespace berth::control_plane
