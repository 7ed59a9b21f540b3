// Files that may be compressed with gzip, read and written piece by piece. Any thread, one at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::trace {

// A line that is longer than this is an error.
inline constexpr std::size_t kMaxLine = std::size_t{16} << 20;

// Reads a file, compressed or not: that follows from its first bytes.
class InputFile {
 public:
  // "-" is standard input.
  static Result<std::unique_ptr<InputFile>> open(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // What messages call it.
  const std::string& name() const { return name_; }

  // The first bytes that are still to be read: as many as asked for, unless the file ends before.
  std::string_view peek(std::size_t size);
  // The next line without its end; valid until the next call. A last line that has no end counts.
  std::optional<std::string_view> next_line();
  std::size_t line_number() const { return line_number_; }  // of the last line that was handed out
  // Everything that is left, if it is not more than `most`.
  Result<std::string> rest(std::size_t most);

  // Whether the file ends within a line or within what was compressed: whoever wrote it was stopped.
  // Known when everything was read.
  bool cut_off() const { return cut_off_; }
  // What ended the reading before the file's end.
  const std::optional<Error>& error() const { return error_; }

 private:
  InputFile(std::string name, void* file) : name_(std::move(name)), file_(file) {}
  bool read_more();

  const std::string name_;
  void* file_;  // gzFile
  std::string buffer_;
  std::size_t read_ = 0;  // of the buffer
  std::size_t line_number_ = 0;
  bool at_end_ = false;
  bool cut_off_ = false;
  std::optional<Error> error_;
};

// Writes a file: compressed if its name ends in ".gz".
class OutputFile {
 public:
  // What is there is replaced. "-" is standard output.
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path);
  // Without finish() nobody hears whether the last of it could be written.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  Result<void> append(std::string_view text);
  // A reader sees everything from now on.
  Result<void> flush();
  Result<void> finish();

 private:
  OutputFile(std::string name, void* file) : name_(std::move(name)), file_(file) {}
  Result<void> problem();

  const std::string name_;
  void* file_;  // gzFile; null: finished
};

}  // namespace berth::trace
