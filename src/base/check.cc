#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace berth {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: this must hold and does not: %s\n", file, line, condition);
  std::abort();
}

}  // namespace berth
