// Result<T>: what an operation that may fail gives back.
//
// Used wherever something outside the scheduler's own logic can go wrong: decoding, API calls,
// cluster bookkeeping. A plugin's verdict about a pod is not an error; that is Status or Outcome
// (berth/status.h).
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

enum class ErrorKind : std::uint8_t {
  kNotFound,
  kConflict,
  kGone,
  kTimeout,
  kUnavailable,
  kInvalid,
  kForbidden,
  kCancelled,
  kInternal,
};

std::string_view to_string(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <typename T>
using Result = std::expected<T, Error>;

// `return fail(ErrorKind::kNotFound, "...")` from a function that returns Result<T>.
inline std::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return std::unexpected<Error>(Error{kind, std::move(message)});
}
inline std::unexpected<Error> fail(Error error) { return std::unexpected<Error>(std::move(error)); }

}  // namespace berth
