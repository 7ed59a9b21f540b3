// ChangeLog: which rows changed, in order, as far back as is worth reading.
//
// A reader that is further behind than the log reaches would read more than there are rows; it
// looks at everything instead. Entries lie side by side, so that reading is a span and not a copy.
// Written by NodeTable::Columns only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/views.h"

namespace berth {

class ChangeLog {
 public:
  // `rows` is the present size of the table: what is kept follows it.
  void append(ChangedRow change, std::size_t rows) {
    const std::size_t kept = std::max<std::size_t>(kMinKept, 4 * rows);
    // Dropping half at a time makes it cheap per entry.
    if (entries_.size() >= 2 * kept) {
      const std::size_t dropped = entries_.size() - kept;
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(dropped));
      start_ += dropped;
    }
    entries_.push_back(change);
  }

  std::uint64_t end() const { return start_ + entries_.size(); }

  // Every reader is too far behind now.
  void restart() {
    start_ = end() + 1;
    entries_ = {};
  }

  // nullopt for a position that is no longer (or was never) in the log.
  std::optional<std::span<const ChangedRow>> since(std::uint64_t position) const {
    if (position < start_ || position > end()) return std::nullopt;
    return std::span(entries_).subspan(static_cast<std::size_t>(position - start_));
  }

 private:
  static constexpr std::size_t kMinKept = 4096;
  std::uint64_t start_ = 0;  // position of the first entry
  std::vector<ChangedRow> entries_;
};

}  // namespace berth
