#include "api/quantity.h"

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "base/ascii.h"

namespace berth {
namespace {

using Integer = boost::multiprecision::cpp_int;
__extension__ using Int128 = __int128;

constexpr std::string_view kFormatWrong =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffixWrong = "unable to parse quantity's suffix";
constexpr std::string_view kNumberWrong = "unable to parse numeric part of quantity";

// A cluster's amounts have two dozen digits at most. Beyond this limit a few bytes of manifest
// ("1e999999999") would cost gigabytes when they are added up, so such text is refused.
constexpr std::int64_t kMostDigits = 10'000;
constexpr std::int32_t kNano = -9;  // nothing smaller is kept
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::unexpected<Error> invalid(std::string_view message) {
  return fail(ErrorKind::kInvalid, std::string(message));
}

// ---- text -------------------------------------------------------------------------------------

// Takes the longest beginning of `rest` whose characters satisfy `belongs`.
template <typename Belongs>
std::string_view take_while(std::string_view& rest, Belongs belongs) {
  std::size_t length = 0;
  while (length < rest.size() && belongs(rest[length])) ++length;
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(length);
  return taken;
}

void skip_sign(std::string_view& rest) {
  if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) rest.remove_prefix(1);
}

struct Written {
  bool negative = false;
  bool has_digits = false;
  std::string_view num;    // before the point, without leading zeros; "0" if nothing is left
  std::string_view denom;  // after the point
  std::string_view suffix;
};

std::optional<Written> scan(std::string_view text) {
  Written written;
  std::string_view rest = text;
  written.negative = rest.front() == '-';
  skip_sign(rest);
  const std::string_view zeros = take_while(rest, [](char c) { return c == '0'; });
  written.num = take_while(rest, is_digit);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    written.denom = take_while(rest, is_digit);
  }
  written.has_digits = !zeros.empty() || !written.num.empty() || !written.denom.empty();
  if (written.num.empty()) written.num = "0";  // Parity: also without any digit ("m", "+")

  written.suffix = rest;
  take_while(rest, [](char c) { return std::string_view("eEinumkKMGTP").contains(c); });
  skip_sign(rest);
  take_while(rest, is_digit);
  if (!rest.empty()) return std::nullopt;
  return written;
}

struct Suffix {
  int base = 10;
  std::int32_t exponent = 0;
  Quantity::Format format = Quantity::Format::kDecimalSI;
};

constexpr std::string_view kDecimalSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
constexpr std::string_view kBinarySuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr int kLargestDecimalExponent = 18;
constexpr int kLargestBinarySuffix = 6;

std::string_view decimal_suffix(std::int64_t exponent) {
  return kDecimalSuffixes[static_cast<std::size_t>((exponent - kNano) / 3)];
}

// A number as Go's ParseInt reads it: digits with an optional sign, in the range of 64 bits.
std::optional<std::int64_t> parse_int64(std::string_view text) {
  const bool negative = text.starts_with('-');
  skip_sign(text);
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  Int128 value = 0;
  for (const char c : text) {
    value = value * 10 + (c - '0');
    if (value > Int128{kMax} + 1) return std::nullopt;
  }
  if (negative) value = -value;
  if (value > kMax) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<Suffix> interpret(std::string_view text) {
  for (std::int32_t i = 0; const std::string_view suffix : kDecimalSuffixes) {
    if (text == suffix) return Suffix{10, kNano + 3 * i, Quantity::Format::kDecimalSI};
    ++i;
  }
  for (std::int32_t i = 0; const std::string_view suffix : kBinarySuffixes) {
    if (text == suffix) return Suffix{2, 10 * i, Quantity::Format::kBinarySI};
    ++i;
  }
  if (!text.starts_with('e') && !text.starts_with('E')) return std::nullopt;
  const std::optional<std::int64_t> exponent = parse_int64(text.substr(1));
  if (!exponent) return std::nullopt;
  // Parity: the exponent loses its upper half; 1e4294967296 is 1.
  return Suffix{10, static_cast<std::int32_t>(*exponent), Quantity::Format::kDecimalExponent};
}

// ---- numbers ----------------------------------------------------------------------------------

Integer power_of_ten(std::int64_t exponent) {
  return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(exponent));
}

std::optional<std::int64_t> multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<std::int64_t> times_power_of_ten(std::int64_t value, std::int64_t exponent) {
  if (value == 0) return 0;
  if (exponent > 18) return std::nullopt;
  std::int64_t factor = 1;
  for (; exponent > 0; --exponent) factor *= 10;
  return multiply(value, factor);
}

std::int64_t wrap(std::uint64_t bits) { return static_cast<std::int64_t>(bits); }

// The low 64 bits of |value|, with its sign.
std::int64_t low_bits(const Integer& value) {
  const auto low =
      static_cast<std::uint64_t>(abs(value) & std::numeric_limits<std::uint64_t>::max());
  return wrap(value < 0 ? 0 - low : low);
}

// Takes factors of ten out of `value`; gives back how many.
template <typename Number>
std::int64_t strip_zeros(Number& value) {
  std::int64_t count = 0;
  if (value == 0) return count;
  while (value % 10 == 0) {
    value /= 10;
    ++count;
  }
  return count;
}

std::size_t mix(std::size_t seed, std::size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ULL + (seed << 12) + (seed >> 4);
  return seed * 0xff51afd7ed558ccdULL;
}

}  // namespace

// unscaled * 10^-scale
struct Quantity::Big {
  Integer unscaled;
  std::int64_t scale = 0;

  void rescale(std::int64_t wanted) {  // to more decimals
    if (wanted > scale) unscaled *= power_of_ten(wanted - scale);
    scale = std::max(scale, wanted);
  }
};

Quantity::Quantity(const Quantity& other)
    : unscaled_(other.unscaled_),
      scale_(other.scale_),
      format_(other.format_),
      big_(other.big_ ? std::make_unique<Big>(*other.big_) : nullptr) {}
Quantity::Quantity(Quantity&& other) noexcept = default;
Quantity& Quantity::operator=(Quantity other) noexcept {
  unscaled_ = other.unscaled_;
  scale_ = other.scale_;
  format_ = other.format_;
  big_ = std::move(other.big_);
  return *this;
}
Quantity::Quantity() = default;
Quantity::~Quantity() = default;

Quantity Quantity::of(std::int64_t value) {
  Quantity quantity;
  quantity.unscaled_ = value;
  return quantity;
}

Quantity Quantity::of_milli(std::int64_t value) {
  Quantity quantity = of(value);
  quantity.scale_ = -3;
  return quantity;
}

Result<Quantity> Quantity::parse(std::string_view text) {
  if (text.empty()) return invalid(kFormatWrong);
  const std::optional<Written> written = scan(text);
  if (!written) return invalid(kFormatWrong);
  const std::optional<Suffix> suffix = interpret(written->suffix);
  if (!suffix) return invalid(kSuffixWrong);
  const auto digits = static_cast<std::int64_t>(written->num.size() + written->denom.size());
  if (digits > kMostDigits || suffix->exponent > kMostDigits) return invalid(kNumberWrong);

  // What fits is an integer and a scale. Parity: which numbers count as fitting decides how they
  // overflow later, so the limits are upstream's.
  const bool decimal = suffix->base == 10;
  const std::int64_t scale =
      decimal ? suffix->exponent - static_cast<std::int64_t>(written->denom.size()) : 0;
  const bool fits = decimal ? digits <= 18 && scale >= kNano
                            : written->denom.empty() && digits + suffix->exponent * 3 / 10 < 15;
  if (!fits) {
    if (!written->has_digits) return invalid(kNumberWrong);
    Result<Quantity> big =
        parse_big(written->num, written->denom, suffix->base, suffix->exponent, suffix->format);
    if (written->negative) big->big_->unscaled = -big->big_->unscaled;
    return big;
  }
  std::int64_t value = 0;
  for (const std::string_view part : {written->num, written->denom})
    for (const char c : part) value = value * 10 + (c - '0');
  if (!decimal) value <<= suffix->exponent;

  Quantity quantity;
  quantity.unscaled_ = written->negative ? -value : value;
  quantity.scale_ = static_cast<std::int32_t>(scale);
  quantity.format_ = suffix->format;
  return quantity;
}

Result<Quantity> Quantity::parse_big(std::string_view num, std::string_view denom, int base,
                                     std::int64_t exponent, Format format) {
  std::string digits = std::string(num) + std::string(denom);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  Big number;
  number.scale = static_cast<std::int64_t>(denom.size());
  if (base == 10) number.scale -= exponent;
  if (digits.empty()) {
    number.scale = std::min(number.scale, kMostDigits);
  } else if (number.scale > 2 * kMostDigits) {
    number = {1, -kNano};  // far below a nano, which is what it is rounded up to
  } else {
    number.unscaled = Integer(digits);
    if (base == 2) number.unscaled <<= static_cast<unsigned>(exponent);
    if (number.scale > -kNano) {
      Integer rest;
      const Integer divisor = power_of_ten(number.scale + kNano);
      divide_qr(Integer(number.unscaled), divisor, number.unscaled, rest);
      if (rest != 0) ++number.unscaled;
      number.scale = -kNano;
    }
    number.rescale(-kNano);
  }
  if (format == Format::kBinarySI) {
    const Integer one = power_of_ten(number.scale);
    if (number.unscaled > one * kMax) number = {kMax, 0};
    if (number.unscaled > 0 && number.unscaled < one) format = Format::kDecimalSI;
  }
  Quantity quantity;
  quantity.format_ = format;
  quantity.big_ = std::make_unique<Big>(std::move(number));
  return quantity;
}

// ---- reading ----------------------------------------------------------------------------------

std::int64_t Quantity::value() const { return scaled(0); }
std::int64_t Quantity::milli_value() const { return scaled(-3); }

// Parity: factors of ten are not looked for, and a number that did not fit once stays one.
std::optional<std::int64_t> Quantity::as_int64() const {
  if (big_ || scale_ < 0) return std::nullopt;
  return times_power_of_ten(unscaled_, scale_);
}

namespace {

std::int64_t scale_small(std::int64_t value, std::int64_t difference) {
  if (difference == 0 || value == 0) return value;
  if (difference < 0) {
    // Parity: away from zero, also below it.
    if (difference < -18) return value > 0 ? 1 : -1;
    const std::int64_t divisor = *times_power_of_ten(1, -difference);
    const std::int64_t quotient = value / divisor;
    if (value % divisor == 0) return quotient;
    return value > 0 ? quotient + 1 : quotient - 1;
  }
  if (const std::optional<std::int64_t> product = times_power_of_ten(value, difference))
    return *product;
  // Parity: an overflow wraps for the differences that upstream has a shortcut for, else gives 0.
  const bool shortcut = difference <= 3 || difference == 6 || difference == 9;
  if (!shortcut || value == kMin) return 0;
  const std::int64_t factor = *times_power_of_ten(1, difference);
  return wrap(static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(factor));
}

}  // namespace

std::int64_t Quantity::scaled(int scale) const {
  if (!big_) return scale_small(unscaled_, std::int64_t{scale_} - scale);
  const std::int64_t difference = big_->scale + scale;
  if (difference <= 0) {
    // Parity: the power passes through a double, which on amd64 becomes the smallest number when it
    // is too large.
    const std::int64_t factor = times_power_of_ten(1, -difference).value_or(kMin);
    return wrap(static_cast<std::uint64_t>(low_bits(big_->unscaled)) *
                static_cast<std::uint64_t>(factor));
  }
  if (big_->unscaled < kMax && difference < 19) {
    // Parity: the quotient is rounded towards zero and then goes up, so a negative one ends above
    // the exact number.
    const std::int64_t low = low_bits(big_->unscaled);
    const std::int64_t divisor = *times_power_of_ten(1, difference);
    return low / divisor + (low % divisor != 0 ? 1 : 0);
  }
  Integer quotient, rest;
  divide_qr(big_->unscaled, power_of_ten(difference), quotient, rest);
  if (rest < 0) --quotient;  // a remainder is never negative
  const auto whole = static_cast<std::uint64_t>(low_bits(quotient));
  return wrap(rest == 0 ? whole : whole + 1);
}

int Quantity::sign() const {
  if (big_) return big_->unscaled.sign();
  return unscaled_ > 0 ? 1 : unscaled_ < 0 ? -1 : 0;
}

bool Quantity::is_zero() const { return sign() == 0; }

Quantity::Big Quantity::as_big() const {
  return big_ ? *big_ : Big{unscaled_, -std::int64_t{scale_}};
}

std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  if (!a.big_ && !b.big_) {
    if (a.scale_ == b.scale_) return a.unscaled_ <=> b.unscaled_;
    const int difference = a.scale_ - b.scale_;
    if (std::abs(difference) <= 18) {
      Int128 left = a.unscaled_, right = b.unscaled_;
      (difference > 0 ? left : right) *= *times_power_of_ten(1, std::abs(difference));
      return left < right   ? std::strong_ordering::less
             : left > right ? std::strong_ordering::greater
                            : std::strong_ordering::equal;
    }
  }
  if (a.sign() != b.sign() || a.sign() == 0) return a.sign() <=> b.sign();
  Quantity::Big left = a.as_big(), right = b.as_big();
  left.rescale(right.scale);
  right.rescale(left.scale);
  return left.unscaled.compare(right.unscaled) <=> 0;
}

bool operator==(const Quantity& a, const Quantity& b) { return (a <=> b) == 0; }

std::size_t Quantity::hash() const {
  if (is_zero()) return 0;
  std::int64_t small = unscaled_;
  std::int64_t exponent = scale_;
  std::size_t rest = 0;
  if (big_) {
    Integer value = big_->unscaled;
    exponent = strip_zeros(value) - big_->scale;
    small = low_bits(value);
    if (value < kMin || value > kMax) rest = boost::multiprecision::hash_value(value);
  } else {
    exponent += strip_zeros(small);
  }
  return mix(mix(static_cast<std::size_t>(small), static_cast<std::size_t>(exponent)), rest);
}

// ---- sums -------------------------------------------------------------------------------------

bool Quantity::add_small(std::int64_t unscaled, std::int32_t scale) {
  if (unscaled == 0) return true;
  if (unscaled_ == 0) {
    unscaled_ = unscaled;
    scale_ = scale;
    return true;
  }
  const std::int32_t finest = std::min(scale_, scale);
  const auto mine = times_power_of_ten(unscaled_, scale_ - finest);
  const auto theirs = times_power_of_ten(unscaled, scale - finest);
  std::int64_t sum;
  if (!mine || !theirs || __builtin_add_overflow(*mine, *theirs, &sum)) return false;
  unscaled_ = sum;
  scale_ = finest;
  return true;
}

void Quantity::add_big(Big addend) {
  if (!big_) big_ = std::make_unique<Big>(as_big());
  big_->rescale(addend.scale);
  addend.rescale(big_->scale);
  big_->unscaled += addend.unscaled;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  if (!big_ && !other.big_ && add_small(other.unscaled_, other.scale_)) return *this;
  add_big(other.as_big());
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  if (!big_ && !other.big_ && other.unscaled_ != kMin && add_small(-other.unscaled_, other.scale_))
    return *this;
  Big negated = other.as_big();
  negated.unscaled = -negated.unscaled;
  add_big(std::move(negated));
  return *this;
}

// ---- printing ---------------------------------------------------------------------------------

std::string Quantity::to_string() const {
  if (is_zero()) return "0";
  Big number = as_big();
  std::int64_t exponent = strip_zeros(number.unscaled) - number.scale;

  // Below 1Ki, and where it would lose something, the binary form gives way.
  if (format_ == Format::kBinarySI && exponent >= 0) {
    const Integer whole = number.unscaled * power_of_ten(exponent);
    if (abs(whole) >= 1024) {
      Integer rest = whole;
      std::size_t suffix = 0;
      for (; rest % 1024 == 0 && suffix < kLargestBinarySuffix; ++suffix) rest /= 1024;
      return rest.str() + std::string(kBinarySuffixes[suffix]);
    }
  }
  // The largest multiple of three that leaves a whole number; without an exponent of its own, at
  // most what there is a suffix for (upstream drops the suffix instead, and with it the exponent).
  std::int64_t shown = exponent - ((exponent % 3) + 3) % 3;
  if (format_ != Format::kDecimalExponent)
    shown = std::min<std::int64_t>(shown, kLargestDecimalExponent);
  number.unscaled *= power_of_ten(exponent - shown);
  std::string text = number.unscaled.str();
  if (format_ != Format::kDecimalExponent) return text + std::string(decimal_suffix(shown));
  return shown == 0 ? text : text + "e" + std::to_string(shown);
}

}  // namespace berth
