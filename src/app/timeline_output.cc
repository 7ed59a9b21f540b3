#include "app/timeline_output.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ostream>

namespace berth::app {

void Spool::append(std::string_view text) {
  text_ += text;
  if (text_.size() >= kInMemory) store();
}

void Spool::store() {
  if (no_file_ || failed_) return;
  if (!file_) file_.reset(std::tmpfile());
  no_file_ = !file_;
  if (no_file_) return;
  failed_ = std::fwrite(text_.data(), 1, text_.size(), file_.get()) != text_.size();
  text_.clear();
}

Result<void> Spool::copy_to(std::ostream& out) {
  if (file_) {
    failed_ = failed_ || std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0;
    std::array<char, std::size_t{1} << 16> piece;
    std::size_t size = 1;
    while (!failed_ && size > 0) {
      size = std::fread(piece.data(), 1, piece.size(), file_.get());
      out.write(piece.data(), static_cast<std::streamsize>(size));
    }
    failed_ = failed_ || std::ferror(file_.get()) != 0;
  }
  if (failed_)
    return fail(ErrorKind::kUnavailable,
                "the timeline does not fit into the folder for temporary files");
  out << text_;
  return {};
}

Result<std::unique_ptr<TimelineOutput>> TimelineOutput::open(const std::string& path,
                                                             bool spooled) {
  auto output = std::make_unique<TimelineOutput>();
  output->spooled_ = spooled;
  output->path_ = path;
  if (path.empty()) return output;
  errno = 0;
  output->file_.open(path, std::ios::binary | std::ios::trunc);
  if (!output->file_.is_open())
    return fail(ErrorKind::kNotFound,
                fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  return output;
}

void TimelineOutput::add(const std::string& entry) {
  if (file_.is_open()) file_ << entry << '\n';
  if (!spooled_) return;
  spool_.append(empty_ ? "[\n    " : ",\n    ");
  spool_.append(entry);
  empty_ = false;
}

Result<void> TimelineOutput::finish() {
  if (!file_.is_open()) return {};
  errno = 0;
  file_.flush();
  if (file_) return {};
  return fail(ErrorKind::kUnavailable,
              fmt::format("cannot write {}: {}", path_,
                          errno != 0 ? std::strerror(errno) : "it is not a file"));
}

Result<void> TimelineOutput::list(std::ostream& out) {
  if (Result<void> copied = spool_.copy_to(out); !copied) return copied;
  out << (empty_ ? "[]" : "\n  ]");
  return {};
}

}  // namespace berth::app
