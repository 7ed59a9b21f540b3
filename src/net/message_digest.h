// Signatures with a shared key. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace berth::net {

// HMAC with SHA-256: 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view text);

}  // namespace berth::net
