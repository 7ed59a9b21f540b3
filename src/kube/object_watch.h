// ObjectWatch: one object of an API server, by its name, listed and then watched. For the few
// objects that are not part of the scheduled cluster (reflector.h has those): read as JSON, of
// which nothing is forgotten. World thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/random.h"
#include "berth/result.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "telemetry/log.h"
#include "wire/json_tree.h"

namespace berth::kube {

class ObjectWatch {
 public:
  // Nothing: there is no such object (any more).
  using Changed = std::function<void(const JsonValue* object)>;

  // `collection` is a path: "/api/v1/namespaces/kube-system/configmaps". `changed` is called after
  // every list and for every event. `loop` and `client` outlive this.
  ObjectWatch(Loop& loop, ApiClient& client, Random random, std::string collection,
              std::string name, Changed changed, telemetry::Log log);
  ObjectWatch(const ObjectWatch&) = delete;
  ObjectWatch& operator=(const ObjectWatch&) = delete;

  // Until `cancel`. What goes wrong is tried again, with growing pauses.
  Task<void> run(CancelToken cancel);

  bool synced() const { return synced_; }  // any thread: it has been listed

 private:
  struct Stream;
  class Feed;

  Task<Result<void>> list(CancelToken cancel);
  Task<Result<void>> follow(CancelToken cancel);
  Result<void> take_event(std::string_view line);
  Result<void> refused(const ApiFailure& failure);
  ApiCall request(std::string query) const;

  Loop& loop_;
  ApiClient& client_;
  Random random_;
  const std::string collection_;
  const std::string name_;
  const Changed changed_;
  const telemetry::Log log_;
  std::atomic<bool> synced_ = false;
  std::string version_;     // to watch from; empty: to be listed
  std::size_t events_ = 0;  // of the present watch
};

}  // namespace berth::kube
