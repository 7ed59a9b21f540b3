// The row of a pod in `kubectl get`: the one that has a story to tell.
#pragma once

#include <span>
#include <vector>

#include "memapi/table_columns.h"

namespace berth::memapi {

std::span<const Column> pod_columns();
std::vector<JsonValue> pod_cells(const JsonValue& pod, WallTime now);

}  // namespace berth::memapi
