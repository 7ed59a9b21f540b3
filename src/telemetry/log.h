// Log: records as klog writes them, in its text form and as JSON (shell.md §8).
//
//   log.info(2, "Successfully bound pod to node", {{"pod", object(ns, name)}, {"node", node}});
//   I1115 14:00:00.000000   12345 binding_cycle.cc:123] "Successfully bound …" pod="ns/a" node="n1"
//
// A Log is a cheap value: a name over a shared LogOutput, which any thread may write to.
// The time comes from the clock that the output was given. What is not wanted at the present
// verbosity costs one comparison.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "berth/loop.h"
#include "berth/result.h"

namespace berth::telemetry {

enum class LogFormat : std::uint8_t { kText, kJson };
enum class Severity : std::uint8_t { kInfo, kWarning, kError };

// Where records go. A LogOutput calls it under its lock, one whole record (with its newline) at a
// time.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(std::string_view record) = 0;
  // Of a sink that drops records when it cannot keep up: `line` makes the record that reports how
  // many it was. Set before the first record is written; any thread may call it.
  virtual void on_dropped(std::function<std::string(std::uint64_t dropped)> /*line*/) {}
};

// A DescriptorSink, for a file descriptor that it does not own (1, 2).
std::unique_ptr<LogSink> descriptor_sink(int descriptor);

class StringSink final : public LogSink {
 public:
  explicit StringSink(std::string& text) : text_(text) {}
  void write(std::string_view record) override { text_ += record; }

 private:
  std::string& text_;
};

// A value with the two forms that it has: in text and in JSON.
class LogValue {
 public:
  LogValue(std::string_view text);   // NOLINT(google-explicit-constructor)
  LogValue(const std::string& text)  // NOLINT(google-explicit-constructor)
      : LogValue(std::string_view(text)) {}
  LogValue(const char* text)  // NOLINT(google-explicit-constructor)
      : LogValue(std::string_view(text)) {}
  LogValue(bool value);                            // NOLINT(google-explicit-constructor)
  LogValue(double value);                          // NOLINT(google-explicit-constructor)
  LogValue(Duration value);                        // NOLINT(google-explicit-constructor)
  LogValue(const std::vector<std::string>& list);  // NOLINT(google-explicit-constructor)
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  LogValue(Number value)  // NOLINT(google-explicit-constructor)
      : text_(std::to_string(value)), json_(text_) {}

  // JSON that is made already: shown as it is in both forms.
  static LogValue json(std::string json);
  // An object of the API: namespace/name in text, an object in JSON.
  static LogValue object(std::string_view namespace_name, std::string_view name);

  // `"value"`, `3`, or the lines of a long one.
  const std::string& text() const { return text_; }
  const std::string& json_text() const { return json_; }

 private:
  LogValue() = default;
  std::string text_;
  std::string json_;
};

struct LogField {
  std::string key;
  LogValue value;
};
using LogFields = std::initializer_list<LogField>;

// "pattern=level", of --vmodule: a file's name without its ending, with * ? [ ].
struct ModuleLevel {
  std::string pattern;
  int level = 0;
};

struct LogOptions {
  LogFormat format = LogFormat::kText;
  int verbosity = 0;
  std::vector<ModuleLevel> vmodule = {};
  bool split_stream = false;         // info to stdout, the rest to stderr
  std::size_t info_buffer_size = 0;  // of info, with split_stream
  std::uint32_t process_id = 0;
  bool utc = false;  // else local time, as klog
};

// All Logs of a program write here. Any thread.
class LogOutput {
 public:
  using Clock = std::function<WallTime()>;

  // `errors` takes everything unless the streams are split; then `info` takes what is no warning,
  // error or worse.
  LogOutput(LogOptions options, Clock clock, std::unique_ptr<LogSink> errors,
            std::unique_ptr<LogSink> info = nullptr);
  ~LogOutput();

  LogFormat format() const { return options_.format; }
  int verbosity() const { return verbosity_.load(std::memory_order_relaxed); }
  // Changes it while the program runs (/debug/flags/v).
  void set_verbosity(int level) { verbosity_.store(level, std::memory_order_relaxed); }
  bool enabled(int level, const char* file) const {
    return level <= verbosity() || (!options_.vmodule.empty() && enabled_by_module(level, file));
  }

  struct Record {
    Severity severity = Severity::kInfo;
    int level = 0;
    std::string_view message;
    bool quoted = true;  // a message with fields; else one as printf makes it
    const std::string* logger = nullptr;
    std::span<const LogField> fields = {};
    const std::string* error = nullptr;
    std::source_location where = std::source_location::current();
    std::string_view caller = {};  // in place of `where`: "options/configfile.go:106"
  };
  void write(const Record& record) EXCLUDES(mutex_);
  // Writes what is buffered. The owner of the output calls it every --log-flush-frequency.
  void flush() EXCLUDES(mutex_);

 private:
  bool enabled_by_module(int level, const char* file) const;
  static std::string caller(const Record& record, int folders);
  std::string line(const Record& record) const;
  std::string dropped_line(std::uint64_t dropped) const;
  std::string text(const Record& record) const;
  std::string json(const Record& record) const;
  void flush_buffer() REQUIRES(mutex_);

  const LogOptions options_;
  const Clock clock_;
  std::atomic<int> verbosity_;
  Mutex mutex_;
  const std::unique_ptr<LogSink> errors_;
  const std::unique_ptr<LogSink> info_;
  std::string buffer_ GUARDED_BY(mutex_);
};

class Log {
 public:
  explicit Log(std::shared_ptr<LogOutput> output) : output_(std::move(output)) {}

  // Names are joined by dots ("Bind.DefaultBinder").
  Log named(std::string_view name) const;

  bool enabled(int level, std::source_location where = std::source_location::current()) const {
    return output_->enabled(level, where.file_name());
  }
  void info(int level, std::string_view message, LogFields fields = {},
            std::source_location where = std::source_location::current()) const;
  // Always written. Without an error the record has the message only.
  void error(const std::optional<std::string>& error, std::string_view message,
             LogFields fields = {},
             std::source_location where = std::source_location::current()) const;
  // As klog's unstructured calls: the bare text.
  void plain(Severity severity, std::string_view text,
             std::source_location where = std::source_location::current()) const;

  LogOutput& output() const { return *output_; }

 private:
  std::shared_ptr<LogOutput> output_;
  std::string name_;
};

}  // namespace berth::telemetry
