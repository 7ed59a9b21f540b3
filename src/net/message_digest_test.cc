#include "net/message_digest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth::net {
namespace {

// RFC 4231, test cases 1 and 2.
TEST(MessageDigest, IsTheOneOfTheStandard) {
  const auto hex = [](const std::string& bytes) {
    std::string text;
    for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return text;
  };
  EXPECT_EQ(hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace berth::net
