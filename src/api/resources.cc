#include "berth/resources.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "api/names.h"
#include "berth/labels.h"
#include "berth/pod.h"

namespace berth {

// ---- lists ------------------------------------------------------------------------------------

namespace {

// By name; of several amounts with one name, in their order, `both` makes one.
template <typename Both>
std::vector<ResourceAmount> sorted_amounts(std::vector<ResourceAmount> amounts, Both both) {
  const auto not_after = [](const ResourceAmount& a, const ResourceAmount& b) {
    return a.name >= b.name;
  };
  if (std::ranges::adjacent_find(amounts, not_after) == amounts.end()) return amounts;
  std::map<Symbol, Quantity> by_name;
  for (ResourceAmount& amount : amounts) {
    const auto [place, is_new] = by_name.try_emplace(amount.name);
    if (is_new)
      place->second = std::move(amount.amount);
    else
      both(place->second, std::move(amount.amount));
  }
  amounts.clear();
  for (auto& [name, amount] : by_name) amounts.push_back({name, std::move(amount)});
  return amounts;
}

// Calls `both` with the amounts of names that are in both lists; the others are taken over.
template <typename Both>
void meet_amounts(std::vector<ResourceAmount>& amounts, const ResourceList& other, Both both) {
  std::vector<ResourceAmount> missing;
  for (const ResourceAmount& amount : other) {
    const auto place = std::ranges::lower_bound(amounts, amount.name, {}, &ResourceAmount::name);
    if (place != amounts.end() && place->name == amount.name)
      both(place->amount, amount.amount);
    else
      missing.push_back(amount);
  }
  if (missing.empty()) return;
  std::vector<ResourceAmount> all;
  all.reserve(amounts.size() + missing.size());
  std::merge(std::move_iterator(amounts.begin()), std::move_iterator(amounts.end()),
             std::move_iterator(missing.begin()), std::move_iterator(missing.end()),
             std::back_inserter(all),
             [](const ResourceAmount& a, const ResourceAmount& b) { return a.name < b.name; });
  amounts = std::move(all);
}

}  // namespace

// The last one of a name counts.
ResourceList::ResourceList(std::vector<ResourceAmount> amounts)
    : amounts_(sorted_amounts(std::move(amounts),
                              [](Quantity& mine, Quantity&& later) { mine = std::move(later); })) {}

const Quantity* ResourceList::find(Symbol name) const {
  const auto found = std::ranges::lower_bound(amounts_, name, {}, &ResourceAmount::name);
  return found != amounts_.end() && found->name == name ? &found->amount : nullptr;
}

void ResourceList::set(Symbol name, Quantity amount) {
  const auto place = std::ranges::lower_bound(amounts_, name, {}, &ResourceAmount::name);
  if (place != amounts_.end() && place->name == name)
    place->amount = std::move(amount);
  else
    amounts_.insert(place, {name, std::move(amount)});
}

void ResourceList::add(const ResourceList& other) {
  meet_amounts(amounts_, other, [](Quantity& mine, const Quantity& theirs) { mine += theirs; });
}

void ResourceList::raise_to(const ResourceList& other) {
  meet_amounts(amounts_, other, [](Quantity& mine, const Quantity& theirs) {
    if (mine < theirs) mine = theirs;
  });
}

void ResourceList::fill_from(const ResourceList& defaults) {
  meet_amounts(amounts_, defaults, [](Quantity&, const Quantity&) {});
}

// ---- the scheduler's vector -------------------------------------------------------------------

std::int64_t Resources::scalar(Symbol name) const {
  const auto found = std::ranges::lower_bound(scalars, name, {}, &ScalarAmount::name);
  return found != scalars.end() && found->name == name ? found->amount : 0;
}

bool Resources::has_scalar(Symbol name) const {
  return std::ranges::binary_search(scalars, name, {}, &ScalarAmount::name);
}

bool is_extended_resource(std::string_view name) {
  if (!name.contains('/') || name.contains("kubernetes.io/") || name.starts_with("requests."))
    return false;
  return is_valid_label_key("requests." + std::string(name));
}

bool is_scalar_resource(std::string_view name) {
  return name.starts_with("hugepages-") || name.starts_with("attachable-volumes-") ||
         name.contains("kubernetes.io/") || is_extended_resource(name);
}

Resources to_resources(const ResourceList& list, const Symbols& symbols) {
  Resources resources;
  for (const auto& [name, amount] : list) {
    if (name == names::kCpu)
      resources.milli_cpu = amount.milli_value();
    else if (name == names::kMemory)
      resources.memory = amount.value();
    else if (name == names::kEphemeralStorage)
      resources.ephemeral_storage = amount.value();
    else if (name == names::kPods)
      resources.pods = amount.value();
    else if (is_scalar_resource(symbols.text(name)))
      resources.scalars.push_back({name, amount.value()});
  }
  return resources;
}

Resources to_request(const ResourceList& list, const Symbols& symbols) {
  Resources request = to_resources(list, symbols);
  const auto at_least_zero = [](std::int64_t& amount) {
    amount = std::max<std::int64_t>(amount, 0);
  };
  at_least_zero(request.milli_cpu);
  at_least_zero(request.memory);
  at_least_zero(request.ephemeral_storage);
  request.pods = 0;  // how many pods fit is a node's
  for (ScalarAmount& scalar : request.scalars) at_least_zero(scalar.amount);
  return request;
}

// ---- what a pod asks for ----------------------------------------------------------------------

namespace {

// Where a container's requests are read. The three differ while a pod is being resized.
enum class Reading : std::uint8_t {
  kSpec,
  kAllocated,  // what the kubelet has promised
  kActuated,   // what it has set up
};

// What counts of a pod's status, if anything does.
struct StatusView {
  const PodExtra* extra = nullptr;
  bool infeasible = false;  // the kubelet has said that the resize cannot be done
};

// The requests of a pod's containers, by its spec and its status.
class ContainerRequests {
 public:
  ContainerRequests(const PodSpec& spec, const StatusView& view, const ResourceList* defaults)
      : spec_(spec), view_(view), defaults_(defaults) {
    if (!view.extra) return;
    // Of several statuses with one name the first counts.
    for (const StatusResources& status : view.extra->container_resources)
      statuses_.try_emplace(status.container, &status);
  }

  // Of the whole pod: its containers together, or an init container and the sidecars beside it.
  ResourceList total(Reading reading) const;

 private:
  // Null: nothing.
  const ResourceList* written(const Container& container, Reading reading) const {
    if (reading != Reading::kSpec) {
      const auto status = statuses_.find(container.name);
      if (status != statuses_.end()) {
        const StatusResources& resources = *status->second;
        if (reading == Reading::kActuated && resources.requests) return &*resources.requests;
        if (resources.allocated) return &*resources.allocated;
      }
      if (view_.infeasible) return nullptr;
    }
    return &container.requests;
  }

  ResourceList of(const Container& container, Reading reading) const {
    const ResourceList* list = written(container, reading);
    ResourceList requests = list ? *list : ResourceList();
    if (defaults_) requests.fill_from(*defaults_);
    return requests;
  }

  const PodSpec& spec_;
  const StatusView& view_;
  const ResourceList* defaults_;
  std::map<Symbol, const StatusResources*> statuses_;  // by container
};

ResourceList ContainerRequests::total(Reading reading) const {
  // Summed at the end: each container may bring names that no other has.
  std::vector<ResourceAmount> amounts;
  for (const Container& container : spec_.containers)
    for (const ResourceAmount& request : of(container, reading)) amounts.push_back(request);

  // Init containers run one after the other, beside the sidecars that started before them. Only
  // for the names that a container asks for can there be more than before it.
  struct Running {
    Quantity sidecars, peak;
  };
  std::map<Symbol, Running> running;
  for (const Container& container : spec_.init_containers) {
    for (const auto& [name, amount] : of(container, reading)) {
      const auto [place, is_new] = running.try_emplace(name);
      Running& now = place->second;
      Quantity use = now.sidecars;
      use += amount;
      if (container.restart_always) {
        amounts.push_back({name, amount});
        now.sidecars = use;
      }
      if (is_new || now.peak < use) now.peak = std::move(use);
    }
  }
  std::vector<ResourceAmount> peak;
  for (auto& [name, amounts_of_name] : running)
    peak.push_back({name, std::move(amounts_of_name.peak)});
  ResourceList total(
      sorted_amounts(std::move(amounts), [](Quantity& mine, Quantity&& later) { mine += later; }));
  total.raise_to(ResourceList(std::move(peak)));
  return total;
}

bool is_pod_level_resource(Symbol name, const Symbols& symbols) {
  return name == names::kCpu || name == names::kMemory ||
         symbols.text(name).starts_with("hugepages-");
}

bool has_pod_level_requests(const PodSpec& spec) {
  return spec.pod_requests && std::ranges::any_of(*spec.pod_requests, [&](const auto& request) {
           return is_pod_level_resource(request.name, *spec.symbols.table());
         });
}

// While a resize is on its way the largest of the three totals counts, name by name; the spec of a
// resize that cannot be done does not count.
ResourceList container_requests(const PodSpec& spec, const StatusView& view,
                                const RequestOptions& options) {
  const ContainerRequests containers(spec, view, options.defaults);
  if (!view.extra) return containers.total(Reading::kSpec);
  ResourceList total = view.infeasible ? ResourceList() : containers.total(Reading::kSpec);
  const std::optional<StatusResources>& pod = view.extra->pod_resources;
  if (options.pod_level_status && pod && pod->requests && pod->allocated) {
    // Parity: they stand for the containers also where the spec has no pod-level requests, and
    // have the overhead in them, which is added once more.
    total.raise_to(*pod->requests);
    total.raise_to(*pod->allocated);
  } else {
    total.raise_to(containers.total(Reading::kAllocated));
    total.raise_to(containers.total(Reading::kActuated));
  }
  return total;
}

void replace_by_pod_level(ResourceList& total, const PodSpec& spec, const StatusView& view,
                          bool use_pod_status) {
  ResourceList effective = *spec.pod_requests;
  if (use_pod_status && view.extra && view.extra->pod_resources) {
    const StatusResources& status = *view.extra->pod_resources;
    if (view.infeasible) effective = ResourceList();
    if (status.requests) effective.raise_to(*status.requests);
    if (status.allocated) effective.raise_to(*status.allocated);
  }
  for (const auto& [name, amount] : effective)
    if (is_pod_level_resource(name, *spec.symbols.table())) total.set(name, amount);
}

ResourceList requests(const PodSpec& spec, const StatusView& view, const RequestOptions& options) {
  ResourceList total = container_requests(spec, view, options);
  if (options.pod_level && has_pod_level_requests(spec))
    replace_by_pod_level(total, spec, view, options.pod_level_status);
  if (options.overhead) total.add(spec.overhead);
  return total;
}

PodUsage usage(const PodSpec& spec, const StatusView& view, RequestOptions options,
               const Symbols& symbols) {
  const ResourceList real = requests(spec, view, options);
  PodUsage usage;
  usage.requests = to_resources(real, symbols);
  usage.requests.pods = 0;
  usage.requests.scalars.shrink_to_fit();

  // Scoring counts something for containers that ask for nothing. Where requests are given for the
  // whole pod they speak for all containers, and only what nobody names is made up.
  const bool pod_level = has_pod_level_requests(spec);
  ResourceList defaults;
  if (!pod_level || !real.find(names::kCpu))
    defaults.set(names::kCpu, Quantity::of_milli(kDefaultMilliCpuRequest));
  if (!pod_level || !real.find(names::kMemory))
    defaults.set(names::kMemory, Quantity::of(kDefaultMemoryRequest));
  options.defaults = &defaults;
  const ResourceList nonzero = requests(spec, view, options);
  if (const Quantity* cpu = nonzero.find(names::kCpu)) usage.nonzero_milli_cpu = cpu->milli_value();
  if (const Quantity* memory = nonzero.find(names::kMemory)) usage.nonzero_memory = memory->value();
  return usage;
}

StatusView status_of(const Pod& pod) {
  if (!pod.extra() || !pod.extra()->has_resources()) return {};
  return {pod.extra(), pod.extra()->resize_is_infeasible()};
}

}  // namespace

ResourceList pod_requests(const PodSpec& spec, const RequestOptions& options) {
  return requests(spec, {}, options);
}

ResourceList pod_requests(const Pod& pod, const RequestOptions& options) {
  return requests(pod.spec(), options.use_status ? status_of(pod) : StatusView{}, options);
}

PodUsage pod_usage(const PodSpec& spec, const Symbols& symbols) {
  return usage(spec, {}, {}, symbols);
}

PodUsage pod_usage(const Pod& pod) {
  RequestOptions options;
  options.use_status = true;
  options.pod_level_status = true;
  return usage(pod.spec(), status_of(pod), options, pod.symbols());
}

}  // namespace berth
