#include "plugins/dynamic_resources/allocator_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "api/names.h"

namespace berth::plugins {
namespace {

bool same_values(std::vector<Symbol> a, std::vector<Symbol> b) {
  for (std::vector<Symbol>* values : {&a, &b}) {
    std::ranges::sort(*values);
    values->erase(std::unique(values->begin(), values->end()), values->end());
  }
  return a == b;
}

void add_new(const std::vector<SelectorRequirement>& from, std::vector<SelectorRequirement>& to) {
  for (const SelectorRequirement& requirement : from) {
    const bool known = std::ranges::any_of(to, [&](const SelectorRequirement& other) {
      return other.key == requirement.key && other.op == requirement.op &&
             other.operator_text == requirement.operator_text &&
             same_values(other.values, requirement.values);
    });
    if (!known) to.push_back(requirement);
  }
}

// A random UUID.
std::string share_id(Random& random) {
  const std::uint64_t high = random.next();
  const std::uint64_t low = random.next();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, high >> 16 & 0xFFFF,
                     high & 0xFFF, (low >> 48 & 0x3FFF) | 0x8000, low & 0xFFFFFFFFFFFFULL);
}

class ResultWriter {
 public:
  ResultWriter(const ClaimAllocation& allocation, const ResourceClaim& claim,
               const Cluster& cluster, SymbolHold& hold)
      : allocation_(allocation), claim_(claim), cluster_(cluster), hold_(hold) {}

  DeviceRequestAllocationResult device(const DeviceChoice& choice, Random& random) {
    const Device& device = choice.slice->devices[choice.device];
    const DeviceRequest& request = claim_.spec.requests[choice.request];
    const ExactDeviceRequest& exact = alternative(request, choice.subrequest);
    DeviceRequestAllocationResult out;
    out.request = name_of(request, choice.subrequest);
    out.driver = choice.slice->driver;
    out.pool = choice.slice->pool.name;
    out.device = device.name;
    out.admin_access = choice.subrequest < 0 && exact.admin_access.value_or(false);
    out.tolerations = exact.tolerations;
    out.binding_conditions = device.binding_conditions;
    out.binding_failure_conditions = device.binding_failure_conditions;
    if (choice.shared) out.share_id = share_id(random);
    out.consumed_capacity = choice.consumed_capacity;
    return out;
  }

  std::vector<DeviceAllocationConfiguration> config() {
    add_class_config();
    for (const DeviceClaimConfiguration& written : claim_.spec.config) {
      if (written.requests.empty()) {
        add(written);
        continue;
      }
      for (std::size_t i = 0; i < claim_.spec.requests.size(); ++i) {
        if (!names(written.requests, i)) continue;
        add(written);
        break;
      }
    }
    // Without names it is for all requests.
    for (DeviceAllocationConfiguration& added : out_)
      if (names_all(added.requests)) added.requests.clear();
    return std::move(out_);
  }

 private:
  static const ExactDeviceRequest& alternative(const DeviceRequest& request,
                                               std::int16_t subrequest) {
    return subrequest < 0 ? *request.exactly
                          : request.first_available[static_cast<std::size_t>(subrequest)];
  }

  Symbol name_of(const DeviceRequest& request, std::int16_t subrequest) {
    if (subrequest < 0) return request.name;
    return hold_.intern(fmt::format("{}/{}", hold_.text(request.name),
                                    hold_.text(alternative(request, subrequest).name)));
  }

  // Whether the request, or the subrequest that was chosen for it, is one of these.
  bool names(const std::vector<Symbol>& requests, std::size_t index) {
    const DeviceRequest& request = claim_.spec.requests[index];
    const auto named = [&](Symbol name) {
      return std::ranges::find(requests, name) != requests.end();
    };
    const std::int16_t subrequest = allocation_.subrequests[index];
    return named(request.name) || (subrequest >= 0 && named(name_of(request, subrequest)));
  }

  bool names_all(const std::vector<Symbol>& requests) {
    for (std::size_t i = 0; i < claim_.spec.requests.size(); ++i)
      if (!names(requests, i)) return false;
    return true;
  }

  void add(const DeviceClaimConfiguration& written) {
    out_.push_back({AllocationConfigSource::kFromClaim, written.requests, written.opaque});
  }

  // Every class once, with all requests for it.
  void add_class_config() {
    struct OfClass {
      Symbol name;
      std::size_t first;
      std::size_t end;
    };
    std::vector<OfClass> classes;
    for (std::size_t i = 0; i < claim_.spec.requests.size(); ++i) {
      const DeviceRequest& request = claim_.spec.requests[i];
      const std::int16_t subrequest = allocation_.subrequests[i];
      const Symbol class_name = alternative(request, subrequest).device_class_name;
      const Symbol name = name_of(request, subrequest);
      const auto known = std::ranges::find(classes, class_name, &OfClass::name);
      if (known != classes.end()) {
        for (std::size_t j = known->first; j < known->end; ++j) out_[j].requests.push_back(name);
        continue;
      }
      const std::size_t first = out_.size();
      const Ref<const Object> found =
          cluster_.find(ObjectKind::kDeviceClass, "", hold_.text(class_name));
      if (found) {
        for (const auto& opaque : static_cast<const DeviceClass&>(*found).config)
          out_.push_back({AllocationConfigSource::kFromClass, {name}, opaque});
      }
      classes.push_back({class_name, first, out_.size()});
    }
  }

  const ClaimAllocation& allocation_;
  const ResourceClaim& claim_;
  const Cluster& cluster_;
  SymbolHold& hold_;
  std::vector<DeviceAllocationConfiguration> out_;
};

// Whose devices the node is to be found by.
const DeviceNodeSelection& nodes_of(const DeviceChoice& choice) {
  const ResourceSlice& slice = *choice.slice;
  return slice.per_device_node_selection.value_or(false) ? slice.devices[choice.device].nodes
                                                         : slice.nodes;
}

// The device is of use on the node that it is allocated for, and nowhere else.
bool local(const DeviceChoice& choice, const AllocatorFeatures& features) {
  return nodes_of(choice).node_name ||
         (choice.slice->devices[choice.device].binds_to_node && !features.stable());
}

// The nodes that can reach all devices: one term, or none if every node can.
std::optional<std::vector<NodeSelectorTerm>> selector_of(const ClaimAllocation& allocation,
                                                         const Node& node,
                                                         const AllocatorFeatures& features) {
  NodeSelectorTerm term;
  for (const DeviceChoice& choice : allocation.devices) {
    if (local(choice, features)) {
      term = {};
      term.match_fields.push_back({names::kMetadataName, SelectorOperator::kIn, {}, {node.symbol}});
      break;
    }
    const DeviceNodeSelection& nodes = nodes_of(choice);
    if (!nodes.node_selector || nodes.node_selector->empty()) continue;
    add_new(nodes.node_selector->front().match_fields, term.match_fields);
    add_new(nodes.node_selector->front().match_expressions, term.match_expressions);
  }
  if (term.empty()) return std::nullopt;
  return std::vector{std::move(term)};
}

}  // namespace

Result<void> check_selector(const ClaimAllocation& allocation, const AllocatorFeatures& features) {
  for (const DeviceChoice& choice : allocation.devices) {
    if (local(choice, features)) return {};
    const DeviceNodeSelection& nodes = nodes_of(choice);
    if (nodes.node_selector && nodes.node_selector->size() > 1) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("unsupported ResourceSlice.NodeSelector with {} terms",
                              nodes.node_selector->size()));
    }
  }
  return {};
}

AllocationResult make_result(const ClaimAllocation& allocation, const ResourceClaim& claim,
                             const Node& node, const Cluster& cluster,
                             const AllocatorFeatures& features, SymbolHold& hold, Random& random) {
  AllocationResult out;
  ResultWriter writer(allocation, claim, cluster, hold);
  for (const DeviceChoice& choice : allocation.devices) {
    DeviceRequestAllocationResult& result = out.results.emplace_back(writer.device(choice, random));
    if (features.device_binding) continue;
    result.binding_conditions.clear();
    result.binding_failure_conditions.clear();
  }
  out.config = writer.config();
  out.node_selector = selector_of(allocation, node, features);
  retain_symbols(out, hold);
  return out;
}

}  // namespace berth::plugins
