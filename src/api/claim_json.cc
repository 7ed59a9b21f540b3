#include "api/claim_json.h"

#include <utility>

#include "api/claim_fields.h"
#include "api/write_fields.h"

namespace berth {
namespace {

JsonValue metadata_json(const ResourceClaim& claim) {
  const Symbols& symbols = *claim.symbols.table();
  const auto text = [&](Symbol symbol) { return JsonValue::of_text(symbols.text(symbol)); };
  JsonValue out = JsonValue::object();
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out.add(name, JsonValue::of_text(value));
  };
  add("name", claim.name);
  if (claim.name.empty()) add("generateName", claim.generate_name);
  add("namespace", symbols.text(claim.namespace_name));
  add("uid", claim.uid);
  add("resourceVersion", claim.resource_version);
  if (!claim.annotations.empty()) {
    JsonValue annotations = JsonValue::object();
    for (const Label& annotation : claim.annotations)
      annotations.add(symbols.text(annotation.key), text(annotation.value));
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

}  // namespace

JsonValue allocation_json(const AllocationResult& allocation, const Symbols& symbols) {
  return write_fields<Fields<AllocationResult>>(allocation, symbols);
}

JsonValue reserved_for_json(const std::vector<ResourceClaimConsumerReference>& reserved_for,
                            const Symbols& symbols) {
  JsonValue out = JsonValue::array();
  for (const ResourceClaimConsumerReference& consumer : reserved_for)
    out.items.push_back(write_fields<Fields<ResourceClaimConsumerReference>>(consumer, symbols));
  return out;
}

JsonValue claim_spec_json(const ResourceClaimSpec& spec, const Symbols& symbols) {
  return write_fields<Fields<ResourceClaimSpec>>(spec, symbols);
}

JsonValue claim_json(const ResourceClaim& claim) {
  const Symbols& symbols = *claim.symbols.table();
  JsonValue out = JsonValue::object();
  out.add("apiVersion", JsonValue::of_text("resource.k8s.io/v1"));
  out.add("kind", JsonValue::of_text("ResourceClaim"));
  out.add("metadata", metadata_json(claim));
  out.add("spec", claim_spec_json(claim.spec, symbols));
  JsonValue status = JsonValue::object();
  if (claim.status.allocation)
    status.add("allocation", allocation_json(*claim.status.allocation, symbols));
  if (!claim.status.reserved_for.empty())
    status.add("reservedFor", reserved_for_json(claim.status.reserved_for, symbols));
  if (!status.members.empty()) out.add("status", std::move(status));
  return out;
}

}  // namespace berth
