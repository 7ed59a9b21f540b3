#include "memapi/amounts.h"

#include <fmt/format.h>

#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

void raise_amounts(Amounts& most, const Amounts& other) {
  for (const auto& [name, amount] : other) {
    const auto [entry, fresh] = most.try_emplace(name, amount);
    if (!fresh && entry->second < amount) entry->second = amount;
  }
}

}  // namespace

Amounts amounts_at(const JsonValue& object, std::string_view path) {
  Amounts amounts;
  const JsonValue* found = at(object, path);
  if (!is_object(found)) return amounts;
  for (const JsonMember& member : found->members)
    if (const auto parsed = Quantity::parse(member.value.text))
      amounts.emplace(member.name, *parsed);
  return amounts;
}

JsonValue amounts_json(const Amounts& amounts) {
  JsonValue object = JsonValue::object();
  for (const auto& [name, amount] : amounts)
    object.add(name, JsonValue::of_text(amount.to_string()));
  return object;
}

const Quantity* find_amount(const Amounts& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? nullptr : &found->second;
}

void add_amounts(Amounts& sum, const Amounts& more) {
  for (const auto& [name, amount] : more) sum[name] += amount;
}

std::string amounts_text(const Amounts& amounts) {
  std::string text;
  for (const auto& [name, amount] : amounts)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, amount.to_string());
  return text;
}

Amounts pod_amounts(const JsonValue& pod, std::string_view kind) {
  const std::string path = fmt::format("resources.{}", kind);
  Amounts sum;
  for (const JsonValue& container : items_at(pod, "spec.containers"))
    add_amounts(sum, amounts_at(container, path));
  Amounts along;  // of init containers that go on running
  Amounts most;   // while the pod starts
  for (const JsonValue& container : items_at(pod, "spec.initContainers")) {
    Amounts own = amounts_at(container, path);
    if (text_at(container, "restartPolicy") == "Always") {
      add_amounts(sum, own);
      add_amounts(along, own);
      own = along;
    } else {
      add_amounts(own, along);
    }
    raise_amounts(most, own);
  }
  raise_amounts(sum, most);
  for (const auto& [name, amount] : amounts_at(pod, fmt::format("spec.resources.{}", kind)))
    sum[name] = amount;
  for (const auto& [name, amount] : amounts_at(pod, "spec.overhead"))
    if (kind == "requests" || find_amount(sum, name) != nullptr) sum[name] += amount;
  return sum;
}

}  // namespace berth::memapi
