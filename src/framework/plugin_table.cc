#include "berth/plugin_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth {

Result<void> PluginTable::add(PluginEntry entry) {
  if (find(entry.name))
    return fail(ErrorKind::kInvalid, fmt::format("a plugin named {} already exists", entry.name));
  entries_.push_back(std::move(entry));
  return {};
}

const PluginEntry* PluginTable::find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &PluginEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

}  // namespace berth
