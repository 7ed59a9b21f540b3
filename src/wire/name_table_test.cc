#include "wire/name_table.h"

#include <gtest/gtest.h>

#include <array>

namespace berth {
namespace {

TEST(NameTable, FindsItsNamesAndNothingElse) {
  constexpr std::array<std::string_view, 5> kWords = {"volumeName", "volumeMode", "", "x",
                                                      "status"};
  static constexpr NameTable<5> kTable(kWords);
  static_assert(kTable.find("volumeMode") == 1);
  EXPECT_EQ(kTable.find("volumeName"), 0U);
  EXPECT_EQ(kTable.find("x"), 3U);
  EXPECT_EQ(kTable.find("status"), 4U);
  for (const std::string_view other : {"", "volumeName ", "volumeNode", "X", "spec", "statu"})
    EXPECT_EQ(kTable.find(other), 5U) << other;
}

}  // namespace
}  // namespace berth
