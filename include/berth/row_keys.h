// RowKeys: what a plugin's answers about rows are a function of, beyond the rows' own columns. Rows
// that are alike in all of it get the same answers, so that one of them can be asked for all.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "berth/symbols.h"
#include "berth/topology.h"

namespace berth {

class RowKeys {
 public:
  // A number by row, directly or by the row's topology domain. The spans live until the search ends. It changes for a row only when that
  // row is in the log of changed rows; any other change comes with another version.
  struct Numbers {
    std::uint64_t version = 0;
    std::span<const std::int32_t> by_row = {};  // empty: by domain
    RowDomains domains = {};
    std::span<const std::int64_t> by_domain = {};

    // The number of a row without the key: differs from every number that by_domain may contain.
    static constexpr std::int64_t kWithoutKey = std::numeric_limits<std::int64_t>::min();

    std::int64_t at(NodeRow row) const {
      if (!by_row.empty()) return by_row[row];
      if (by_domain.empty()) return 0;
      const Domain domain = domains[row];
      return domain == kNoDomain ? kWithoutKey : by_domain[domain];
    }
  };

  // The value of a node label.
  void add_label(Symbol key) { labels.push_back(key); }
  void add_numbers(const Numbers& one) { numbers.push_back(one); }

  std::vector<Symbol> labels;
  std::vector<Numbers> numbers;
};

}  // namespace berth
