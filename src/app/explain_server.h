// Asks a running scheduler to explain pods (serve/explanations.h), for `berth explain --server`.
#pragma once

#include <iosfwd>

#include "app/explain_command.h"
#include "wire/json_tree.h"

namespace berth::app {

// {"pods": […]}, as docs/explain.md describes it. Blocks until it is there.
Result<JsonValue> ask_scheduler_to_explain(const ExplainOptions& options, std::ostream& err);

}  // namespace berth::app
