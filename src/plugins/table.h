// The plugins of the default profile, in upstream's order: the one list of what there is. What
// `berth plugins` and the manual print about a plugin is printed from here.
#pragma once

#include "berth/plugin_table.h"

namespace berth::plugins {

// Plugins that are not built yet are there by name, without a factory.
PluginTable make_plugin_table();

}  // namespace berth::plugins
