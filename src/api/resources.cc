#include "api/resources.h"

#include <algorithm>
#include <string>

#include "api/labels.h"
#include "api/names.h"
#include "api/pod.h"

namespace berth {

// ---- lists ------------------------------------------------------------------------------------

ResourceList::ResourceList(std::vector<ResourceAmount> amounts) {
  amounts_.reserve(amounts.size());
  for (ResourceAmount& amount : amounts) set(amount.name, std::move(amount.amount));
}

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
  for (const auto& [name, amount] : other) {
    const auto place = std::ranges::lower_bound(amounts_, name, {}, &ResourceAmount::name);
    if (place != amounts_.end() && place->name == name)
      place->amount += amount;
    else
      amounts_.insert(place, {name, amount});
  }
}

void ResourceList::raise_to(const ResourceList& other) {
  for (const auto& [name, amount] : other)
    if (const Quantity* mine = find(name); !mine || *mine < amount) set(name, amount);
}

void ResourceList::fill_from(const ResourceList& defaults) {
  for (const auto& [name, amount] : defaults)
    if (!find(name)) set(name, amount);
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

// What counts of a pod's status, if anything does.
struct StatusView {
  const PodExtra* extra = nullptr;
  bool infeasible = false;  // the kubelet has said that the resize cannot be done

  const StatusResources* of_container(Symbol name) const {
    if (!extra) return nullptr;
    // Init containers come last, and win over a container of the same name.
    for (auto status = extra->container_resources.rbegin();
         status != extra->container_resources.rend(); ++status)
      if (status->container == name) return status->has_resources ? &*status : nullptr;
    return nullptr;
  }

  // While a resize is on its way the larger amount counts; one that cannot be done counts not.
  ResourceList effective(const ResourceList& spec, const StatusResources& status) const {
    ResourceList list = infeasible ? status.requests : spec;
    if (!infeasible) list.raise_to(status.requests);
    list.raise_to(status.allocated);
    return list;
  }
};

bool is_pod_level_resource(Symbol name, const Symbols& symbols) {
  return name == names::kCpu || name == names::kMemory ||
         symbols.text(name).starts_with("hugepages-");
}

bool has_pod_level_requests(const PodSpec& spec) {
  return spec.pod_requests && std::ranges::any_of(*spec.pod_requests, [&](const auto& request) {
           return is_pod_level_resource(request.name, *spec.symbols.table());
         });
}

ResourceList container_requests(const PodSpec& spec, const StatusView& view,
                                const ResourceList* defaults) {
  const auto requests_of = [&](const Container& container, bool resizable) {
    const StatusResources* status = resizable ? view.of_container(container.name) : nullptr;
    ResourceList requests =
        status ? view.effective(container.requests, *status) : container.requests;
    if (defaults) requests.fill_from(*defaults);
    return requests;
  };
  ResourceList total;
  for (const Container& container : spec.containers) total.add(requests_of(container, true));

  // Init containers run one after the other, beside the sidecars that started before them.
  ResourceList sidecars, peak;
  for (const Container& container : spec.init_containers) {
    ResourceList requests = requests_of(container, container.restart_always);
    if (container.restart_always) {
      total.add(requests);
      sidecars.add(requests);
      peak.raise_to(sidecars);
    } else {
      requests.add(sidecars);
      peak.raise_to(requests);
    }
  }
  total.raise_to(peak);
  return total;
}

void replace_by_pod_level(ResourceList& total, const PodSpec& spec, const StatusView& view,
                          bool use_pod_status) {
  const ResourceList& written = *spec.pod_requests;
  const bool resized = use_pod_status && view.extra && view.extra->pod_resources &&
                       view.extra->pod_resources->has_resources;
  const ResourceList effective =
      resized ? view.effective(written, *view.extra->pod_resources) : written;
  for (const auto& [name, amount] : written) {
    if (!is_pod_level_resource(name, *spec.symbols.table())) continue;
    const Quantity* found = effective.find(name);
    total.set(name, found ? *found : Quantity());
  }
}

ResourceList requests(const PodSpec& spec, const StatusView& view, const RequestOptions& options) {
  ResourceList total = container_requests(spec, view, options.defaults);
  if (options.pod_level && has_pod_level_requests(spec))
    replace_by_pod_level(total, spec, view, options.pod_level_status);
  total.add(spec.overhead);
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
  const PodCondition* resize = pod.condition("PodResizePending");
  return {pod.extra(), resize && resize->reason == "Infeasible"};
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
