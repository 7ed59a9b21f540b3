// Writing a configuration back, as --write-config-to and /configz do (shell.md §2.9).
#pragma once

#include <string>

#include "config/configuration.h"

namespace berth::config {

// The v1 object: keys sorted, everything filled in, multiPoint not expanded, arguments only of
// plugins that are enabled.
std::string to_yaml(const Configuration& configuration);
std::string to_json(const Configuration& configuration);

}  // namespace berth::config
