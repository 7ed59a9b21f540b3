#include "plugins/dynamic_resources/allocator_claims.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::plugins {
namespace {

class ClaimPreparation {
 public:
  ClaimPreparation(PreparedClaim& out, DevicePools& pools, const Cluster& cluster)
      : out_(out), pools_(pools), cluster_(cluster), symbols_(*pools.symbols) {}

  void run() {
    for (const DeviceRequest& request : out_.claim->spec.requests) add(request);
    for (std::size_t i = 0; i < out_.claim->spec.constraints.size(); ++i) {
      if (!add(out_.claim->spec.constraints[i])) {
        out_.constraint_error =
            fmt::format("claim {}, constraint #{}: empty constraint (unsupported constraint type?)",
                        out_.full_name, i);
        return;
      }
    }
    for (RequestAlternatives& request : out_.requests)
      for (PreparedRequest& alternative : request.alternatives)
        for (std::uint32_t i = 0; i < out_.constraints.size(); ++i)
          if (out_.constraints[i].applies_to(alternative.request, alternative.subrequest < 0
                                                                      ? Symbol{}
                                                                      : alternative.full_name))
            alternative.constraints.push_back(i);
  }

 private:
  void add(const DeviceRequest& request) {
    RequestAlternatives& entry = out_.requests.emplace_back();
    entry.prioritized = !request.first_available.empty();
    entry.error = error_of(request);
    if (!entry.error.empty()) return;
    if (!entry.prioritized) {
      entry.alternatives.push_back(prepare(*request.exactly, request, -1));
      return;
    }
    std::int16_t index = 0;
    for (const DeviceSubRequest& subrequest : request.first_available)
      entry.alternatives.push_back(prepare(subrequest, request, index++));
  }

  std::string error_of(const DeviceRequest& request) const {
    const AllocatorFeatures& features = pools_.features;
    const std::string_view name = symbols_.text(request.name);
    if (request.first_available.empty() && !request.exactly)
      return fmt::format("claim {}, request {}: unknown request type", out_.full_name, name);
    if (!features.prioritized_list && !request.first_available.empty()) {
      return fmt::format(
          "claim {}, request {}: has subrequests, but the DRAPrioritizedList feature is disabled",
          out_.full_name, name);
    }
    if (features.consumable_capacity) return "";
    static constexpr std::string_view kDisabled =
        "has capacity requests, but the DRAConsumableCapacity feature is disabled";
    if (pools_.features.stable()) return "";  // that implementation does not look for them
    if (request.exactly && request.exactly->capacity)
      return fmt::format("claim {}, request {}: {}", out_.full_name, name, kDisabled);
    for (const DeviceSubRequest& subrequest : request.first_available)
      if (subrequest.capacity)
        return fmt::format("claim {}, subrequest {}: {}", out_.full_name,
                           symbols_.text(subrequest.name), kDisabled);
    return "";
  }

  PreparedRequest prepare(const ExactDeviceRequest& written, const DeviceRequest& parent,
                          std::int16_t subrequest) {
    PreparedRequest out;
    out.written = &written;
    out.request = parent.name;
    out.name = subrequest < 0 ? parent.name : written.name;
    out.full_name = subrequest < 0
                        ? parent.name
                        : out_.symbols.intern(fmt::format("{}/{}", symbols_.text(parent.name),
                                                          symbols_.text(written.name)));
    out.subrequest = subrequest;
    out.admin = subrequest < 0 && written.admin_access.value_or(false);
    out.error = check(written, out, subrequest);
    return out;
  }

  std::string check(const ExactDeviceRequest& written, PreparedRequest& out,
                    std::int16_t subrequest) {
    const std::string place =
        fmt::format("claim {}, request {}", out_.full_name, symbols_.text(out.name));
    if (!written.derived_attributes.empty())
      return place + ": cannot handle request with derived attributes, the feature is disabled";
    for (std::size_t i = 0; i < written.selectors.size(); ++i)
      if (!written.selectors[i].expression)
        return fmt::format("{}, selector #{}: CEL expression empty (unsupported selector type?)",
                           place, i);
    if (!pools_.features.admin_access && subrequest < 0 && written.admin_access)
      return place + ": admin access is requested, but the feature is disabled";
    const std::string_view class_name = symbols_.text(written.device_class_name);
    if (class_name.empty())
      return place + ": missing device class name (unsupported request type?)";
    const Ref<const Object> found = cluster_.find(ObjectKind::kDeviceClass, "", class_name);
    if (!found) {
      return fmt::format(
          "{}: could not retrieve device class {}: deviceclass.resource.k8s.io \"{}\" not found",
          place, class_name, class_name);
    }
    out.device_class = Ref<const DeviceClass>(static_cast<const DeviceClass*>(found.get()));
    for (std::uint32_t i = 0; i < out.device_class->selectors.size(); ++i) {
      const CELDeviceSelector& selector = out.device_class->selectors[i];
      if (!selector.expression)
        return fmt::format(
            "class {}: selector #{}: CEL expression empty (unsupported selector "
            "type?)",
            class_name, i);
      out.selectors.push_back({pools_.selectors.id_of(*selector.expression), true, i});
    }
    for (std::uint32_t i = 0; i < written.selectors.size(); ++i)
      out.selectors.push_back({pools_.selectors.id_of(*written.selectors[i].expression), false, i});

    const std::string_view mode = symbols_.text(written.allocation_mode);
    if (mode == "ExactCount") {
      out.count = written.count;
    } else if (mode == "All") {
      out.all = true;
    } else {
      return fmt::format("{}: unsupported count mode {}", place, mode);
    }
    return "";
  }

  bool add(const DeviceConstraint& constraint) {
    using Kind = AttributeConstraint::Kind;
    const bool lists = pools_.features.list_type_attributes;
    if (constraint.match_attribute) {
      out_.constraints.emplace_back(Kind::kMatch,
                                    AttributeName(*constraint.match_attribute, out_.symbols),
                                    constraint.requests, lists);
    } else if (constraint.distinct_attribute && !pools_.features.stable()) {
      out_.constraints.emplace_back(Kind::kDistinct,
                                    AttributeName(*constraint.distinct_attribute, out_.symbols),
                                    constraint.requests, lists);
    } else {
      return false;
    }
    return true;
  }

  PreparedClaim& out_;
  DevicePools& pools_;
  const Cluster& cluster_;
  const Symbols& symbols_;
};

}  // namespace

PreparedClaim prepare_claim(const Ref<const ResourceClaim>& claim, DevicePools& pools,
                            const Cluster& cluster) {
  PreparedClaim out;
  out.claim = claim;
  out.full_name = fmt::format("{}/{}", pools.symbols->text(claim->namespace_name), claim->name);
  out.selector_epoch = pools.selectors.epoch();
  out.symbols = SymbolHold(pools.symbols);
  ClaimPreparation(out, pools, cluster).run();
  return out;
}

bool tolerates(const DeviceToleration& toleration, const DeviceTaint& taint,
               const Symbols& symbols) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  const std::string_view op = symbols.text(toleration.op);
  if (op.empty() || op == "Equal") return toleration.value == taint.value;
  return op == "Exists";
}

bool taint_prevents(const Candidate& candidate, const ExactDeviceRequest& request,
                    const DevicePools& pools) {
  const Symbols& symbols = *pools.symbols;
  const auto prevents = [&](const DeviceTaint& taint) {
    const std::string_view effect = symbols.text(taint.effect);
    if (effect != "NoSchedule" && effect != "NoExecute") return false;
    return std::ranges::none_of(request.tolerations, [&](const DeviceToleration& toleration) {
      return tolerates(toleration, taint, symbols);
    });
  };
  return std::ranges::any_of(candidate.device->taints, prevents) ||
         pools.taint_rules.any_taint(candidate.id, prevents);
}

}  // namespace berth::plugins
