// Selectors and lists of symbols as parts of a hash, for tables of questions and terms.
#pragma once

#include <span>

#include "base/keyed_hash.h"
#include "berth/labels.h"

namespace berth {

inline void add_symbols(KeyedHash& hash, std::span<const Symbol> symbols) {
  hash.add(symbols.size());
  for (const Symbol symbol : symbols) hash.add(symbol.id);
}

inline void add_selector(KeyedHash& hash, const Selector& selector) {
  hash.add(selector.is_nothing() ? 0 : 1 + selector.requirements().size());
  for (const Requirement& requirement : selector.requirements()) {
    hash.add(std::uint64_t{requirement.key.id} << 8 | static_cast<std::uint64_t>(requirement.op));
    hash.add(static_cast<std::uint64_t>(requirement.bound));
    add_symbols(hash, requirement.values);
  }
}

}  // namespace berth
