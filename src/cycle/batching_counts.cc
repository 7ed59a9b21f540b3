#include "cycle/batching_counts.h"

namespace berth {
namespace {

constexpr Duration kMaxAge = std::chrono::milliseconds(500);

}  // namespace

// Why the remembered nodes give no hint for this pod; nullopt if they do.
std::optional<BatchFlush> BatchingCounts::unusable(const Search& search, const LookAtNode& look,
                                                   TimePoint now) const {
  // Parity: a pod that failed stores nothing, so that the number of its cycle is missing.
  if (search.cycle != last_cycle_ + 1) return BatchFlush::kPodSkipped;
  if (search.signature != remembered_->signature) return BatchFlush::kPodIncompatible;
  if (now > remembered_->since + kMaxAge) return BatchFlush::kExpired;
  switch (look(last_node_)) {
    case LastNode::kMissing: return BatchFlush::kNodeMissing;
    case LastNode::kHasRoom: return BatchFlush::kNodeNotFull;
    case LastNode::kFull: break;
  }
  return std::nullopt;
}

void BatchingCounts::searched(const Search& search, const LookAtNode& look,
                              ProfileMeasurements& measured) {
  const TimePoint asked = measured.tick();
  bool hinted = false;
  if (remembered_ && remembered_->nodes > 0) {
    const std::optional<BatchFlush> why = unusable(search, look, asked);
    if (why) measured.batch_flushed(*why);
    hinted = !why;
  }
  if (hinted)
    --remembered_->nodes;
  else
    measured.batch_attempted(BatchResult::kNoHint);
  const TimePoint answered = measured.tick();
  measured.node_hint_asked(hinted, answered - asked);
  if (search.feasible == 0) return;
  store(search, hinted, measured);
  measured.schedule_results_stored(measured.tick() - answered);
}

void BatchingCounts::store(const Search& search, bool hinted, ProfileMeasurements& measured) {
  last_cycle_ = search.cycle;
  last_node_ = search.node;
  // The next best node of a pod like this one was feasible a moment ago, and only the best one has
  // changed since.
  if (hinted && !search.nominated) return measured.batch_attempted(BatchResult::kHintUsed);
  if (hinted) measured.batch_attempted(BatchResult::kHintNotUsed);
  if (search.signature && search.feasible > 1) {
    remembered_ = Remembered{*search.signature, search.feasible - 1, measured.tick()};
    return;
  }
  measured.batch_flushed(search.feasible > 1 ? BatchFlush::kPodNotBatchable
                                             : BatchFlush::kEmptyList);
  remembered_.reset();
}

}  // namespace berth
