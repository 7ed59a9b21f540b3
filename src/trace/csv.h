// Tables as text: a line of names, then a line of values for each row, with commas between. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "trace/compressed_file.h"

namespace berth::trace {

class CsvTable {
 public:
  // Reads the line of names.
  static Result<CsvTable> open(std::unique_ptr<InputFile> file);

  bool has(std::string_view column) const;

  // Reads the next row; false: there is none, or error() says why.
  bool next();
  // Of the row at hand: empty if the table has no such column, or nothing there.
  std::string_view text(std::string_view column) const;
  // A number that may have a fraction, which is cut off; nothing if it is empty. Anything else is an
  // error, after which nothing more is read.
  std::optional<std::int64_t> number(std::string_view column);

  const std::optional<Error>& error() const { return error_; }
  // Names file and line of the row at hand.
  void fail(std::string_view message);

 private:
  explicit CsvTable(std::unique_ptr<InputFile> file) : file_(std::move(file)) {}
  std::optional<std::size_t> index_of(std::string_view column) const;

  std::unique_ptr<InputFile> file_;
  std::vector<std::string> names_;
  std::vector<std::string> values_;
  std::optional<Error> error_;
};

}  // namespace berth::trace
