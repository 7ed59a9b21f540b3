// Hashes with a key that is drawn once per process, for tables whose contents come from outside:
// the author of an object cannot choose strings that share a bucket.
//
// The hashes differ in every run. They serve to find things, never to order them: neither an output
// nor a decision may depend on them, nor on the order in which a table that uses them is iterated.
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth {

// Drawn from the system when it is first asked for.
struct HashKey {
  std::uint64_t start;
  std::uint64_t factor;  // odd
  std::uint64_t last;

  static const HashKey& of_process();
};

// All 128 bits of the product count, so that every bit of both goes into every bit of the result.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash_text(std::string_view text);

// For maps and sets of strings: std::unordered_map<std::string, T, TextHash, std::equal_to<>>.
struct TextHash {
  using is_transparent = void;
  using is_avalanching = void;
  std::size_t operator()(std::string_view text) const { return hash_text(text); }
};

// The hash of a sequence of numbers. To add a list, add its length, too.
class KeyedHash {
 public:
  void add(std::uint64_t value) { state_ = folded_product(state_ ^ value, factor_); }
  std::size_t value() const { return state_; }

 private:
  std::uint64_t state_ = HashKey::of_process().start;
  std::uint64_t factor_ = HashKey::of_process().factor;
};

}  // namespace berth
