#include "berth/status.h"

#include <fmt/ranges.h>

namespace berth {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kSuccess: return "Success";
    case Code::kError: return "Error";
    case Code::kUnschedulable: return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable: return "UnschedulableAndUnresolvable";
    case Code::kWait: return "Wait";
    case Code::kSkip: return "Skip";
    case Code::kPending: return "Pending";
  }
  return "Error";
}

std::vector<std::string> Outcome::all_reasons() const {
  std::vector<std::string> all;
  if (error) all.push_back(*error);
  all.insert(all.end(), reasons.begin(), reasons.end());
  return all;
}

std::string Outcome::message() const { return fmt::format("{}", fmt::join(all_reasons(), ", ")); }

}  // namespace berth
