// Quantity: resource.Quantity, exact to the bit.
//
// A number written as Kubernetes writes amounts ("500m", "1.5Gi", "1e3"). Sums and comparisons are
// exact; value() and milli_value() round up, and overflow the way upstream's do, because decisions
// depend on it.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth {

class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity();  // zero
  Quantity(const Quantity& other);
  Quantity(Quantity&& other) noexcept;
  Quantity& operator=(Quantity other) noexcept;
  ~Quantity();

  static Result<Quantity> parse(std::string_view text);
  static Quantity of(std::int64_t value);        // `value` whole units
  static Quantity of_milli(std::int64_t value);  // `value` thousandths

  // Rounded up to whole units, or to thousandths.
  std::int64_t value() const;
  std::int64_t milli_value() const;
  // The number as upstream's AsInt64 gives it: what is written with a fraction ("1.0", "1000m") is
  // none, nor is what neither 64 bits nor its own form hold ("1.5Gi").
  std::optional<std::int64_t> as_int64() const;
  bool is_zero() const;
  int sign() const;  // -1, 0, 1

  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);

  // By number; the way it is written does not count.
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b);

  // The canonical form, as an API server prints it.
  std::string to_string() const;

  // Equal quantities have equal hashes.
  std::size_t hash() const;

 private:
  struct Big;  // numbers that do not fit: of any size, with a number of decimals

  static Quantity parse_decimal(std::string_view num, std::string_view denom,
                                std::int64_t exponent);
  static Quantity parse_binary(std::string_view num, std::string_view denom, int exponent);
  Big as_big() const;
  bool add_small(std::int64_t unscaled, std::int32_t scale);
  void add_big(const Big& addend);
  std::int64_t scaled(int scale) const;

  std::int64_t unscaled_ = 0;  // the number is unscaled_ * 10^scale_, unless big_ is set
  std::int32_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  std::unique_ptr<Big> big_;
};

}  // namespace berth
