// Where the entries of a simulation's timeline go as they are made, so that none is kept in memory:
// to a file that was asked for, and to a file without a name from which `-o json` copies them to
// their place, after the pods.
#pragma once

#include <cstdio>
#include <fstream>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "berth/result.h"

namespace berth::app {

// Text that is written once and copied once. A large one is in a temporary file; where there can be
// none it stays in memory.
class Spool {
 public:
  void append(std::string_view text);
  // Errors are those of the temporary file: a full disk.
  Result<void> copy_to(std::ostream& out);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void store();

  static constexpr std::size_t kInMemory = std::size_t{1} << 20;
  std::string text_;  // what is not in the file
  std::unique_ptr<std::FILE, Close> file_;
  bool no_file_ = false;
  bool failed_ = false;
};

class TimelineOutput {
 public:
  // `path`: one entry a line, as it happens; empty: nowhere. `spooled`: kept for list().
  static Result<std::unique_ptr<TimelineOutput>> open(const std::string& path, bool spooled);

  bool wants_entries() const { return spooled_ || file_.is_open(); }
  void add(const std::string& entry);
  // All entries were added.
  Result<void> finish();
  // The entries as the list in `sim::to_json`.
  Result<void> list(std::ostream& out);

 private:
  std::string path_;
  std::ofstream file_;
  bool spooled_ = false;
  bool empty_ = true;
  Spool spool_;
};

}  // namespace berth::app
