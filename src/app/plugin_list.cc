#include "app/plugin_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::app {

std::string plugin_list(const PluginTable& table) {
  std::size_t name_width = 4, points_width = 16;
  for (const PluginEntry& entry : table.entries()) {
    name_width = std::max(name_width, entry.name.size());
    points_width = std::max(points_width, entry.extension_points.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  WEIGHT  DESCRIPTION\n", "NAME", name_width,
                                 "EXTENSION POINTS", points_width);
  for (const PluginEntry& entry : table.entries()) {
    const std::string weight =
        entry.default_weight == 0 ? "-" : std::to_string(entry.default_weight);
    text += fmt::format("{:<{}}  {:<{}}  {:>6}  {}{}\n", entry.name, name_width,
                        entry.extension_points, points_width, weight,
                        entry.create ? "" : "(not available yet) ", entry.description);
  }
  return text;
}

}  // namespace berth::app
