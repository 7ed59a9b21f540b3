#include "base/keyed_hash.h"

#include <cstring>

#include "berth/random.h"

namespace berth {
namespace {

std::uint64_t eight_bytes(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t four_bytes(const char* at) {
  std::uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

HashKey draw_key() {
  Random random(seed_from_system());
  return {random.next(), random.next() | 1, random.next()};
}

}  // namespace

const HashKey& HashKey::of_process() {
  static const HashKey key = draw_key();
  return key;
}

// The scheme of wyhash, which Go's maps use too: sixteen bytes a step, the last ones read from the
// end, so that a tail costs no loop of its own.
std::uint64_t hash_text(std::string_view text) {
  const HashKey& key = HashKey::of_process();
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t state = key.start, a = 0, b = 0;
  for (; left > 16; left -= 16, at += 16)
    state = folded_product(eight_bytes(at) ^ key.factor, eight_bytes(at + 8) ^ state);
  if (left >= 8) {
    a = eight_bytes(at);
    b = eight_bytes(at + left - 8);
  } else if (left >= 4) {
    a = four_bytes(at);
    b = four_bytes(at + left - 4);
  } else if (left > 0) {
    const auto byte = [at](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(at[i])};
    };
    a = byte(0) << 16 | byte(left / 2) << 8 | byte(left - 1);
  }
  return folded_product(key.last ^ text.size(), folded_product(a ^ key.factor, b ^ state));
}

}  // namespace berth
