// `berth apiserver`: the embedded API server alone.
#pragma once

#include <iosfwd>

#include "app/embedded_server.h"
#include "berth/result.h"

namespace berth::app {

// Until SIGINT or SIGTERM.
Result<void> run_apiserver(const EmbeddedServerOptions& options, std::ostream& out);

}  // namespace berth::app
