// NominationLog: at which nodes nominations changed, for whoever keeps what it found out about the
// pods that are nominated there. A Nominator may keep one; who finds that it does not asks anew.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "api/pod.h"
#include "framework/handle.h"

namespace berth {

class NominationLog {
 public:
  virtual ~NominationLog() = default;

  // A reader remembers a position and reads from there.
  virtual std::uint64_t nomination_log_end() const = 0;
  // The nodes where nominated_pods() may say something else since, each as often as that happened;
  // nullopt: everywhere.
  virtual std::optional<std::span<const Symbol>> nominations_since(
      std::uint64_t position) const = 0;
  virtual bool is_nominated(const Uid& uid) const = 0;

  // The log of a nominator; null when it keeps none.
  static const NominationLog* of(const Nominator& nominator) {
    return dynamic_cast<const NominationLog*>(&nominator);
  }
};

}  // namespace berth
