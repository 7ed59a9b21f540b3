// A hash of addresses, for what is equal when it is the same object: interned specs, shared lists.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>

namespace berth {

inline std::size_t hash_pointers(std::initializer_list<const void*> pointers) {
  std::size_t value = 0;
  for (const void* pointer : pointers) {
    value = (value ^ std::hash<const void*>{}(pointer)) * 0x9e3779b97f4a7c15ULL;
    value ^= value >> 32;
  }
  return value;
}

}  // namespace berth
