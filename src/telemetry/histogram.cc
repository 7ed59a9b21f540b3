#include "telemetry/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "base/check.h"

namespace berth::telemetry {
namespace {

// The bounds of the native buckets of the octave from 1/2 to 1: Prometheus' constants, to the bit.
constexpr std::array<double, 8> kFractions = {0.5,
                                              0.5452538663326288,
                                              0.5946035575013605,
                                              0.6484197773255048,
                                              0.7071067811865475,
                                              0.7711054127039704,
                                              0.8408964152537144,
                                              0.9170040432046711};

constexpr int kStepBits = 49;  // where the exponent of a double and three bits more begin
constexpr int kExponentBias = 1022;

// Native buckets twice as wide.
NativeBuckets widened(const NativeBuckets& fine) {
  NativeBuckets wide{.schema = fine.schema - 1, .zero = fine.zero, .buckets = {}};
  for (const auto& [number, count] : fine.buckets) {
    const std::int32_t in = (number + 1) >> 1;
    if (wide.buckets.empty() || wide.buckets.back().first != in)
      wide.buckets.emplace_back(in, count);
    else
      wide.buckets.back().second += count;
  }
  return wide;
}

}  // namespace

// ---- HistogramCells

HistogramCells::HistogramCells(std::vector<double> classic) : classic_(std::move(classic)) {
  BERTH_CHECK(std::ranges::is_sorted(classic_) && (classic_.empty() || classic_.front() >= 0));
  std::vector<double> native;
  for (int octave = kFirstOctave; octave <= kLastOctave; ++octave)
    for (const double fraction : kFractions) native.push_back(std::ldexp(fraction, octave));
  bounds_.push_back(0);
  std::ranges::set_union(native, classic_, std::back_inserter(bounds_));
  if (bounds_[1] == 0) bounds_.erase(bounds_.begin());  // a classic bound of 0

  for (const double bound : classic_)
    last_of_classic_.push_back(
        static_cast<std::size_t>(std::ranges::lower_bound(bounds_, bound) - bounds_.begin()));
  // The first native bound is 2^(kFirstOctave - 1), so that is where the buckets' numbers begin.
  constexpr std::int32_t kFirstBucket = (kFirstOctave - 1) * std::int32_t{kFractions.size()};
  for (const double bound : bounds_)
    native_.push_back(kFirstBucket + static_cast<std::int32_t>(
                                         std::ranges::lower_bound(native, bound) - native.begin()));
  native_.push_back(kFirstBucket + static_cast<std::int32_t>(native.size()));
  for (std::size_t i = 0; i < first_.size(); ++i) {
    const auto [octave, step] = std::div(static_cast<int>(i), kStepsPerOctave);
    const double begin = std::ldexp(0.5 + 0.5 * step / kStepsPerOctave, kFirstOctave + octave);
    first_[i] =
        static_cast<std::uint16_t>(std::ranges::lower_bound(bounds_, begin) - bounds_.begin());
  }
  first_.front() = 1;  // whatever is below the first octave, too
}

std::size_t HistogramCells::cell_of(double value) const {
  if (!(value > 0)) return std::isnan(value) ? bounds_.size() : kZeroCell;
  constexpr int kFirstStep = (kFirstOctave + kExponentBias) * kStepsPerOctave;
  const int step = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kStepBits) - kFirstStep;
  std::size_t cell =
      first_[static_cast<std::size_t>(std::clamp(step, 0, static_cast<int>(first_.size()) - 1))];
  while (cell < bounds_.size() && bounds_[cell] < value) ++cell;
  return cell;
}

// ---- Histogram

Histogram::Histogram(const HistogramCells& cells)
    : cells_(cells), blocks_(std::make_unique<std::atomic<Block*>[]>(blocks())) {}

Histogram::~Histogram() {
  for (std::size_t i = 0; i < blocks(); ++i) delete blocks_[i].load(std::memory_order_relaxed);
}

void Histogram::observe(double value, std::uint64_t times) {
  const std::size_t cell = cells_.cell_of(value);
  std::atomic<Block*>& place = blocks_[cell / kBlock];
  Block* block = place.load(std::memory_order_acquire);
  if (!block) [[unlikely]]
    block = &make_block(place);
  (*block)[cell % kBlock].fetch_add(times, std::memory_order_relaxed);
  sum_.fetch_add(value * static_cast<double>(times), std::memory_order_relaxed);
}

// Several threads may need the block for the first time: one of them puts its own there.
Histogram::Block& Histogram::make_block(std::atomic<Block*>& place) {
  auto made = std::make_unique<Block>();
  Block* there = nullptr;
  if (!place.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) return *there;
  return *made.release();
}

void Histogram::reset() {
  for (std::size_t i = 0; i < blocks(); ++i)
    if (Block* block = blocks_[i].load(std::memory_order_acquire))
      for (std::atomic<std::uint64_t>& cell : *block) cell.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
}

Histogram::Reading Histogram::read() const {
  Reading reading;
  reading.sum = sum();
  reading.cumulative.reserve(cells_.classic().size() + 1);
  std::uint64_t so_far = 0;
  const auto end_classic_buckets = [&](std::size_t before) {
    while (reading.cumulative.size() < cells_.classic().size() &&
           cells_.last_of_classic()[reading.cumulative.size()] < before)
      reading.cumulative.push_back(so_far);
  };
  for (std::size_t i = 0; i < blocks(); ++i) {
    const Block* block = blocks_[i].load(std::memory_order_acquire);
    if (!block) continue;
    for (std::size_t j = 0; j < kBlock; ++j) {
      const std::uint64_t count = (*block)[j].load(std::memory_order_relaxed);
      if (count == 0) continue;
      const std::size_t cell = i * kBlock + j;
      end_classic_buckets(cell);
      so_far += count;
      if (cell == HistogramCells::kZeroCell) {
        reading.native.zero = count;
        continue;
      }
      auto& buckets = reading.native.buckets;
      const std::int32_t number = cells_.native_bucket(cell);
      if (buckets.empty() || buckets.back().first != number)
        buckets.emplace_back(number, count);
      else
        buckets.back().second += count;
    }
  }
  end_classic_buckets(cells_.size());
  reading.cumulative.push_back(so_far);
  while (reading.native.buckets.size() > NativeBuckets::kMost &&
         reading.native.schema > NativeBuckets::kCoarsest)
    reading.native = widened(reading.native);
  return reading;
}

}  // namespace berth::telemetry
