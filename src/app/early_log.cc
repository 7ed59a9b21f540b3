#include "app/early_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <ostream>
#include <string_view>

#include "api/json_text.h"

namespace berth::app {
namespace {

using Severity = config::EarlyRecord::Severity;

// Multi-line values stand indented between < and >.
std::string shown_value(std::string_view text) {
  if (!text.contains('\n')) return go_quoted(text);
  std::string out = "<\n\t";
  for (const char c : text) {
    out += c;
    if (c == '\n') out += '\t';
  }
  return out + "\n >";
}

}  // namespace

std::string EarlyLog::header(const config::EarlyRecord& record) const {
  constexpr std::string_view kLetters = "IWE";
  const auto since_epoch = clock_.wall_now().since_epoch;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t whole = static_cast<std::time_t>(seconds.count());
  std::tm local{};
  ::localtime_r(&whole, &local);
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(since_epoch - seconds).count();
  return fmt::format("{}{:02}{:02} {:02}:{:02}:{:02}.{:06} {:>7} {}] ",
                     kLetters[static_cast<std::size_t>(record.severity)], local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, micros, ::getpid(),
                     record.caller.substr(record.caller.find('/') + 1));
}

void EarlyLog::write(const config::EarlyRecord& record, int verbosity) {
  if (!json_) {
    std::string line = header(record);
    line += record.quoted ? go_quoted(record.message) : record.message;
    for (const auto& [key, value] : record.fields) line += fmt::format(" {}={}", key, value);
    out_ << line << '\n';
    return;
  }
  const double millis = static_cast<double>(clock_.wall_now().since_epoch.count()) / 1e6;
  std::string line = fmt::format("{{\"ts\":{:.4f},\"caller\":", millis);
  append_json_string(line, record.caller);
  line += ",\"msg\":";
  append_json_string(line, record.message);
  if (record.severity != Severity::kError) line += fmt::format(",\"v\":{}", verbosity);
  for (const auto& [key, value] : record.fields) {
    line += ',';
    append_json_string(line, key);
    line += ':' + value;
  }
  out_ << line << "}\n";
}

void EarlyLog::write_failure(const config::CommandFailure& failure) {
  config::EarlyRecord record;
  record.severity = Severity::kError;
  record.caller = "cli/run.go:72";
  record.message = "command failed";
  if (!json_) {
    record.fields.emplace_back("err", shown_value(failure.message));
  } else {
    std::string message;
    append_json_string(message, failure.message);
    record.fields.emplace_back("err", message);
    std::string causes;
    for (const std::string& cause : failure.causes) {
      causes += causes.empty() ? "{\"error\":" : ",{\"error\":";
      append_json_string(causes, cause);
      causes += '}';
    }
    if (!causes.empty()) record.fields.emplace_back("errCauses", "[" + causes + "]");
  }
  write(record);
}

}  // namespace berth::app
