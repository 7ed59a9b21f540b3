// From text to an expression, macros expanded.
#pragma once

#include <cstdint>
#include <vector>

#include "cel/source.h"
#include "cel/syntax.h"

namespace berth::cel {

struct Parsed {
  ExprPtr root;
  std::vector<std::int32_t> offsets;  // where each expression is, by id

  std::int32_t offset(std::int64_t id) const {
    const auto index = static_cast<std::size_t>(id);
    return id >= 0 && index < offsets.size() ? offsets[index] : -1;
  }
};

// With anything in `issues` afterwards the result is not to be used.
Parsed parse(const Source& source, Issues& issues);

}  // namespace berth::cel
