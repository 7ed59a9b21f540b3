#include "telemetry/log.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>
#include <ctime>

#include "base/go_quote.h"
#include "base/time_text.h"
#include "base/utf8.h"

namespace berth::telemetry {
namespace {

std::string json_quote(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto c = static_cast<unsigned char>(text.front());
    switch (c) {
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\t': quoted += "\\t"; break;
      default:
        if (length == 0)
          quoted += "\\ufffd";
        else if (c < 0x20)
          quoted += fmt::format("\\u{:04x}", c);
        else
          quoted += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return quoted += '"';
}

// A text of several lines is shown as such, indented.
std::string text_value(std::string_view text) {
  if (text.find('\n') == std::string_view::npos) return go_quoted(text);
  std::string lines = "<\n";
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    lines += '\t';
    lines += line;
    lines += '\n';
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines += " >";
}

std::string_view last_parts(std::string_view path, int parts) {
  std::size_t start = path.size();
  while (parts-- > 0) {
    if (start == 0) return path;
    const std::size_t slash = path.rfind('/', start - 1);
    if (slash == std::string_view::npos) return path;
    start = slash;
  }
  return path.substr(start + 1);
}

char letter(Severity severity) { return "IWE"[static_cast<std::size_t>(severity)]; }

}  // namespace

// ---- values

LogValue::LogValue(std::string_view text) : text_(text_value(text)), json_(json_quote(text)) {}
LogValue::LogValue(bool value) : text_(value ? "true" : "false"), json_(text_) {}
LogValue::LogValue(double value) : text_(fmt::format("{}", value)), json_(text_) {}
LogValue::LogValue(Duration value) : LogValue(go_duration(value)) {}

LogValue::LogValue(const std::vector<std::string>& list) {
  json_ = "[";
  for (const std::string& item : list) {
    if (json_.size() > 1) json_ += ',';
    json_ += json_quote(item);
  }
  text_ = json_ += ']';
}

LogValue LogValue::json(std::string json) {
  LogValue value;
  value.text_ = json;
  value.json_ = std::move(json);
  return value;
}

LogValue LogValue::object(std::string_view namespace_name, std::string_view name) {
  LogValue value;
  if (namespace_name.empty()) {
    value.text_ = go_quoted(name);
    value.json_ = fmt::format(R"({{"name":{}}})", json_quote(name));
  } else {
    value.text_ = go_quoted(fmt::format("{}/{}", namespace_name, name));
    value.json_ = fmt::format(R"({{"name":{},"namespace":{}}})", json_quote(name),
                              json_quote(namespace_name));
  }
  return value;
}

// ---- LogOutput

LogOutput::LogOutput(LogOptions options, Clock clock, std::unique_ptr<LogSink> errors,
                     std::unique_ptr<LogSink> info)
    : options_(std::move(options)),
      clock_(std::move(clock)),
      verbosity_(options_.verbosity),
      errors_(std::move(errors)),
      info_(std::move(info)) {
  for (const auto& sink : {errors_.get(), info_.get()})
    if (sink) sink->on_dropped([this](std::uint64_t dropped) { return dropped_line(dropped); });
}

LogOutput::~LogOutput() { flush(); }

bool LogOutput::enabled_by_module(int level, const char* file) const {
  std::string name(last_parts(file, 1));
  name.resize(std::min(name.size(), name.rfind('.')));
  for (const ModuleLevel& module : options_.vmodule)
    if (::fnmatch(module.pattern.c_str(), name.c_str(), 0) == 0) return level <= module.level;
  return false;
}

// File and line, with so many of the folders that the file is in.
std::string LogOutput::caller(const Record& record, int folders) {
  if (!record.caller.empty()) return std::string(last_parts(record.caller, folders + 1));
  return fmt::format("{}:{}", last_parts(record.where.file_name(), folders + 1),
                     record.where.line());
}

std::string LogOutput::text(const Record& record) const {
  const Duration since_epoch = clock_().since_epoch;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(since_epoch - seconds);
  const std::time_t time = seconds.count();
  std::tm day{};
  if (options_.utc)
    ::gmtime_r(&time, &day);
  else
    ::localtime_r(&time, &day);
  std::string line =
      fmt::format("{}{:02}{:02} {:02}:{:02}:{:02}.{:06} {:>7} {}] ", letter(record.severity),
                  day.tm_mon + 1, day.tm_mday, day.tm_hour, day.tm_min, day.tm_sec, micros.count(),
                  options_.process_id, caller(record, 0));
  if (!record.quoted) {
    line += record.message;
    if (!line.ends_with('\n')) line += '\n';
    return line;
  }
  line += go_quoted(record.message);
  const auto add = [&](std::string_view key, const std::string& value) {
    line += ' ';
    line += key;
    line += '=';
    line += value;
  };
  if (record.error) add("err", text_value(*record.error));
  if (record.logger && !record.logger->empty()) add("logger", go_quoted(*record.logger));
  for (const LogField& field : record.fields) add(field.key, field.value.text());
  return line += '\n';
}

std::string LogOutput::json(const Record& record) const {
  const double millis = static_cast<double>(clock_().since_epoch.count()) / 1e6;
  char digits[64];
  const auto end = std::to_chars(digits, std::end(digits), millis, std::chars_format::fixed);
  std::string line = fmt::format(R"({{"ts":{})", std::string_view(digits, end.ptr));
  const auto add = [&](std::string_view key, const std::string& value) {
    line += fmt::format(",{}:{}", json_quote(key), value);
  };
  if (record.logger && !record.logger->empty()) add("logger", json_quote(*record.logger));
  add("caller", json_quote(caller(record, 1)));
  add("msg", json_quote(record.message));
  if (record.error) add("err", json_quote(*record.error));
  if (record.severity <= Severity::kWarning) add("v", std::to_string(record.level));
  for (const LogField& field : record.fields) add(field.key, field.value.json_text());
  return line += "}\n";
}

std::string LogOutput::line(const Record& record) const {
  return options_.format == LogFormat::kJson ? json(record) : text(record);
}

std::string LogOutput::dropped_line(std::uint64_t dropped) const {
  const LogField fields[] = {{"dropped", dropped}};
  return line({.severity = Severity::kWarning,
               .message = "Log records were dropped because nobody read them",
               .fields = fields});
}

void LogOutput::write(const Record& record) {
  const std::string line = this->line(record);
  const MutexLock lock(mutex_);
  const bool is_info = options_.split_stream && info_ && record.severity == Severity::kInfo;
  if (!is_info) {
    flush_buffer();  // what came before is to be read before
    errors_->write(line);
    return;
  }
  if (buffer_.size() + line.size() > options_.info_buffer_size) flush_buffer();
  if (line.size() > options_.info_buffer_size)
    info_->write(line);
  else
    buffer_ += line;
}

void LogOutput::flush() {
  const MutexLock lock(mutex_);
  flush_buffer();
}

void LogOutput::flush_buffer() {
  if (buffer_.empty()) return;
  info_->write(buffer_);
  buffer_.clear();
}

// ---- Log

Log Log::named(std::string_view name) const {
  Log log = *this;
  if (!log.name_.empty()) log.name_ += '.';
  log.name_ += name;
  return log;
}

void Log::info(int level, std::string_view message, LogFields fields,
               std::source_location where) const {
  if (!enabled(level, where)) return;
  output_->write({.level = level,
                  .message = message,
                  .logger = &name_,
                  .fields = {fields.begin(), fields.size()},
                  .where = where});
}

void Log::error(const std::optional<std::string>& error, std::string_view message, LogFields fields,
                std::source_location where) const {
  output_->write({.severity = Severity::kError,
                  .message = message,
                  .logger = &name_,
                  .fields = {fields.begin(), fields.size()},
                  .error = error ? &*error : nullptr,
                  .where = where});
}

void Log::plain(Severity severity, std::string_view text, std::source_location where) const {
  output_->write({.severity = severity, .message = text, .quoted = false, .where = where});
}

}  // namespace berth::telemetry
