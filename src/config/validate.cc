// Whether a configuration makes sense, with all complaints in upstream's order (shell.md §2.2).
#include <fmt/format.h>

#include <set>

#include "base/ascii.h"
#include "base/go_quote.h"
#include "berth/resources.h"
#include "config/complaints.h"
#include "config/load.h"
#include "config/plugin_args.h"
#include "wire/json_text.h"

namespace berth::config {
namespace {

void check(Complaints& complaints, const ClientConnection& connection) {
  if (connection.burst < 0) {
    complaints.invalid("clientConnection.burst", connection.burst, "must be non-negative");
  }
}

void check(Complaints& complaints, const LeaderElection& election) {
  if (!election.leader_elect) return;
  const std::string path = "leaderElection";
  const auto check_positive = [&](std::string_view field, Duration value) {
    if (value <= Duration{0}) {
      complaints.invalid(at(path, field), value, "must be greater than zero");
    }
  };
  check_positive("leaseDuration", election.lease_duration);
  check_positive("renewDeadline", election.renew_deadline);
  check_positive("retryPeriod", election.retry_period);
  if (election.lease_duration <= election.renew_deadline) {
    // Parity: the value shown is the other one's.
    complaints.invalid(at(path, "leaseDuration"), election.renew_deadline,
                       "must be greater than `RenewDeadline`");
  }
  if (election.resource_lock.empty()) complaints.required(at(path, "resourceLock"));
  if (election.resource_namespace.empty()) complaints.required(at(path, "resourceNamespace"));
  if (election.resource_name.empty()) complaints.required(at(path, "resourceName"));
  if (election.resource_lock != "leases") {
    complaints.invalid(at(path, "resourceLock"),
                       std::string_view(go_quoted(election.resource_lock)),
                       "resourceLock value must be \"leases\"");
  }
}

void check_percentage(Complaints& complaints, const std::string& path, std::int32_t percentage) {
  if (percentage < 0 || percentage > 100) {
    complaints.invalid(path, percentage, "not in valid range [0-100]");
  }
}

// Plugins that earlier versions had; their work is NodeVolumeLimits' now.
bool is_removed_plugin(std::string_view name) {
  return name == "AzureDiskLimits" || name == "CinderLimits" || name == "EBSLimits" ||
         name == "GCEPDLimits";
}

void refuse_removed_plugin(Complaints& complaints, const std::string& path, std::string_view name) {
  complaints.invalid(path, std::string_view(go_quoted(name)),
                     "was invalid in version \"v1\" (KubeSchedulerConfiguration is version "
                     "\"kubescheduler.config.k8s.io/v1\")");
}

void check_plugin_sets(Complaints& complaints, const std::string& path, const Plugins& plugins) {
  for (std::size_t i = 0; i < kExtensionPoints; ++i) {
    const auto point = static_cast<ExtensionPoint>(i);
    // Parity: multiPoint and the placement points are not looked at.
    if (point == ExtensionPoint::kMultiPoint || point == ExtensionPoint::kPlacementGenerate ||
        point == ExtensionPoint::kPlacementScore)
      continue;
    const std::string enabled = at(at(path, lower_first(to_string(point))), "enabled");
    const std::vector<PluginRef>& refs = plugins.at(point).enabled;
    for (std::size_t j = 0; j < refs.size(); ++j) {
      if (is_removed_plugin(refs[j].name)) {
        refuse_removed_plugin(complaints, at(enabled, j), refs[j].name);
      }
    }
  }
}

void check_plugin_config(Complaints& complaints, const std::string& path,
                         const std::vector<PluginConfig>& configs, const FeatureGates& gates) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const PluginConfig& config = configs[i];
    const std::string place = at(path, i);
    if (!seen.insert(config.name).second) complaints.duplicate(place, go_quoted(config.name));
    if (is_removed_plugin(config.name)) {
      refuse_removed_plugin(complaints, place, config.name);
    } else if (takes_args(config.name)) {
      const std::string args = at(place, "args");
      if (is_kind_of(config.name, config.args)) {
        complaints.add(check_args(config.args, args, gates));
      } else {
        complaints.invalid(args, std::string_view(to_json(to_tree(config.args))),
                           "has to match plugin args");
      }
    }
  }
}

void check(Complaints& complaints, const std::string& path, const Profile& profile,
           const FeatureGates& gates) {
  if (profile.scheduler_name.empty()) complaints.required(at(path, "schedulerName"));
  if (profile.percentage_of_nodes_to_score) {
    check_percentage(complaints, at(path, "percentageOfNodesToScore"),
                     *profile.percentage_of_nodes_to_score);
  }
  check_plugin_sets(complaints, at(path, "plugins"), profile.plugins);
  check_plugin_config(complaints, at(path, "pluginConfig"), profile.plugin_config, gates);
}

// A PluginSet as upstream's JSON encoder sees it, without names for fields of its own.
std::string shown(const PluginSet& set) {
  const auto list = [](const std::vector<PluginRef>& refs) {
    if (refs.empty()) return std::string("null");
    std::string out;
    for (const PluginRef& ref : refs) {
      out += out.empty() ? "[{\"Name\":" : ",{\"Name\":";
      append_json_string(out, ref.name);
      out += fmt::format(",\"Weight\":{}}}", ref.weight);
    }
    return out + "]";
  };
  std::vector<PluginRef> disabled;
  for (const std::string& name : set.disabled) disabled.push_back({name, 0});
  return fmt::format("{{\"Enabled\":{},\"Disabled\":{}}}", list(set.enabled), list(disabled));
}

// All profiles share one queue, so they must agree on how it is sorted.
void check_common_queue_sort(Complaints& complaints, const std::vector<Profile>& profiles) {
  const PluginSet& common = profiles.front().plugins.at(ExtensionPoint::kQueueSort);
  if (common.enabled.size() > 1) {
    complaints.invalid("profiles[0].plugins.queueSort.Enabled",
                       static_cast<std::int64_t>(common.enabled.size()),
                       "only one queue sort plugin can be enabled");
  }
  const std::string name = common.enabled.empty() ? "" : common.enabled.front().name;
  std::string common_args = "null";
  for (const PluginConfig& config : profiles.front().plugin_config) {
    if (!name.empty() && config.name == name) common_args = to_json(to_tree(config.args));
  }
  for (std::size_t i = 1; i < profiles.size(); ++i) {
    const std::string path = at("profiles", i);
    const PluginSet& set = profiles[i].plugins.at(ExtensionPoint::kQueueSort);
    if (set != common) {
      complaints.invalid(at(path, "plugins.queueSort"), std::string_view(shown(set)),
                         "must be the same for all profiles");
    }
    for (const PluginConfig& config : profiles[i].plugin_config) {
      if (config.name != name) continue;
      const std::string args = to_json(to_tree(config.args));
      if (args == common_args) continue;
      complaints.invalid(at(path, "pluginConfig.args"), std::string_view(args),
                         "queueSort must be the same for all profiles");
    }
  }
}

void check(Complaints& complaints, const std::vector<ExtenderConfig>& extenders) {
  const std::string path = "extenders";
  int binders = 0;
  std::set<std::string_view> managed;
  for (std::size_t i = 0; i < extenders.size(); ++i) {
    const ExtenderConfig& extender = extenders[i];
    if (!extender.prioritize_verb.empty() && extender.weight <= 0) {
      complaints.invalid(at(at(path, i), "weight"), extender.weight,
                         "must have a positive weight applied to it");
    }
    if (!extender.bind_verb.empty()) ++binders;
    for (std::size_t j = 0; j < extender.managed_resources.size(); ++j) {
      const std::string& name = extender.managed_resources[j].name;
      const std::string place = at(at(at(at(path, i), "managedResources"), j), "name");
      complaints.check_name(place, name);
      if (is_valid_label_key(name) && !is_extended_resource(name)) {
        complaints.invalid(place, std::string_view(go_quoted(name)),
                           "is an invalid extended resource name");
      }
      if (!managed.insert(name).second) {
        complaints.invalid(place, std::string_view(go_quoted(name)),
                           "duplicate extender managed resource name");
      }
    }
  }
  if (binders > 1) {
    complaints.invalid(
        path, std::string_view(fmt::format("\"found {} extenders implementing bind\"", binders)),
        "only one extender can implement bind");
  }
}

}  // namespace

Result<void> validate(const Configuration& configuration, const FeatureGates& gates) {
  Complaints complaints;
  check(complaints, configuration.client_connection);
  check(complaints, configuration.leader_election);
  if (configuration.parallelism <= 0) {
    complaints.invalid("parallelism", configuration.parallelism,
                       "should be an integer value greater than zero");
  }
  if (configuration.profiles.empty()) {
    complaints.required("profiles");
  } else {
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < configuration.profiles.size(); ++i) {
      const Profile& profile = configuration.profiles[i];
      check(complaints, at("profiles", i), profile, gates);
      if (!names.insert(profile.scheduler_name).second) {
        // Parity: the name itself is not shown.
        complaints.duplicate(at(at("profiles", i), "schedulerName"), "{}");
      }
    }
    check_common_queue_sort(complaints, configuration.profiles);
  }
  check_percentage(complaints, "percentageOfNodesToScore",
                   configuration.percentage_of_nodes_to_score);
  if (configuration.pod_initial_backoff_seconds <= 0) {
    complaints.invalid("podInitialBackoffSeconds", configuration.pod_initial_backoff_seconds,
                       "must be greater than 0");
  }
  if (configuration.pod_max_backoff_seconds < configuration.pod_initial_backoff_seconds) {
    complaints.invalid("podMaxBackoffSeconds", configuration.pod_max_backoff_seconds,
                       "must be greater than or equal to PodInitialBackoffSeconds");
  }
  check(complaints, configuration.extenders);
  if (complaints.empty()) return {};
  return fail(aggregate(complaints.sentences()));
}

}  // namespace berth::config
