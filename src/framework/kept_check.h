// KeptCheck: whether what is kept between pods is to be compared with an answer from scratch
// (--verify-increments), and what came of it. One per scheduler, in the handle's SharedParts.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "berth/handle.h"

namespace berth {

struct KeptCheck {
  bool on = false;
  std::optional<std::string> difference;  // the first that was found: a bug

  static std::shared_ptr<KeptCheck> of(SharedParts& shared) {
    return shared.get<KeptCheck>([] { return std::make_shared<KeptCheck>(); });
  }
};

}  // namespace berth
