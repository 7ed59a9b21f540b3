// The command line: which subcommand, with which flags, and what comes of it.
//
//   berth run [--demo] [--listen ADDR:PORT] [--write-kubeconfig FILE] [--data FILE] …
//   berth apiserver [--listen ADDR:PORT] [--write-kubeconfig FILE] [--data FILE] …
//   berth simulate -f FILE… [--scenario FILE] [--config FILE] [--seed N] [--until DURATION] [-o …]
//   berth evaluate --cluster FILE [--config FILE] [--profile NAME] [--sequence] [--preempt] [-o …]
//   berth explain POD… | --all-pending | -f FILE --cluster FILE [--node NAME] [-o …]
//   berth capacity -f POD… [--ratio A:B] [--cluster FILE | --kubeconfig FILE] [--max N] [-o …]
//   berth compare --config A --config B -f FILE… | --trace FILE… [--seeds …] [--shard I/N] [-o …] | --merge PART…
//   berth scheduler [kube-scheduler's flags]; also when called as kube-scheduler
//   berth permit list|allow|reject [POD] [--server URL] [--kubeconfig FILE] [--plugin NAME] [-o …]
//   berth plugins
//   berth help [COMMAND], berth --help, berth --version
//
// Exit codes: 0 done, 1 something failed, 2 wrong usage; with 1 and 2 one line on `err` says why. 3:
// explain was asked about a pod that has no node and would get none.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace berth::app {

// `name` is what the program was called as, with or without folders: as kube-scheduler it takes
// that program's flags and has its exit codes.
int run(const std::string& name, const std::vector<std::string>& args, std::ostream& out,
        std::ostream& err);
// `args` without the program's name, which is berth.
int run(const std::vector<std::string>& args, std::ostream& out, std::ostream& err);

}  // namespace berth::app
