// Where a page may be written to (-o html).
#pragma once

#include <iosfwd>

#include "berth/result.h"

namespace berth::app {

// A page is for a browser: an error if `out` is a terminal.
Result<void> check_page_output(const std::ostream& out);

}  // namespace berth::app
