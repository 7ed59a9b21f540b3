#include "cycle/batching_counts.h"

namespace berth {
namespace {

constexpr Duration kMaxAge = std::chrono::milliseconds(500);

}  // namespace

// Why the remembered nodes are not for this pod; nullopt if they are.
std::optional<BatchFlush> BatchingCounts::unusable(const Search& search, TimePoint now) const {
  // Parity: a pod that failed stores nothing, so that the number of its cycle is missing.
  if (search.cycle != last_cycle_ + 1) return BatchFlush::kPodSkipped;
  if (search.nominated) return BatchFlush::kPodNominated;
  if (search.signature != remembered_->signature) return BatchFlush::kPodIncompatible;
  if (now > remembered_->since + kMaxAge) return BatchFlush::kExpired;
  return std::nullopt;
}

// Puts the last pod's node back among the remembered ones if it has room. False: there is no hint.
bool BatchingCounts::refresh(const LookAtNode& look, ProfileMeasurements& measured) {
  const LastNode last = look(last_node_);
  if (last == LastNode::kMissing || last == LastNode::kFilterError) {
    measured.batch_flushed(last == LastNode::kMissing ? BatchFlush::kNodeMissing
                                                      : BatchFlush::kFilterError);
    return false;
  }
  if (last == LastNode::kHasRoom) {
    measured.batch_rescored();
    ++remembered_->nodes;
  }
  return true;
}

// Takes one of the remembered nodes. False: there is no hint.
bool BatchingCounts::give_hint(const Search& search, const LookAtNode& look, TimePoint now,
                               ProfileMeasurements& measured) {
  if (!remembered_ || remembered_->nodes == 0) return false;
  if (const std::optional<BatchFlush> why = unusable(search, now)) {
    measured.batch_flushed(*why);
    return false;
  }
  if (!refresh(look, measured)) return false;
  --remembered_->nodes;
  return true;
}

void BatchingCounts::searched(const Search& search, const LookAtNode& look,
                              ProfileMeasurements& measured) {
  const TimePoint asked = measured.tick();
  const bool hinted = give_hint(search, look, asked, measured);
  if (!hinted) measured.batch_attempted(BatchResult::kNoHint);
  const TimePoint answered = measured.tick();
  measured.node_hint_asked(hinted, answered - asked);
  if (search.feasible == 0) return;
  store(search, hinted, measured);
  measured.schedule_results_stored(measured.tick() - answered);
}

void BatchingCounts::store(const Search& search, bool hinted, ProfileMeasurements& measured) {
  last_cycle_ = search.cycle;
  last_node_ = search.node;
  // A remembered node of a pod like this one was feasible a moment ago, and only the last chosen
  // one has changed since.
  if (hinted) return measured.batch_attempted(BatchResult::kHintUsed);
  if (search.signature && search.feasible > 1) {
    remembered_ = Remembered{*search.signature, search.feasible - 1, measured.tick()};
    return;
  }
  measured.batch_flushed(search.feasible > 1 ? BatchFlush::kPodNotBatchable
                                             : BatchFlush::kEmptyList);
  remembered_.reset();
}

}  // namespace berth
