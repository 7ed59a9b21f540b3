#include "serve/debug.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include "base/go_quote.h"
#include "base/time_text.h"
#include "serve/responses.h"
#include "wire/json_text.h"
#include "wire/json_tree.h"
#include "wire/yaml_text.h"

namespace berth::serve {
namespace {

constexpr std::string_view kWarning =
    "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility "
    "guarantees and is for debugging purposes only.";
// Parity: what upstream lists, though there is more to be had.
std::vector<std::string_view> listed_paths(bool flagz) {
  if (flagz) return {"/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"};
  return {"/configz", "/healthz", "/livez", "/metrics", "/readyz"};
}

// ---- /flagz and /statusz -----------------------------------------------------------------------

enum class Form : std::uint8_t { kText, kJson, kYaml };
struct Chosen {
  Form form = Form::kText;
  std::string version;  // of the object, in JSON and YAML
};

// Objects only for requests that name them: as=Statusz;v=v1beta1;g=config.k8s.io.
std::optional<Chosen> choose(const net::HttpRequest& request, std::string_view kind) {
  const std::string accept = request.headers.joined("Accept");
  if (accept.empty()) return Chosen{};
  for (const MediaRange& range : parse_accept(accept)) {
    const std::string_view version = range.parameter("v");
    const bool named = range.parameter("as") == kind && range.parameter("g") == "config.k8s.io" &&
                       (version == "v1beta1" || version == "v1alpha1");
    if (named && range.covers("application", "json"))
      return Chosen{Form::kJson, std::string(version)};
    if (named && range.covers("application", "yaml"))
      return Chosen{Form::kYaml, std::string(version)};
    if (range.parameter("as").empty() && range.covers("text", "plain")) return Chosen{};
  }
  return std::nullopt;
}

net::HttpResponse not_acceptable(const net::HttpRequest& request) {
  return status_response(request, {406, "NotAcceptable",
                                   "only the following media types are accepted: application/json, "
                                   "application/yaml, text/plain"});
}

JsonValue described(std::string_view kind, const Chosen& chosen, const std::string& name) {
  JsonValue object = JsonValue::object();
  object.add("kind", JsonValue::of_text(kind));
  object.add("apiVersion", JsonValue::of_text("config.k8s.io/" + chosen.version));
  JsonValue metadata = JsonValue::object();
  metadata.add("name", JsonValue::of_text(name));
  object.add("metadata", std::move(metadata));
  return object;
}

net::HttpResponse object_response(const net::HttpRequest& request, std::string_view kind,
                                  std::string_view endpoint, const Chosen& chosen,
                                  JsonValue object) {
  const bool yaml = chosen.form == Form::kYaml;
  net::HttpResponse response;
  response.headers.add("Content-Type", fmt::format("application/{};g=config.k8s.io;v={};as={}",
                                                   yaml ? "yaml" : "json", chosen.version, kind));
  if (chosen.version == "v1alpha1")
    response.headers.add(
        "Warning", fmt::format("299 - \"This version of the {} endpoint is deprecated. Please "
                               "use a newer version.\"",
                               endpoint));
  if (yaml) {
    sort_members(object);
    response.body = to_go_yaml(object);
  } else {
    response.body = write_json(object, wants_pretty(request));
  }
  return response;
}

// "Sun Nov 15 17:09:04 UTC 2026"
std::string unix_date(WallTime time) {
  using namespace std::chrono;
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const sys_time<nanoseconds> moment(time.since_epoch);
  const sys_days day = floor<days>(moment);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(moment - day));
  return fmt::format("{} {} {:2} {:02}:{:02}:{:02} UTC {}", kDays[weekday(day).c_encoding()],
                     kMonths[static_cast<unsigned>(date.month()) - 1],
                     static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(),
                     static_cast<int>(date.year()));
}

std::string status_text(const ProgramFacts& facts, bool flagz, std::int64_t up) {
  std::string paths;
  for (const std::string_view path : listed_paths(flagz)) paths += fmt::format(" {}", path);
  return fmt::format(
      "\n{} statusz\n{}\n\nStarted= {}\nUp= {} hr {:02} min {:02} sec\nGo version= {}\n"
      "Binary version= {}\nEmulation version= {}\nPaths={}\n",
      facts.name, kWarning, unix_date(facts.started), up / 3600, up / 60 % 60, up % 60,
      facts.go_version, facts.binary_version, facts.emulated_version, paths);
}

// ---- /debug/flags ------------------------------------------------------------------------------

net::HttpResponse flags_page() {
  net::HttpResponse response;
  response.headers.add("Content-Type", "text/html; charset=utf-8");
  response.body =
      "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
      "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n"
      "</html>\n";
  return response;
}

net::HttpResponse flag_answer(int status, std::string_view line) {
  net::HttpResponse response = text_error(status, line);
  response.headers.set("Content-Type", "text/plain");
  return response;
}

net::HttpResponse set_verbosity(const net::HttpRequest& request, telemetry::LogOutput& log) {
  if (request.method != "PUT") return flag_answer(406, "unsupported http method");
  const std::string& text = request.body;
  std::uint32_t level = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), level);
  const bool number = !text.empty() && end == text.data() + text.size();
  const bool fits =
      problem == std::errc() && level <= std::uint32_t{std::numeric_limits<std::int32_t>::max()};
  if (!number || !fits)
    return flag_answer(400, fmt::format("strconv.ParseUint: parsing {}: {}", go_quoted(text),
                                        number ? "value out of range" : "invalid syntax"));
  log.set_verbosity(static_cast<int>(level));
  return flag_answer(200, fmt::format("successfully set klog.logging.verbosity to {}", text));
}

}  // namespace

net::HttpResponse answer_configz(std::string_view component_config) {
  net::HttpResponse response;
  response.headers.add("Content-Type", "application/json");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = fmt::format("{{\"componentconfig\":{}}}", component_config);
  return response;
}

net::HttpResponse answer_flagz(const net::HttpRequest& request, const ProgramFacts& facts) {
  const std::optional<Chosen> chosen = choose(request, "Flagz");
  if (!chosen) return not_acceptable(request);
  if (chosen->form == Form::kText) {
    std::string text = fmt::format("\n{} flagz\n{}\n", facts.name, kWarning);
    for (const auto& [name, value] : facts.flags) text += fmt::format("{}={}\n", name, value);
    return plain_text(std::move(text));
  }
  JsonValue object = described("Flagz", *chosen, facts.name);
  JsonValue flags = JsonValue::object();
  for (const auto& [name, value] : facts.flags) flags.add(name, JsonValue::of_text(value));
  object.add("flags", std::move(flags));
  return object_response(request, "Flagz", "flagz", *chosen, std::move(object));
}

net::HttpResponse answer_statusz(const net::HttpRequest& request, const ProgramFacts& facts,
                                 bool flagz, WallTime now) {
  const std::optional<Chosen> chosen = choose(request, "Statusz");
  if (!chosen) return not_acceptable(request);
  const std::int64_t up =
      std::chrono::duration_cast<std::chrono::seconds>(now - facts.started).count();
  if (chosen->form == Form::kText) return plain_text(status_text(facts, flagz, up));
  JsonValue object = described("Statusz", *chosen, facts.name);
  object.add("startTime", JsonValue::of_text(rfc3339(facts.started)));
  object.add("uptimeSeconds", JsonValue::of_int(up));
  object.add("goVersion", JsonValue::of_text(facts.go_version));
  object.add("binaryVersion", JsonValue::of_text(facts.binary_version));
  object.add("emulationVersion", JsonValue::of_text(facts.emulated_version));
  JsonValue paths = JsonValue::array();
  for (const std::string_view path : listed_paths(flagz))
    paths.items.push_back(JsonValue::of_text(path));
  object.add("paths", std::move(paths));
  return object_response(request, "Statusz", "statusz", *chosen, std::move(object));
}

bool takes_debug_flag(const net::HttpRequest& request, std::string_view path) {
  return request.method == "PUT" && path == "/debug/flags/v";
}

net::HttpResponse answer_debug_flags(const net::HttpRequest& request, std::string_view path,
                                     telemetry::LogOutput& log) {
  return path == "/debug/flags/v" ? set_verbosity(request, log) : flags_page();
}

net::HttpResponse answer_pprof(std::string_view path) {
  net::HttpResponse response;
  if (path == "/debug/pprof") {
    response.status = 302;
    response.headers.add("Content-Type", "text/html; charset=utf-8");
    response.headers.add("Location", "/debug/pprof/");
    response.body = "<a href=\"/debug/pprof/\">Found</a>.\n\n";
    return response;
  }
  if (path == "/debug/pprof/") {
    response.headers.add("Content-Type", "text/html; charset=utf-8");
    response.headers.add("X-Content-Type-Options", "nosniff");
    response.body =
        "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
        "<p>Types of profiles available:</p>\n<ul>\n<li><a href='profile'>profile</a>: CPU "
        "profile. You can specify the duration in the seconds GET parameter. Read it with pprof "
        "(github.com/google/pprof) and the program's file.</li>\n</ul>\n<p>The others are of Go's "
        "runtime, which this scheduler does not have.</p>\n</body>\n</html>\n";
    return response;
  }
  response =
      text_error(404,
                 "Unknown profile: this scheduler is not written in Go and has the CPU profile "
                 "only, at /debug/pprof/profile");
  response.headers.add("X-Go-Pprof", "1");
  return response;
}

Duration profile_duration(std::string_view query) {
  std::int64_t seconds = 0;
  for (const auto& [name, value] : net::parse_query(query)) {
    if (name != "seconds") continue;
    const char* last = value.data() + value.size();
    if (std::from_chars(value.data(), last, seconds).ptr != last) seconds = 0;
    break;
  }
  constexpr std::chrono::seconds kLongest = std::chrono::hours(24);
  return seconds > 0 ? std::min(std::chrono::seconds(seconds), kLongest) : std::chrono::seconds(30);
}

net::HttpResponse profile_response(std::string profile) {
  net::HttpResponse response;
  response.headers.add("Content-Disposition", "attachment; filename=\"profile\"");
  response.headers.add("Content-Type", "application/octet-stream");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = std::move(profile);
  return response;
}

net::HttpResponse profile_refused(std::string_view why) {
  net::HttpResponse response =
      text_error(500, fmt::format("Could not enable CPU profiling: {}", why));
  response.headers.add("X-Go-Pprof", "1");
  return response;
}

}  // namespace berth::serve
