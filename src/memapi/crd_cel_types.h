// Values of custom resources as CEL sees them: their types by the schema, and JSON as CEL values.
#pragma once

#include <optional>

#include "cel/environment.h"
#include "cel/value.h"
#include "memapi/crd_schema.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// The variables self and oldSelf.
struct CelTypes {
  cel::Environment plain;
  cel::Environment optional_old;  // oldSelf is an optional
};

// Nothing when values of the schema have no type that CEL could know. `root`: of a whole object.
std::optional<CelTypes> cel_types_of(const CrdSchema& schema, bool root);

cel::Value cel_value_of(const JsonValue& value, const CrdSchema& schema, bool root);

}  // namespace berth::memapi
