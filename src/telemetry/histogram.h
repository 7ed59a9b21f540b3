// Histogram: counts observations in Prometheus' two forms at once (shell.md §3.1).
//
// Classic buckets have the bounds of the family. Native buckets divide every octave into eight, so
// that no bounds have to be chosen: bucket k holds what is above 2^((k-1)/8) and not above 2^(k/8).
// An observation is counted once, in a cell: a part of the line between two neighbouring bounds of
// either form. Both forms are sums of cells, so they always agree, and the second form costs
// nothing when counting.
//
//   classic        0.001                    0.002
//   ───────────────┴────────────────────────┴──────────►
//   native  ┬────┬─┼──┬────┬────┬────┬────┬─┼──┬────┬──
//   cells     a    b c   d    e    f    g   h i
//
// Cells exist from the first observation in their neighbourhood: a series of durations needs few.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace berth::telemetry {

// The cells of all series of a family.
class HistogramCells {
 public:
  // `classic`: upper bounds, ascending, none negative, without +Inf.
  explicit HistogramCells(std::vector<double> classic);

  const std::vector<double>& classic() const { return classic_; }

  std::size_t size() const { return bounds_.size() + 1; }
  std::size_t cell_of(double value) const;
  // The last cell of each classic bucket.
  const std::vector<std::size_t>& last_of_classic() const { return last_of_classic_; }
  // The native bucket of a cell other than kZeroCell.
  std::int32_t native_bucket(std::size_t cell) const { return native_[cell]; }

  // Values that are not above 0; only the lifetime of an expired certificate is below.
  static constexpr std::size_t kZeroCell = 0;

 private:
  // Octaves with native buckets: from parts of a nanosecond to a hundred thousand years. What is
  // outside is counted in the outermost buckets.
  static constexpr int kFirstOctave = -32;
  static constexpr int kLastOctave = 42;

  const std::vector<double> classic_;
  std::vector<double> bounds_;  // upper ones; the last cell has none
  std::vector<std::size_t> last_of_classic_;
  std::vector<std::int32_t> native_;  // by cell
  // By step: the first cell whose bound is not below it. The steps are eighths of an octave, as
  // doubles have them in their first bits.
  static constexpr int kStepsPerOctave = 8;
  std::array<std::uint16_t, (kLastOctave - kFirstOctave + 1) * kStepsPerOctave + 1> first_;
};

// Sparse buckets with exponential bounds, as Prometheus reads them.
struct NativeBuckets {
  // Upstream's limits: as fine as a factor of 1.1 demands, and coarser beyond so many buckets.
  static constexpr std::int32_t kFinest = 3;
  static constexpr std::int32_t kCoarsest = -4;
  static constexpr std::size_t kMost = 160;

  std::int32_t schema = kFinest;  // 2^schema buckets per octave
  std::uint64_t zero = 0;
  std::vector<std::pair<std::int32_t, std::uint64_t>> buckets;  // number and count, ascending
};

class Histogram {
 public:
  explicit Histogram(const HistogramCells& cells);  // outlives this
  ~Histogram();
  Histogram(const Histogram&) = delete;
  Histogram& operator=(const Histogram&) = delete;

  void observe(double value, std::uint64_t times = 1);
  void reset();

  // The state at one moment.
  struct Reading {
    std::vector<std::uint64_t> cumulative;  // of each classic bound, and of +Inf at the end
    double sum = 0;
    NativeBuckets native;
    std::uint64_t count() const { return cumulative.back(); }
  };
  Reading read() const;

  std::uint64_t count() const { return read().count(); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  std::vector<std::uint64_t> cumulative() const { return read().cumulative; }
  const std::vector<double>& bounds() const { return cells_.classic(); }

 private:
  static constexpr std::size_t kBlock = 16;
  using Block = std::array<std::atomic<std::uint64_t>, kBlock>;

  static Block& make_block(std::atomic<Block*>& place);
  std::size_t blocks() const { return (cells_.size() + kBlock - 1) / kBlock; }

  const HistogramCells& cells_;
  const std::unique_ptr<std::atomic<Block*>[]> blocks_;  // null until something is in them
  std::atomic<double> sum_ = 0;
};

}  // namespace berth::telemetry
