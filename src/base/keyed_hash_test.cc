#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace berth {
namespace {

// Strings that all have one std::hash: libstdc++'s is a fixed function that can be run backwards, a
// block of eight bytes at a time. Each pair of blocks has two forms with the same effect.
class CollidingTexts {
 public:
  static std::vector<std::string> make(int pairs) {
    const std::size_t length = static_cast<std::size_t>(pairs) * 16;
    std::uint64_t state = 0xc70f6907U ^ (length * kFactor);
    std::vector<std::string> all{""};
    for (int pair = 0; pair < pairs; ++pair) {
      const std::uint64_t first[] = {0x6161616161616161, 0x6262626262626262};
      const std::uint64_t after = absorb(absorb(state, first[0]), 0x6363636363636363);
      // The second block of the other form leads to the same state.
      const std::uint64_t wanted = (after * inverse(kFactor)) ^ absorb(state, first[1]);
      const std::uint64_t second[] = {0x6363636363636363, unmixed(wanted)};
      std::vector<std::string> longer;
      for (const std::string& text : all)
        for (int form : {0, 1}) longer.push_back(text + bytes(first[form]) + bytes(second[form]));
      all = std::move(longer);
      state = after;
    }
    return all;
  }

 private:
  static constexpr std::uint64_t kFactor = 0xc6a4a7935bd1e995;

  static std::uint64_t shift_mix(std::uint64_t value) { return value ^ value >> 47; }
  static std::uint64_t absorb(std::uint64_t state, std::uint64_t block) {
    return (state ^ shift_mix(block * kFactor) * kFactor) * kFactor;
  }
  static std::uint64_t inverse(std::uint64_t odd) {
    std::uint64_t found = odd;
    for (int i = 0; i < 6; ++i) found *= 2 - odd * found;
    return found;
  }
  static std::uint64_t unmixed(std::uint64_t mixed) {
    return shift_mix(mixed * inverse(kFactor)) * inverse(kFactor);
  }
  static std::string bytes(std::uint64_t block) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &block, 8);
    return text;
  }
};

TEST(KeyedHash, StringsThatCollideInTheLibrarysHashDoNotCollideHere) {
  const std::vector<std::string> texts = CollidingTexts::make(12);
  ASSERT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 4096U);
  std::set<std::size_t> fixed, keyed, low;
  for (const std::string& text : texts) {
    fixed.insert(std::hash<std::string_view>()(text));
    keyed.insert(hash_text(text));
    low.insert(hash_text(text) % 4096);
  }
  EXPECT_EQ(fixed.size(), 1U) << "else the strings are chosen badly";
  EXPECT_EQ(keyed.size(), 4096U);
  EXPECT_GT(low.size(), 2000U);  // of random ones 2,589 are expected
}

TEST(KeyedHash, EveryByteAndTheLengthCount) {
  std::set<std::size_t> hashes;
  std::size_t texts = 0;
  for (std::size_t length = 0; length <= 40; ++length) {
    const std::string zeros(length, '\0');
    hashes.insert(hash_text(zeros));
    ++texts;
    for (std::size_t at = 0; at < length; ++at) {
      std::string one = zeros;
      one[at] = 1;
      hashes.insert(hash_text(one));
      ++texts;
    }
  }
  EXPECT_EQ(hashes.size(), texts);
}

TEST(KeyedHash, EqualTextsHaveEqualHashesWhereverTheyLie) {
  const std::string text = "xexample.com/some-resource";
  EXPECT_EQ(hash_text(std::string_view(text).substr(1)), hash_text("example.com/some-resource"));
}

TEST(KeyedHash, ASequenceIsToldFromItsPermutationsAndFlippedHighBits) {
  const auto hash_of = [](std::vector<std::uint64_t> values) {
    KeyedHash hash;
    for (const std::uint64_t value : values) hash.add(value);
    return hash.value();
  };
  const std::uint64_t high = std::uint64_t{1} << 63;
  std::set<std::size_t> hashes;
  std::size_t count = 0;
  // Differences that cancel in a hash which multiplies 64 bits by a constant and shifts.
  for (int shift = 1; shift < 64; ++shift) {
    hashes.insert(hash_of({high, high | high >> shift}));
    hashes.insert(hash_of({0, high >> shift}));
    count += 2;
  }
  hashes.insert(hash_of({1, 2}));
  hashes.insert(hash_of({2, 1}));
  EXPECT_EQ(hashes.size(), count + 2);
}

}  // namespace
}  // namespace berth
