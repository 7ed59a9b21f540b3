#include "memapi/service_addresses.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <string>

#include "memapi/defaults.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

// 10.96.0.0/16, without its first and last address.
constexpr unsigned kAddresses = (1U << 16) - 2;
constexpr std::int64_t kFirstNodePort = 30000;
constexpr std::int64_t kLastNodePort = 32767;

std::string address_at(unsigned index) {
  const unsigned number = index % kAddresses + 1;
  return fmt::format("10.96.{}.{}", number >> 8, number & 255);
}

// Where the search for a free one begins: spread out, and the same for the same name.
unsigned hash_of(std::string_view text) {
  unsigned hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

// What follows a member's name, wherever it stands. Reading every service whole for each new one
// would cost more than all else; within texts the quotes are escaped.
template <typename F>
void each_value(std::string_view json, std::string_view member, F&& f) {
  for (std::size_t at = json.find(member); at != std::string_view::npos;
       at = json.find(member, at + 1))
    f(json.substr(at + member.size()));
}

struct TakenAddresses {
  std::set<std::string, std::less<>> cluster_ips;
  std::set<std::int64_t> node_ports;
};

TakenAddresses taken_addresses(const Store& store, const JsonValue& service) {
  TakenAddresses taken;
  const Answer<ListPage> all = store.list(resource_of("services"), {}, {});
  if (!all) return taken;
  for (const ObjectRef& one : all->items) {
    if (one->name == text_at(service, "metadata.name") &&
        one->namespace_name == text_at(service, "metadata.namespace"))
      continue;
    each_value(one->json, R"("clusterIP":")", [&](std::string_view rest) {
      taken.cluster_ips.emplace(rest.substr(0, rest.find('"')));
    });
    each_value(one->json, R"("nodePort":)", [&](std::string_view rest) {
      std::int64_t number = 0;
      std::from_chars(rest.data(), rest.data() + rest.size(), number);
      taken.node_ports.insert(number);
    });
  }
  return taken;
}

JsonValue one_text(std::string_view text) {
  JsonValue list = JsonValue::array();
  list.items.push_back(JsonValue::of_text(text));
  return list;
}

void keep_from(JsonValue& spec, const JsonValue& old, std::string_view name) {
  const JsonValue* before = at(old, name);
  if (before != nullptr && at(spec, name) == nullptr) set(spec, name, JsonValue(*before));
}

bool has_node_ports(const JsonValue& spec) {
  const std::string_view type = text_at(spec, "type");
  const JsonValue* allocate = at(spec, "allocateLoadBalancerNodePorts");
  return type == "NodePort" ||
         (type == "LoadBalancer" && (allocate == nullptr || allocate->boolean));
}

void assign_node_ports(JsonValue& spec, const JsonValue* old, TakenAddresses& taken,
                       unsigned hash) {
  if (!has_node_ports(spec)) {
    // Those that it had are given back.
    if (old == nullptr || !has_node_ports(*old)) return;
    return each_item(spec, "ports", [](JsonValue& port) { erase(port, "nodePort"); });
  }
  each_item(spec, "ports", [&](JsonValue& port) {
    if (int_at(port, "nodePort").value_or(0) != 0) return;
    if (old != nullptr) {
      for (const JsonValue& before : items_at(*old, "ports")) {
        const auto given = int_at(before, "nodePort");
        if (given && int_at(before, "port") == int_at(port, "port") &&
            text_at(before, "protocol") == text_at(port, "protocol")) {
          set(port, "nodePort", JsonValue::of_int(*given));
          return;
        }
      }
    }
    constexpr std::int64_t kCount = kLastNodePort - kFirstNodePort + 1;
    for (std::int64_t i = 0; i < kCount; ++i) {
      const std::int64_t number = kFirstNodePort + (hash + i) % kCount;
      if (!taken.node_ports.insert(number).second) continue;
      set(port, "nodePort", JsonValue::of_int(number));
      return;
    }
  });
}

}  // namespace

void assign_addresses(JsonValue& service, const JsonValue* old, const Store& store) {
  JsonValue& spec = object_at(service, "spec");
  const JsonValue* before = old != nullptr ? at(*old, "spec") : nullptr;
  if (text_at(spec, "type") == "ExternalName") {
    const bool was_inside = before != nullptr && text_at(*before, "type") != "ExternalName" &&
                            text_at(spec, "clusterIP") == text_at(*before, "clusterIP");
    if (was_inside) {
      erase(spec, "internalTrafficPolicy");
      for (const std::string_view name :
           {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
        erase(spec, name);
    }
    return;
  }
  if (before != nullptr && text_at(*before, "type") != "ExternalName") {
    for (const std::string_view name : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
      keep_from(spec, *before, name);
  }
  const bool complete = !text_at(spec, "clusterIP").empty() && !has_node_ports(spec);
  TakenAddresses taken = complete ? TakenAddresses{} : taken_addresses(store, service);
  const unsigned hash = hash_of(fmt::format("{}/{}", text_at(service, "metadata.namespace"),
                                            text_at(service, "metadata.name")));
  for (unsigned i = 0; text_at(spec, "clusterIP").empty() && i < kAddresses; ++i) {
    const std::string address = address_at(hash % kAddresses + i);
    if (!taken.cluster_ips.contains(address)) set_text(spec, "clusterIP", address);
  }
  const std::string address(text_at(spec, "clusterIP"));
  if (items_at(spec, "clusterIPs").empty()) set(spec, "clusterIPs", one_text(address));
  // Parity: nobody can tell of what families the addresses are that somebody else writes.
  const bool selects = is_object(at(spec, "selector"));
  if (address == "None" && !selects && items_at(spec, "ipFamilies").empty()) {
    JsonValue both = one_text("IPv4");
    both.items.push_back(JsonValue::of_text("IPv6"));
    set(spec, "ipFamilies", std::move(both));
    default_text(spec, "ipFamilyPolicy", "RequireDualStack");
  }
  if (items_at(spec, "ipFamilies").empty())
    set(spec, "ipFamilies", one_text(address.contains(':') ? "IPv6" : "IPv4"));
  default_text(spec, "ipFamilyPolicy", "SingleStack");
  assign_node_ports(spec, before, taken, hash);
}

}  // namespace berth::memapi
