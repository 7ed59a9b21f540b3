#include "compare/resource_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "compare/decision_log.h"

namespace berth::compare {
namespace {

// Twice as many as a page shows, before every second one is dropped.
constexpr std::size_t kMostSamples = 2048;

std::int64_t at_or_zero(const std::vector<std::int64_t>& values, std::size_t index) {
  return index < values.size() ? values[index] : 0;
}

void set(std::vector<std::int64_t>& values, std::size_t index, std::int64_t value) {
  if (index >= values.size()) values.resize(index + 1, 0);
  values[index] = value;
}

void lasted(ResourceMeter::OverTime& over_time, double value, double for_seconds) {
  over_time.mean += value * for_seconds;
  over_time.peak = std::max(over_time.peak, value);
}

void end_at(ResourceMeter::OverTime& over_time, double value, double after_seconds) {
  over_time.end = value;
  over_time.mean = after_seconds > 0 ? over_time.mean / after_seconds : value;
  over_time.peak = std::max(over_time.peak, value);
}

}  // namespace

double ResourceMeter::ResourceState::current_use() const {
  return allocatable > 0 ? static_cast<double>(requested) / static_cast<double>(allocatable) : 0;
}

double ResourceMeter::ResourceState::current_imbalance() const {
  if (nodes == 0) return 0;
  const double mean = shares.value() / static_cast<double>(nodes);
  return std::sqrt(std::max(0.0, squares.value() / static_cast<double>(nodes) - mean * mean));
}

std::size_t ResourceMeter::resource(std::string_view name) {
  const auto known = resource_numbers_.find(name);
  if (known != resource_numbers_.end()) return known->second;
  resources_.emplace_back().always = name == "cpu" || name == "memory" || name == "pods";
  resource_numbers_.emplace(name, resources_.size() - 1);
  return resources_.size() - 1;
}

ResourceMeter::Amounts ResourceMeter::amounts_of(const Resources& amounts, const Symbols& symbols) {
  Amounts by_resource;
  const auto add = [&](std::string_view name, std::int64_t amount) {
    if (amount != 0) by_resource.emplace_back(resource(name), amount);
  };
  add("cpu", amounts.milli_cpu);
  add("memory", amounts.memory);
  add("ephemeral-storage", amounts.ephemeral_storage);
  add("pods", amounts.pods);
  for (const ScalarAmount& scalar : amounts.scalars) add(symbols.text(scalar.name), scalar.amount);
  return by_resource;
}

std::size_t ResourceMeter::node(std::string_view name) {
  const auto known = node_numbers_.find(name);
  if (known != node_numbers_.end()) return known->second;
  nodes_.emplace_back();
  node_numbers_.emplace(name, nodes_.size() - 1);
  return nodes_.size() - 1;
}

void ResourceMeter::changed(const Delta& delta, Duration at) {
  const bool deleted = delta.type == DeltaType::kDeleted;
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object)) {
    if ((*pod)->node().empty()) {
      if (delta.type == DeltaType::kUpdated && !placed_.contains((*pod)->uid())) return;
      for (const auto& [number, amount] : amounts_of((*pod)->usage().requests, (*pod)->symbols()))
        resources_[number].asked_for = true;
      if (!placed_.contains((*pod)->uid())) return;
    }
    advance(at);
    pod_changed(**pod, deleted);
  } else if (const auto* object = std::get_if<Ref<const Object>>(&delta.object);
             object && (*object)->kind == ObjectKind::kNode) {
    advance(at);
    node_changed(static_cast<const Node&>(**object), !deleted);
  }
}

void ResourceMeter::count(const NodeState& node, std::size_t number, int sign) {
  const std::int64_t allocatable = at_or_zero(node.allocatable, number);
  if (!node.there || allocatable <= 0) return;
  const std::int64_t requested = at_or_zero(node.requested, number);
  const double share = static_cast<double>(requested) / static_cast<double>(allocatable);
  ResourceState& state = resources_[number];
  state.nodes = sign > 0 ? state.nodes + 1 : state.nodes - 1;
  state.allocatable += sign * allocatable;
  state.requested += sign * requested;
  state.shares.add(sign * share);
  state.squares.add(sign * share * share);
}

void ResourceMeter::count(const NodeState& node, int sign) {
  for (std::size_t number = 0; number < node.allocatable.size(); ++number)
    count(node, number, sign);
  if (!node.there) return;
  node_count_ = sign > 0 ? node_count_ + 1 : node_count_ - 1;
  if (node.pods > 0) used_ = sign > 0 ? used_ + 1 : used_ - 1;
}

void ResourceMeter::node_changed(const Node& changed, bool there) {
  const Amounts offered = amounts_of(changed.allocatable_resources, *changed.symbols.table());
  NodeState& state = nodes_[node(changed.name)];
  count(state, -1);
  state.there = there;
  std::ranges::fill(state.allocatable, 0);
  for (const auto& [number, amount] : offered) set(state.allocatable, number, amount);
  count(state, +1);
}

void ResourceMeter::add_pod(const PodState& pod, std::int64_t sign) {
  NodeState& state = nodes_[pod.node];
  const bool was_used = state.pods > 0;
  for (const auto& [number, amount] : pod.requests) {
    count(state, number, -1);
    set(state.requested, number, at_or_zero(state.requested, number) + sign * amount);
    count(state, number, +1);
  }
  state.pods = sign > 0 ? state.pods + 1 : state.pods - 1;
  const bool is_used = state.pods > 0;
  if (state.there && was_used != is_used) used_ = is_used ? used_ + 1 : used_ - 1;
}

void ResourceMeter::pod_changed(const Pod& pod, bool deleted) {
  if (const auto known = placed_.find(pod.uid()); known != placed_.end()) {
    add_pod(known->second, -1);
    placed_.erase(known);
  }
  if (deleted || pod.finished() || pod.node().empty()) return;
  PodState state{node(pod.node_name()), amounts_of(pod.usage().requests, pod.symbols())};
  for (const auto& [number, amount] : state.requests) resources_[number].asked_for = true;
  state.requests.emplace_back(resource("pods"), 1);
  add_pod(state, +1);
  placed_.emplace(pod.uid(), std::move(state));
}

// What is true now has been true since the last change.
void ResourceMeter::advance(Duration at) {
  if (at <= at_) return;
  take_sample();
  const double for_seconds = seconds_of(at - at_);
  for (ResourceState& state : resources_) {
    lasted(state.use, state.current_use(), for_seconds);
    lasted(state.imbalance, state.current_imbalance(), for_seconds);
  }
  lasted(nodes_used_, static_cast<double>(used_), for_seconds);
  at_ = at;
}

void ResourceMeter::take_sample() {
  if (!keep_samples_) return;
  if (samples_.size() >= kMostSamples) {
    for (std::size_t i = 1; 2 * i < samples_.size(); ++i) samples_[i] = std::move(samples_[2 * i]);
    samples_.resize(kMostSamples / 2);
  }
  Sample& sample = samples_.emplace_back();
  sample.at = at_;
  sample.nodes_used = used_;
  for (const auto& [name, number] : resource_numbers_) {
    sample.use[name] = resources_[number].current_use();
    sample.imbalance[name] = resources_[number].current_imbalance();
  }
}

void ResourceMeter::finish(Duration at) {
  advance(at);
  take_sample();
  for (ResourceState& state : resources_) {
    end_at(state.use, state.current_use(), seconds_of(at_));
    end_at(state.imbalance, state.current_imbalance(), seconds_of(at_));
  }
  end_at(nodes_used_, static_cast<double>(used_), seconds_of(at_));
}

std::vector<ResourceMeter::ResourceFigures> ResourceMeter::resources() const {
  std::vector<ResourceFigures> figures;
  for (const auto& [name, number] : resource_numbers_) {
    const ResourceState& state = resources_[number];
    if (state.nodes == 0 || !(state.always || state.asked_for)) continue;
    figures.push_back({name, state.use, state.imbalance});
  }
  return figures;
}

std::vector<ResourceMeter::Sample> ResourceMeter::samples(std::size_t most) const {
  const std::size_t step = std::max<std::size_t>(1, (samples_.size() + most - 1) / most);
  std::vector<Sample> chosen;
  for (std::size_t i = 0; i < samples_.size(); i += step) chosen.push_back(samples_[i]);
  if (!samples_.empty() && (samples_.size() - 1) % step != 0) chosen.push_back(samples_.back());
  return chosen;
}

}  // namespace berth::compare
