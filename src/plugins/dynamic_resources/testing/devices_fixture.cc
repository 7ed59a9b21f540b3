#include "plugins/dynamic_resources/testing/devices_fixture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "plugins/dynamic_resources/pod_claims.h"
#include "plugins/testing/manifest_objects.h"

namespace berth::testing {
namespace {

std::string with_comma(const std::string& text) { return text.empty() ? text : ", " + text; }

template <typename T>
Task<void> keep(Task<T> task, std::optional<T>& result) {
  T value = co_await task;
  result = std::move(value);
}

}  // namespace

std::string claim_of(std::string_view name, std::string_view requests, const ClaimParts& parts) {
  return fmt::format(
      "{{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {{name: {0}, namespace: "
      "default, uid: {0}{1}}}, spec: {{devices: {{requests: [{2}]{3}}}}}, status: {{{4}}}}}",
      name, with_comma(parts.metadata), requests, with_comma(parts.spec), parts.status);
}

std::string allocation(std::string_view device, std::string_view node, std::string_view more) {
  const std::string where =
      node.empty() ? ""
                   : fmt::format(
                         ", nodeSelector: {{nodeSelectorTerms: [{{matchFields: [{{key: "
                         "metadata.name, operator: In, values: [{}]}}]}}]}}",
                         node);
  return fmt::format(
      "allocation: {{devices: {{results: [{{request: r, driver: drv, pool: pool, device: {}{}}}]}}"
      "{}}}",
      device, with_comma(std::string(more)), where);
}

std::string reserved_for(std::initializer_list<std::string_view> pods) {
  std::vector<std::string> consumers;
  for (const std::string_view pod : pods)
    consumers.push_back(fmt::format("{{resource: pods, name: {0}, uid: {0}}}", pod));
  return fmt::format("reservedFor: [{}]", fmt::join(consumers, ", "));
}

// ---- DevicesFixture

DevicesFixture::DevicesFixture() : loop(static_cast<VirtualLoop&>(base.handle().loop)) {
  base.add_node(world.node("n1").label("zone", "a"));
  base.add_node(world.node("n2").label("zone", "b"));
  add(device_class("any", ""));
}

void DevicesFixture::add(std::string_view yaml) {
  const AnyObject any = object_of(world, yaml);
  const auto& object = std::get<Ref<const Object>>(any);
  if (object->kind == ObjectKind::kResourceClaim)
    server.put(Ref<const ResourceClaim>(static_cast<const ResourceClaim*>(object.get())));
  else
    put(base, yaml);
}

PodBuilder DevicesFixture::pod(std::string name, std::initializer_list<std::string_view> claims) {
  PodBuilder builder = world.pod(name);
  builder.uid(name);
  for (const std::string_view claim : claims)
    builder.spec().resource_claims.push_back({builder.symbol(claim), builder.symbol(claim), {}});
  return builder;
}

plugins::DynamicResources& DevicesFixture::plugin() {
  if (plugin_) return *plugin_;
  const Handle given = base.handle();
  handle_.reset(new Handle{.profile_name = given.profile_name,
                           .loop = given.loop,
                           .random = random,
                           .cluster = given.cluster,
                           .waiting_pods = given.waiting_pods,
                           .pods_in_pre_bind = given.pods_in_pre_bind,
                           .nominator = given.nominator,
                           .activator = given.activator,
                           .api = server,
                           .gates = given.gates,
                           .gate = &gate});
  Result<std::unique_ptr<Plugin>> made = plugins::DynamicResources::create(arguments, *handle_);
  BERTH_CHECK(made.has_value());
  plugin_.reset(dynamic_cast<plugins::DynamicResources*>(made->release()));
  return *plugin_;
}

std::string DevicesFixture::taken() {
  plugin();
  std::vector<std::string> devices;
  SymbolHold hold(world.interner.symbols());
  for (const char* name : {"d1", "d2", "d3", "d4"})
    if (tracker().allocated().any({hold.intern("drv"), hold.intern("pool"), hold.intern(name)}))
      devices.emplace_back(name);
  return fmt::format("{}", fmt::join(devices, " "));
}

std::string DevicesFixture::stored(std::string_view claim) { return text(server.stored(claim)); }

std::string DevicesFixture::text(const ResourceClaim& claim) {
  std::string text;
  if (claim.allocated()) {
    for (const DeviceRequestAllocationResult& result : claim.status.allocation->results)
      text += fmt::format("{}{}", text.empty() ? "" : " ", claim.symbols.text(result.device));
    if (const auto& terms = claim.status.allocation->node_selector)
      text += fmt::format(" @{}", claim.symbols.text(terms->at(0).match_fields.at(0).values.at(0)));
  } else {
    text = "free";
  }
  if (!claim.status.reserved_for.empty()) text += " for";
  for (const ResourceClaimConsumerReference& consumer : claim.status.reserved_for)
    text += " " + consumer.uid;
  if (plugins::has_finalizer(claim)) text += " +f";
  return text;
}

// ---- Attempt

Attempt::Attempt(DevicesFixture& fixture, Ref<const Pod> pod)
    : cycle(std::move(pod), fixture.cluster), fixture_(fixture) {
  fixture.cluster.begin_cycle();
  scratch_.reset(fixture.cluster.nodes().rows());
  cycle.lend(&scratch_);
}

std::string Attempt::text(const Outcome& outcome) {
  if (outcome.ok()) return "ok";
  if (outcome.code == Code::kSkip) return "skip";
  if (outcome.code == Code::kUnschedulableAndUnresolvable) return outcome.message();
  return fmt::format("{}: {}", to_string(outcome.code), outcome.message());
}

std::string Attempt::pre_filter() {
  const Outcome outcome = fixture_.plugin().pre_filter(cycle).outcome;
  if (outcome.rejected())
    checked_obstacles(fixture_.plugin(), cycle, kNoRow, outcome.all_reasons());
  return text(outcome);
}

Texts Attempt::obstacles(std::string_view node) const {
  const NodeRow row = node.empty() ? kNoRow : cycle.nodes().find(cycle.symbols().find(node));
  Texts texts;
  for (const Obstacle& one : fixture_.plugin().obstacles(cycle, row))
    texts.push_back(fmt::format("{} {}: {}", one.code, one.subject, one.text));
  return texts;
}

std::string Attempt::filter() { return filter_rows(fixture_.cluster.nodes().nodes()); }

std::string Attempt::filter(std::string_view node) {
  NodeSet one(fixture_.cluster.nodes().rows());
  one.insert(cycle.nodes().find(cycle.symbols().find(node)));
  return filter_rows(one);
}

std::string Attempt::filter_rows(const NodeSet& asked) {
  NodeSet feasible = asked;
  asked.for_each([this](NodeRow row) { scratch_.verdicts[row] = Status{}; });
  FilterPass pass(0, cycle, feasible, scratch_.verdicts);
  const plugins::DynamicResources& plugin = fixture_.plugin();
  plugin.filter(cycle, pass);
  std::vector<std::string> answers;
  asked.for_each([&](NodeRow row) {
    const Status& status = scratch_.verdicts[row];
    std::string answer = status.ok()                  ? "ok"
                         : status.code == Code::kWait ? "put off"
                                                      : cycle.reasons_of(status, &plugin).at(0);
    if (status.code == Code::kError) answer = "Error: " + answer;
    // An explanation is never put off, and has time for it.
    if (!cycle.may_suspend && (status.ok() || is_rejected(status.code)))
      checked_obstacles(plugin, cycle, row,
                        status.ok() ? Texts() : cycle.reasons_of(status, &plugin));
    answers.push_back(fmt::format("{} {}", cycle.nodes().name_text(row), answer));
  });
  return fmt::format("{}", fmt::join(answers, ", "));
}

std::string Attempt::scores() {
  const NodeSet& nodes = cycle.nodes().nodes();
  std::vector<Score> by_row(cycle.nodes().rows(), -1);
  const plugins::DynamicResources& plugin = fixture_.plugin();
  Outcome outcome = plugin.score(cycle, nodes, by_row);
  if (outcome.ok()) outcome = plugin.normalize(cycle, nodes, by_row);
  if (!outcome.ok()) return text(outcome);
  std::vector<std::string> answers;
  nodes.for_each([&](NodeRow row) {
    answers.push_back(fmt::format("{} {}", cycle.nodes().name_text(row), by_row[row]));
  });
  return fmt::format("{}", fmt::join(answers, ", "));
}

std::string Attempt::post_filter() {
  const Diagnosis diagnosis;
  std::optional<PostFilterResult> result;
  TaskSet tasks;
  tasks.spawn(keep(fixture_.plugin().post_filter(cycle, diagnosis), result));
  while (!result && fixture_.loop.step()) {
  }
  return result ? text(result->outcome) : "…";
}

std::string Attempt::reserve(std::string_view node) {
  return text(fixture_.plugin().reserve(cycle, node));
}

void Attempt::unreserve(std::string_view node) { fixture_.plugin().unreserve(cycle, node); }

void Attempt::begin_pre_bind(std::string_view node) {
  node_ = node;
  tasks_.spawn(keep(fixture_.plugin().pre_bind(cycle, node_, cancel.token()), bound_));
}

std::string Attempt::pre_bind(std::string_view node) {
  begin_pre_bind(node);
  while (!bound_ && fixture_.loop.step()) {
  }
  return bound();
}

std::string Attempt::reach_reserve(std::string_view node) {
  if (std::string answer = pre_filter(); answer != "ok") return answer;
  if (std::string answer = filter(node); answer != std::string(node) + " ok") return answer;
  return reserve(node);
}

}  // namespace berth::testing
