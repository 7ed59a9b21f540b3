#include "trace/compressed_file.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace berth::trace {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 17;

std::string last_errno() { return errno != 0 ? std::strerror(errno) : "it is not a file"; }

// "-": a copy of the descriptor, which closing leaves open.
gzFile open_compressed(const std::string& path, int standard, const char* mode) {
  errno = 0;
  const gzFile file = path == "-" ? gzdopen(::dup(standard), mode) : gzopen(path.c_str(), mode);
  if (file) gzbuffer(file, kPiece);
  return file;
}

}  // namespace

// ---- InputFile

Result<std::unique_ptr<InputFile>> InputFile::open(const std::string& path) {
  const gzFile file = open_compressed(path, STDIN_FILENO, "rbe");
  if (!file)
    return fail(ErrorKind::kNotFound, fmt::format("cannot read {}: {}", path, last_errno()));
  std::unique_ptr<InputFile> input(new InputFile(path == "-" ? "standard input" : path, file));
  // A folder can be opened, but not read.
  if (!input->read_more() && input->error_) return fail(*input->error_);
  return input;
}

InputFile::~InputFile() { gzclose_r(static_cast<gzFile>(file_)); }

// False: there is nothing more.
bool InputFile::read_more() {
  if (at_end_) return false;
  buffer_.erase(0, std::exchange(read_, 0));
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kPiece);
  errno = 0;
  const auto file = static_cast<gzFile>(file_);
  const int size = gzread(file, buffer_.data() + before, static_cast<unsigned>(kPiece));
  buffer_.resize(before + (size > 0 ? static_cast<std::size_t>(size) : 0));
  if (size > 0) return true;
  at_end_ = true;
  int problem = Z_OK;
  const char* const message = gzerror(file, &problem);
  if (problem == Z_BUF_ERROR) {
    cut_off_ = true;
  } else if (problem == Z_ERRNO) {
    error_ = Error{ErrorKind::kNotFound, fmt::format("cannot read {}: {}", name_, last_errno())};
  } else if (problem != Z_OK && problem != Z_STREAM_END) {
    error_ = Error{ErrorKind::kInvalid,
                   fmt::format("{}: what is compressed cannot be read: {}", name_, message)};
  }
  return false;
}

std::string_view InputFile::peek(std::size_t size) {
  while (buffer_.size() - read_ < size && read_more()) {
  }
  return std::string_view(buffer_).substr(read_, size);
}

std::optional<std::string_view> InputFile::next_line() {
  std::size_t scanned = read_;
  while (true) {
    const std::size_t end = buffer_.find('\n', scanned);
    if (end != std::string::npos) {
      ++line_number_;
      const std::size_t begin = std::exchange(read_, end + 1);
      return std::string_view(buffer_).substr(begin, end - begin);
    }
    const std::size_t waiting = buffer_.size() - read_;
    if (waiting > kMaxLine) {
      error_ = Error{ErrorKind::kInvalid, fmt::format("{}: line {} is longer than {} MiB", name_,
                                                      line_number_ + 1, kMaxLine >> 20)};
      at_end_ = true;
      return std::nullopt;
    }
    if (!read_more()) break;
    scanned = read_ + waiting;
  }
  if (error_ || read_ == buffer_.size()) return std::nullopt;
  cut_off_ = true;
  ++line_number_;
  return std::string_view(buffer_).substr(std::exchange(read_, buffer_.size()));
}

Result<std::string> InputFile::rest(std::size_t most) {
  while (buffer_.size() - read_ <= most && read_more()) {
  }
  if (error_) return fail(*error_);
  if (buffer_.size() - read_ > most)
    return fail(ErrorKind::kInvalid, fmt::format("{} is larger than {} MiB", name_, most >> 20));
  return buffer_.substr(std::exchange(read_, buffer_.size()));
}

// ---- OutputFile

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  const gzFile file = open_compressed(path, STDOUT_FILENO, path.ends_with(".gz") ? "wbe" : "wbeT");
  if (!file)
    return fail(ErrorKind::kInvalid, fmt::format("cannot write {}: {}", path, last_errno()));
  return std::unique_ptr<OutputFile>(new OutputFile(path == "-" ? "standard output" : path, file));
}

OutputFile::~OutputFile() {
  if (file_) gzclose_w(static_cast<gzFile>(file_));
}

Result<void> OutputFile::problem() {
  int number = Z_OK;
  const std::string message = gzerror(static_cast<gzFile>(file_), &number);
  return fail(ErrorKind::kInternal, fmt::format("cannot write {}: {}", name_,
                                                number == Z_ERRNO ? last_errno() : message));
}

Result<void> OutputFile::append(std::string_view text) {
  errno = 0;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kPiece);
    if (gzwrite(static_cast<gzFile>(file_), piece.data(), static_cast<unsigned>(piece.size())) <= 0)
      return problem();
    text.remove_prefix(piece.size());
  }
  return {};
}

Result<void> OutputFile::flush() {
  errno = 0;
  if (gzflush(static_cast<gzFile>(file_), Z_SYNC_FLUSH) != Z_OK) return problem();
  return {};
}

Result<void> OutputFile::finish() {
  if (Result<void> flushed = flush(); !flushed) return flushed;
  errno = 0;
  if (gzclose_w(static_cast<gzFile>(std::exchange(file_, nullptr))) != Z_OK)
    return fail(ErrorKind::kInternal, fmt::format("cannot write {}: {}", name_, last_errno()));
  return {};
}

}  // namespace berth::trace
