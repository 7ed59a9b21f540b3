// The commands that carry changes out, as people type them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/edits.h"

namespace berth::explain {

// As a shell reads one word.
std::string shell_quoted(std::string_view text);

// Of one suggestion. Pods are mostly immutable and owned: the command edits the template of the
// pod's owner, if it has one.
std::vector<std::string> commands_of(const UnplacedPod& unplaced, std::span<const Edit> edits,
                                     const AppliedEdits& applied);

}  // namespace berth::explain
