#include "memapi/admission_runtime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "memapi/amounts.h"
#include "memapi/json_edit.h"
#include "memapi/resources.h"

namespace berth::memapi {
namespace {

ApiError rejected(const Resource& resource, const JsonValue& object, std::string_view why) {
  return ApiError::forbidden(resource, text_at(object, "metadata.name"), why);
}

bool same_amounts(const JsonValue& a, const JsonValue& b) {
  if (!is_object(&a) || !is_object(&b) || a.members.size() != b.members.size()) return false;
  return std::ranges::all_of(a.members, [&](const JsonMember& member) {
    const JsonValue* other = b.find(member.name);
    if (other == nullptr) return false;
    const auto left = Quantity::parse(member.value.text);
    const auto right = Quantity::parse(other->text);
    return left && right && *left == *right;
  });
}

Answer<void> take_overhead(const Resource& resource, JsonValue& pod, const JsonValue* fixed) {
  const JsonValue* said = at(pod, "spec.overhead");
  if (!is_object(fixed)) {
    if (said == nullptr) return {};
    return refuse(rejected(resource, pod,
                           "pod rejected: Pod Overhead set without corresponding RuntimeClass "
                           "defined Overhead"));
  }
  if (is_object(said) && !said->members.empty() && !same_amounts(*said, *fixed)) {
    return refuse(rejected(resource, pod,
                           "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined "
                           "Overhead"));
  }
  set(object_at(pod, "spec"), "overhead", *fixed);
  return {};
}

Answer<void> take_scheduling(const Resource& resource, JsonValue& pod,
                             const JsonValue& scheduling) {
  if (const JsonValue* wanted = at(scheduling, "nodeSelector"); is_object(wanted)) {
    JsonValue& selector = object_at(pod, "spec.nodeSelector");
    for (const JsonMember& label : wanted->members) {
      const JsonValue* said = selector.find(label.name);
      if (said != nullptr && said->text != label.value.text) {
        return refuse(
            rejected(resource, pod,
                     fmt::format("conflict: runtimeClass.scheduling.nodeSelector[{0}] = {1}; "
                                 "pod.spec.nodeSelector[{0}] = {2}",
                                 label.name, label.value.text, said->text)));
      }
      set(selector, label.name, label.value);
    }
  }
  for (const JsonValue& toleration : items_at(scheduling, "tolerations")) {
    JsonValue& all = array_at(pod, "spec.tolerations");
    const auto same = [&](const JsonValue& one) { return equal(one, toleration); };
    if (std::ranges::none_of(all.items, same)) all.items.push_back(toleration);
  }
  return {};
}

// ---- limits -------------------------------------------------------------------------------------

std::vector<JsonValue> limits_in(const Store& store, std::string_view space,
                                 std::string_view type) {
  std::vector<JsonValue> found;
  const Answer<ListPage> ranges =
      store.list(resource_of("limitranges"), {std::string(space), {}, "", 0}, {});
  if (!ranges) return found;
  for (const ObjectRef& range : ranges->items) {
    const JsonValue tree = range->tree();
    for (const JsonValue& limit : items_at(tree, "spec.limits"))
      if (text_at(limit, "type") == type) found.push_back(limit);
  }
  return found;
}

void check_bounds(const JsonValue& limit, const Amounts& requests, const Amounts& limits,
                  std::vector<std::string>& problems) {
  const std::string_view type = text_at(limit, "type");
  const bool claim = type == "PersistentVolumeClaim";
  const auto complain = [&](std::string_view end, std::string_view name, const std::string& bound,
                            std::string_view rest) {
    problems.push_back(fmt::format("{} {} usage per {} is {}{}", end, name, type, bound, rest));
  };
  if (const JsonValue* least = at(limit, "min"); is_object(least)) {
    for (const JsonMember& bound : least->members) {
      const auto wanted = Quantity::parse(bound.value.text);
      if (!wanted) continue;
      const Quantity* request = find_amount(requests, bound.name);
      const Quantity* most = find_amount(limits, bound.name);
      const std::string& shown = bound.value.text;
      if (request == nullptr) {
        if (!claim) complain("minimum", bound.name, shown, ".  No request is specified");
      } else if (*request < *wanted) {
        complain("minimum", bound.name, shown,
                 fmt::format(", but request is {}", request->to_string()));
      } else if (!claim && most != nullptr && *most < *wanted) {
        complain("minimum", bound.name, shown, fmt::format(", but limit is {}", most->to_string()));
      }
    }
  }
  if (const JsonValue* greatest = at(limit, "max"); is_object(greatest)) {
    for (const JsonMember& bound : greatest->members) {
      const auto wanted = Quantity::parse(bound.value.text);
      if (!wanted) continue;
      const Quantity* request = find_amount(requests, bound.name);
      const Quantity* most = find_amount(limits, bound.name);
      const std::string& shown = bound.value.text;
      if (!claim && most == nullptr) {
        complain("maximum", bound.name, shown, ".  No limit is specified");
      } else if (!claim && *wanted < *most) {
        complain("maximum", bound.name, shown, fmt::format(", but limit is {}", most->to_string()));
      } else if (request != nullptr && *wanted < *request) {
        complain("maximum", bound.name, shown,
                 fmt::format(", but request is {}", request->to_string()));
      }
    }
  }
}

Answer<void> verdict(const Resource& resource, const JsonValue& object,
                     const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  return refuse(rejected(
      resource, object,
      problems.size() == 1 ? problems.front() : fmt::format("[{}]", fmt::join(problems, ", "))));
}

// Fills in what the container does not say; the names of what was filled in, for the annotation.
void fill_in_container(JsonValue& container, const std::vector<JsonValue>& limits,
                       std::vector<std::string>& told) {
  for (const auto& [field, source] :
       {std::pair{"requests", "defaultRequest"}, std::pair{"limits", "default"}}) {
    std::vector<std::string> names;
    for (const JsonValue& limit : limits) {
      const JsonValue* defaults = at(limit, source);
      if (!is_object(defaults)) continue;
      for (const JsonMember& amount : defaults->members) {
        JsonValue& said = object_at(container, fmt::format("resources.{}", field));
        if (said.find(amount.name) != nullptr) continue;
        said.add(amount.name, amount.value);
        names.push_back(amount.name);
      }
    }
    if (names.empty()) continue;
    std::ranges::sort(names);
    told.push_back(
        fmt::format("{} {} for container {}", fmt::join(names, ", "),
                    std::string_view(field).substr(0, std::string_view(field).size() - 1),
                    text_at(container, "name")));
  }
}

}  // namespace

Answer<void> admit_runtime_class(const Resource& resource, JsonValue& pod, const Store& store) {
  const std::string name(text_at(pod, "spec.runtimeClassName"));
  if (name.empty()) return take_overhead(resource, pod, nullptr);
  const ObjectRef found = store.get(resource_of("runtimeclasses", "node.k8s.io"), "", name);
  if (!found) {
    return refuse(
        rejected(resource, pod, fmt::format("pod rejected: RuntimeClass \"{}\" not found", name)));
  }
  const JsonValue runtime = found->tree();
  if (auto done = take_overhead(resource, pod, at(runtime, "overhead.podFixed")); !done)
    return done;
  const JsonValue* scheduling = at(runtime, "scheduling");
  return is_object(scheduling) ? take_scheduling(resource, pod, *scheduling) : Answer<void>();
}

Answer<void> admit_pod_limits(const Resource& resource, JsonValue& pod, const Store& store) {
  const std::string space(text_at(pod, "metadata.namespace"));
  const std::vector<JsonValue> of_containers = limits_in(store, space, "Container");
  const std::vector<JsonValue> of_pods = limits_in(store, space, "Pod");
  if (of_containers.empty() && of_pods.empty()) return {};
  std::vector<std::string> told;
  std::vector<std::string> problems;
  Amounts requests;
  Amounts limits;
  for (const std::string_view list : {"spec.containers", "spec.initContainers"}) {
    JsonValue* containers = at(pod, list);
    if (!is_array(containers)) continue;
    for (JsonValue& container : containers->items) {
      fill_in_container(container, of_containers, told);
      const Amounts own_requests = amounts_at(container, "resources.requests");
      const Amounts own_limits = amounts_at(container, "resources.limits");
      for (const JsonValue& limit : of_containers)
        check_bounds(limit, own_requests, own_limits, problems);
      const bool runs_along =
          list == "spec.containers" || text_at(container, "restartPolicy") == "Always";
      // Containers count together, those before them one at a time.
      const auto count = [&](Amounts& all, const Amounts& own) {
        for (const auto& [name, amount] : own) {
          const auto [entry, fresh] = all.try_emplace(name, amount);
          if (fresh) continue;
          if (runs_along) {
            entry->second += amount;
          } else if (entry->second < amount) {
            entry->second = amount;
          }
        }
      };
      count(requests, own_requests);
      count(limits, own_limits);
    }
  }
  for (const JsonValue& limit : of_pods) check_bounds(limit, requests, limits, problems);
  if (!told.empty()) {
    set_text(object_at(pod, "metadata.annotations"), "kubernetes.io/limit-ranger",
             fmt::format("LimitRanger plugin set: {}", fmt::join(told, "; ")));
  }
  return verdict(resource, pod, problems);
}

Answer<void> admit_claim_limits(const Resource& resource, const JsonValue& claim,
                                const Store& store) {
  std::vector<std::string> problems;
  const Amounts requests = amounts_at(claim, "spec.resources.requests");
  for (const JsonValue& limit :
       limits_in(store, text_at(claim, "metadata.namespace"), "PersistentVolumeClaim"))
    check_bounds(limit, requests, {}, problems);
  return verdict(resource, claim, problems);
}

void default_limit_range(JsonValue& range) {
  JsonValue* limits = at(range, "spec.limits");
  if (!is_array(limits)) return;
  for (JsonValue& limit : limits->items) {
    if (text_at(limit, "type") != "Container") continue;
    const auto copy = [&](std::string_view from, std::string_view to) {
      const JsonValue* source = at(limit, from);
      if (!is_object(source)) return;
      const JsonValue amounts = *source;
      JsonValue& target = object_at(limit, to);
      for (const JsonMember& amount : amounts.members)
        set_default(target, amount.name, amount.value);
    };
    copy("max", "default");
    copy("default", "defaultRequest");
    copy("min", "defaultRequest");
  }
}

}  // namespace berth::memapi
