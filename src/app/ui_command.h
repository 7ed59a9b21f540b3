// `berth ui`: the live page of a running scheduler in the user's browser. Asks the scheduler's HTTPS
// server with the user's credentials, which lets in whoever may get /ui/*.
#pragma once

#include <cstdint>
#include <iosfwd>

#include "app/scheduler_client.h"
#include "berth/result.h"

namespace berth::app {

struct UiOptions {
  SchedulerAddress address;
  std::uint16_t port = 0;  // on this machine; 0: any that is free
};

// Prints the link to `out` and serves until SIGINT or SIGTERM.
Result<void> run_ui(const UiOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
