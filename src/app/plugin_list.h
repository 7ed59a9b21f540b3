// `berth plugins`: the plugin table for people.
#pragma once

#include <string>

#include "berth/plugin_table.h"

namespace berth::app {

std::string plugin_list(const PluginTable& table);

}  // namespace berth::app
