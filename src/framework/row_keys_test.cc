#include "berth/row_keys.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth {
namespace {

TEST(RowKeys, ARowWithoutTheKeyIsLikeNoRowThatHasIt) {
  const std::vector<Domain> domains = {1, 2, 3, kNoDomain};
  const std::vector<std::int64_t> numbers = {0, 0, -1, 7};  // pods that count may count against it
  const RowKeys::Numbers by_domain{.domains = RowDomains(domains), .by_domain = numbers};
  for (NodeRow row = 0; row < 3; ++row) EXPECT_NE(by_domain.at(row), by_domain.at(3)) << row;
  EXPECT_EQ(by_domain.at(1), -1);
  EXPECT_EQ(RowKeys::Numbers().at(0), 0);
}

}  // namespace
}  // namespace berth
