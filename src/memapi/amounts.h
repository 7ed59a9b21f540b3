// Amounts by name: "cpu: 500m, memory: 1Gi", as requests, limits and quotas say them. Any thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "berth/resources.h"
#include "wire/json_tree.h"

namespace berth::memapi {

using Amounts = std::map<std::string, Quantity, std::less<>>;

// Those at the path of an object that can be read; none when there is nothing.
Amounts amounts_at(const JsonValue& object, std::string_view path);
JsonValue amounts_json(const Amounts& amounts);
// Null when there is none of that name.
const Quantity* find_amount(const Amounts& amounts, std::string_view name);
// Adds each amount to that of the same name.
void add_amounts(Amounts& sum, const Amounts& more);
// "cpu=1,memory=2Gi"
std::string amounts_text(const Amounts& amounts);

// What a pod asks for, or its limits ("requests", "limits"): the sum of its containers and those
// that run along, or its largest init container, and its overhead; what the pod says as a whole
// goes before the sum.
Amounts pod_amounts(const JsonValue& pod, std::string_view kind);

}  // namespace berth::memapi
