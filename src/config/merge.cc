#include "config/merge.h"

#include <algorithm>

namespace berth::config {

PluginSet merge(const PluginSet& defaults, const PluginSet& user) {
  PluginSet merged;
  merged.disabled = user.disabled;
  merged.disabled.insert(merged.disabled.end(), defaults.disabled.begin(), defaults.disabled.end());

  const auto is_disabled = [&](std::string_view name) {
    return std::ranges::find(merged.disabled, name) != merged.disabled.end();
  };
  std::vector<bool> placed(user.enabled.size(), false);
  // Of a name that the user lists twice the last one takes the default's place; the other is
  // appended, and fails when the profile is built.
  const auto users_entry = [&](std::string_view name) {
    for (std::size_t i = user.enabled.size(); i-- > 0;) {
      if (user.enabled[i].name == name) return i;
    }
    return user.enabled.size();
  };
  if (!is_disabled("*")) {
    for (const PluginRef& plugin : defaults.enabled) {
      if (is_disabled(plugin.name)) continue;
      const std::size_t index = users_entry(plugin.name);
      if (index == user.enabled.size()) {
        merged.enabled.push_back(plugin);
      } else {
        merged.enabled.push_back(user.enabled[index]);
        placed[index] = true;
      }
    }
  }
  for (std::size_t i = 0; i < user.enabled.size(); ++i) {
    if (!placed[i]) merged.enabled.push_back(user.enabled[i]);
  }
  return merged;
}

Plugins merge(const Plugins& defaults, const Plugins& user) {
  Plugins merged;
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    merged.sets[i] = merge(defaults.sets[i], user.sets[i]);
  }
  return merged;
}

}  // namespace berth::config
