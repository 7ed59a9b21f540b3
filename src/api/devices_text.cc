// Claims and their allocations as JSON.
#include <fmt/format.h>

#include "api/devices_json.h"
#include "api/labels.h"
#include "base/time_text.h"

namespace berth {
namespace {

class ClaimWriter {
 public:
  explicit ClaimWriter(const Symbols& symbols) : symbols_(symbols) {}

  JsonValue spec(const ResourceClaimSpec& spec) const {
    JsonValue devices = JsonValue::object();
    JsonValue requests = JsonValue::array();
    for (const DeviceRequest& request : spec.requests) requests.items.push_back(of(request));
    if (!spec.requests.empty()) devices.add("requests", std::move(requests));
    JsonValue constraints = JsonValue::array();
    for (const DeviceConstraint& constraint : spec.constraints)
      constraints.items.push_back(of(constraint));
    if (!spec.constraints.empty()) devices.add("constraints", std::move(constraints));
    JsonValue config = JsonValue::array();
    for (const DeviceClaimConfiguration& entry : spec.config) {
      JsonValue value = JsonValue::object();
      if (!entry.requests.empty()) value.add("requests", list(entry.requests));
      if (entry.opaque) value.add("opaque", of(*entry.opaque));
      config.items.push_back(std::move(value));
    }
    if (!spec.config.empty()) devices.add("config", std::move(config));
    JsonValue out = JsonValue::object();
    out.add("devices", std::move(devices));
    return out;
  }

  JsonValue allocation(const AllocationResult& allocation) const {
    JsonValue devices = JsonValue::object();
    JsonValue results = JsonValue::array();
    for (const DeviceRequestAllocationResult& result : allocation.results)
      results.items.push_back(of(result));
    if (!allocation.results.empty()) devices.add("results", std::move(results));
    JsonValue config = JsonValue::array();
    for (const DeviceAllocationConfiguration& entry : allocation.config) {
      JsonValue value = JsonValue::object();
      value.add("source", JsonValue::of_text(entry.source == AllocationConfigSource::kFromClass
                                                 ? "FromClass"
                                                 : "FromClaim"));
      if (!entry.requests.empty()) value.add("requests", list(entry.requests));
      if (entry.opaque) value.add("opaque", of(*entry.opaque));
      config.items.push_back(std::move(value));
    }
    if (!allocation.config.empty()) devices.add("config", std::move(config));

    JsonValue out = JsonValue::object();
    out.add("devices", std::move(devices));
    if (allocation.node_selector) out.add("nodeSelector", of(*allocation.node_selector));
    if (allocation.allocation_timestamp) {
      out.add("allocationTimestamp", JsonValue::of_text(rfc3339(*allocation.allocation_timestamp)));
    }
    return out;
  }

  JsonValue reserved_for(const std::vector<ResourceClaimConsumerReference>& consumers) const {
    JsonValue out = JsonValue::array();
    for (const ResourceClaimConsumerReference& consumer : consumers) {
      JsonValue value = JsonValue::object();
      add_text(value, "apiGroup", consumer.api_group);
      value.add("resource", text(consumer.resource));
      value.add("name", JsonValue::of_text(consumer.name));
      value.add("uid", JsonValue::of_text(consumer.uid));
      out.items.push_back(std::move(value));
    }
    return out;
  }

  JsonValue metadata(const ResourceClaim& claim) const {
    JsonValue out = JsonValue::object();
    const auto add = [&](std::string_view name, std::string_view value) {
      if (!value.empty()) out.add(name, JsonValue::of_text(value));
    };
    add("name", claim.name);
    if (claim.name.empty()) add("generateName", claim.generate_name);
    add("namespace", symbols_.text(claim.namespace_name));
    add("uid", claim.uid);
    add("resourceVersion", claim.resource_version);
    if (!claim.annotations.empty()) {
      JsonValue annotations = JsonValue::object();
      for (const Label& annotation : claim.annotations)
        annotations.add(symbols_.text(annotation.key), text(annotation.value));
      out.add("annotations", std::move(annotations));
    }
    if (!claim.controller.empty()) {
      JsonValue owner = JsonValue::object();
      owner.add("apiVersion", text(claim.controller.api_version));
      owner.add("kind", text(claim.controller.kind));
      owner.add("name", text(claim.controller.name));
      owner.add("uid", JsonValue::of_text(claim.controller_uid));
      owner.add("controller", JsonValue::of_bool(true));
      JsonValue owners = JsonValue::array();
      owners.items.push_back(std::move(owner));
      out.add("ownerReferences", std::move(owners));
    }
    if (!claim.finalizers.empty()) {
      JsonValue finalizers = JsonValue::array();
      for (const std::string& finalizer : claim.finalizers)
        finalizers.items.push_back(JsonValue::of_text(finalizer));
      out.add("finalizers", std::move(finalizers));
    }
    return out;
  }

 private:
  JsonValue text(Symbol symbol) const { return JsonValue::of_text(symbols_.text(symbol)); }
  void add_text(JsonValue& out, std::string_view name, Symbol symbol) const {
    if (!symbol.empty()) out.add(name, text(symbol));
  }
  JsonValue list(const std::vector<Symbol>& names) const {
    JsonValue out = JsonValue::array();
    for (const Symbol name : names) out.items.push_back(text(name));
    return out;
  }
  JsonValue amounts(const ResourceList& list) const {
    JsonValue out = JsonValue::object();
    for (const ResourceAmount& amount : list)
      out.add(symbols_.text(amount.name), JsonValue::of_text(amount.amount.to_string()));
    sort_members(out);
    return out;
  }

  JsonValue of(const OpaqueDeviceConfiguration& opaque) const {
    JsonValue out = JsonValue::object();
    out.add("driver", text(opaque.driver));
    // What came from JSON is JSON.
    Result<JsonValue> parameters = parse_json(opaque.parameters);
    out.add("parameters", parameters ? *std::move(parameters) : JsonValue());
    return out;
  }

  JsonValue of(const std::vector<DeviceToleration>& tolerations) const {
    JsonValue out = JsonValue::array();
    for (const DeviceToleration& toleration : tolerations) {
      JsonValue value = JsonValue::object();
      add_text(value, "key", toleration.key);
      add_text(value, "operator", toleration.op);
      add_text(value, "value", toleration.value);
      add_text(value, "effect", toleration.effect);
      if (toleration.toleration_seconds)
        value.add("tolerationSeconds", JsonValue::of_int(*toleration.toleration_seconds));
      out.items.push_back(std::move(value));
    }
    return out;
  }

  JsonValue of(const ExactDeviceRequest& request) const {
    JsonValue out = JsonValue::object();
    add_text(out, "name", request.name);
    out.add("deviceClassName", text(request.device_class_name));
    if (!request.selectors.empty()) {
      JsonValue selectors = JsonValue::array();
      for (const CELDeviceSelector& selector : request.selectors) {
        JsonValue value = JsonValue::object();
        if (selector.expression) {
          JsonValue cel = JsonValue::object();
          cel.add("expression", JsonValue::of_text(*selector.expression));
          value.add("cel", std::move(cel));
        }
        selectors.items.push_back(std::move(value));
      }
      out.add("selectors", std::move(selectors));
    }
    add_text(out, "allocationMode", request.allocation_mode);
    if (request.count != 0) out.add("count", JsonValue::of_int(request.count));
    if (request.admin_access) out.add("adminAccess", JsonValue::of_bool(*request.admin_access));
    if (!request.tolerations.empty()) out.add("tolerations", of(request.tolerations));
    if (request.capacity) {
      JsonValue capacity = JsonValue::object();
      if (!request.capacity->empty()) capacity.add("requests", amounts(*request.capacity));
      out.add("capacity", std::move(capacity));
    }
    return out;
  }

  JsonValue of(const DeviceRequest& request) const {
    JsonValue out = JsonValue::object();
    out.add("name", text(request.name));
    if (request.exactly) out.add("exactly", of(*request.exactly));
    if (!request.first_available.empty()) {
      JsonValue subrequests = JsonValue::array();
      for (const DeviceSubRequest& subrequest : request.first_available)
        subrequests.items.push_back(of(subrequest));
      out.add("firstAvailable", std::move(subrequests));
    }
    return out;
  }

  JsonValue of(const DeviceConstraint& constraint) const {
    JsonValue out = JsonValue::object();
    if (!constraint.requests.empty()) out.add("requests", list(constraint.requests));
    if (constraint.match_attribute) out.add("matchAttribute", text(*constraint.match_attribute));
    if (constraint.distinct_attribute)
      out.add("distinctAttribute", text(*constraint.distinct_attribute));
    return out;
  }

  JsonValue of(const DeviceRequestAllocationResult& result) const {
    JsonValue out = JsonValue::object();
    out.add("request", text(result.request));
    out.add("driver", text(result.driver));
    out.add("pool", text(result.pool));
    out.add("device", text(result.device));
    if (result.admin_access) out.add("adminAccess", JsonValue::of_bool(true));
    if (!result.tolerations.empty()) out.add("tolerations", of(result.tolerations));
    if (!result.binding_conditions.empty())
      out.add("bindingConditions", list(result.binding_conditions));
    if (!result.binding_failure_conditions.empty())
      out.add("bindingFailureConditions", list(result.binding_failure_conditions));
    if (!result.share_id.empty()) out.add("shareID", JsonValue::of_text(result.share_id));
    if (!result.consumed_capacity.empty())
      out.add("consumedCapacity", amounts(result.consumed_capacity));
    return out;
  }

  JsonValue of(const std::vector<SelectorRequirement>& requirements) const {
    JsonValue out = JsonValue::array();
    for (const SelectorRequirement& requirement : requirements) {
      JsonValue value = JsonValue::object();
      value.add("key", text(requirement.key));
      value.add("operator", JsonValue::of_text(operator_text(requirement, symbols_)));
      if (!requirement.values.empty()) value.add("values", list(requirement.values));
      out.items.push_back(std::move(value));
    }
    return out;
  }

  JsonValue of(const std::vector<NodeSelectorTerm>& terms) const {
    JsonValue list = JsonValue::array();
    for (const NodeSelectorTerm& term : terms) {
      JsonValue value = JsonValue::object();
      if (!term.match_expressions.empty())
        value.add("matchExpressions", of(term.match_expressions));
      if (!term.match_fields.empty()) value.add("matchFields", of(term.match_fields));
      list.items.push_back(std::move(value));
    }
    JsonValue out = JsonValue::object();
    out.add("nodeSelectorTerms", std::move(list));
    return out;
  }

  const Symbols& symbols_;
};

}  // namespace

JsonValue allocation_json(const AllocationResult& allocation, const Symbols& symbols) {
  return ClaimWriter(symbols).allocation(allocation);
}

JsonValue reserved_for_json(const std::vector<ResourceClaimConsumerReference>& reserved_for,
                            const Symbols& symbols) {
  return ClaimWriter(symbols).reserved_for(reserved_for);
}

JsonValue claim_spec_json(const ResourceClaimSpec& spec, const Symbols& symbols) {
  return ClaimWriter(symbols).spec(spec);
}

JsonValue claim_json(const ResourceClaim& claim) {
  const ClaimWriter writer(*claim.symbols.table());
  JsonValue out = JsonValue::object();
  out.add("apiVersion", JsonValue::of_text("resource.k8s.io/v1"));
  out.add("kind", JsonValue::of_text("ResourceClaim"));
  out.add("metadata", writer.metadata(claim));
  out.add("spec", writer.spec(claim.spec));
  JsonValue status = JsonValue::object();
  if (claim.status.allocation)
    status.add("allocation", writer.allocation(*claim.status.allocation));
  if (!claim.status.reserved_for.empty())
    status.add("reservedFor", writer.reserved_for(claim.status.reserved_for));
  if (!status.members.empty()) out.add("status", std::move(status));
  return out;
}

}  // namespace berth
