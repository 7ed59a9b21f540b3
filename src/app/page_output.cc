#include "app/page_output.h"

#include <unistd.h>

#include <iostream>

namespace berth::app {

Result<void> check_page_output(const std::ostream& out) {
  if (&out == &std::cout && ::isatty(STDOUT_FILENO) != 0)
    return fail(ErrorKind::kInvalid,
                "-o html writes a page for a browser: redirect it to a file (> page.html)");
  return {};
}

}  // namespace berth::app
