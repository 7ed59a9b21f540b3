// Random: a seeded generator. The same seed gives the same numbers on every machine and compiler,
// which std's distributions do not promise.
#pragma once

#include <cstdint>

namespace berth {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  // Uniform over all 64-bit values.
  std::uint64_t next();

  // Uniform over [0, n); n must not be 0.
  std::uint64_t below(std::uint64_t n);

  // Uniform over [0, 1).
  double fraction();

  // True with the given probability.
  bool chance(double probability);

  // A generator of its own for a part of the program, so that one part's draws do not move
  // another's.
  Random fork() { return Random(next()); }

 private:
  std::uint64_t state_[4];
};

// A seed from the system's entropy source, different in every process.
std::uint64_t seed_from_system();

}  // namespace berth
