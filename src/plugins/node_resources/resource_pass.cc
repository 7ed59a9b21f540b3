#include "plugins/node_resources/resource_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <string>
#include <utility>

#include "api/names.h"
#include "berth/plugin.h"
#include "cluster/scalar_columns.h"
#include "plugins/arithmetic.h"
#include "plugins/node_resources/kernels.h"

namespace berth::plugins {
namespace {

enum : std::uint8_t { kTooManyPods, kCpu, kMemory, kEphemeralStorage };
constexpr std::string_view kResourceReasons[] = {
    "Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage"};

std::string scalar_reason(std::string_view name) { return fmt::format("Insufficient {}", name); }

// One resource that the pod asks for, against what is left of it on each row.
struct Check {
  std::span<const std::int64_t> allocatable;
  std::span<const std::int64_t> used;
  std::int64_t amount = 0;
  std::uint8_t reason = Status::kListed;
  std::uint32_t scalar = 0;  // with kListed: which of the demand's
  bool devices = false;      // where a node has none of it, it is for DynamicResources to find some

  // More than the node has when it is empty.
  bool is_hopeless(std::size_t row) const { return amount > allocatable[row]; }
  bool fails(std::size_t row) const {
    return insufficient_rows({&allocatable[row], &used[row], amount}, 1) != 0 &&
           !(devices && allocatable[row] <= 0);
  }
};

// The same for a scalar that few rows have to do with. On all others it fails, for want of any,
// unless it is devices.
struct SparseCheck {
  std::span<const ScalarColumns::AtRow> few;
  std::int64_t amount = 0;
  std::uint32_t scalar = 0;
  bool devices = false;

  bool fails(const ScalarColumns::AtRow& at) const {
    return amount > wrapping_sub(at.allocatable, at.requested) && !(devices && at.allocatable <= 0);
  }
  bool fails_elsewhere() const { return !devices; }
  // Null: the row has nothing to do with it.
  const ScalarColumns::AtRow* at(NodeRow row) const {
    const auto found = std::ranges::lower_bound(few, row, {}, &ScalarColumns::AtRow::row);
    return found == few.end() || found->row != row ? nullptr : &*found;
  }
  bool is_hopeless(NodeRow row) const {
    const ScalarColumns::AtRow* found = at(row);
    return !found || amount > found->allocatable;
  }
};

class ResourcePass {
 public:
  ResourcePass(const Cycle& cycle, FilterPass& pass, const Demand& demand)
      : cycle_(cycle),
        pass_(pass),
        demand_(demand),
        pod_counts_(cycle.nodes().pod_counts()),
        allowed_pods_(cycle.nodes().allocatable_pods()) {
    const NodeTable& nodes = cycle.nodes();
    if (demand.milli_cpu > 0)
      checks_.push_back(
          {nodes.allocatable_milli_cpu(), nodes.requested_milli_cpu(), demand.milli_cpu, kCpu});
    if (demand.memory > 0)
      checks_.push_back(
          {nodes.allocatable_memory(), nodes.requested_memory(), demand.memory, kMemory});
    if (demand.ephemeral_storage > 0)
      checks_.push_back({nodes.allocatable_ephemeral_storage(), nodes.requested_ephemeral_storage(),
                         demand.ephemeral_storage, kEphemeralStorage});
    for (std::uint32_t i = 0; i < demand.scalars.size(); ++i) add_scalar(i);
    failing_.resize(1 + checks_.size());
  }

  void run() {
    constexpr std::size_t kWorthIt = 12;  // rows of a word: fewer are copied side by side
    FewRows few;
    pass_.feasible().for_each_word([&](std::size_t word, std::uint64_t feasible) {
      if (!sparse_.empty() || NodeSet::rows_in(feasible) >= kWorthIt) return judge(word, feasible);
      for (; feasible != 0; feasible &= feasible - 1) {
        few.rows[few.count++] = static_cast<NodeRow>(
            word * kBlock + static_cast<std::size_t>(std::countr_zero(feasible)));
        if (few.count == kBlock) judge(few);
      }
    });
    judge(few);
  }

  std::vector<Shortage> shortages(NodeRow row) const {
    std::vector<Shortage> all;
    if (full_rows(&pod_counts_[row], &allowed_pods_[row], 1) != 0)
      all.push_back({names::kPods, std::string(kResourceReasons[kTooManyPods]), 1,
                     allowed_pods_[row], pod_counts_[row]});
    constexpr Symbol kResources[] = {names::kPods, names::kCpu, names::kMemory,
                                     names::kEphemeralStorage};
    for (const Check& check : checks_)
      if (check.reason != Status::kListed && check.fails(row))
        all.push_back({kResources[check.reason], std::string(kResourceReasons[check.reason]),
                       check.amount, check.allocatable[row], check.used[row]});
    std::vector<std::pair<std::uint32_t, Shortage>> scalars;  // by their place in the demand
    const auto add = [&](std::uint32_t number, ScalarColumns::AtRow has) {
      const Demand::Scalar& scalar = demand_.scalars[number];
      scalars.push_back({number,
                         {scalar.name, scalar_reason(cycle_.symbols().text(scalar.name)),
                          scalar.amount, has.allocatable, has.requested}});
    };
    for (const Check& check : checks_)
      if (check.reason == Status::kListed && check.fails(row))
        add(check.scalar, {row, check.allocatable[row], check.used[row]});
    for (const SparseCheck& check : sparse_) {
      const ScalarColumns::AtRow* at = check.at(row);
      if (at ? check.fails(*at) : check.fails_elsewhere())
        add(check.scalar, at ? *at : ScalarColumns::AtRow{row});
    }
    std::ranges::sort(scalars, {}, [](const auto& scalar) { return scalar.first; });
    for (auto& [number, shortage] : scalars) all.push_back(std::move(shortage));
    return all;
  }

 private:
  // A row that has to do with a sparse check.
  struct Met {
    std::uint8_t bit;  // of the current word
    bool fails;
    std::uint32_t check;
  };
  // Rows of different words, of which most will pass.
  struct FewRows {
    std::size_t count = 0;
    std::array<NodeRow, kBlock> rows;
  };
  static constexpr std::uint32_t kSparse = std::uint32_t{1} << 31;  // in failed_: a sparse check

  void add_scalar(std::uint32_t number) {
    const Demand::Scalar& scalar = demand_.scalars[number];
    const ScalarColumns::View view = cycle_.nodes().scalar(scalar.name);
    if (view.is_dense) {
      checks_.push_back({view.allocatable, view.requested, scalar.amount, Status::kListed, number,
                         scalar.devices});
      return;
    }
    sparse_.push_back({view.few, scalar.amount, number, scalar.devices});
    fail_elsewhere_ += sparse_.back().fails_elsewhere() ? 1 : 0;
    if (!view.few.empty()) somewhere_.push_back(static_cast<std::uint32_t>(sparse_.size() - 1));
  }

  // One by one only those that fail something.
  void judge(FewRows& few) {
    const auto rows = std::span(few.rows).first(std::exchange(few.count, 0));
    if (rows.empty()) return;
    constexpr std::size_t kFew = 4;
    std::uint64_t failing = rows.size() < kFew ? ~std::uint64_t{0} : full_rows_of(rows);
    if (rows.size() >= kFew)
      for (const Check& check : checks_) failing |= insufficient_rows_of(rows, check);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if ((failing >> i & 1) != 0) judge(rows[i] / kBlock, std::uint64_t{1} << (rows[i] % kBlock));
  }

  std::uint64_t full_rows_of(std::span<const NodeRow> rows) const {
    std::array<std::int64_t, kBlock> pods, allowed;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      pods[i] = pod_counts_[rows[i]];
      allowed[i] = allowed_pods_[rows[i]];
    }
    return full_rows(pods.data(), allowed.data(), rows.size());
  }

  static std::uint64_t insufficient_rows_of(std::span<const NodeRow> rows, const Check& check) {
    std::array<std::int64_t, kBlock> allocatable, used;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      allocatable[i] = check.allocatable[rows[i]];
      used[i] = check.used[rows[i]];
    }
    return insufficient_rows({allocatable.data(), used.data(), check.amount}, rows.size());
  }

  void judge(std::size_t word, std::uint64_t feasible) {
    // A lonely row (a trial, a replay) costs what it costs; a filled word is run through whole.
    const bool lonely = std::has_single_bit(feasible);
    const std::size_t lone = static_cast<std::size_t>(std::countr_zero(feasible));
    const std::size_t first = word * 64 + (lonely ? lone : 0);
    const std::size_t count = lonely ? 1 : std::min<std::size_t>(64, cycle_.nodes().rows() - first);
    const std::size_t shift = lonely ? lone : 0;

    failing_[0] = full_rows(&pod_counts_[first], &allowed_pods_[first], count);
    std::uint64_t any = failing_[0];
    for (std::size_t c = 0; c < checks_.size(); ++c) {
      const Check& check = checks_[c];
      failing_[1 + c] =
          insufficient_rows({&check.allocatable[first], &check.used[first], check.amount}, count);
      if (check.devices) failing_[1 + c] &= rows_with_some(check, first, count);
      any |= failing_[1 + c];
    }
    if (!sparse_.empty()) {
      meet(static_cast<NodeRow>(first), count);
      any = ~std::uint64_t{0};
    }
    for (std::uint64_t rest = any & (feasible >> shift); rest != 0; rest &= rest - 1)
      judge_row(static_cast<NodeRow>(first), static_cast<std::uint8_t>(std::countr_zero(rest)));
  }

  static std::uint64_t rows_with_some(const Check& check, std::size_t first, std::size_t count) {
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < count; ++i)
      rows |= std::uint64_t{check.allocatable[first + i] > 0} << i;
    return rows;
  }

  // Which of the rows have to do with a sparse check, by row.
  void meet(NodeRow first, std::size_t count) {
    met_.clear();
    for (const std::uint32_t number : somewhere_) {
      const SparseCheck& check = sparse_[number];
      auto at = std::ranges::lower_bound(check.few, first, {}, &ScalarColumns::AtRow::row);
      for (; at != check.few.end() && at->row < first + count; ++at)
        met_.push_back({static_cast<std::uint8_t>(at->row - first), check.fails(*at), number});
    }
    std::ranges::sort(met_, {}, [](const Met& met) { return std::pair(met.bit, met.check); });
  }

  void judge_row(NodeRow first, std::uint8_t bit) {
    const NodeRow row = first + bit;
    failed_.clear();
    Code code = Code::kUnschedulable;
    for (std::uint32_t f = 0; f < failing_.size(); ++f) {
      if ((failing_[f] >> bit & 1) == 0) continue;
      failed_.push_back(f);
      // Parity: a full node is never hopeless, not even one that takes no pods at all.
      if (f > 0 && checks_[f - 1].is_hopeless(row)) code = Code::kUnschedulableAndUnresolvable;
    }
    const std::size_t dense = failed_.size();
    const bool lacks_sparse = !sparse_.empty() && judge_sparse(row, bit, code);
    if (dense == 0 && !lacks_sparse) return;
    // The same verdict has one form, whichever resources are sparse at the moment: it is compared.
    if (dense == 1 && !lacks_sparse && reason(failed_.front()) != Status::kListed)
      pass_.reject(row, code, reason(failed_.front()));
    else
      pass_.reject_listed(row, code, listed());
  }

  // Adds to failed_ the sparse checks that do not go as they go elsewhere; whether one fails.
  bool judge_sparse(NodeRow row, std::uint8_t bit, Code& code) {
    std::size_t elsewhere = fail_elsewhere_;  // checks that this row has nothing to do with
    bool fails = false;
    const auto here = std::ranges::equal_range(met_, bit, {}, &Met::bit);
    for (const Met& met : here) {
      const SparseCheck& check = sparse_[met.check];
      elsewhere -= check.fails_elsewhere() ? 1 : 0;
      fails |= met.fails;
      if (met.fails && check.is_hopeless(row)) code = Code::kUnschedulableAndUnresolvable;
      if (met.fails != check.fails_elsewhere()) failed_.push_back(kSparse | met.check);
    }
    if (elsewhere > 0) code = Code::kUnschedulableAndUnresolvable;  // there is none of them at all
    return fails || elsewhere > 0;
  }

  std::uint8_t reason(std::uint32_t failed) const {
    if ((failed & kSparse) != 0) return Status::kListed;
    return failed == 0 ? std::uint8_t{kTooManyPods} : checks_[failed - 1].reason;
  }

  // The number of the list of reasons for `failed_`. Many nodes fail alike: one list serves them.
  std::uint32_t listed() {
    for (const Listed& known : listed_)
      if (known.failed == failed_) return known.number;
    std::vector<std::string> texts;
    std::vector<std::uint32_t> scalars;
    std::vector<std::uint32_t> otherwise;  // sparse checks that do not go as elsewhere
    for (const std::uint32_t failed : failed_) {
      if ((failed & kSparse) != 0)
        otherwise.push_back(failed & ~kSparse);
      else if (reason(failed) == Status::kListed)
        scalars.push_back(checks_[failed - 1].scalar);
      else
        texts.emplace_back(kResourceReasons[reason(failed)]);
    }
    for (std::uint32_t number = 0; number < sparse_.size(); ++number)
      if (sparse_[number].fails_elsewhere() != std::ranges::binary_search(otherwise, number))
        scalars.push_back(sparse_[number].scalar);
    std::ranges::sort(scalars);
    for (const std::uint32_t scalar : scalars)
      texts.push_back(scalar_reason(cycle_.symbols().text(demand_.scalars[scalar].name)));
    listed_.push_back({failed_, cycle_.list_reasons(std::move(texts))});
    return listed_.back().number;
  }

  struct Listed {
    std::vector<std::uint32_t> failed;
    std::uint32_t number;
  };

  const Cycle& cycle_;
  FilterPass& pass_;
  const Demand& demand_;
  std::span<const std::int64_t> pod_counts_;
  std::span<const std::int64_t> allowed_pods_;
  // Often there is but one row to look at: the usual checks take no memory of their own.
  static constexpr std::size_t kUsualChecks = 4;
  boost::container::small_vector<Check, kUsualChecks> checks_;
  std::vector<SparseCheck> sparse_;
  std::vector<std::uint32_t> somewhere_;  // the sparse ones that some row has to do with
  std::size_t fail_elsewhere_ = 0;        // how many of them fail on all other rows
  // Of the current word: full rows, then one per check.
  boost::container::small_vector<std::uint64_t, 1 + kUsualChecks> failing_;
  std::vector<Met> met_;
  // Of the current row: indices into failing_, then sparse checks that do not go as elsewhere.
  std::vector<std::uint32_t> failed_;
  std::vector<Listed> listed_;
};

}  // namespace

std::span<const std::string_view> resource_reasons() { return kResourceReasons; }

void filter_by_resources(const Cycle& cycle, FilterPass& pass, const Demand& demand) {
  ResourcePass(cycle, pass, demand).run();
}

std::vector<Shortage> shortages_on(const Cycle& cycle, NodeRow row, const Demand& demand) {
  NodeSet no_rows;
  FilterPass nothing(0, cycle, no_rows, {});
  return ResourcePass(cycle, nothing, demand).shortages(row);
}

}  // namespace berth::plugins
