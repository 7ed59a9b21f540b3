// NodeResourcesFit: how it is made, and which nodes it rejects.
#include <fmt/format.h>

#include <algorithm>

#include "api/names.h"
#include "config/feature_gates.h"
#include "config/load.h"
#include "plugins/arguments.h"
#include "plugins/arithmetic.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_resources/resource_pass.h"
#include "plugins/obstacles.h"

namespace berth::plugins {
namespace {

std::vector<BrokenLinear::Point> points_of(
    const std::vector<config::UtilizationShapePoint>& shape) {
  // A shape's scores go to 10.
  std::vector<BrokenLinear::Point> points;
  for (const config::UtilizationShapePoint& point : shape)
    points.emplace_back(point.utilization, std::int64_t{point.score} * 10);
  return points;
}

Obstacle shortage_obstacle(Shortage&& shortage, const Symbols& symbols) {
  const std::int64_t free = wrapping_sub(shortage.allocatable, shortage.used);
  std::string resource(symbols.text(shortage.resource));
  std::string requested_text = amount_text(resource, shortage.requested);
  std::string free_text = amount_text(resource, free);
  std::string allocatable_text = amount_text(resource, shortage.allocatable);
  std::string used_text = amount_text(resource, shortage.used);
  Obstacle obstacle{.code = "InsufficientResource",
                    .reason = std::move(shortage.reason),
                    .subject = resource,
                    .text = {},
                    .facts = {},
                    .distance = missing_part(shortage.requested, free)};
  if (shortage.resource == names::kPods) {
    obstacle.code = "TooManyPods";
    obstacle.text = fmt::format("has {} of at most {} pods", used_text, allocatable_text);
  } else if (shortage.allocatable == 0) {
    obstacle.text = fmt::format("needs {} {}, the node has none", requested_text, resource);
  } else {
    obstacle.text = fmt::format("needs {} {}, {} free of {}", requested_text, resource, free_text,
                                allocatable_text);
  }
  obstacle.facts.emplace("resource", std::move(resource));
  obstacle.facts.emplace("requested", std::move(requested_text));
  obstacle.facts.emplace("free", std::move(free_text));
  obstacle.facts.emplace("allocatable", std::move(allocatable_text));
  obstacle.facts.emplace("used", std::move(used_text));
  return obstacle;
}

}  // namespace

NodeResourcesFit::NodeResourcesFit(const config::NodeResourcesFitArgs& args, const Handle& handle)
    : ignored_resources_(args.ignored_resources.begin(), args.ignored_resources.end()),
      ignored_resource_groups_(args.ignored_resource_groups.begin(),
                               args.ignored_resource_groups.end()),
      strategy_(args.strategy),
      shape_(points_of(args.shape)),
      resources_(args.resources, handle),
      gates_(RequestGates::of(handle.gates)),
      classes_(handle.gates.enabled("DRAExtendedResource") ? DeviceClassResources::of(handle)
                                                           : nullptr) {
  defaults_.set(names::kCpu, Quantity::of_milli(kDefaultMilliCpuRequest));
  defaults_.set(names::kMemory, Quantity::of(kDefaultMemoryRequest));
}

Result<std::unique_ptr<Plugin>> NodeResourcesFit::create(const config::PluginArgs& arguments,
                                                         const Handle& handle) {
  Result<config::NodeResourcesFitArgs> args =
      typed_arguments<config::NodeResourcesFitArgs>(arguments, "NodeResourcesFitArgs");
  if (!args) return fail(args.error());
  if (const std::vector<std::string> complaints = config::validate(*args); !complaints.empty()) {
    const std::string text = fmt::format("{}", fmt::join(complaints, ", "));
    return fail(ErrorKind::kInvalid, complaints.size() == 1 ? text : "[" + text + "]");
  }
  return std::make_unique<NodeResourcesFit>(*args, handle);
}

std::span<const std::string_view> NodeResourcesFit::reasons() const { return resource_reasons(); }

bool NodeResourcesFit::is_ignored(std::string_view resource) const {
  if (ignored_resources_.empty() && ignored_resource_groups_.empty()) return false;
  // Parity: only extended resources can be ignored, whatever the configuration names.
  return is_extended_resource(resource) &&
         (ignored_resources_.contains(resource) ||
          ignored_resource_groups_.contains(resource.substr(0, resource.find('/'))));
}

PreFilterResult NodeResourcesFit::pre_filter(Cycle& cycle) const {
  const Resources request = incoming_request(cycle.pod(), gates_.pod_level_resources);
  Demand demand{request.milli_cpu, request.memory, request.ephemeral_storage, {}};
  for (const ScalarAmount& scalar : scalars_by_text(request, cycle.symbols()))
    if (!is_ignored(cycle.symbols().text(scalar.name)))
      demand.scalars.push_back({scalar.name, scalar.amount, is_devices(scalar.name)});
  cycle.put(*this, std::move(demand));
  return PreFilterResult::success();
}

void NodeResourcesFit::filter(const Cycle& cycle, FilterPass& pass) const {
  if (const Demand* demand = cycle.find<Demand>(*this)) {
    filter_by_resources(cycle, pass, *demand);
    return;
  }
  pass.fail_all({"error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"});
}

std::vector<Obstacle> NodeResourcesFit::obstacles(const Cycle& cycle, NodeRow row) const {
  const Demand* demand = cycle.find<Demand>(*this);
  if (!demand || row == kNoRow) return {};
  std::vector<Obstacle> all;
  for (Shortage& shortage : shortages_on(cycle, row, *demand))
    all.push_back(shortage_obstacle(std::move(shortage), cycle.symbols()));
  return all;
}

Outcome NodeResourcesFit::sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const {
  return sign_request(pod, gates_.pod_level_resources, classes_.get(), fragments);
}

}  // namespace berth::plugins
