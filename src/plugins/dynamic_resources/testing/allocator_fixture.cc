#include "plugins/dynamic_resources/testing/allocator_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/claim_json.h"
#include "api/manifest.h"
#include "base/check.h"

namespace berth::testing {
namespace {

std::string pool_yaml(const PoolOf& pool) {
  return fmt::format("driver: {}, pool: {{name: {}, generation: {}, resourceSliceCount: {}}}",
                     pool.driver, pool.pool, pool.generation, pool.slices);
}

std::string with(std::string_view text, std::string_view more) {
  return more.empty() ? std::string(text) : fmt::format("{}, {}", text, more);
}

std::string class_in(std::string_view more) {
  return more.find("deviceClassName") == std::string_view::npos ? "deviceClassName: any, " : "";
}

std::string requirements(const std::vector<SelectorRequirement>& list, const Symbols& symbols) {
  std::string out;
  for (const SelectorRequirement& requirement : list) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ",", symbols.text(requirement.key),
                       symbols.text(requirement.values.empty() ? Symbol{} : requirement.values[0]));
  }
  return out;
}

}  // namespace

std::string on(std::string_view node) { return fmt::format("nodeName: {}", node); }

std::string in_zone(std::string_view zone) {
  return fmt::format(
      "nodeSelector: {{nodeSelectorTerms: [{{matchExpressions: [{{key: zone, operator: In, "
      "values: [{}]}}]}}]}}",
      zone);
}

std::string slice(std::string_view name, std::string_view where, std::string_view devices,
                  const PoolOf& pool) {
  return fmt::format(
      "{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: {}}}, spec: {{{}, "
      "{}, devices: [{}]}}}}",
      name, pool_yaml(pool), where, devices);
}

std::string counters(std::string_view name, std::string_view where, std::string_view sets,
                     const PoolOf& pool) {
  return fmt::format(
      "{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: {}}}, spec: {{{}, "
      "{}, sharedCounters: [{}]}}}}",
      name, pool_yaml(pool), where, sets);
}

std::string device_class(std::string_view name, std::string_view selector, std::string_view more) {
  const std::string selectors =
      selector.empty() ? "" : fmt::format("selectors: [{{cel: {{expression: '{}'}}}}]", selector);
  return fmt::format(
      "{{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {{name: {}}}, spec: {{{}}}}}",
      name, selectors.empty() ? std::string(more) : with(selectors, more));
}

std::string exact(std::string_view name, int count, std::string_view more) {
  return fmt::format("{{name: {}, exactly: {{{}allocationMode: ExactCount, count: {}}}}}", name,
                     class_in(more), with(fmt::format("{}", count), more));
}

std::string all(std::string_view name, std::string_view more) {
  return fmt::format("{{name: {}, exactly: {{{}{}}}}}", name, class_in(more),
                     with("allocationMode: All", more));
}

std::string sub(std::string_view name, int count, std::string_view more) {
  return fmt::format("{{name: {}, {}allocationMode: ExactCount, count: {}}}", name, class_in(more),
                     with(fmt::format("{}", count), more));
}

std::string sub_all(std::string_view name, std::string_view more) {
  return fmt::format("{{name: {}, {}{}}}", name, class_in(more), with("allocationMode: All", more));
}

std::string first_available(std::string_view name, std::string_view subrequests) {
  return fmt::format("{{name: {}, firstAvailable: [{}]}}", name, subrequests);
}

std::string claim(std::string_view name, std::string_view requests, std::string_view more) {
  return fmt::format(
      "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: {}, namespace: "
      "default, uid: {}}}, spec: {{devices: {{{}}}}}}}",
      name, name, with(fmt::format("requests: [{}]", requests), more));
}

AllocatorFixture::AllocatorFixture(plugins::AllocatorFeatures of)
    : features(of), pools(world.interner.symbols(), of), allocated(of.consumable_capacity) {
  cluster.add_node(world.node("n1").label("zone", "a"));
  cluster.add_node(world.node("n2").label("zone", "b"));
  add(device_class("any", ""));
}

void AllocatorFixture::add(std::string_view yaml) {
  Result<std::vector<ManifestObject>> objects = read_manifest(yaml, "test", world.interner);
  ASSERT_TRUE(objects) << objects.error().message << "\n" << yaml;
  for (const ManifestObject& read : *objects) cluster.put(std::get<Ref<const Object>>(read.object));
}

void AllocatorFixture::remove_slice(std::string_view name) {
  cluster.remove(ObjectKind::kResourceSlice, "", name);
}

void AllocatorFixture::take(std::string_view device) {
  AllocationResult allocation;
  DeviceRequestAllocationResult& result = allocation.results.emplace_back();
  const std::size_t space = device.find(' ');
  const std::string_view id = device.substr(0, space);
  const std::size_t first = id.find('/');
  const std::size_t second = id.find('/', first + 1);
  result.driver = hold_.intern(id.substr(0, first));
  result.pool = hold_.intern(id.substr(first + 1, second - first - 1));
  result.device = hold_.intern(id.substr(second + 1));
  if (space != std::string_view::npos) {
    result.share_id = "a-share";
    const std::string_view amount = device.substr(space + 1);
    const std::size_t equals = amount.find('=');
    if (equals != std::string_view::npos)
      result.consumed_capacity.set(hold_.intern(amount.substr(0, equals)),
                                   *Quantity::parse(amount.substr(equals + 1)));
  }
  allocated.add(allocation);
}

Ref<const ResourceClaim> AllocatorFixture::claim_from(std::string_view yaml) {
  const Result<std::vector<ManifestObject>> objects = read_manifest(yaml, "test", world.interner);
  BERTH_CHECK(objects.has_value());
  return Ref<const ResourceClaim>(static_cast<const ResourceClaim*>(
      std::get<Ref<const Object>>(objects->front().object).get()));
}

const Node& AllocatorFixture::node(std::string_view name) const {
  return cluster.nodes().node(cluster.nodes().find(cluster.symbols().find(name)));
}

std::string AllocatorFixture::allocate(std::string_view node_name,
                                       const std::vector<std::string>& claims) {
  std::vector<Ref<const ResourceClaim>> to_allocate;
  for (const std::string& yaml : claims) to_allocate.push_back(claim_from(yaml));
  const Node& on_node = node(node_name);

  pools.refresh(cluster);
  plugins::SearchBudget in_turns = budget;
  if (in_turns.turn == Duration(0)) in_turns.turn = Duration(1);
  const std::string answer = allocate(on_node, to_allocate, in_turns);
  const int turns_taken = turns;
  plugins::SearchBudget at_once = budget;
  at_once.turn = Duration(0);
  const std::string expected = allocate(on_node, to_allocate, at_once);
  turns = turns_taken;
  if (answer == expected) return answer;
  return fmt::format("at once: {}\nin {} turns: {}", expected, turns, answer);
}

std::string AllocatorFixture::allocate(const Node& on_node,
                                       const std::vector<Ref<const ResourceClaim>>& to_allocate,
                                       const plugins::SearchBudget& with) {
  plugins::Allocator allocator(pools, allocated, cluster, with);
  plugins::NodeAllocation found = allocator.allocate(on_node, to_allocate);
  for (turns = 1; found.verdict == plugins::NodeAllocation::Verdict::kUnfinished; ++turns) {
    allocator.start_turn();
    found = allocator.allocate(on_node, to_allocate);
  }
  steps = found.steps;
  using Found = plugins::NodeAllocation::Verdict;
  switch (found.verdict) {
    case Found::kAllocated: break;
    case Found::kImpossible: return "impossible";
    case Found::kNodeFailure: return "node: " + found.message;
    case Found::kTimedOut: return "timed out";
    case Found::kError: return "error: " + found.message;
    case Found::kUnfinished: return "unfinished";
  }
  Random random(1);
  std::string out;
  results_.clear();
  for (std::size_t i = 0; i < to_allocate.size(); ++i) {
    results_.push_back(allocator.result(found, i, *to_allocate[i], on_node, hold_, random));
    out +=
        fmt::format("{}{}:{}", i == 0 ? "" : "\n", to_allocate[i]->name, describe(results_.back()));
  }
  return out;
}

std::string AllocatorFixture::describe(const AllocationResult& result) const {
  const Symbols& symbols = *world.interner.symbols();
  std::string out;
  for (const DeviceRequestAllocationResult& device : result.results) {
    out += fmt::format(" {}={}/{}/{}", symbols.text(device.request), symbols.text(device.driver),
                       symbols.text(device.pool), symbols.text(device.device));
    if (device.admin_access) out += "(admin)";
    if (device.share_id.empty()) continue;
    std::vector<std::string> amounts;
    for (const ResourceAmount& amount : device.consumed_capacity)
      amounts.push_back(fmt::format("{}={}", symbols.text(amount.name), amount.amount.to_string()));
    std::ranges::sort(amounts);
    out += fmt::format("({})", fmt::join(amounts, ","));
  }
  if (!result.node_selector) return out;
  const NodeSelectorTerm& term = result.node_selector->front();
  const std::string fields = requirements(term.match_fields, symbols);
  static constexpr std::string_view kName = "metadata.name=";
  out += " @" + (fields.starts_with(kName) ? fields.substr(kName.size()) : fields);
  return out + requirements(term.match_expressions, symbols);
}

std::string AllocatorFixture::json(std::size_t claim) const {
  return to_json(allocation_json(results_.at(claim), *world.interner.symbols()));
}

}  // namespace berth::testing
