#include "berth/result.h"

namespace berth {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotFound: return "NotFound";
    case ErrorKind::kConflict: return "Conflict";
    case ErrorKind::kGone: return "Gone";
    case ErrorKind::kTimeout: return "Timeout";
    case ErrorKind::kUnavailable: return "Unavailable";
    case ErrorKind::kInvalid: return "Invalid";
    case ErrorKind::kForbidden: return "Forbidden";
    case ErrorKind::kCancelled: return "Cancelled";
    case ErrorKind::kInternal: return "Internal";
  }
  return "Internal";
}

}  // namespace berth
