#include "berth/result.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace berth {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return fail(ErrorKind::kInvalid, "odd");
  return number / 2;
}

Result<std::string> half_as_text(int number) {
  const Result<int> result = half(number);
  if (!result) return fail(result.error());
  return std::to_string(*result);
}

TEST(Result, CarriesAValueOrAnError) {
  EXPECT_EQ(half(4), 2);
  ASSERT_FALSE(half(3));
  EXPECT_EQ(half(3).error(), (Error{ErrorKind::kInvalid, "odd"}));
}

TEST(Result, AnErrorPassesFromOneTypeToAnother) {
  EXPECT_EQ(half_as_text(8), "4");
  EXPECT_EQ(half_as_text(7).error(), (Error{ErrorKind::kInvalid, "odd"}));
}

TEST(Result, EveryKindHasItsOwnName) {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kInternal); ++kind)
    names.insert(to_string(static_cast<ErrorKind>(kind)));
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(to_string(ErrorKind::kNotFound), "NotFound");
  EXPECT_EQ(to_string(ErrorKind::kInternal), "Internal");
}

}  // namespace
}  // namespace berth
