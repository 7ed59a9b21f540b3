// Reflectors: the API server's objects, as deltas. One Reflector for each kind that scheduling
// needs (watched_kinds.h), all on one ApiClient; objects are decoded on the client's thread and
// applied on the world's.
//
//   Reflectors reflectors(loop, client, interner, random.fork(), log, {.kinds = watched_kinds(…)},
//                         [&](Delta delta) { engine->apply(std::move(delta)); });
//   reflectors.on_synced([&] { engine->start(); });
//   reflectors.start();
//
// Every delta is legal: an object is added before it is updated or deleted, and added once. Objects
// that were deleted between two watches are deleted with the last known state.
//
// World thread. Loop and Interner outlive the client (whose thread may be decoding when this goes),
// the client outlives this. `apply` must not end it or stop it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/random.h"
#include "kube/api_client.h"
#include "kube/reflector.h"
#include "kube/watched_kinds.h"
#include "telemetry/log.h"

namespace berth::kube {

struct ReflectorsOptions {
  std::vector<WatchedKind> kinds;
  ReflectorOptions each = {};
};

class Reflectors {
 public:
  Reflectors(Loop& loop, ApiClient& client, Interner& interner, Random random, telemetry::Log log,
             ReflectorsOptions options, std::function<void(Delta)> apply);
  ~Reflectors();
  Reflectors(const Reflectors&) = delete;
  Reflectors& operator=(const Reflectors&) = delete;

  // Lists and watches from now on, until stop(). Once.
  void start();
  // No delta comes afterwards.
  void stop();
  // Lists everything once more, by reads of the newest state, as if nothing was known: until that
  // is done synced() is false. For a leader that begins. Its watches may be behind what its
  // predecessor wrote; and if the server was restored from an older backup, they are silent until
  // its versions have come as far again. After start().
  void list_again();

  // Whether every kind has been listed and applied.
  bool synced() const { return unsynced_ == 0; }
  // The resources that have not: "pods", or with what last went wrong "pods: pods is forbidden: …".
  std::vector<std::string> unsynced() const;
  // Calls back through the loop once all are synced; soon, if they are. More than one may wait.
  void on_synced(Callback callback);

 private:
  void one_synced();
  void tell_synced();

  Loop& loop_;
  std::function<void(Delta)> apply_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  std::size_t unsynced_;
  bool stopped_ = false;
  std::vector<Callback> when_synced_;
  std::shared_ptr<Reflectors*> self_;  // empties when this goes: for what is posted
};

}  // namespace berth::kube
