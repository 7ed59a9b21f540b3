// Merges a user's plugins with the defaults (shell.md §2.5, step A). Only for this room.
#pragma once

#include "config/configuration.h"

namespace berth::config {

// `defaults` with the user's set applied. Expansion of multiPoint is the framework's.
PluginSet merge(const PluginSet& defaults, const PluginSet& user);
Plugins merge(const Plugins& defaults, const Plugins& user);

}  // namespace berth::config
