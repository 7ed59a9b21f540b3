#include "base/file.h"
#include "base/ascii.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace berth {
namespace {

std::unexpected<Error> problem(std::string_view action, const std::string& path, int number) {
  const std::string reason = lower_first(std::generic_category().message(number));
  return fail(number == ENOENT ? ErrorKind::kNotFound : ErrorKind::kInvalid,
              std::string(action) + " " + path + ": " + reason);
}

// Closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int operator*() const { return number_; }

 private:
  int number_;
};

// -1 and errno if it fails.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(file, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return -1;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return 0;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (*file < 0) return problem("open", path, errno);
  std::string text;
  char chunk[1 << 14];
  while (true) {
    const ssize_t size = ::read(*file, chunk, sizeof(chunk));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return problem("read", path, errno);
    if (size == 0) return text;
    text.append(chunk, static_cast<std::size_t>(size));
  }
}

Result<void> write_file(const std::string& path, std::string_view text, unsigned mode) {
  // Devices, pipes and links (/dev/stdout) are written to, not replaced.
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    const Descriptor there(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (*there < 0) return problem("open", path, errno);
    if (write_all(*there, text) != 0) return problem("write", path, errno);
    return {};
  }
  std::string draft = path + ".XXXXXX";
  const Descriptor file(::mkostemp(draft.data(), O_CLOEXEC));
  if (*file < 0) return problem("open", path, errno);
  const auto give_up = [&](std::string_view action) {
    const int number = errno;
    ::unlink(draft.c_str());
    return problem(action, path, number);
  };
  if (write_all(*file, text) != 0) return give_up("write");
  if (::fchmod(*file, static_cast<mode_t>(mode)) != 0) return give_up("chmod");
  if (::rename(draft.c_str(), path.c_str()) != 0) return give_up("rename");
  return {};
}

Result<void> check_file_exists(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return problem("stat", path, errno);
  return {};
}

}  // namespace berth
