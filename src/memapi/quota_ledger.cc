#include "memapi/quota_ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

const Resource& quotas() { return resource_of("resourcequotas"); }

// Those of a quota's limits that are about the resource.
std::vector<std::string> names_about(const Resource& resource, const Amounts& hard) {
  std::vector<std::string> names;
  for (const auto& [name, amount] : hard)
    if (quota_is_about(resource, name)) names.push_back(name);
  return names;
}

// Objects that exist are charged when they grow; pods only when they are made.
bool is_charged_again(const Resource& resource) {
  return resource.custom == nullptr &&
         (resource.plural == "services" || resource.plural == "persistentvolumeclaims" ||
          resource.plural == "resourceclaims");
}

// What the object takes beyond what its last state takes.
Amounts growth(const Resource& resource, const JsonValue& object, const StoredObject* old,
               WallTime now) {
  Amounts usage = quota_usage(resource, object, now);
  if (old != nullptr) {
    for (const auto& [name, before] : quota_usage(resource, old->tree(), now))
      if (const auto found = usage.find(name); found != usage.end()) found->second -= before;
  }
  std::erase_if(usage, [](const auto& one) { return one.second.sign() <= 0; });
  return usage;
}

// "exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2"; empty: there is room.
std::string excess(std::string_view quota, const Amounts& requested, const Amounts& used,
                   const Amounts& hard) {
  Amounts too_much, so_far, limits;
  for (const auto& [name, amount] : requested) {
    const Quantity* limit = find_amount(hard, name);
    const Quantity* before = find_amount(used, name);
    Quantity after = before != nullptr ? *before : Quantity();
    after += amount;
    if (limit == nullptr || !(*limit < after)) continue;
    too_much.emplace(name, amount);
    so_far.emplace(name, before != nullptr ? *before : Quantity());
    limits.emplace(name, *limit);
  }
  if (too_much.empty()) return "";
  return fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", quota,
                     amounts_text(too_much), amounts_text(so_far), amounts_text(limits));
}

}  // namespace

Answer<std::vector<QuotaLedger::Charge>> QuotaLedger::charges_for(const Resource& resource,
                                                                  const JsonValue& object,
                                                                  const Amounts& usage) const {
  const auto forbidden = [&](const std::string& why) {
    return refuse(ApiError::forbidden(resource, text_at(object, "metadata.name"), why));
  };
  std::vector<Charge> charges;
  const Answer<ListPage> all =
      store_.list(quotas(), {std::string(text_at(object, "metadata.namespace")), {}, "", 0}, {});
  if (!all) return refuse(all.error());
  std::vector<std::pair<Charge, JsonValue>> concerned;
  for (const ObjectRef& ref : all->items) {
    JsonValue quota = ref->tree();
    // Parity: a quota that nobody has looked at yet limits nothing.
    const std::vector<std::string> wanted = names_about(resource, amounts_at(quota, "status.hard"));
    if (wanted.empty() || !quota_scopes_match(resource, quota, object)) continue;
    if (const std::string unsaid = quota_unsaid(resource, wanted, object); !unsaid.empty())
      return forbidden(fmt::format("failed quota: {}: {}", ref->name, unsaid));
    const Amounts used = amounts_at(quota, "status.used");
    const bool counted = std::ranges::all_of(
        wanted, [&](const std::string& name) { return find_amount(used, name) != nullptr; });
    if (!counted) {
      return forbidden(fmt::format("status unknown for quota: {}, resources: {}", ref->name,
                                   fmt::join(wanted, ",")));
    }
    Charge charge{ref->name, {}};
    for (const std::string& name : wanted)
      if (const Quantity* amount = find_amount(usage, name)) charge.amounts.emplace(name, *amount);
    if (!charge.amounts.empty()) concerned.emplace_back(std::move(charge), std::move(quota));
  }
  for (auto& [charge, quota] : concerned) {
    const std::string why = excess(charge.quota, charge.amounts, amounts_at(quota, "status.used"),
                                   amounts_at(quota, "status.hard"));
    if (!why.empty()) return forbidden(why);
    charges.push_back(std::move(charge));
  }
  return charges;
}

Answer<ObjectRef> QuotaLedger::charge(const Resource& resource, const JsonValue& object,
                                      const StoredObject* old, bool dry_run, const Write& write) {
  const std::string space(text_at(object, "metadata.namespace"));
  if (!has_quota(resource) || (old != nullptr && !is_charged_again(resource)) ||
      !store_.any_in_namespace(quotas(), space))
    return write();
  const MutexLock lock(mutex_);
  const Amounts usage = growth(resource, object, old, loop_.wall_now());
  const Answer<std::vector<Charge>> charges = charges_for(resource, object, usage);
  if (!charges) return refuse(charges.error());
  Answer<ObjectRef> written = write();
  if (!written || !*written || dry_run) return written;
  for (const Charge& one : *charges) {
    for (;;) {  // until nobody has changed the quota meanwhile
      const ObjectRef current = store_.get(quotas(), space, one.quota);
      if (!current) break;
      JsonValue quota = current->tree();
      Amounts used = amounts_at(quota, "status.used");
      add_amounts(used, one.amounts);
      set(object_at(quota, "status"), "used", amounts_json(used));
      if (store_.replace(quotas(), current, std::move(quota))) break;
    }
  }
  return written;
}

Amounts QuotaLedger::count(const Resource& resource, const JsonValue& quota,
                           const std::vector<std::string>& names) const {
  Amounts used;
  for (const std::string& name : names) used[name];  // 0
  const bool scoped = quota_has_scopes(quota);
  const Answer<ListPage> all =
      store_.list(resource, {std::string(text_at(quota, "metadata.namespace")), {}, "", 0}, {});
  if (!all) return used;
  if (!scoped && quota_counts_only(resource, names)) {
    const Quantity number = Quantity::of(static_cast<std::int64_t>(all->items.size()));
    for (auto& [name, amount] : used) amount = number;
    return used;
  }
  for (const ObjectRef& ref : all->items) {
    const JsonValue object = ref->tree();
    if (scoped && !quota_scopes_match(resource, quota, object)) continue;
    const Amounts usage = quota_usage(resource, object, loop_.wall_now());
    for (auto& [name, amount] : used)
      if (const Quantity* more = find_amount(usage, name)) amount += *more;
  }
  return used;
}

void QuotaLedger::recount(std::string_view namespace_name, std::string_view name) {
  const MutexLock lock(mutex_);
  const CustomKindsRef custom = crds_.kinds();
  for (;;) {
    const ObjectRef current = store_.get(quotas(), namespace_name, name);
    if (!current) return;
    JsonValue quota = current->tree();
    const Amounts hard = amounts_at(quota, "spec.hard");
    Amounts used;
    const auto take = [&](const Resource& resource) {
      if (!has_quota(resource)) return;
      const std::vector<std::string> names = names_about(resource, hard);
      if (!names.empty()) used.merge(count(resource, quota, names));
    };
    for (const Resource& resource : resources()) take(resource);
    for (const auto& kind : custom->stored()) take(kind->resource);
    JsonValue status = JsonValue::object();
    status.add("hard", amounts_json(hard));
    status.add("used", amounts_json(used));
    set(quota, "status", std::move(status));
    if (store_.replace(quotas(), current, std::move(quota))) return;
  }
}

}  // namespace berth::memapi
