// The verdicts of plugins, in two sizes:
//
//   Status   about one node, 8 bytes, no allocation: a pod may have fifty thousand
//   Outcome  about the pod at one step, with texts
//
// Codes are upstream's, in upstream's order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/node_set.h"

namespace berth {

enum class Code : std::uint8_t {
  kSuccess,
  kError,                         // something unexpected; the pod is retried after a backoff
  kUnschedulable,                 // not now; preemption may help
  kUnschedulableAndUnresolvable,  // preemption on that node cannot help
  kWait,                          // Permit; of a row at Filter: not decided yet
  kSkip,                          // PreFilter, PreScore, PreBind's preflight, Bind
  kPending,                       // rejected, but without a backoff penalty
};

std::string_view to_string(Code code);  // "Success", "Error", …

constexpr bool is_rejected(Code code) {
  return code == Code::kUnschedulable || code == Code::kUnschedulableAndUnresolvable ||
         code == Code::kPending;
}

// A verdict about one node. Default: Success. The text behind `reason` is upstream's, letter for
// letter; it is looked up when the verdict is printed.
struct Status {
  Code code = Code::kSuccess;
  std::uint8_t reason = 0;     // index into the plugin's reasons(), or kListed
  std::uint16_t plugin = 0;    // index into the profile's plugins, or kNoPlugin
  std::uint32_t argument = 0;  // with kListed: index into the cycle's table of reason lists

  static constexpr std::uint8_t kListed = 255;
  static constexpr std::uint16_t kNoPlugin = 0xffff;

  bool ok() const { return code == Code::kSuccess; }
  friend bool operator==(const Status&, const Status&) = default;
};
static_assert(sizeof(Status) == 8);

struct FitError;

// A verdict about the pod: upstream's Status object.
struct Outcome {
  Code code = Code::kSuccess;
  std::string plugin;  // the plugin that returned it; may be empty
  std::vector<std::string> reasons;
  std::optional<std::string> error;           // an attached error's text; comes before the reasons
  std::shared_ptr<const FitError> fit_error;  // when that error is "no node fits"

  static Outcome success() { return {}; }
  static Outcome skip() { return of(Code::kSkip); }
  static Outcome of(Code code, std::string reason) {
    Outcome outcome;
    outcome.code = code;
    outcome.reasons.push_back(std::move(reason));
    return outcome;
  }
  static Outcome of(Code code) {
    Outcome outcome;
    outcome.code = code;
    return outcome;
  }
  static Outcome unschedulable(std::string reason) {
    return of(Code::kUnschedulable, std::move(reason));
  }
  // From an error: no reasons, so the message is exactly its text.
  static Outcome failure(std::string text) {
    Outcome outcome;
    outcome.code = Code::kError;
    outcome.error = std::move(text);
    return outcome;
  }

  bool ok() const { return code == Code::kSuccess; }
  bool rejected() const { return is_rejected(code); }
  Outcome&& by(std::string_view name) && {
    plugin = name;
    return std::move(*this);
  }

  // The error's text, then the reasons.
  std::vector<std::string> all_reasons() const;
  // all_reasons(), comma separated.
  std::string message() const;
};

// ---- why no node was good enough for a pod -----------------------------------------------------

// The result of filtering (core.md §1.6). The verdicts by row are in the cycle (Cycle::verdicts);
// `explicit_nodes` are the rows that have one. All other nodes share `absent`.
struct Diagnosis {
  NodeSet explicit_nodes;
  Outcome absent = Outcome::of(Code::kUnschedulableAndUnresolvable);
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;

  // Adds a plugin that rejected. An empty name is ignored; a pending plugin is added to both sets.
  void add_plugin(Code code, const std::string& plugin);
};

// The error when there is no node at all.
inline constexpr std::string_view kNoNodesAvailable = "no nodes available to schedule pods";

// "No node fits", as an error with upstream's sentence.
struct FitError {
  std::size_t all_nodes = 0;
  // How many nodes gave which reason (explicit verdicts and the absent ones).
  std::map<std::string, std::size_t> reasons;
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;
  std::string pre_filter_message;
  std::string post_filter_message;

  // `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.`
  std::string message() const;
};

// "0/1 nodes are available: 1 <reason>.": the form in which a rejection by Reserve, Permit or a
// permit wait is reported.
std::shared_ptr<const FitError> fit_error_for_one(const Outcome& rejection);

}  // namespace berth
