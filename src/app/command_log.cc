#include "app/command_log.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "wire/json_text.h"

namespace berth::app {
namespace {

using telemetry::LogField;
using telemetry::LogOutput;
using telemetry::LogValue;

class StreamSink final : public telemetry::LogSink {
 public:
  explicit StreamSink(std::ostream& stream) : stream_(stream) {}
  void write(std::string_view record) override { stream_ << record << std::flush; }

 private:
  std::ostream& stream_;
};

telemetry::Severity severity_of(config::EarlyRecord::Severity severity) {
  switch (severity) {
    case config::EarlyRecord::Severity::kInfo: return telemetry::Severity::kInfo;
    case config::EarlyRecord::Severity::kWarning: return telemetry::Severity::kWarning;
    case config::EarlyRecord::Severity::kError: return telemetry::Severity::kError;
  }
  return telemetry::Severity::kInfo;
}

}  // namespace

std::unique_ptr<telemetry::LogSink> log_sink(std::ostream& stream) {
  if (&stream == &std::cerr) return telemetry::descriptor_sink(STDERR_FILENO);
  if (&stream == &std::cout) return telemetry::descriptor_sink(STDOUT_FILENO);
  return std::make_unique<StreamSink>(stream);
}

std::shared_ptr<LogOutput> open_log(const config::LoggingOptions& options, const Loop& clock,
                                    std::ostream& out, std::ostream& err) {
  const bool json = options.format == "json";
  telemetry::LogOptions log;
  log.format = json ? telemetry::LogFormat::kJson : telemetry::LogFormat::kText;
  log.verbosity = options.verbosity;
  for (const config::VerbosityPattern& module : options.vmodule)
    log.vmodule.push_back({module.pattern, module.verbosity});
  log.split_stream = json ? options.json_split_stream : options.text_split_stream;
  const Quantity& buffer = json ? options.json_info_buffer_size : options.text_info_buffer_size;
  log.info_buffer_size = static_cast<std::size_t>(std::max<std::int64_t>(buffer.value(), 0));
  log.process_id = static_cast<std::uint32_t>(::getpid());
  return std::make_shared<LogOutput>(
      std::move(log), [&clock] { return clock.wall_now(); }, log_sink(err), log_sink(out));
}

void log_early(LogOutput& output, const config::EarlyRecord& record, int verbosity) {
  std::vector<LogField> fields;
  for (const auto& [key, value] : record.fields) fields.push_back({key, LogValue::json(value)});
  output.write({.severity = severity_of(record.severity),
                .level = verbosity,
                .message = record.message,
                .quoted = record.quoted,
                .fields = fields,
                .caller = record.caller});
}

void log_failure(LogOutput& output, const config::CommandFailure& failure) {
  std::vector<LogField> fields;
  if (output.format() == telemetry::LogFormat::kJson && !failure.causes.empty()) {
    std::string causes;
    for (const std::string& cause : failure.causes) {
      causes += causes.empty() ? "[{\"error\":" : ",{\"error\":";
      append_json_string(causes, cause);
      causes += '}';
    }
    fields.push_back({"errCauses", LogValue::json(causes + ']')});
  }
  output.write({.severity = telemetry::Severity::kError,
                .message = "command failed",
                .fields = fields,
                .error = &failure.message,
                .caller = "cli/run.go:72"});
}

}  // namespace berth::app
