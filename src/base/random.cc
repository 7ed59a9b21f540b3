#include "berth/random.h"

#include <unistd.h>

#include <bit>

#include "base/check.h"

namespace berth {

// xoshiro256**, seeded through splitmix64 so that close seeds give unrelated streams.
Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t n) {
  BERTH_CHECK(n != 0);
  // Values under the threshold would make the small results a little likelier than the others.
  const std::uint64_t threshold = (0 - n) % n;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= threshold) return value % n;
  }
}

double Random::fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

bool Random::chance(double probability) { return fraction() < probability; }

std::uint64_t seed_from_system() {
  std::uint64_t seed = 0;
  BERTH_CHECK(::getentropy(&seed, sizeof seed) == 0);
  return seed;
}

}  // namespace berth
