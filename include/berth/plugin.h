// The plugin interfaces: one per extension point.
//
// A plugin is asked once per pod about all nodes, not once per node: it reads columns of the
// NodeTable and marks the rows that it rejects. One that would rather look at one node at a time
// derives from PerNodeFilter or PerNodeScore and stays as short as that allows. A plugin may be
// given a pass of a single row, for a trial ("what if these pods were gone?"), and cannot tell the
// difference.
//
//   queue             PreEnqueue QueueSort
//   scheduling cycle  PreFilter Filter PostFilter PreScore Score Reserve Permit
//   binding cycle     PreBind Bind PostBind
//
// All calls come on the world thread. A plugin that throws fails the pod at hand, nothing else. A
// plugin has at most 255 reasons(), a profile at most 128 plugins.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/cycle.h"
#include "berth/events.h"
#include "berth/node_set.h"
#include "berth/obstacle.h"
#include "berth/queued_pod.h"
#include "berth/row_keys.h"
#include "berth/status.h"
#include "berth/task.h"

namespace berth {

using Score = std::int64_t;
inline constexpr Score kMinScore = 0;
inline constexpr Score kMaxScore = 100;

// What a plugin's answer about a row, at Filter and at Score, depends on. It tells which answers
// can be kept for the next pod that is like this one (ARCHITECTURE.md, "Classes: what is kept
// between pods").
enum class Dependence : std::uint8_t {
  // The pod's spec (but not its schedulingGroup), namespace and labels, the row's own columns, and
  // the number of nodes. Only changed rows are asked about again. normalize() may depend on which scores occur, not on how
  // many rows have them.
  kRow,
  // Counts of pods per topology domain: asked again for every pod, but only about one row of those
  // that are alike in filter_keys() and score_keys().
  kDomain,
  // Objects of some kinds: the same, and as a rule every row is asked about.
  kObjects,
  // All rows are asked about for every pod, unless PreFilter returned Skip and, for Score,
  // score_keys() says that all rows are alike.
  kAnything,
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;
  // The sentences that Status::reason refers to.
  virtual std::span<const std::string_view> reasons() const { return {}; }
  virtual Dependence dependence() const { return Dependence::kAnything; }
  // For kDomain and kObjects, called after PreFilter: adds the keys that the answers at Filter
  // (Score) depend on. Rows with equal keys get one answer. Returns false if there are no such
  // keys; then every row is asked about. A kRow plugin that adds a score key excludes this pod from
  // kept results.
  virtual bool filter_keys(const Cycle&, RowKeys&) const { return false; }
  virtual bool score_keys(Cycle&, RowKeys&) const { return false; }

  // The events that may make a pod schedulable that this plugin rejected. nullopt: it does not say,
  // so every event may. An empty list: none will.
  virtual std::optional<std::vector<EventRegistration>> events_to_register() const {
    return std::nullopt;
  }
};

class PreEnqueuePlugin : public virtual Plugin {
 public:
  // Anything but Success keeps the pod out of the queue, gated by this plugin.
  virtual Outcome pre_enqueue(const Pod& pod) const = 0;
};

class QueueSortPlugin : public virtual Plugin {
 public:
  // Whether `a` is to be tried before `b`. Ties are broken by arrival.
  virtual bool less(const QueuedPod& a, const QueuedPod& b) const = 0;
};

// The only nodes that can work, by name, sorted and without repetition; absent: all.
struct PreFilterResult {
  Outcome outcome;
  std::optional<std::vector<Symbol>> nodes;

  PreFilterResult(Outcome o) : outcome(std::move(o)) {}  // NOLINT(google-explicit-constructor)
  PreFilterResult(Outcome o, std::vector<Symbol> n) : outcome(std::move(o)), nodes(std::move(n)) {}
  // What most plugins say about most pods: a code, with no sentences to carry around.
  static PreFilterResult skip() { return PreFilterResult(Code::kSkip); }
  static PreFilterResult success() { return PreFilterResult(Code::kSuccess); }

 private:
  explicit PreFilterResult(Code code) { outcome.code = code; }
};

// Work done once per pod, before its nodes are looked at.
class PreFilterPlugin : public virtual Plugin {
 public:
  virtual PreFilterResult pre_filter(Cycle& cycle) const = 0;
  // A trial adds a pod to a row, or removes one: updates the state that pre_filter stored in the
  // cycle.
  virtual Outcome add_pod(Cycle&, const Pod&, NodeRow) const { return {}; }
  virtual Outcome remove_pod(Cycle&, const Pod&, NodeRow) const { return {}; }
  // False: add_pod and remove_pod have nothing to do and are not called.
  virtual bool has_extensions() const { return true; }
};

// One plugin's turn at the rows that are still feasible.
class FilterPass {
 public:
  FilterPass(std::uint16_t plugin, const Cycle& cycle, NodeSet& feasible,
             std::span<Status> verdicts)
      : plugin_(plugin), cycle_(cycle), feasible_(feasible), verdicts_(verdicts) {}

  const NodeSet& feasible() const { return feasible_; }
  const NodeTable& nodes() const { return cycle_.nodes(); }

  // `reason` is an index into the plugin's reasons().
  void reject(NodeRow row, Code code, std::uint8_t reason) {
    feasible_.erase(row);
    verdicts_[row] = {code, reason, plugin_, 0};
  }
  // With sentences made for this row: several reasons, or free text.
  void reject(NodeRow row, Code code, std::vector<std::string> reasons) {
    reject_listed(row, code, cycle_.list_reasons(std::move(reasons)));
  }
  // With sentences that were filed before (Cycle::list_reasons): many rows, one list.
  void reject_listed(NodeRow row, Code code, std::uint32_t listed) {
    feasible_.erase(row);
    verdicts_[row] = {code, Status::kListed, plugin_, listed};
  }
  // Defers the decision about this row: filter() is called again for it after the loop has run
  // other work (Cycle::turn). Allowed only if Cycle::may_suspend. The plugin keeps its progress and
  // its answer itself, because a trial is set up anew before each call.
  void defer(NodeRow row) {
    feasible_.erase(row);
    verdicts_[row] = {Code::kWait, 0, plugin_, 0};
    cycle_.scratch()->deferred.push_back(row);
  }
  // The plugin cannot tell: an Error on every row that it was asked about.
  void fail_all(std::vector<std::string> why) {
    const std::uint32_t listed = cycle_.list_reasons(std::move(why));
    feasible_.for_each([&](NodeRow row) { reject_listed(row, Code::kError, listed); });
  }

 private:
  std::uint16_t plugin_;
  const Cycle& cycle_;
  NodeSet& feasible_;
  std::span<Status> verdicts_;
};

class FilterPlugin : public virtual Plugin {
 public:
  virtual void filter(const Cycle& cycle, FilterPass& pass) const = 0;
};

// One node at a time.
class PerNodeFilter : public FilterPlugin {
 public:
  virtual Outcome filter_node(const Cycle& cycle, NodeRow row) const = 0;
  void filter(const Cycle& cycle, FilterPass& pass) const final;
};

// Says what exactly keeps a pod off a node, for those who ask why (obstacle.h). The verdict of a
// plugin without it is explained by its sentences.
class ObstaclePlugin : public virtual Plugin {
 public:
  // About a row that this plugin rejects, after PreFilter has run, with what that left in the
  // cycle; kNoRow if PreFilter rejected the pod as a whole. At least one obstacle for each sentence
  // of the verdict.
  virtual std::vector<Obstacle> obstacles(const Cycle& cycle, NodeRow row) const = 0;
};

// What PostFilter wants done with status.nominatedNodeName.
struct Nominating {
  enum class Mode : std::uint8_t { kNoop, kOverride } mode = Mode::kNoop;
  std::string node_name;  // with kOverride; empty clears

  static Nominating clear() { return {Mode::kOverride, {}}; }
  static Nominating to(std::string node) { return {Mode::kOverride, std::move(node)}; }
};

struct PostFilterResult {
  Outcome outcome;
  std::optional<Nominating> nominating;
};

// Asked when no node fits: may make room (preemption). May wait (an extender is asked).
class PostFilterPlugin : public virtual Plugin {
 public:
  virtual Task<PostFilterResult> post_filter(Cycle& cycle, const Diagnosis& diagnosis) const = 0;
};

class PreScorePlugin : public virtual Plugin {
 public:
  virtual Outcome pre_score(Cycle& cycle, const NodeSet& feasible) const = 0;
};

class ScorePlugin : public virtual Plugin {
 public:
  // Writes a score for every feasible row; rows outside `feasible` may be written too, so that a
  // kernel can run over whole columns.
  virtual Outcome score(const Cycle& cycle, const NodeSet& feasible,
                        std::span<Score> by_row) const = 0;
  // Brings the scores of the feasible rows into [0, 100].
  virtual Outcome normalize(const Cycle&, const NodeSet&, std::span<Score>) const { return {}; }
  // False when normalize() leaves everything as it is.
  virtual bool normalizes() const { return true; }
};

class PerNodeScore : public ScorePlugin {
 public:
  virtual Score score_node(const Cycle& cycle, NodeRow row) const = 0;
  Outcome score(const Cycle& cycle, const NodeSet& feasible, std::span<Score> by_row) const final;
};

class ReservePlugin : public virtual Plugin {
 public:
  virtual Outcome reserve(Cycle& cycle, std::string_view node_name) = 0;
  // Must be idempotent: it is called for every Reserve plugin when anything later fails, also for
  // those whose reserve failed or was never reached.
  virtual void unreserve(Cycle& cycle, std::string_view node_name) = 0;
};

struct PermitResult {
  Outcome outcome;      // Success, Wait, or a rejection
  Duration timeout{0};  // with Wait: how long at most

  static PermitResult wait(Duration timeout, std::string reason = {}) {
    PermitResult result;
    result.outcome.code = Code::kWait;
    if (!reason.empty()) result.outcome.reasons.push_back(std::move(reason));
    result.timeout = timeout;
    return result;
  }
};

class PermitPlugin : public virtual Plugin {
 public:
  virtual PermitResult permit(Cycle& cycle, std::string_view node_name) = 0;
};

struct PreBindPreFlight {
  Outcome outcome;              // Success: pre_bind has work to do. Skip: it has none.
  bool allow_parallel = false;  // may run side by side with other plugins that allow it
};

// The error of a pre_bind that was cancelled. It is reported with the text of the cause.
inline constexpr std::string_view kContextCanceled = "context canceled";

class PreBindPlugin : public virtual Plugin {
 public:
  virtual PreBindPreFlight pre_bind_pre_flight(Cycle&, std::string_view) const { return {}; }
  // The cycle and the name live until the task is done. `cancel` may end it early, with a cause.
  virtual Task<Outcome> pre_bind(Cycle& cycle, std::string_view node_name, CancelToken cancel) = 0;
};

class BindPlugin : public virtual Plugin {
 public:
  // Skip leaves the pod to the next binder.
  virtual Task<Outcome> bind(Cycle& cycle, std::string_view node_name) const = 0;
};

class PostBindPlugin : public virtual Plugin {
 public:
  virtual void post_bind(Cycle& cycle, std::string_view node_name) = 0;
};

// Part of a pod's signature: pods with equal signatures get equal answers from this plugin.
struct SignatureFragment {
  std::string key;
  std::string value;
};

class SignPlugin : public virtual Plugin {
 public:
  // Unschedulable or Error: pods like this one have no signature.
  virtual Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const = 0;
  // False: sign() says no to every pod, and need not be asked.
  virtual bool signs_any() const { return true; }
};

}  // namespace berth
