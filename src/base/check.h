// CHECK: a statement about the program itself. When it is false the program has a bug, and going on
// would only hide where. Input of any kind is never CHECKed.
#pragma once

namespace berth {

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace berth

#define BERTH_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::berth::check_failed(#condition, __FILE__, __LINE__))
