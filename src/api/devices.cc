#include "api/devices.h"

#include <algorithm>

#include "base/keyed_hash.h"

namespace berth {
namespace {

void retain_all(const std::vector<Symbol>& symbols, SymbolHold& hold) {
  for (const Symbol symbol : symbols) hold.retain(symbol);
}

void retain_all(const ResourceList& list, SymbolHold& hold) {
  for (const ResourceAmount& amount : list) hold.retain(amount.name);
}

void retain_all(const std::vector<SelectorRequirement>& requirements, SymbolHold& hold) {
  for (const SelectorRequirement& requirement : requirements) {
    hold.retain(requirement.key);
    hold.retain(requirement.operator_text);
    retain_all(requirement.values, hold);
  }
}

void retain_symbols(const DeviceRequestAllocationResult& result, SymbolHold& hold) {
  for (const Symbol symbol : {result.request, result.driver, result.pool, result.device})
    hold.retain(symbol);
  for (const DeviceToleration& toleration : result.tolerations)
    for (const Symbol symbol : {toleration.key, toleration.op, toleration.value, toleration.effect})
      hold.retain(symbol);
  retain_all(result.binding_conditions, hold);
  retain_all(result.binding_failure_conditions, hold);
  retain_all(result.consumed_capacity, hold);
  retain_all(result.skip_node_operations, hold);
}

void apply_defaults(ExactDeviceRequest& request, SymbolHold& symbols) {
  if (request.allocation_mode.empty()) request.allocation_mode = symbols.intern("ExactCount");
  if (request.count == 0 && symbols.text(request.allocation_mode) == "ExactCount")
    request.count = 1;
  for (DeviceToleration& toleration : request.tolerations)
    if (toleration.op.empty()) toleration.op = symbols.intern("Equal");
}

}  // namespace

void retain_symbols(const AllocationResult& allocation, SymbolHold& hold) {
  for (const DeviceRequestAllocationResult& result : allocation.results)
    retain_symbols(result, hold);
  for (const DeviceAllocationConfiguration& config : allocation.config) {
    retain_all(config.requests, hold);
    if (config.opaque) hold.retain(config.opaque->driver);
  }
  if (!allocation.node_selector) return;
  for (const NodeSelectorTerm& term : *allocation.node_selector) {
    retain_all(term.match_expressions, hold);
    retain_all(term.match_fields, hold);
  }
}

const DeviceAttribute* Device::attribute(Symbol attribute_name) const {
  const auto found = std::ranges::find(attributes, attribute_name, &DeviceAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

void apply_defaults(ResourceClaimSpec& spec, SymbolHold& symbols) {
  for (DeviceRequest& request : spec.requests) {
    if (request.exactly) apply_defaults(*request.exactly, symbols);
    for (DeviceSubRequest& subrequest : request.first_available)
      apply_defaults(subrequest, symbols);
  }
}

bool changes_taints(const DeviceTaintRule* before, const DeviceTaintRule* after,
                    const ResourceSlice& slice) {
  const auto selects = [](const DeviceTaintRule* rule, const DeviceId& id) {
    return rule && rule->selector && rule->selector->selects(id);
  };
  const bool same_taint =
      before && after && before->taint == after->taint && before->time_added == after->time_added;
  return std::ranges::any_of(slice.devices, [&](const Device& device) {
    const DeviceId id{slice.driver, slice.pool.name, device.name};
    const bool had = selects(before, id);
    const bool has = selects(after, id);
    return had != has || (has && !same_taint);
  });
}

}  // namespace berth
