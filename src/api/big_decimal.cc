#include "api/big_decimal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/keyed_hash.h"

namespace berth {
namespace {

constexpr int kLimbDigits = 18;
constexpr std::int64_t kLimbBase = 1'000'000'000'000'000'000;
constexpr std::int64_t kLimbHalf = kLimbBase / 2;

constexpr auto kLimbPowers = [] {
  std::array<std::int64_t, kLimbDigits + 1> powers = {1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

std::int64_t limb_power(std::int64_t exponent) {
  return kLimbPowers[static_cast<std::size_t>(exponent)];
}

// Takes what one limb holds of `value`, between -kLimbHalf and kLimbHalf - 1, and leaves the rest.
std::int64_t take_limb(BigDecimal::Int128& value) {
  BigDecimal::Int128 limb = value % kLimbBase;
  value /= kLimbBase;
  if (limb >= kLimbHalf) {
    limb -= kLimbBase;
    ++value;
  } else if (limb < -kLimbHalf) {
    limb += kLimbBase;
    --value;
  }
  return static_cast<std::int64_t>(limb);
}

std::int64_t limb_of_digits(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits) value = value * 10 + (c - '0');
  return value;
}

// 10^exponent modulo 2^64.
std::uint64_t power_bits(std::int64_t exponent) {
  if (exponent >= 64) return 0;
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

std::string limbs_text(const std::vector<std::uint64_t>& limbs) {
  std::string text;
  text.reserve(limbs.size() * kLimbDigits);
  for (std::size_t i = limbs.size(); i-- > 0;)
    fmt::format_to(std::back_inserter(text), "{:018}", limbs[i]);
  text.erase(0, std::min(text.find_first_not_of('0'), text.size()));
  return text;
}

}  // namespace

BigDecimal::BigDecimal(Int128 value) { append(value, 0); }

BigDecimal BigDecimal::scaled(std::int64_t value, std::int64_t exponent) {
  BigDecimal number;
  number.append(Int128{value} * limb_power(exponent % kLimbDigits),
                static_cast<std::int32_t>(exponent / kLimbDigits));
  return number;
}

BigDecimal BigDecimal::parse(std::string_view digits, std::int64_t exponent) {
  BigDecimal number;
  number.limbs_.reserve(digits.size() / kLimbDigits + 2);
  auto index = static_cast<std::int32_t>(exponent / kLimbDigits);
  auto shift = static_cast<std::size_t>(exponent % kLimbDigits);
  Int128 carry = 0;
  while (!digits.empty()) {
    const std::size_t taken = std::min(digits.size(), kLimbDigits - shift);
    carry += Int128{limb_of_digits(digits.substr(digits.size() - taken))} *
             limb_power(static_cast<std::int64_t>(shift));
    digits.remove_suffix(taken);
    if (const std::int64_t limb = take_limb(carry)) number.limbs_.push_back({limb, index});
    shift = 0;
    ++index;
  }
  number.append(carry, index);
  return number;
}

// Above all limbs that there are.
void BigDecimal::append(Int128 value, std::int32_t index) {
  for (; value != 0; ++index)
    if (const std::int64_t limb = take_limb(value)) limbs_.push_back({limb, index});
}

// What is below a limb adds up to less than its unit, so the highest one decides.
int BigDecimal::sign() const {
  if (limbs_.empty()) return 0;
  return limbs_.back().value > 0 ? 1 : -1;
}

// Not limb by limb: -kLimbHalf is a limb, kLimbHalf is none.
void BigDecimal::negate() {
  const std::vector<Limb> limbs = std::exchange(limbs_, {});
  limbs_.reserve(limbs.size());
  Int128 carry = 0;
  std::int32_t index = 0;
  for (const Limb& limb : limbs) {
    if (carry != 0 && limb.index != index) append(std::exchange(carry, 0), index);
    carry -= limb.value;
    if (const std::int64_t value = take_limb(carry)) limbs_.push_back({value, limb.index});
    index = limb.index + 1;
  }
  append(carry, index);
}

BigDecimal& BigDecimal::operator+=(const BigDecimal& other) {
  constexpr std::size_t kFew = 4;
  if (&other == this) {
    add_all(BigDecimal(other));
  } else if (other.limbs_.size() > kFew) {
    add_all(other);
  } else {
    for (const Limb& limb : other.limbs_) add_limb(limb);
  }
  return *this;
}

void BigDecimal::add_limb(Limb limb) {
  auto place = std::ranges::lower_bound(limbs_, limb.index, {}, &Limb::index);
  while (limb.value != 0) {
    if (place == limbs_.end() || place->index != limb.index) {
      limbs_.insert(place, limb);
      return;
    }
    Int128 carry = Int128{place->value} + limb.value;
    place->value = take_limb(carry);
    limb = {static_cast<std::int64_t>(carry), limb.index + 1};
    place = place->value == 0 ? limbs_.erase(place) : std::next(place);
  }
}

void BigDecimal::add_all(const BigDecimal& other) {
  const std::vector<Limb> mine = std::exchange(limbs_, {});
  const std::vector<Limb>& theirs = other.limbs_;
  limbs_.reserve(std::max(mine.size(), theirs.size()) + 2);
  Int128 carry = 0;
  std::int32_t carry_index = 0;
  std::size_t i = 0, j = 0;
  while (i < mine.size() || j < theirs.size()) {
    std::int32_t index = i < mine.size() ? mine[i].index : theirs[j].index;
    if (j < theirs.size()) index = std::min(index, theirs[j].index);
    if (carry != 0 && carry_index != index) append(std::exchange(carry, 0), carry_index);
    if (i < mine.size() && mine[i].index == index) carry += mine[i++].value;
    if (j < theirs.size() && theirs[j].index == index) carry += theirs[j++].value;
    if (const std::int64_t value = take_limb(carry)) limbs_.push_back({value, index});
    carry_index = index + 1;
  }
  append(carry, carry_index);
}

std::strong_ordering operator<=>(const BigDecimal& a, const BigDecimal& b) {
  auto mine = a.limbs_.rbegin();
  auto theirs = b.limbs_.rbegin();
  for (; mine != a.limbs_.rend() && theirs != b.limbs_.rend(); ++mine, ++theirs) {
    if (*mine == *theirs) continue;
    if (mine->index > theirs->index) return mine->value <=> 0;
    if (mine->index < theirs->index) return 0 <=> theirs->value;
    return mine->value <=> theirs->value;
  }
  if (mine != a.limbs_.rend()) return mine->value <=> 0;
  if (theirs != b.limbs_.rend()) return 0 <=> theirs->value;
  return std::strong_ordering::equal;
}

BigDecimal::Quotient BigDecimal::divide(std::int64_t exponent) const {
  const std::int64_t first = exponent / kLimbDigits;
  auto limb = std::ranges::lower_bound(limbs_, first, {}, [](const Limb& l) { return l.index; });
  // What is below the first limb adds up to less than its unit.
  const std::int64_t below = limb == limbs_.begin() ? 0 : std::prev(limb)->value;
  Quotient quotient{.low_bits = 0, .exact = below == 0};
  bool borrow = below < 0;
  if (const std::int64_t rest = exponent % kLimbDigits; rest > 0) {
    if (limb != limbs_.end() && limb->index == first) {
      const std::int64_t divisor = limb_power(rest);
      std::int64_t part = limb->value / divisor;
      const std::int64_t left = limb->value % divisor;
      if (left < 0) --part;
      quotient.low_bits = static_cast<std::uint64_t>(part);
      if (left != 0) {
        borrow = false;
        quotient.exact = false;
      }
      ++limb;
    }
  }
  for (; limb != limbs_.end(); ++limb) {
    const std::int64_t power = std::int64_t{limb->index} * kLimbDigits - exponent;
    if (power >= 64) break;  // 2^64 divides what is left
    quotient.low_bits += static_cast<std::uint64_t>(limb->value) * power_bits(power);
  }
  if (borrow) --quotient.low_bits;
  return quotient;
}

std::int64_t BigDecimal::trailing_zeros() const {
  if (limbs_.empty()) return 0;
  std::int64_t zeros = std::int64_t{limbs_.front().index} * kLimbDigits;
  for (std::int64_t value = limbs_.front().value; value % 10 == 0; value /= 10) ++zeros;
  return zeros;
}

std::int64_t BigDecimal::length() const {
  return limbs_.empty() ? 0 : (std::int64_t{limbs_.back().index} + 1) * kLimbDigits;
}

std::pair<std::int64_t, std::int64_t> BigDecimal::leading() const {
  if (limbs_.empty()) return {0, 0};
  return {limbs_.back().value, std::int64_t{limbs_.back().index} * kLimbDigits};
}

// |number| from limb `first` on, with its zeros and without a sign.
std::vector<std::uint64_t> BigDecimal::dense_limbs(std::int32_t first) const {
  std::vector<std::uint64_t> dense;
  if (limbs_.empty()) return dense;
  const int direction = sign();
  dense.reserve(static_cast<std::size_t>(limbs_.back().index - first) + 1);
  auto limb = limbs_.begin();
  std::int64_t borrow = 0;
  for (std::int32_t index = first; limb != limbs_.end(); ++index) {
    std::int64_t value = borrow;
    if (limb->index == index) value += direction * (limb++)->value;
    borrow = value < 0 ? -1 : 0;
    dense.push_back(static_cast<std::uint64_t>(value < 0 ? value + kLimbBase : value));
  }
  return dense;
}

std::string BigDecimal::digits(std::int64_t exponent) const {
  const std::int64_t first = exponent / kLimbDigits;
  std::string text = limbs_text(dense_limbs(static_cast<std::int32_t>(first)));
  text.resize(text.size() -
              std::min<std::size_t>(text.size(), static_cast<std::size_t>(exponent % kLimbDigits)));
  return text;
}

std::pair<std::string, int> BigDecimal::binary_digits(std::int64_t exponent, int most) const {
  const std::string whole = digits(exponent);
  std::vector<std::uint64_t> limbs = parse(whole, 0).dense_limbs(0);
  int count = 0;
  for (; count < most; ++count) {
    std::vector<std::uint64_t> quotient(limbs.size());
    std::uint64_t rest = 0;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      const auto value = static_cast<UInt128>(rest) * kLimbBase + limbs[i];
      quotient[i] = static_cast<std::uint64_t>(value / 1024);
      rest = static_cast<std::uint64_t>(value % 1024);
    }
    if (rest != 0) break;
    limbs = std::move(quotient);
  }
  return {limbs_text(limbs), count};
}

std::size_t BigDecimal::hash() const {
  KeyedHash hash;
  for (const Limb& limb : limbs_) {
    hash.add(static_cast<std::uint64_t>(limb.value));
    hash.add(static_cast<std::uint64_t>(limb.index));
  }
  return hash.value();
}

}  // namespace berth
