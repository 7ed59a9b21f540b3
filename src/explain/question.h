// Question: what somebody asks a running scheduler to explain.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/result.h"
#include "explain/explanation.h"

namespace berth::explain {

struct Question {
  std::vector<std::string> pods{};   // "NAMESPACE/NAME"
  bool all_pending = false;          // or all pods of this scheduler that have no node
  std::string new_pod{};             // or a pod that is not in the cluster, as JSON
  std::vector<std::string> nodes{};  // whose scores are listed beside the best
  bool suggestions = true;
};

// Errors: kInvalid and kNotFound are the asker's; kConflict: the new pod has the name of one with a
// node; kUnavailable: later.
using Answer = Result<std::vector<Explanation>>;

}  // namespace berth::explain
