#include "plugins/dynamic_resources/extended_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::plugins {
namespace {

constexpr std::string_view kAnnotation = "resource.kubernetes.io/extended-resource-claim";

struct PodContainer {
  std::size_t index;  // among init containers and containers
  const Container* container;
  bool long_lived;
};

std::vector<PodContainer> containers_of(const PodSpec& spec) {
  std::vector<PodContainer> containers;
  containers.reserve(spec.init_containers.size() + spec.containers.size());
  for (const Container& container : spec.init_containers)
    containers.push_back({containers.size(), &container, container.restart_always});
  for (const Container& container : spec.containers)
    containers.push_back({containers.size(), &container, true});
  return containers;
}

// How many the container asks for. Parity: an amount that is no whole number is none.
std::int64_t amount_of(const Container& container, Symbol resource) {
  const Quantity* amount = container.requests.find(resource);
  if (!amount) return 0;
  const std::int64_t whole = amount->value();
  return *amount == Quantity::of(whole) ? whole : 0;
}

// A request that is still to be written down.
struct Planned {
  std::string name;
  std::int64_t count = 0;
};

// One resource, for all containers of a pod.
class ResourcePlan {
 public:
  ResourcePlan(const Pod& pod, const std::vector<PodContainer>& containers, Symbol resource)
      : pod_(pod), resource_(resource), long_lived_(containers.size()) {
    for (const PodContainer& container : containers)
      if (container.long_lived) add_long_lived(container);
    for (const PodContainer& container : containers)
      if (!container.long_lived) add_short_lived(container);
    // The greediest one's request serves all of them.
    for (const std::size_t mapping : own_short_mappings_)
      short_mappings_[mapping].request_name = greediest_->name;
  }

  template <typename Emit>
  void for_each_request(Emit emit) const {
    if (greediest_) emit(*greediest_);
    for (const std::optional<Planned>& planned : long_lived_)
      if (planned) emit(*planned);
  }
  void append_mappings(std::vector<ContainerExtendedResourceRequest>& out) const {
    out.insert(out.end(), long_mappings_.begin(), long_mappings_.end());
    out.insert(out.end(), short_mappings_.begin(), short_mappings_.end());
  }

 private:
  void add_long_lived(const PodContainer& container) {
    const std::int64_t wanted = amount_of(*container.container, resource_);
    if (wanted == 0) return;
    long_lived_[container.index] = Planned{name_for(container), wanted};
    long_mappings_.push_back(mapping(container, long_lived_[container.index]->name));
  }

  void add_short_lived(const PodContainer& container) {
    const std::int64_t wanted = amount_of(*container.container, resource_);
    if (wanted == 0) return;
    std::int64_t lent = 0;
    for (std::size_t later = container.index; later < long_lived_.size(); ++later) {
      if (!long_lived_[later]) continue;
      lent += long_lived_[later]->count;
      short_mappings_.push_back(mapping(container, long_lived_[later]->name));
      if (lent >= wanted) return;
    }
    Planned missing{name_for(container), wanted - lent};
    own_short_mappings_.push_back(short_mappings_.size());
    short_mappings_.push_back(mapping(container, missing.name));
    if (!greediest_ || greediest_->count < missing.count) greediest_ = std::move(missing);
  }

  // By the places of the container and, among all that it requests, of the resource.
  std::string name_for(const PodContainer& container) const {
    const auto before =
        std::ranges::count_if(container.container->requests, [&](const ResourceAmount& amount) {
          return pod_.text(amount.name) < pod_.text(resource_);
        });
    return fmt::format("container-{}-request-{}", container.index, before);
  }

  ContainerExtendedResourceRequest mapping(const PodContainer& container,
                                           std::string request) const {
    return {std::string(pod_.text(container.container->name)), std::string(pod_.text(resource_)),
            std::move(request)};
  }

  const Pod& pod_;
  Symbol resource_;
  std::vector<std::optional<Planned>> long_lived_;  // by container
  std::optional<Planned> greediest_;                // of the short-lived ones
  std::vector<ContainerExtendedResourceRequest> long_mappings_, short_mappings_;
  std::vector<std::size_t> own_short_mappings_;  // those of short_mappings_ that are not lent
};

}  // namespace

bool is_extended_resource_claim(const ResourceClaim& claim) {
  return !claim.controller_uid.empty() &&
         std::ranges::any_of(claim.annotations, [&](const Label& annotation) {
           return claim.symbols.text(annotation.key) == kAnnotation &&
                  claim.symbols.text(annotation.value) == "true";
         });
}

Ref<const ResourceClaim> make_extended_resource_claim(const Pod& pod,
                                                      const std::shared_ptr<Symbols>& symbols,
                                                      Random& random) {
  Ref<ResourceClaim> claim = make_ref<ResourceClaim>(SymbolHold(symbols));
  SymbolHold& hold = claim->symbols;
  claim->namespace_name = hold.intern(pod.namespace_name());
  claim->name = kInMemoryClaimName;
  claim->uid = random_uid(random);
  claim->generate_name = fmt::format("{}-extended-resources-", pod.name());
  claim->annotations = {{hold.intern(kAnnotation), hold.intern("true")}};
  claim->controller = {hold.intern("v1"), hold.intern("Pod"), hold.intern(pod.name())};
  claim->controller_uid = pod.uid_text();
  return claim;
}

ExtendedResourceRequests requests_for(const Pod& pod, std::span<const BackedResource> resources,
                                      SymbolHold& hold) {
  const std::vector<PodContainer> containers = containers_of(pod.spec());
  ExtendedResourceRequests all;
  for (const BackedResource& resource : resources) {
    const ResourcePlan plan(pod, containers, resource.name);
    plan.for_each_request([&](const Planned& planned) {
      DeviceRequest& request = all.requests.emplace_back();
      request.name = hold.intern(planned.name);
      ExactDeviceRequest& exactly = request.exactly.emplace();
      exactly.device_class_name = hold.intern(resource.device_class->name);
      exactly.allocation_mode = hold.intern("ExactCount");
      exactly.count = planned.count;
    });
    plan.append_mappings(all.mappings);
  }
  std::ranges::sort(all.requests, {},
                    [&](const DeviceRequest& request) { return hold.text(request.name); });
  return all;
}

std::string random_uid(Random& random) {
  const std::uint64_t high = (random.next() & ~std::uint64_t{0xf000}) | 0x4000;
  const std::uint64_t low = (random.next() >> 2) | (std::uint64_t{1} << 63);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xffff, low >> 48, low & 0xffffffffffff);
}

}  // namespace berth::plugins
