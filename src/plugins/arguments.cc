#include "plugins/arguments.h"

#include <array>

namespace berth::plugins {

std::string type_text(const config::PluginArgs& arguments) {
  // In the order of the variant.
  static constexpr std::array<std::string_view, std::variant_size_v<config::PluginArgs>> kTypes = {
      "<nil>",
      "*config.DefaultPreemptionArgs",
      "*config.DynamicResourcesArgs",
      "*config.InterPodAffinityArgs",
      "*config.NodeAffinityArgs",
      "*config.NodeResourcesBalancedAllocationArgs",
      "*config.NodeResourcesFitArgs",
      "*config.PodTopologySpreadArgs",
      "*config.VolumeBindingArgs",
      "*config.CoschedulingArgs",
      "*runtime.Unknown",
  };
  return std::string(kTypes[arguments.index()]);
}

}  // namespace berth::plugins
