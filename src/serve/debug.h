// What operators look at when they wonder: /configz, /flagz, /statusz, /debug/flags/v and
// /debug/pprof (shell.md §4.1). Any thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "net/http_message.h"
#include "telemetry/log.h"

namespace berth::serve {

// What /statusz and /flagz show about the program.
struct ProgramFacts {
  std::string name = "kube-scheduler";
  WallTime started;
  std::string go_version;        // what stands where upstream names its compiler
  std::string binary_version;    // "1.37.1"
  std::string emulated_version;  // "1.37"
  std::vector<std::pair<std::string, std::string>> flags;  // by name
};

// `component_config` is a JSON object.
net::HttpResponse answer_configz(std::string_view component_config);
net::HttpResponse answer_flagz(const net::HttpRequest& request, const ProgramFacts& facts);
// `flagz`: whether that is among the paths that there are.
net::HttpResponse answer_statusz(const net::HttpRequest& request, const ProgramFacts& facts,
                                 bool flagz, WallTime now);

// /debug/flags and below. A request that sets a flag has its value as the body.
bool takes_debug_flag(const net::HttpRequest& request, std::string_view path);
net::HttpResponse answer_debug_flags(const net::HttpRequest& request, std::string_view path,
                                     telemetry::LogOutput& log);

// /debug/pprof/ and below, without the profile itself (cpu_profile.h).
net::HttpResponse answer_pprof(std::string_view path);
inline constexpr std::string_view kCpuProfilePath = "/debug/pprof/profile";
// How long to look, of "seconds=5". Parity: what cannot be read is 30 seconds.
Duration profile_duration(std::string_view query);
net::HttpResponse profile_response(std::string profile);
net::HttpResponse profile_refused(std::string_view why);

}  // namespace berth::serve
