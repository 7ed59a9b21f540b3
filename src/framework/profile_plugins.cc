#include "framework/profile_plugins.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "berth/cycle.h"

namespace berth {
namespace {

using config::ExtensionPoint;
using config::PluginRef;

// Makes the plugins of a profile and sorts them into their extension points.
class ProfilePluginsMaker {
 public:
  ProfilePluginsMaker(const config::Profile& profile, const std::vector<PluginRef>& known_defaults,
                      const PluginTable& table, const Handle& handle)
      : profile_(profile), known_defaults_(known_defaults), table_(table), handle_(handle) {}

  Result<ProfilePlugins> make() {
    Result<void> done = make_plugins();
    // Parity: all lists of single points are read before multiPoint is expanded anywhere; it
    // decides which of several mistakes is reported.
    if (done)
      done = for_each_point([this](auto point, auto& list, std::string_view type) {
        return list_specific(point, list, type);
      });
    if (done && !multi_point().enabled.empty())
      done = for_each_point([this](auto point, auto& list, std::string_view type) {
        return expand_multi_point(point, list, type);
      });
    if (done) done = check_counts();
    if (done) done = set_weights();
    if (!done) return fail(done.error());
    return std::move(set_);
  }

 private:
  const config::PluginSet& multi_point() const {
    return profile_.plugins.at(ExtensionPoint::kMultiPoint);
  }

  // The order in which upstream looks at the points; those of group scheduling come after them.
  template <typename Visit>
  Result<void> for_each_point(Visit visit) {
    Result<void> done;
    const auto then = [&](ExtensionPoint point, auto& list, std::string_view type) {
      if (done) done = visit(point, list, type);
    };
    then(ExtensionPoint::kPreFilter, set_.pre_filter, "PreFilterPlugin");
    then(ExtensionPoint::kFilter, set_.filter, "FilterPlugin");
    then(ExtensionPoint::kPostFilter, set_.post_filter, "PostFilterPlugin");
    then(ExtensionPoint::kReserve, set_.reserve, "ReservePlugin");
    then(ExtensionPoint::kPreScore, set_.pre_score, "PreScorePlugin");
    then(ExtensionPoint::kScore, set_.score, "ScorePlugin");
    then(ExtensionPoint::kPreBind, set_.pre_bind, "PreBindPlugin");
    then(ExtensionPoint::kBind, set_.bind, "BindPlugin");
    then(ExtensionPoint::kPostBind, set_.post_bind, "PostBindPlugin");
    then(ExtensionPoint::kPermit, set_.permit, "PermitPlugin");
    then(ExtensionPoint::kPreEnqueue, set_.pre_enqueue, "PreEnqueuePlugin");
    then(ExtensionPoint::kQueueSort, set_.queue_sort, "QueueSortPlugin");
    then(ExtensionPoint::kPlacementGenerate, set_.placement_generate, "PlacementGeneratePlugin");
    then(ExtensionPoint::kPlacementScore, set_.placement_score, "PlacementScorePlugin");
    then(ExtensionPoint::kPodGroupPostFilter, set_.pod_group_post_filter,
         "PodGroupPostFilterPlugin");
    return done;
  }

  // Whether the entry stands in multiPoint only because it is a default.
  bool is_default(const PluginRef& entry) const {
    return std::ranges::find(known_defaults_, entry) != known_defaults_.end();
  }

  Result<void> make_plugins() {
    std::map<std::string, const config::PluginArgs*> arguments;
    for (const config::PluginConfig& entry : profile_.plugin_config)
      if (!arguments.emplace(entry.name, &entry.args).second)
        return fail(ErrorKind::kInvalid, fmt::format("repeated config for plugin {}", entry.name));
    for (std::size_t point = 0; point < config::kExtensionPoints; ++point) {
      const bool is_multi = point == static_cast<std::size_t>(ExtensionPoint::kMultiPoint);
      for (const PluginRef& entry : profile_.plugins.sets[point].enabled)
        if (Result<void> made = make_plugin(entry, is_multi && is_default(entry), arguments); !made)
          return made;
    }
    return {};
  }

  Result<void> make_plugin(const PluginRef& entry, bool by_default,
                           const std::map<std::string, const config::PluginArgs*>& arguments) {
    const PluginEntry* known = table_.find(entry.name);
    if (!known || made_.contains(entry.name))
      return {};  // an unknown name is reported at its point
    if (!known->create) {
      if (by_default) {
        left_out_.insert(entry.name);
        return {};
      }
      return fail(
          ErrorKind::kInvalid,
          fmt::format("plugin \"{}\" is not available yet; remove it from the profile \"{}\""
                      " (`berth plugins` shows which there are)",
                      entry.name, profile_.scheduler_name));
    }
    if (set_.all.size() == internal::PluginMask::kCapacity)
      return fail(ErrorKind::kInvalid, fmt::format("a profile can have at most {} plugins",
                                                   internal::PluginMask::kCapacity));
    static const config::PluginArgs kNone;
    const auto args = arguments.find(entry.name);
    Result<std::unique_ptr<Plugin>> plugin =
        create(*known, args == arguments.end() ? kNone : *args->second);
    if (!plugin)
      return fail(plugin.error().kind, fmt::format("initializing plugin \"{}\": {}", entry.name,
                                                   plugin.error().message));
    made_.emplace(entry.name, static_cast<std::uint16_t>(set_.all.size()));
    set_.all.push_back(std::move(*plugin));
    return {};
  }

  // A factory is foreign code: it may throw, or forget to make one.
  Result<std::unique_ptr<Plugin>> create(const PluginEntry& entry,
                                         const config::PluginArgs& args) const {
    try {
      Result<std::unique_ptr<Plugin>> made = entry.create(args, handle_);
      if (made && !*made) return fail(ErrorKind::kInternal, "its factory made no plugin");
      return made;
    } catch (const std::exception& exception) {
      return fail(ErrorKind::kInternal, exception.what());
    } catch (...) {
      return fail(ErrorKind::kInternal, "its factory threw an exception");
    }
  }

  template <typename Point>
  static bool lists(const std::vector<Placed<Point>>& list, std::uint16_t index) {
    return std::ranges::find(list, index, &Placed<Point>::index) != list.end();
  }

  template <typename Point>
  Result<void> list_specific(ExtensionPoint point, std::vector<Placed<Point>>& list,
                             std::string_view type) {
    for (const PluginRef& entry : profile_.plugins.at(point).enabled) {
      const auto made = made_.find(entry.name);
      if (made == made_.end()) return does_not_exist(entry.name, type);
      auto* plugin = dynamic_cast<Point*>(set_.all[made->second].get());
      if (!plugin) return does_not_extend(entry.name, type);
      if (lists(list, made->second)) return already_registered(entry.name, type);
      list.push_back({plugin, made->second, 0});
    }
    return {};
  }

  static Result<void> does_not_exist(const std::string& name, std::string_view type) {
    return fail(ErrorKind::kInvalid, fmt::format("{} \"{}\" does not exist", type, name));
  }

  static Result<void> does_not_extend(const std::string& name, std::string_view type) {
    return fail(ErrorKind::kInvalid,
                fmt::format("plugin \"{}\" does not extend {} plugin", name, type));
  }

  static Result<void> already_registered(const std::string& name, std::string_view type) {
    return fail(ErrorKind::kInvalid,
                fmt::format("plugin \"{}\" already registered as \"{}\"", name, type));
  }

  template <typename Point>
  Result<void> expand_multi_point(ExtensionPoint point, std::vector<Placed<Point>>& list,
                                  std::string_view type) {
    const std::vector<std::string>& disabled = profile_.plugins.at(point).disabled;
    if (std::ranges::find(disabled, "*") != disabled.end()) return {};
    std::set<std::uint16_t> overridden;
    std::vector<Placed<Point>> expanded;
    for (const PluginRef& entry : multi_point().enabled) {
      const auto made = made_.find(entry.name);
      if (made == made_.end()) {
        if (left_out_.contains(entry.name)) continue;
        return does_not_exist(entry.name, type);
      }
      auto* plugin = dynamic_cast<Point*>(set_.all[made->second].get());
      if (!plugin || std::ranges::find(disabled, entry.name) != disabled.end()) continue;
      if (lists(list, made->second)) {
        overridden.insert(made->second);
        continue;
      }
      if (lists(expanded, made->second)) return already_registered(entry.name, type);
      expanded.push_back({plugin, made->second, 0});
    }
    // Overridden ones keep their explicit places in front, then multiPoint's, then the rest.
    std::vector<Placed<Point>> ordered;
    std::ranges::copy_if(list, std::back_inserter(ordered),
                         [&](const auto& placed) { return overridden.contains(placed.index); });
    std::ranges::copy(expanded, std::back_inserter(ordered));
    std::ranges::copy_if(list, std::back_inserter(ordered),
                         [&](const auto& placed) { return !overridden.contains(placed.index); });
    list = std::move(ordered);
    return {};
  }

  Result<void> check_counts() const {
    if (set_.queue_sort.size() != 1)
      return fail(ErrorKind::kInvalid,
                  fmt::format("only one queue sort plugin required for profile with scheduler name"
                              " \"{}\", but got {}",
                              profile_.scheduler_name, set_.queue_sort.size()));
    if (set_.bind.empty())
      return fail(
          ErrorKind::kInvalid,
          fmt::format("at least one bind plugin is needed for profile with scheduler name \"{}\"",
                      profile_.scheduler_name));
    return {};
  }

  Result<void> set_weights() {
    std::map<std::uint16_t, std::int64_t> weights;
    const auto note = [&](const std::vector<PluginRef>& entries) {
      for (const PluginRef& entry : entries)
        if (const auto made = made_.find(entry.name); made != made_.end())
          weights.emplace(made->second, entry.weight == 0 ? 1 : entry.weight);
    };
    note(profile_.plugins.at(ExtensionPoint::kScore).enabled);  // the first mention counts
    note(multi_point().enabled);
    note(profile_.plugins.at(ExtensionPoint::kPlacementScore).enabled);
    for (Placed<PlacementScorePlugin>& placed : set_.placement_score)
      placed.weight = weights.at(placed.index);
    std::int64_t total = 0;
    for (Placed<ScorePlugin>& placed : set_.score) {
      placed.weight = weights.at(placed.index);
      if (placed.weight < 0 ||
          placed.weight > (std::numeric_limits<std::int64_t>::max() - total) / kMaxScore)
        return fail(ErrorKind::kInvalid,
                    "score plugins: total score of Score plugins could overflow");
      total += placed.weight * kMaxScore;
    }
    return {};
  }

  const config::Profile& profile_;
  const std::vector<PluginRef>& known_defaults_;
  const PluginTable& table_;
  const Handle& handle_;

  ProfilePlugins set_;
  std::map<std::string, std::uint16_t> made_;  // by the name in the configuration
  std::set<std::string> left_out_;             // defaults that are not built yet
};

}  // namespace

Result<ProfilePlugins> ProfilePlugins::make(const config::Profile& profile,
                                            const std::vector<config::PluginRef>& known_defaults,
                                            const PluginTable& table, const Handle& handle) {
  return ProfilePluginsMaker(profile, known_defaults, table, handle).make();
}

}  // namespace berth
