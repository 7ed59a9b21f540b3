// Controller: one of the loops that make the cluster what its objects say. Names of objects that
// may need work are queued, each once, and handed to sync() in a later turn of the world's loop;
// sync() looks at what is there now, not at what happened.
//
// World thread only.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json_tree.h"
#include "base/loop.h"
#include "memapi/local_client.h"

namespace berth::memapi {

class Controller {
 public:
  explicit Controller(LocalClient& api) : api_(api) {}
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

 protected:
  // The object "namespace/name", or "name".
  void enqueue(std::string key);
  // Of several times for the same object the earliest counts; whoever is woken asks again.
  void enqueue_after(Duration delay, std::string key);
  virtual void sync(const std::string& key) = 0;

  // Every change of the kind is told until the controller goes.
  Following& follow(const Resource& resource, Following::Handler handler);

  // What somebody who describes `object` shall read; the same again counts up.
  void record(const Resource& resource, const StoredObject& object, std::string_view type,
              std::string_view reason, std::string_view message, std::string_view component);

  // Goes when the controller goes.
  std::weak_ptr<int> alive() const { return alive_; }
  WallTime now() const { return api_.loop().wall_now(); }

  LocalClient& api_;

 private:
  void run();

  std::set<std::string> queue_;
  std::map<std::string, TimerId> timers_;
  bool posted_ = false;
  std::vector<std::unique_ptr<Following>> followings_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);  // ends what is posted with this object
};

// "namespace/name" and back.
std::string key_of(const StoredObject& object);
struct ObjectName {
  std::string namespace_name;
  std::string name;
};
ObjectName name_of(std::string_view key);

// The owner that is the object's controller; null when it has none.
const JsonValue* controller_of(const JsonValue& object);
// A reference for what `owner` makes.
JsonValue controller_reference(const Resource& resource, const StoredObject& owner);

bool is_terminating(const JsonValue& object);

}  // namespace berth::memapi
