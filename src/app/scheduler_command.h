// `berth scheduler …`, and this program called as kube-scheduler: upstream's command line, by its
// own order of work (shell.md §1.4), with its exit codes (§1.6).
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace berth::app {

// `args` without the program's name. The exit code.
int run_scheduler(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace berth::app
