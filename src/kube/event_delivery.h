// EventDelivery: brings one event to the server, in as many tries as that takes (shell.md §6.6).
// Part of EventRecorder. World thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/loop.h"
#include "berth/random.h"
#include "berth/task.h"
#include "kube/api_client.h"
#include "telemetry/log.h"

namespace berth::kube {

inline constexpr std::string_view kEventsApi = "/apis/events.k8s.io/v1";
inline constexpr std::string_view kCoreApi = "/api/v1";

// One event on its way to the server.
struct EventLetter {
  std::string_view api;
  std::string namespace_name;
  std::string name;
  std::string event;  // the whole of it
  std::string patch;  // of one that is there already, if it still is; empty: it is new
};

class EventDelivery {
 public:
  EventDelivery(Loop& loop, ApiClient& client, Random random, telemetry::Log log)
      : loop_(loop), client_(client), random_(random), log_(std::move(log)) {}

  // Ends when the event is written, or never will be.
  Task<void> deliver(EventLetter letter);

 private:
  enum class Verdict : std::uint8_t { kDone, kTryAgain };

  Task<Verdict> attempt(const EventLetter& letter);
  Verdict verdict_on(const EventLetter& letter, const ApiFailure& failure) const;
  ApiCall patch_of(const EventLetter& letter) const;
  ApiCall post_of(const EventLetter& letter) const;

  Loop& loop_;
  ApiClient& client_;
  Random random_;
  telemetry::Log log_;
};

// Longer by a random part, up to `most`, so that clients that begin together do not stay together.
Duration jittered(Duration duration, double most, Random& random);

}  // namespace berth::kube
