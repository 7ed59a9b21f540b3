#include "base/sip_hash.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

TEST(SipHashTest, GivesTheValuesOfItsDefinition) {
  // The key 00 01 … 0f, and texts 00 01 … of several lengths.
  const SipKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  EXPECT_EQ(sip_hash(key, text), 0x726fdb47dd0e0e31);
  for (char c = 0; c < 8; ++c) text += c;
  EXPECT_EQ(sip_hash(key, text), 0x93f5f5799a932462);
  for (char c = 8; c < 15; ++c) text += c;
  EXPECT_EQ(sip_hash(key, text), 0xa129ca6149be45e5);
}

TEST(SipHashTest, FollowsItsKey) {
  EXPECT_NE(sip_hash({1, 2}, "web"), sip_hash({1, 3}, "web"));
  EXPECT_NE(sip_hash({1, 2}, "web"), sip_hash({2, 2}, "web"));
}

}  // namespace
}  // namespace berth
