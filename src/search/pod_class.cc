#include "search/pod_class.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/hash_pointers.h"

namespace berth {
namespace {

constexpr std::size_t kMaxListed = 256;
constexpr std::size_t kMaxListedBytes = std::size_t{1} << 20;  // of the sentences in them
constexpr std::size_t kMaxKeys = 64;  // that distinguish rows: each costs something per row
constexpr std::uint32_t kNoList = ~std::uint32_t{0};
constexpr std::int64_t kLargestSum = std::numeric_limits<std::int32_t>::max() / 2;

}  // namespace

PodClass::PodClass(const Framework& framework, const PodSpec& spec, const PodMeta& meta,
                   AskedRows& asked)
    : framework_(framework),
      asked_(asked),
      log_(NominationLog::of(framework.nominator())),
      spec_(&spec),
      meta_(&meta) {}

std::size_t PodClass::hash_of(const Framework& framework, const PodSpec& spec,
                              const PodMeta& meta) {
  return hash_pointers({&framework, &spec, &meta});
}

internal::PluginMask PodClass::asked_filters(const Cycle& cycle) const {
  internal::PluginMask asked;
  for (const Placed<FilterPlugin>& placed : framework_.plugins().filter)
    if (is_row_plugin(*placed.plugin) && !cycle.skip_filter.test(placed.index))
      asked.set(placed.index);
  return asked;
}

internal::PluginMask PodClass::asked_scores(const Cycle& cycle) const {
  internal::PluginMask asked;
  for (const Placed<ScorePlugin>& placed : framework_.plugins().score)
    if (is_row_plugin(*placed.plugin) && !cycle.skip_score.test(placed.index))
      asked.set(placed.index);
  return asked;
}

// Finds the rows that changed since the last time. Returns true, with all rows, when that is less
// work or when something changed that concerns all of them.
bool PodClass::find_changes(const Cycle& cycle) {
  const NodeTable& nodes = cycle.nodes();
  const auto changes = nodes.changes_since(position_);
  const std::uint64_t device_classes = cycle.cluster().generation(ObjectKind::kDeviceClass);
  bool all = !known_ || !changes || changes->size() > nodes.rows() ||
             device_classes_ != device_classes || filters_ != asked_filters(cycle) ||
             scores_ != asked_scores(cycle) || final_ != can_be_final(cycle);
  final_ = can_be_final(cycle);
  device_classes_ = device_classes;
  position_ = nodes.log_end();
  asked_.changed.clear();
  asked_.changed.reserve_rows(nodes.rows());
  if (!all) {
    std::uint8_t seen = 0;
    for (const ChangedRow& change : *changes) {
      seen |= change.changes;
      asked_.changed.insert(change.row);
    }
    // Filtering a single row costs about as much as eight rows of a pass over many.
    all = (seen & static_cast<std::uint8_t>(RowChange::kMembership)) != 0 ||
          asked_.changed.count() > (nodes.rows() + 7) / 8;
  }
  if (final_ && !find_changed_nominations(cycle)) all = true;
  if (all) asked_.changed = nodes.nodes();
  return all;
}

// Returns false if any row may be affected.
bool PodClass::find_changed_nominations(const Cycle& cycle) {
  if (!log_) return true;  // there are none
  const auto changes = log_->nominations_since(nominations_);
  nominations_ = log_->nomination_log_end();
  if (!changes) return false;
  for (const Symbol node : *changes)
    if (const NodeRow row = cycle.nodes().find(node); row != kNoRow && cycle.nodes().has_node(row))
      asked_.changed.insert(row);
  return true;
}

bool PodClass::can_be_final(const Cycle& cycle) const {
  for (const Placed<FilterPlugin>& placed : framework_.plugins().filter)
    if (!is_row_plugin(*placed.plugin) && !cycle.skip_filter.test(placed.index)) return false;
  return log_ || framework_.nominator().nominated_nodes().empty();
}

bool PodClass::write_verdicts(Cycle& cycle, Cluster& cluster) {
  if (keeping_ == Keeping::kNotYet) {
    keeping_ = Keeping::kYes;
    known_ = false;  // all rows are filtered again
    if (!catch_up(cycle, cluster)) return false;
  }
  if (keeping_ != Keeping::kYes) return false;
  std::ranges::copy(verdicts_, cycle.scratch()->verdicts.begin());
  cycle.scratch()->listed_reasons = listed_;
  return true;
}

// Returns false when there are too many different lists.
bool PodClass::keep_verdicts(const Cycle& cycle) {
  const internal::CycleScratch& scratch = *cycle.scratch();
  verdicts_.resize(cycle.nodes().rows());
  std::vector<std::uint32_t> numbers(scratch.listed_reasons.size(), kNoList);
  bool few = true;
  asked_.changed.for_each([&](NodeRow row) {
    Status status = scratch.verdicts[row];
    if (!status.ok() && status.reason == Status::kListed) {
      std::uint32_t& number = numbers[status.argument];
      if (number == kNoList) {
        const std::vector<std::string>& list = scratch.listed_reasons[status.argument];
        number = static_cast<std::uint32_t>(std::ranges::find(listed_, list) - listed_.begin());
        if (number == kMaxListed || listed_bytes_ > kMaxListedBytes) {
          few = false;
        } else if (number == listed_.size()) {
          listed_.push_back(list);
          for (const std::string& sentence : list)
            listed_bytes_ += sizeof(sentence) + sentence.size();
        }
      }
      status.argument = number;
    }
    verdicts_[row] = status;
  });
  return few;
}

bool PodClass::catch_up(Cycle& cycle, Cluster& cluster) {
  cycle.skip_score.clear();
  for (const Placed<PreScorePlugin>& placed : framework_.plugins().pre_score)
    if (is_row_plugin(*placed.plugin) && !framework_.ask_pre_score(placed, cycle, fits_).ok())
      return known_ = false;
  const bool all = find_changes(cycle);
  filters_ = asked_filters(cycle);
  scores_ = asked_scores(cycle);
  const bool same_keys = find_keys(cycle);
  regroup_ |= all || !same_keys;
  known_ = ask_filters(cycle, cluster, all) && ask_scores(cycle, all);
  if (!known_) return false;
  if (!regroup_) follow(cycle);
  if (regroup_) group(cycle);
  return true;
}

// Filters the changed rows with nominated pods, one by one.
void PodClass::set_apart(const NodeTable& nodes) {
  const Nominator& nominator = framework_.nominator();
  const std::vector<Symbol>& nominated = nominator.nominated_nodes();
  asked_.apart.clear();
  if (!final_ || nominated.empty()) return;
  if (asked_.changed.count() < nominated.size()) {
    asked_.changed.for_each([&](NodeRow row) {
      if (!nominator.nominated_pods(nodes.name(row)).empty()) asked_.apart.push_back(row);
    });
  } else {
    for (const Symbol node : nominated)
      if (const NodeRow row = nodes.find(node); row != kNoRow && asked_.changed.contains(row))
        asked_.apart.push_back(row);
  }
  for (const NodeRow row : asked_.apart) asked_.passed.erase(row);
}

bool PodClass::ask_filters(Cycle& cycle, Cluster& cluster, bool all) {
  std::vector<Status>& verdicts = cycle.scratch()->verdicts;
  asked_.passed = asked_.changed;
  set_apart(cycle.nodes());
  asked_.changed.for_each([&](NodeRow row) { verdicts[row] = Status{}; });
  for (const Placed<FilterPlugin>& placed : framework_.plugins().filter)
    if (filters_.test(placed.index)) framework_.ask_filter(placed, cycle, asked_.passed);
  bool told = true;
  for (const NodeRow row : asked_.apart) {
    const Result<Status> status = framework_.filter_row_with_nominated(cycle, cluster, row);
    if (!status) return false;
    verdicts[row] = *status;
    if (status->ok()) asked_.passed.insert(row);
  }
  asked_.changed.for_each([&](NodeRow row) {
    if (!asked_.passed.contains(row)) told &= is_rejected(verdicts[row].code);
  });
  if (all) {
    fits_ = asked_.passed;
  } else {  // no node was added or removed
    fits_ -= asked_.changed;
    fits_ |= asked_.passed;
  }
  if (told && keeping_ == Keeping::kYes && final_ && !keep_verdicts(cycle)) {
    keeping_ = Keeping::kTooVarious;
    verdicts_ = {};
    listed_ = {};
    listed_bytes_ = 0;
  }
  return told;
}

bool PodClass::ask_scores(const Cycle& cycle, bool all) {
  const std::size_t rows = cycle.nodes().rows();
  std::vector<Score>& raw = cycle.scratch()->scores;
  if (raw.size() < rows) raw.resize(rows);
  std::vector<std::int32_t>& own = cycle.scratch()->sums;
  if (own.size() < rows) own.resize(rows);
  asked_.passed.for_each([&](NodeRow row) { own[row] = 0; });
  std::int64_t largest = 0;
  std::size_t unscaled = 0;
  for (const Placed<ScorePlugin>& placed : framework_.plugins().score) {
    if (!scores_.test(placed.index)) continue;
    if (!framework_.ask_score(placed, cycle, asked_.passed, raw).ok()) return false;
    if (placed->normalizes()) {
      if (all && unscaled_.size() <= unscaled) unscaled_.emplace_back();
      Unscaled& kept = unscaled_[unscaled++];
      kept.plugin = &placed;
      if (!kept.take(asked_.passed, raw, rows, all)) return false;
      continue;
    }
    largest += kMaxScore * placed.weight;
    bool fine = largest <= kLargestSum;
    asked_.passed.for_each([&](NodeRow row) {
      fine &= raw[row] >= kMinScore && raw[row] <= kMaxScore;
      own[row] += static_cast<std::int32_t>(raw[row] * placed.weight);
    });
    if (!fine) return false;
  }
  unscaled_.resize(unscaled);
  return true;
}

bool PodClass::Unscaled::take(const NodeSet& asked, std::span<const Score> scores, std::size_t rows,
                              bool all) {
  if (all) {
    const NodeRow first = asked.first();
    common_ = first == kNoRow ? 0 : static_cast<std::int32_t>(scores[first]);
    by_row_ = {};
  }
  bool fine = true;
  asked.for_each([&](NodeRow row) {
    const auto score = static_cast<std::int32_t>(scores[row]);
    fine &= score == scores[row];
    if (score == at(row)) return;
    if (by_row_.empty()) by_row_.assign(rows, common_);
    by_row_[row] = score;
  });
  return fine;
}

void PodClass::Unscaled::find_common(const NodeSet& fits) {
  const NodeRow first = fits.first();
  if (by_row_.empty() || first == kNoRow) return;
  bool same = true;
  fits.for_each([&](NodeRow row) { same &= by_row_[row] == by_row_[first]; });
  if (!same) return;
  common_ = by_row_[first];
  by_row_ = {};
}

// Finds the keys that the other plugins' answers depend on. Returns false if rows cannot be grouped
// by them.
bool PodClass::find_keys(Cycle& cycle) {
  RowKeys keys;
  bool known = true;
  try {
    for (const Placed<FilterPlugin>& placed : framework_.plugins().filter)
      if (!is_row_plugin(*placed.plugin) && !cycle.skip_filter.test(placed.index))
        known &= placed->filter_keys(cycle, keys);
    for (const Placed<ScorePlugin>& placed : framework_.plugins().score)
      if (!is_row_plugin(*placed.plugin)) known &= placed->score_keys(cycle, keys);
  } catch (...) {  // a plugin's: every row is asked about, where its errors are the pod's
    known = false;
  }
  std::sort(keys.labels.begin(), keys.labels.end(), [](Symbol a, Symbol b) { return a.id < b.id; });
  keys.labels.erase(std::unique(keys.labels.begin(), keys.labels.end()), keys.labels.end());
  if (keys.labels.size() + keys.numbers.size() > kMaxKeys) known = false;
  if (!known) keys = {};
  const bool same = known == keys_known_ && keys.labels == keys_.labels &&
                    std::ranges::equal(keys.numbers, keys_.numbers, {}, &RowKeys::Numbers::version,
                                       &RowKeys::Numbers::version);
  keys_known_ = known;
  keys_ = std::move(keys);
  columns_.resize(keys_.labels.size());
  bool same_columns = true;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::uint64_t before = columns_[i].id;
    columns_[i] = cycle.cluster().topology().column(keys_.labels[i]);
    same_columns &= columns_[i].id == before;
  }
  return same && same_columns;
}

void PodClass::describe(NodeRow row, std::vector<std::int64_t>& tuple) const {
  tuple.clear();
  for (const TopologyColumn& column : columns_) tuple.push_back(column.domains[row]);
  // The tuple of a row that does not fit may be out of date; it is computed again when the row
  // fits.
  for (const Unscaled& kept : unscaled_) tuple.push_back(kept.at(row));
  for (const RowKeys::Numbers& numbers : keys_.numbers) tuple.push_back(numbers.at(row));
}

bool PodClass::all_alike() const {
  return columns_.empty() && keys_.numbers.empty() &&
         std::ranges::all_of(unscaled_, &Unscaled::is_uniform);
}

int PodClass::group_of(const std::vector<std::int64_t>& tuple) {
  for (std::size_t group = 0; group < tuples_.size(); ++group)
    if (tuples_[group] == tuple) return static_cast<int>(group);
  if (tuples_.size() == ScoreTree::kMaxGroups) return kNoGroup;
  tuples_.push_back(tuple);
  return static_cast<int>(tuples_.size() - 1);
}

// Puts each changed row into its group, with its score.
void PodClass::follow(const Cycle& cycle) {
  std::vector<std::int32_t>& own = cycle.scratch()->sums;
  if (tree_.groups() == 1 && (!grouped_ || all_alike())) {  // no row can go to another group
    asked_.changed.for_each([&](NodeRow row) {
      if (!asked_.passed.contains(row)) own[row] = ScoreTree::kNone;
    });
    tree_.set(asked_.changed, own);
    return;
  }
  std::vector<std::int64_t> tuple;
  asked_.changed.for_each([&](NodeRow row) {
    const std::int32_t score = asked_.passed.contains(row) ? own[row] : ScoreTree::kNone;
    if (!grouped_ || score == ScoreTree::kNone) return tree_.set(row, score);
    describe(row, tuple);
    if (tuple == tuples_[tree_.group(row)]) return tree_.set(row, score);
    const int group = group_of(tuple);
    if (group == kNoGroup) {  // some groups may be empty by now
      regroup_ = true;
      tree_.set(row, score);
      return;
    }
    if (static_cast<std::size_t>(group) == tree_.groups()) tree_.add_group();
    tree_.move(row, static_cast<ScoreTree::Group>(group), score);
  });
}

// Groups the rows that fit by their tuples.
void PodClass::group(const Cycle& cycle) {
  regroup_ = false;
  const NodeTable& nodes = cycle.nodes();
  for (Unscaled& kept : unscaled_) kept.find_common(fits_);
  // Rows that did not change have their score in the tree.
  const std::vector<std::int32_t>& own = cycle.scratch()->sums;
  std::vector<std::int32_t> scores(nodes.rows(), ScoreTree::kNone);
  fits_.for_each([&](NodeRow row) {
    scores[row] = asked_.passed.contains(row) ? own[row] : tree_.scores()[row];
  });

  std::vector<ScoreTree::Group> groups(nodes.rows());
  std::vector<std::int64_t> tuple;
  int last = kNoGroup;
  tuples_.clear();
  grouped_ = keys_known_;
  const auto compare = [&](NodeRow row) {
    if (!grouped_) return;
    describe(row, tuple);
    if (last == kNoGroup || tuples_[static_cast<std::size_t>(last)] != tuple)
      last = group_of(tuple);
    if (last == kNoGroup)
      grouped_ = false;
    else
      groups[row] = static_cast<ScoreTree::Group>(last);
  };
  if (!all_alike())
    fits_.for_each(compare);
  else if (const NodeRow row = fits_.first(); row != kNoRow)
    compare(row);  // the first row stands for all
  if (!grouped_) {
    std::ranges::fill(groups, ScoreTree::Group{0});
    tuples_.clear();
  }
  if (tuples_.empty()) tuples_.emplace_back();
  tree_.assign(std::move(groups), tuples_.size(), scores);
}

NodeRow PodClass::sample(ScoreTree::Group group) const {
  return tree_.nth_best(std::span(&group, 1), 0);
}

void PodClass::hide(NodeRow row) {
  fits_.erase(row);
  tree_.set(row, ScoreTree::kNone);
}

void PodClass::show(NodeRow row, std::int32_t score) {
  fits_.insert(row);
  tree_.set(row, score);
}

std::size_t PodClass::bytes() const {
  std::size_t total = sizeof(*this) + tree_.bytes() + fits_.capacity() / 8;
  total += verdicts_.capacity() * sizeof(Status) + listed_bytes_;
  for (const Unscaled& kept : unscaled_) total += kept.bytes();
  return total;
}

}  // namespace berth
