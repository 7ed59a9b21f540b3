// Whole files as text. Errors read like Go's, which operators of Kubernetes know:
// `open /x: no such file or directory`. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth {

Result<std::string> read_file(const std::string& path);

// The file appears whole or not at all, with the given permissions. What is there and is not a
// plain file (a pipe, a link, a terminal) is written to instead.
Result<void> write_file(const std::string& path, std::string_view text, unsigned mode = 0644);

// `stat /x: no such file or directory` if there is nothing to be seen.
Result<void> check_file_exists(const std::string& path);

}  // namespace berth
