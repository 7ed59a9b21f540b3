// The seeds that a test program of random runs is asked for on its command line:
//
//   --seeds=N [--first=N]    N runs, from seed --first on
//   --seed=N                 that one only
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace berth {

struct Seeds {
  std::string program = {};  // as it was called
  std::uint64_t first = 1;
  std::uint64_t count = 0;
  bool one = false;  // --seed: somebody wants to read what happens
};

namespace seed_flags {

inline bool read(std::string_view argument, std::string_view name, std::uint64_t& value) {
  if (!argument.starts_with(name)) return false;
  argument.remove_prefix(name.size());
  const auto [end, error] =
      std::from_chars(argument.data(), argument.data() + argument.size(), value);
  if (error == std::errc() && end == argument.data() + argument.size()) return true;
  std::fprintf(stderr, "%.*s needs a number\n", static_cast<int>(name.size()), name.data());
  std::exit(2);
}

}  // namespace seed_flags

// After GoogleTest has taken its own flags. Ends the program at a flag that is none of these.
inline void read_seed_flags(int argc, char** argv, Seeds& seeds) {
  seeds.program = argv[0];
  for (int i = 1; i < argc; ++i) {
    if (seed_flags::read(argv[i], "--seed=", seeds.first)) {
      seeds.count = 1;
      seeds.one = true;
    } else if (!seed_flags::read(argv[i], "--seeds=", seeds.count) &&
               !seed_flags::read(argv[i], "--first=", seeds.first)) {
      std::fprintf(stderr, "unknown flag %s\n", argv[i]);
      std::exit(2);
    }
  }
}

}  // namespace berth
