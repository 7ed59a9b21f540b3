#include "base/sip_hash.h"

#include <array>
#include <bit>
#include <cstddef>

#include "berth/random.h"

namespace berth {
namespace {

struct SipState {
  std::array<std::uint64_t, 4> v;

  void round() {
    v[0] += v[1];
    v[1] = std::rotl(v[1], 13) ^ v[0];
    v[0] = std::rotl(v[0], 32);
    v[2] += v[3];
    v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = std::rotl(v[1], 17) ^ v[2];
    v[2] = std::rotl(v[2], 32);
  }
  void add(std::uint64_t word) {
    v[3] ^= word;
    round();
    round();
    v[0] ^= word;
  }
};

// Up to eight bytes, the first the lowest.
std::uint64_t word_of(std::string_view bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return word;
}

}  // namespace

SipKey SipKey::from_system() { return {seed_from_system(), seed_from_system()}; }

std::uint64_t sip_hash(const SipKey& key, std::string_view text) {
  // The constants of the definition: "somepseudorandomlygeneratedbytes".
  SipState state{{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d,
                  key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573}};
  const std::uint64_t length = std::uint64_t{text.size()} << 56;
  for (; text.size() >= 8; text.remove_prefix(8)) state.add(word_of(text.substr(0, 8)));
  state.add(length | word_of(text));
  state.v[2] ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}

}  // namespace berth
