#include "telemetry/histogram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/testing/names.h"

namespace berth::telemetry {
namespace {

// The number of the native bucket that a value falls into, by the definition of native buckets.
std::int32_t bucket_by_definition(double value) {
  return static_cast<std::int32_t>(std::ceil(std::log2(value) * 8 - 1e-9));
}

TEST(Histogram, CountsInClassicBucketsAsTheirBoundsSay) {
  const HistogramCells cells({0, 0.5, 1, 1.5, 1e6});
  Histogram histogram(cells);
  for (const double value : {-1.0, 0.0, 1e-20, 0.5, 0.500001, 1.0, 1.2, 1.5, 1.6, 1e6, 1e7, 1e300})
    histogram.observe(value);
  EXPECT_THAT(histogram.cumulative(), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST(Histogram, CountsInNativeBucketsWhateverTheClassicBoundsAre) {
  for (const std::vector<double>& bounds :
       {std::vector<double>{}, std::vector<double>{0.001, 0.002, 0.9}, std::vector<double>{1, 2}}) {
    const HistogramCells cells(bounds);
    for (double value = 1e-9; value < 1e9; value *= 1.0371) {
      Histogram histogram(cells);
      histogram.observe(value, 3);
      EXPECT_THAT(histogram.read().native.buckets,
                  ElementsAre(Pair(bucket_by_definition(value), 3)))
          << value;
    }
  }
}

TEST(Histogram, ABoundBelongsToItsNativeBucket) {
  const HistogramCells cells({1});
  Histogram histogram(cells);
  histogram.observe(1);
  histogram.observe(std::nextafter(1.0, 2.0));
  histogram.observe(0.25);
  EXPECT_THAT(histogram.read().native.buckets, ElementsAre(Pair(-16, 1), Pair(0, 1), Pair(1, 1)));
}

TEST(Histogram, BothFormsHaveEveryObservation) {
  const HistogramCells cells({0.001, 0.01, 0.1, 1});
  Histogram histogram(cells);
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    const double value = std::pow(1.02, i) * 1e-6 - 1e-6;
    histogram.observe(value);
    sum += value;
  }
  const Histogram::Reading reading = histogram.read();
  std::uint64_t native = reading.native.zero;
  for (const auto& [number, count] : reading.native.buckets) native += count;
  EXPECT_EQ(reading.count(), 1000u);
  EXPECT_EQ(native, 1000u);
  EXPECT_EQ(reading.native.zero, 1u);
  EXPECT_DOUBLE_EQ(reading.sum, sum);
}

TEST(Histogram, BucketsGetWiderWhenThereAreTooMany) {
  const HistogramCells cells({1});
  Histogram histogram(cells);
  const auto observe_buckets = [&](int from, int to) {
    for (int number = from; number <= to; ++number)
      histogram.observe(std::exp2((number - 0.5) / 8));
  };
  observe_buckets(1, 160);
  EXPECT_EQ(histogram.read().native.schema, 3);
  EXPECT_EQ(histogram.read().native.buckets.size(), 160u);
  observe_buckets(-3, 0);
  const NativeBuckets wide = histogram.read().native;
  EXPECT_EQ(wide.schema, 2);
  ASSERT_EQ(wide.buckets.size(), 82u);
  EXPECT_THAT(wide.buckets[0], Pair(-1, 2));  // of -3 and -2
  EXPECT_THAT(wide.buckets[1], Pair(0, 2));   // of -1 and 0
  EXPECT_THAT(wide.buckets[2], Pair(1, 2));
  EXPECT_THAT(wide.buckets.back(), Pair(80, 2));
}

TEST(Histogram, PutsWhatIsNoNumberAboveAllBounds) {
  const HistogramCells cells({1});
  Histogram histogram(cells);
  histogram.observe(std::numeric_limits<double>::quiet_NaN());
  EXPECT_THAT(histogram.cumulative(), ElementsAre(0, 1));
}

TEST(Histogram, IsEmptyAgainAfterAReset) {
  const HistogramCells cells({1});
  Histogram histogram(cells);
  histogram.observe(0);
  histogram.observe(0.5);
  histogram.reset();
  const Histogram::Reading reading = histogram.read();
  EXPECT_EQ(reading.count(), 0u);
  EXPECT_EQ(reading.sum, 0);
  EXPECT_EQ(reading.native.zero, 0u);
  EXPECT_TRUE(reading.native.buckets.empty());
}

}  // namespace
}  // namespace berth::telemetry
