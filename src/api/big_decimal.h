// BigDecimal: a whole number of any size, exact, whose cost follows the digits that were written.
//
// Limbs in base 10^18; those that are zero are left out. Each is between -10^18/2 and 10^18/2, so
// that neither a carry nor a borrow runs through the zeros between two limbs:
//
//   10^2000000000 - 1   =   { limb 111111111: 100 }, { limb 0: -1 }
//
// A number has one form. Parsing, sums and comparisons take linear time, and nothing is multiplied.
// For Quantity, whose text may come from anybody.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

class BigDecimal {
 public:
  __extension__ using Int128 = __int128;
  __extension__ using UInt128 = unsigned __int128;

  BigDecimal() = default;  // zero
  explicit BigDecimal(Int128 value);
  // `value` * 10^`exponent`; the exponent is not negative.
  static BigDecimal scaled(std::int64_t value, std::int64_t exponent);
  // The number written as `digits`, times 10^`exponent`; the exponent is not negative.
  static BigDecimal parse(std::string_view digits, std::int64_t exponent);

  int sign() const;  // -1, 0, 1
  void negate();
  BigDecimal& operator+=(const BigDecimal& other);

  friend std::strong_ordering operator<=>(const BigDecimal& a, const BigDecimal& b);
  friend bool operator==(const BigDecimal& a, const BigDecimal& b) = default;

  // The number divided by 10^`exponent`, rounded down: the low 64 bits of that.
  struct Quotient {
    std::uint64_t low_bits = 0;
    bool exact = false;  // nothing was left
  };
  Quotient divide(std::int64_t exponent) const;

  // How often ten divides the number; 0 for zero.
  std::int64_t trailing_zeros() const;
  // How many digits it has, give or take eighteen.
  std::int64_t length() const;
  // |number| / 10^`exponent`, which must leave nothing, in digits.
  std::string digits(std::int64_t exponent) const;
  // |number| / 10^`exponent` / 1024^n for the largest n up to `most` that leaves nothing, in
  // digits, and that n.
  std::pair<std::string, int> binary_digits(std::int64_t exponent, int most) const;
  // The number's leading digits and the power of ten that they are times.
  std::pair<std::int64_t, std::int64_t> leading() const;

  std::size_t hash() const;

 private:
  struct Limb {
    std::int64_t value = 0;
    std::int32_t index = 0;  // times (10^18)^index

    friend bool operator==(const Limb&, const Limb&) = default;
  };

  void append(Int128 value, std::int32_t index);
  void add_limb(Limb limb);
  void add_all(const BigDecimal& other);
  std::vector<std::uint64_t> dense_limbs(std::int32_t first) const;

  std::vector<Limb> limbs_;  // by index, the lowest first; none is zero
};

}  // namespace berth
