// `berth permit`: the pods that a running scheduler holds between scheduling and binding, for a
// person to see, to let go or to turn away. Asks the scheduler's own HTTPS server
// (serve/waiting_pods.h), which asks its API server whether this person may.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "app/output_format.h"
#include "app/scheduler_client.h"
#include "berth/result.h"

namespace berth::app {

struct PermitOptions {
  enum class Action : std::uint8_t { kList, kAllow, kReject };

  Action action = Action::kList;
  std::string pod;                             // "name" or "namespace/name"; of allow and reject
  std::string namespace_name;                  // empty: all, or that of `pod`, or default
  std::string plugin;                          // empty: whichever holds the pod
  std::string message;                         // of a rejection
  OutputFormat output = OutputFormat::kTable;  // or kJson

  SchedulerAddress address;
};

// What does not go together; empty: all does.
std::string check_permit(const PermitOptions& options);

// Prints the answer to `out`, and what is to be known beside it to `err`. Blocks until there is
// one.
Result<void> permit(const PermitOptions& options, std::ostream& out, std::ostream& err);

}  // namespace berth::app
