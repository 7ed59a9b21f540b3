#include "base/base64.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Base64, BytesComeBack) {
  for (const auto& [bytes, text] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe", "//4="}}) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(decode_base64(text).value(), bytes);
  }
  EXPECT_EQ(decode_base64("Zm\n9v\r\nZg==\n").value(), "foof");
}

TEST(Base64, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(decode_base64("???").error(), 0U);
  EXPECT_EQ(decode_base64("Zm9vZ").error(), 4U);
  EXPECT_EQ(decode_base64("Zg==Zg==").error(), 4U);
}

TEST(Base64, InUrlsHasAnotherAlphabetAndNoPadding) {
  for (const auto& [bytes, text] : std::initializer_list<std::pair<std::string, std::string>>{
           {"", ""}, {"f", "Zg"}, {"fo", "Zm8"}, {"foo", "Zm9v"}, {"\xff\xfe\xfb", "__77"}}) {
    EXPECT_EQ(base64url(bytes), text);
    EXPECT_EQ(decode_base64url(text), bytes);
  }
  EXPECT_EQ(decode_base64url("Zg=="), "f");
  EXPECT_EQ(decode_base64url("//4"), std::nullopt);
}

}  // namespace
}  // namespace berth
