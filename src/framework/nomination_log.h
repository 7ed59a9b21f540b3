// NominationLog: the nodes where nominations changed, for readers that keep results that depend on
// them. A Nominator may keep one; for one that does not, results must be computed again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "berth/handle.h"
#include "berth/pod.h"

namespace berth {

class NominationLog {
 public:
  virtual ~NominationLog() = default;

  // A reader remembers a position and reads from there.
  virtual std::uint64_t nomination_log_end() const = 0;
  // The nodes whose nominated_pods() may have changed since, once for each change; nullopt: any
  // node.
  virtual std::optional<std::span<const Symbol>> nominations_since(
      std::uint64_t position) const = 0;
  virtual bool is_nominated(const Uid& uid) const = 0;

  // The log of a nominator; null when it keeps none.
  static const NominationLog* of(const Nominator& nominator) {
    return dynamic_cast<const NominationLog*>(&nominator);
  }
};

}  // namespace berth
