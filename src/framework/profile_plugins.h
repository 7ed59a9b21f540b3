// ProfilePlugins: the plugins of one profile, made once each and listed per extension point in the
// order in which they run. How the configuration's lists become these is core.md §3.1 and §3.2.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "berth/plugin_table.h"
#include "berth/result.h"
#include "config/configuration.h"
#include "framework/group_plugins.h"

namespace berth {

// A plugin at an extension point; `index` is its place in ProfilePlugins::all, which verdicts refer
// to.
template <typename Point>
struct Placed {
  Point* plugin = nullptr;
  std::uint16_t index = 0;
  std::int64_t weight = 0;  // at Score

  Point* operator->() const { return plugin; }
  std::string name() const { return std::string(plugin->name()); }
};

struct ProfilePlugins {
  // `known_defaults` are the default entries of multiPoint: a default plugin that is not built is
  // left out, while one that is configured by name and not built is an error.
  static Result<ProfilePlugins> make(const config::Profile& profile,
                                     const std::vector<config::PluginRef>& known_defaults,
                                     const PluginTable& table, const Handle& handle);

  std::vector<std::unique_ptr<Plugin>> all;

  std::vector<Placed<PreEnqueuePlugin>> pre_enqueue;
  std::vector<Placed<QueueSortPlugin>> queue_sort;  // exactly one
  std::vector<Placed<PreFilterPlugin>> pre_filter;
  std::vector<Placed<FilterPlugin>> filter;
  std::vector<Placed<PostFilterPlugin>> post_filter;
  std::vector<Placed<PreScorePlugin>> pre_score;
  std::vector<Placed<ScorePlugin>> score;
  std::vector<Placed<ReservePlugin>> reserve;
  std::vector<Placed<PermitPlugin>> permit;
  std::vector<Placed<PreBindPlugin>> pre_bind;
  std::vector<Placed<BindPlugin>> bind;  // at least one
  std::vector<Placed<PostBindPlugin>> post_bind;

  // ---- of groups of pods
  std::vector<Placed<PlacementGeneratePlugin>> placement_generate;
  std::vector<Placed<PlacementScorePlugin>> placement_score;
  std::vector<Placed<PodGroupPostFilterPlugin>> pod_group_post_filter;
};

}  // namespace berth
