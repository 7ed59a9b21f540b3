#include "base/utf8.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Utf8, KnowsHowLongACharacterIsAndWhatIsNone) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(utf8_length("a"), 1U);
  EXPECT_EQ(utf8_length("é"), 2U);
  EXPECT_EQ(utf8_length("€"), 3U);
  EXPECT_EQ(utf8_length("😀"), 4U);
  for (const char* bad : {"\x80", "\xc0\x80", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    EXPECT_EQ(utf8_length(bad), 0U) << bad;
}

}  // namespace
}  // namespace berth
