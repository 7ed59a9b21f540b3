#include "explain/request_cuts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "berth/pod.h"

namespace berth::explain {
namespace {

std::int64_t base_units(Symbol resource, const Quantity& amount) {
  return std::max<std::int64_t>(resource == names::kCpu ? amount.milli_value() : amount.value(), 0);
}

bool may_stand_for_pod(Symbol resource, std::string_view name) {
  return resource == names::kCpu || resource == names::kMemory || name.starts_with("hugepages-");
}

// One resource in all places of a pod where it is asked for.
class RequestModel {
 public:
  RequestModel(const PodSpec& spec, Symbol resource, std::string_view name)
      : resource_(resource), name_(name) {
    const auto add = [&](const std::vector<Container>& containers, std::string_view list) {
      for (std::size_t i = 0; i < containers.size(); ++i) {
        Part part{.container = JsonPath{"spec", std::string(list)} / i};
        part.init = list == "initContainers";
        part.sidecar = part.init && containers[i].restart_always;
        part.has_limit = containers[i].limits.find(resource) != nullptr;
        if (const Quantity* amount = containers[i].requests.find(resource)) {
          part.amount = base_units(resource, *amount);
          format_ = amount->format();
        }
        parts_.push_back(std::move(part));
      }
    };
    add(spec.init_containers, "initContainers");
    add(spec.containers, "containers");
    before_ = parts_;
    before_sum_ = of_containers();
    if (const Quantity* amount = spec.overhead.find(resource))
      overhead_ = base_units(resource, *amount);
    if (spec.pod_requests && may_stand_for_pod(resource, name))
      if (const Quantity* amount = spec.pod_requests->find(resource)) {
        pod_level_ = base_units(resource, *amount);
        format_ = amount->format();
      }
    pod_has_limit_ = spec.pod_limits && spec.pod_limits->find(resource) != nullptr;
  }

  std::int64_t total() const { return pod_level_.value_or(of_containers()) + overhead_; }
  bool nothing_to_cut() const { return total() <= overhead_; }

  void cut_to(std::int64_t total) {
    const std::int64_t target = std::max<std::int64_t>(total - overhead_, 0);
    while (of_containers() > target)
      if (!cut_largest(target)) break;
    give_back(target);
    if (pod_level_) pod_level_ = std::min(*pod_level_, target);
    pod_level_changed_ = pod_level_.has_value();
  }

  // What the scheduler looks at: requests of the whole pod count instead of those of its containers.
  bool apply(PatchedObject& pod) const {
    if (!pod_level_changed_) return apply_to_containers(pod);
    set(pod, {"spec", "resources"}, *pod_level_, pod_has_limit_);
    return true;
  }
  // What the API server demands beside it: the containers' requests are not more than the pod's.
  bool demands_more() const { return pod_level_changed_ && of_containers() != before_sum_; }
  bool apply_to_containers(PatchedObject& pod) const {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].amount != before_[i].amount) {
        if (!find_at(pod.object(), parts_[i].container)) return false;
        set(pod, parts_[i].container / "resources", parts_[i].amount, parts_[i].has_limit);
      }
    return true;
  }

  std::string text(std::int64_t amount) const {
    return resource_ == names::kCpu ? Quantity::of_milli(amount).to_string()
                                    : Quantity::of(amount, format_).to_string();
  }

 private:
  struct Part {
    JsonPath container;
    std::int64_t amount = 0;
    bool init = false, sidecar = false, has_limit = false;
  };

  // Containers together with sidecars, or an init container with the sidecars before it.
  std::int64_t of_containers() const { return std::max(together(), peak().second); }
  std::int64_t together() const {
    std::int64_t sum = 0;
    for (const Part& part : parts_)
      if (!part.init || part.sidecar) sum += part.amount;
    return sum;
  }
  // The init container while which most is asked for, and how much.
  std::pair<std::size_t, std::int64_t> peak() const {
    std::pair<std::size_t, std::int64_t> most{0, 0};
    std::int64_t sidecars = 0;
    for (std::size_t i = 0; i < parts_.size() && parts_[i].init; ++i) {
      const std::int64_t now = sidecars + parts_[i].amount;
      if (now > most.second) most = {i, now};
      if (parts_[i].sidecar) sidecars = now;
    }
    return most;
  }

  // One step: the largest of those that are too much together.
  bool cut_largest(std::int64_t target) {
    const std::int64_t sum = together();
    const auto [at_peak, most] = peak();
    const std::int64_t excess = (sum > target ? sum : most) - target;
    Part* largest = nullptr;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      const bool counts =
          sum > target ? !part.init || part.sidecar : i == at_peak || (i < at_peak && part.sidecar);
      if (counts && part.amount > 0 && (!largest || part.amount > largest->amount)) largest = &part;
    }
    if (!largest) return false;
    largest->amount -= std::min(largest->amount, excess);
    return true;
  }

  // One step may make an earlier one larger than it had to be (a sidecar is cut after an init
  // container beside it).
  void give_back(std::int64_t target) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::int64_t cut = std::exchange(parts_[i].amount, before_[i].amount);
      const std::int64_t excess = std::max<std::int64_t>(of_containers() - target, 0);
      parts_[i].amount = std::max(cut, parts_[i].amount - excess);
    }
  }

  void set(PatchedObject& pod, const JsonPath& resources, std::int64_t amount,
           bool has_limit) const {
    pod.set(resources / "requests" / name_, JsonValue::of_text(text(amount)));
    // What cannot be had in excess has one amount for both.
    if (has_limit && (is_extended_resource(name_) || name_.starts_with("hugepages-")))
      pod.set(resources / "limits" / name_, JsonValue::of_text(text(amount)));
  }

  const Symbol resource_;
  const std::string name_;
  std::vector<Part> parts_, before_;
  std::int64_t overhead_ = 0;
  std::optional<std::int64_t> pod_level_;
  bool pod_level_changed_ = false;
  std::int64_t before_sum_ = 0;  // of the containers
  bool pod_has_limit_ = false;
  Quantity::Format format_ = Quantity::Format::kDecimalSI;
};

RequestModel model_of(const UnplacedPod& unplaced, Symbol resource) {
  return {unplaced.spec(), resource, unplaced.pod()->text(resource)};
}

ScalarView::AtRow amounts_at(const NodeTable& nodes, Symbol resource, NodeRow row) {
  if (resource == names::kCpu)
    return {row, nodes.allocatable_milli_cpu()[row], nodes.requested_milli_cpu()[row]};
  if (resource == names::kMemory)
    return {row, nodes.allocatable_memory()[row], nodes.requested_memory()[row]};
  if (resource == names::kEphemeralStorage)
    return {row, nodes.allocatable_ephemeral_storage()[row],
            nodes.requested_ephemeral_storage()[row]};
  const ScalarView view = nodes.scalar(resource);
  if (view.is_dense) return {row, view.allocatable[row], view.requested[row]};
  const auto at = std::ranges::find(view.few, row, &ScalarView::AtRow::row);
  return at == view.few.end() ? ScalarView::AtRow{row, 0, 0} : *at;
}

void add_names(const ResourceList& list, std::vector<Symbol>& names) {
  for (const ResourceAmount& amount : list)
    if (std::ranges::find(names, amount.name) == names.end()) names.push_back(amount.name);
}

}  // namespace

std::vector<Symbol> requested_resources(const UnplacedPod& unplaced) {
  std::vector<Symbol> names;
  const PodSpec& spec = unplaced.spec();
  if (spec.pod_requests) add_names(*spec.pod_requests, names);
  for (const Container& container : spec.containers) add_names(container.requests, names);
  for (const Container& container : spec.init_containers) add_names(container.requests, names);
  std::erase_if(names, [&](Symbol name) { return model_of(unplaced, name).nothing_to_cut(); });
  std::ranges::sort(names, {}, [&](Symbol name) { return unplaced.pod()->text(name); });
  return names;
}

std::int64_t requested_total(const UnplacedPod& unplaced, Symbol resource) {
  return model_of(unplaced, resource).total();
}

std::int64_t allocatable_amount(const NodeTable& nodes, Symbol resource, NodeRow row) {
  return amounts_at(nodes, resource, row).allocatable;
}

std::int64_t free_amount(const NodeTable& nodes, Symbol resource, NodeRow row) {
  const ScalarView::AtRow at = amounts_at(nodes, resource, row);
  return std::max<std::int64_t>(at.allocatable - at.requested, 0);
}

std::optional<Edit> cut_request(const UnplacedPod& unplaced, Symbol resource, std::int64_t total) {
  RequestModel model = model_of(unplaced, resource);
  const std::int64_t before = model.total();
  if (total >= before || model.nothing_to_cut() || !unplaced.json()) return std::nullopt;
  model.cut_to(total);
  Edit edit;
  edit.code = "ReduceRequest";
  const std::string name = unplaced.text(resource);
  edit.summary = model.total() > 0
                     ? fmt::format("request {} {} instead of {}", model.text(model.total()), name,
                                   model.text(before))
                     : fmt::format("request no {} instead of {}", name, model.text(before));
  // From 1, for a little, to 3, for all of it.
  edit.cost = 1 + 2 * (1 - static_cast<double>(model.total()) / static_cast<double>(before));
  edit.object = unplaced.name();
  edit.cut = RequestCut{resource, model.total()};
  edit.apply = [model](PatchedObject& pod) { return model.apply(pod); };
  if (model.demands_more())
    edit.demanded = [model](PatchedObject& pod) { return model.apply_to_containers(pod); };
  return edit;
}

std::optional<Edit> largest_fitting_cut(const UnplacedPod& unplaced, std::span<const Edit> others,
                                        Symbol resource) {
  Edits edits(others.begin(), others.end());
  std::optional<Edit> lowest = cut_request(unplaced, resource, 0);
  if (!lowest) return std::nullopt;
  std::int64_t low = lowest->cut->total;  // fits
  edits.push_back(*lowest);
  std::int64_t guess = low;
  {
    const AppliedEdits applied(unplaced, edits);
    if (!applied.ok()) return std::nullopt;
    unplaced.count_question();
    const NodeSet rows = unplaced.evaluator().feasible(applied.pod());
    if (rows.empty()) return std::nullopt;
    rows.for_each([&](NodeRow row) {
      guess = std::max(guess, free_amount(unplaced.nodes(), resource, row));
    });
  }
  const std::int64_t before = requested_total(unplaced, resource);
  std::int64_t high = before;  // does not fit
  const auto fits = [&](std::int64_t total) {
    const std::optional<Edit> cut = cut_request(unplaced, resource, total);
    if (!cut) return false;
    edits.back() = *cut;
    return unplaced.fits(edits);
  };
  // The amount that is free is the answer as a rule; pods that are nominated to a node, and devices
  // that stand for a resource, make exceptions.
  guess = std::clamp(guess, low, high - 1);
  if (guess > low) (fits(guess) ? low : high) = guess;
  if (low == guess && guess + 1 < high) (fits(guess + 1) ? low : high) = guess + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return cut_request(unplaced, resource, low);
}

}  // namespace berth::explain
