// SipHash-2-4: a hash with a secret key. Who does not have the key can neither tell what was hashed nor
// find two texts that share a hash. Unlike keyed_hash.h the result depends on nothing but key and text,
// so it may be written down. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth {

struct SipKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  static SipKey from_system();  // a new one
};

std::uint64_t sip_hash(const SipKey& key, std::string_view text);

}  // namespace berth
