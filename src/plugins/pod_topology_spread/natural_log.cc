#include "plugins/pod_topology_spread/natural_log.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace berth::plugins {
namespace {

constexpr double bits(std::uint64_t pattern) { return std::bit_cast<double>(pattern); }

constexpr double kLn2High = bits(0x3FE62E42FEE00000);
constexpr double kLn2Low = bits(0x3DEA39EF35793C76);
constexpr double kSqrtHalf = bits(0x3FE6A09E667F3BCD);
// Of the polynomial that approximates what remains after the power of two is taken out.
constexpr double kOdd[] = {bits(0x3FE5555555555593), bits(0x3FD2492494229359),
                           bits(0x3FC7466496CB03DE), bits(0x3FC2F112DF3E5244)};
constexpr double kEven[] = {bits(0x3FD999999997FA04), bits(0x3FCC71C51D8E78AF),
                            bits(0x3FC39A09D078C69F)};

}  // namespace

double natural_log(double x) {
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < kSqrtHalf) {
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1;
  const double k = exponent;

  const double s = f / (2 + f);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double odd = s2 * (kOdd[0] + s4 * (kOdd[1] + s4 * (kOdd[2] + s4 * kOdd[3])));
  const double even = s4 * (kEven[0] + s4 * (kEven[1] + s4 * kEven[2]));
  const double half_square = 0.5 * f * f;
  return k * kLn2High - ((half_square - (s * (half_square + (odd + even)) + k * kLn2Low)) - f);
}

}  // namespace berth::plugins
