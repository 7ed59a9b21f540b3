// PluginTable: every plugin there is, by name: ours (plugins/table.cc) and those an embedder adds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "berth/plugin_args.h"
#include "berth/result.h"

namespace berth {

// `arguments` are the plugin's typed arguments from the configuration; an out-of-tree plugin gets
// them as OpaqueArgs.
using PluginFactory = std::function<Result<std::unique_ptr<Plugin>>(
    const config::PluginArgs& arguments, const Handle& handle)>;

struct PluginEntry {
  std::string name;
  PluginFactory create;             // empty: the name is known, the plugin is not built yet
  std::string extension_points;     // "PreFilter, Filter, Score": for people
  std::int32_t default_weight = 0;  // of a Score plugin in the default profile
  std::string description;          // one sentence
};

class PluginTable {
 public:
  // Fails with `a plugin named <n> already exists`.
  Result<void> add(PluginEntry entry);
  // Both are valid until the next add().
  const PluginEntry* find(std::string_view name) const;
  const std::vector<PluginEntry>& entries() const { return entries_; }

 private:
  std::vector<PluginEntry> entries_;
};

}  // namespace berth
