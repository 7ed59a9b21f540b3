// The one list of all plugins: those of the default profile in upstream's order, then those that are off by
// default. What `berth plugins` and the manual print about a plugin is printed from here.
#pragma once

#include "berth/plugin_table.h"

namespace berth::plugins {

// Plugins that are not built yet are there by name, without a factory.
PluginTable make_plugin_table();

}  // namespace berth::plugins
