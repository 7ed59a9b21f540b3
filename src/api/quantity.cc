#include "berth/resources.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "api/big_decimal.h"
#include "base/ascii.h"
#include "base/keyed_hash.h"

namespace berth {
namespace {

constexpr std::string_view kFormatWrong =
    "quantities must match the regular expression "
    "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kSuffixWrong = "unable to parse quantity's suffix";
constexpr std::string_view kNumberWrong = "unable to parse numeric part of quantity";

// A sum such as 1e999999999 + 1 is exact, but it is not written out: upstream would need hours and
// gigabytes for it.
constexpr std::int64_t kMostPrintedDigits = 4'000'000;
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
  BigDecimal::Int128 value = 0;
  for (const char c : text) {
    value = value * 10 + (c - '0');
    if (value > BigDecimal::Int128{kMax} + 1) return std::nullopt;
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

// Parity: upstream's scales are numbers of 32 bits, whose sums and differences wrap.
std::int32_t wrap_scale(std::int64_t scale) { return static_cast<std::int32_t>(scale); }

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

// Takes factors of ten out of `value`; gives back how many.
std::int64_t strip_zeros(std::int64_t& value) {
  std::int64_t count = 0;
  if (value == 0) return count;
  while (value % 10 == 0) {
    value /= 10;
    ++count;
  }
  return count;
}

}  // namespace

// Nothing smaller than a nano is kept, so a number is a count of nanos. Parity: upstream has an
// integer and a number of decimals; how many these are decides how its number overflows.
struct Quantity::Big {
  BigDecimal nanos;
  std::int64_t scale = 0;  // upstream's number of decimals

  // The low 64 bits of upstream's integer.
  std::int64_t low_bits() const {
    if (scale <= -kNano) return wrap(nanos.divide(-kNano - scale).low_bits);
    std::uint64_t bits = nanos.divide(0).low_bits;
    for (std::int64_t i = std::min<std::int64_t>(scale + kNano, 64); i > 0; --i) bits *= 10;
    return wrap(bits);
  }
  // Whether upstream's integer is below the largest one of 64 bits.
  bool below_max() const {
    if (scale <= -kNano) return nanos < BigDecimal::scaled(kMax, -kNano - scale);
    const std::optional<std::int64_t> factor = times_power_of_ten(1, scale + kNano);
    return nanos <= BigDecimal(factor ? (kMax - 1) / *factor : 0);
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

Quantity Quantity::of(std::int64_t value, Format format) {
  Quantity quantity;
  quantity.unscaled_ = value;
  quantity.format_ = format;
  return quantity;
}

Quantity Quantity::of_milli(std::int64_t value, Format format) {
  Quantity quantity = of(value, format);
  quantity.scale_ = -3;
  return quantity;
}

Result<Quantity> Quantity::parse(std::string_view text) {
  if (text.empty()) return invalid(kFormatWrong);
  const std::optional<Written> written = scan(text);
  if (!written) return invalid(kFormatWrong);
  const std::optional<Suffix> suffix = interpret(written->suffix);
  if (!suffix) return invalid(kSuffixWrong);

  // What fits is an integer and a scale. Parity: which numbers count as fitting decides how they
  // overflow later, so the limits are upstream's.
  const auto digits = static_cast<std::int64_t>(written->num.size() + written->denom.size());
  const bool decimal = suffix->base == 10;
  const std::int32_t scale =
      decimal ? wrap_scale(suffix->exponent - static_cast<std::int64_t>(written->denom.size())) : 0;
  const bool fits = decimal ? digits <= 18 && scale >= kNano
                            : written->denom.empty() && digits + suffix->exponent * 3 / 10 < 15;
  if (!fits) {
    if (!written->has_digits) return invalid(kNumberWrong);
    Quantity quantity = decimal ? parse_decimal(written->num, written->denom, suffix->exponent)
                                : parse_binary(written->num, written->denom, suffix->exponent);
    if (decimal) quantity.format_ = suffix->format;
    if (written->negative) quantity.big_->nanos.negate();
    return quantity;
  }
  std::int64_t value = 0;
  for (const std::string_view part : {written->num, written->denom})
    for (const char c : part) value = value * 10 + (c - '0');
  if (!decimal) value <<= suffix->exponent;

  Quantity quantity;
  quantity.unscaled_ = written->negative ? -value : value;
  quantity.scale_ = scale;
  quantity.format_ = suffix->format;
  return quantity;
}

// Parity: a number that is not zero is rounded up to whole nanos.
Quantity Quantity::parse_decimal(std::string_view num, std::string_view denom,
                                 std::int64_t exponent) {
  std::string digits = std::string(num) + std::string(denom);
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  Quantity quantity;
  quantity.big_ = std::make_unique<Big>();
  Big& number = *quantity.big_;
  number.scale = static_cast<std::int64_t>(denom.size()) - exponent;
  if (digits.empty()) return quantity;
  bool round_up = false;
  if (const std::int64_t below = number.scale + kNano; below > 0) {
    const std::size_t kept =
        digits.size() - std::min(digits.size(), static_cast<std::size_t>(below));
    round_up = digits.find_first_not_of('0', kept) != std::string::npos;
    digits.resize(kept);
    number.scale = -kNano;
  }
  number.nanos = BigDecimal::parse(digits, -kNano - number.scale);
  if (round_up) number.nanos += BigDecimal(1);
  number.scale = -kNano;
  return quantity;
}

// Parity: what is beyond 64 bits is as much as 64 bits hold; what is below one is written in
// decimals.
Quantity Quantity::parse_binary(std::string_view num, std::string_view denom, int exponent) {
  constexpr std::size_t kPart = 18;
  constexpr std::int64_t kPartBase = 1'000'000'000'000'000'000, kNanos = 1'000'000'000;
  Quantity quantity;
  quantity.format_ = Format::kBinarySI;
  quantity.big_ = std::make_unique<Big>();
  Big& number = *quantity.big_;
  const std::optional<std::int64_t> whole = parse_int64(num);
  if (!whole || *whole > kMax >> exponent) {
    number.nanos = BigDecimal::scaled(kMax, -kNano);
    return quantity;  // without decimals
  }
  // The decimals times 2^exponent, in parts of eighteen from the right: what is carried over the
  // point is whole.
  const auto part_at = [&](std::size_t start) {
    std::int64_t part = 0;
    for (std::size_t i = start; i < start + kPart; ++i)
      part = part * 10 + (i < denom.size() ? denom[i] - '0' : 0);
    return part;
  };
  BigDecimal::Int128 carry = 0;
  std::int64_t first = 0;  // the first eighteen decimals of the product
  bool more = false;       // there are others than zero after them
  for (std::size_t part = (denom.size() + kPart - 1) / kPart; part-- > 0;) {
    if (first != 0) more = true;
    carry += BigDecimal::Int128{part_at(part * kPart)} << exponent;
    first = static_cast<std::int64_t>(carry % kPartBase);
    carry /= kPartBase;
  }
  BigDecimal::Int128 nanos =
      ((BigDecimal::Int128{*whole} << exponent) + carry) * kNanos + first / kNanos;
  if (first % kNanos != 0 || more) ++nanos;
  number.scale = nanos == 0 ? static_cast<std::int64_t>(denom.size()) : -kNano;
  if (nanos > BigDecimal::Int128{kMax} * kNanos) {
    nanos = BigDecimal::Int128{kMax} * kNanos;
    number.scale = 0;
  }
  if (nanos > 0 && nanos < kNanos) quantity.format_ = Format::kDecimalSI;
  number.nanos = BigDecimal(nanos);
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

std::optional<Quantity::Decimal> Quantity::decimal() const {
  if (big_) return std::nullopt;
  return Decimal{unscaled_, scale_};
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
  if (!big_) {
    // Parity: a difference that wraps is negative, and nothing is multiplied.
    const std::int64_t multiplied = std::int64_t{scale_} - scale;
    return wrap_scale(multiplied) == multiplied ? scale_small(unscaled_, multiplied) : unscaled_;
  }
  const std::int64_t difference = big_->scale + scale;
  if (difference <= 0) {
    // Parity: the power passes through a double, which on amd64 becomes the smallest number when it
    // is too large.
    const std::int64_t factor = times_power_of_ten(1, -difference).value_or(kMin);
    return wrap(static_cast<std::uint64_t>(big_->low_bits()) * static_cast<std::uint64_t>(factor));
  }
  if (difference < 19 && big_->below_max()) {
    // Parity: the quotient is rounded towards zero and then goes up, so a negative one ends above
    // the exact number.
    const std::int64_t low = big_->low_bits();
    const std::int64_t divisor = *times_power_of_ten(1, difference);
    return low / divisor + (low % divisor != 0 ? 1 : 0);
  }
  const auto [whole, exact] = big_->nanos.divide(scale - kNano);
  return wrap(exact ? whole : whole + 1);
}

int Quantity::sign() const {
  if (big_) return big_->nanos.sign();
  return unscaled_ > 0 ? 1 : unscaled_ < 0 ? -1 : 0;
}

bool Quantity::is_zero() const { return sign() == 0; }

Quantity::Big Quantity::as_big() const {
  if (big_) return *big_;
  return {BigDecimal::scaled(unscaled_, std::int64_t{scale_} - kNano), -std::int64_t{scale_}};
}

std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  if (!a.big_ && !b.big_) {
    if (a.scale_ == b.scale_) return a.unscaled_ <=> b.unscaled_;
    const std::int64_t difference = std::int64_t{a.scale_} - b.scale_;
    if (std::abs(difference) <= 18) {
      BigDecimal::Int128 left = a.unscaled_, right = b.unscaled_;
      (difference > 0 ? left : right) *= *times_power_of_ten(1, std::abs(difference));
      return left < right   ? std::strong_ordering::less
             : left > right ? std::strong_ordering::greater
                            : std::strong_ordering::equal;
    }
  }
  if (a.sign() != b.sign() || a.sign() == 0) return a.sign() <=> b.sign();
  if (a.big_ && b.big_) return a.big_->nanos <=> b.big_->nanos;
  return a.as_big().nanos <=> b.as_big().nanos;
}

bool operator==(const Quantity& a, const Quantity& b) { return (a <=> b) == 0; }

std::size_t Quantity::hash() const {
  if (is_zero()) return 0;
  std::int64_t small = unscaled_;
  std::int64_t exponent = scale_;
  std::size_t rest = 0;
  if (big_) {
    const std::int64_t zeros = big_->nanos.trailing_zeros();
    exponent = zeros + kNano;
    small = wrap(big_->nanos.divide(zeros).low_bits);
    if (big_->nanos != BigDecimal::scaled(small, zeros)) rest = big_->nanos.hash();
  } else {
    exponent += strip_zeros(small);
  }
  KeyedHash hash;
  hash.add(static_cast<std::uint64_t>(small));
  hash.add(static_cast<std::uint64_t>(exponent));
  hash.add(rest);
  return hash.value();
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
  const auto mine = times_power_of_ten(unscaled_, wrap_scale(std::int64_t{scale_} - finest));
  const auto theirs = times_power_of_ten(unscaled, wrap_scale(std::int64_t{scale} - finest));
  std::int64_t sum;
  if (!mine || !theirs || __builtin_add_overflow(*mine, *theirs, &sum)) return false;
  unscaled_ = sum;
  scale_ = finest;
  return true;
}

void Quantity::add_big(const Big& addend) {
  if (!big_) big_ = std::make_unique<Big>(as_big());
  big_->nanos += addend.nanos;
  big_->scale = std::max(big_->scale, addend.scale);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  if (!big_ && !other.big_ && add_small(other.unscaled_, other.scale_)) return *this;
  add_big(other.big_ ? *other.big_ : other.as_big());
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) {
  if (is_zero()) format_ = other.format_;
  if (!big_ && !other.big_ && other.unscaled_ != kMin && add_small(-other.unscaled_, other.scale_))
    return *this;
  Big negated = other.as_big();
  negated.nanos.negate();
  add_big(negated);
  return *this;
}

// ---- printing ---------------------------------------------------------------------------------

std::string Quantity::to_string() const {
  if (is_zero()) return "0";
  const BigDecimal nanos = as_big().nanos;
  const std::int64_t zeros = nanos.trailing_zeros();
  const std::int64_t exponent = zeros + kNano;
  // The largest multiple of three that leaves a whole number; without an exponent of its own, at
  // most what there is a suffix for (upstream drops the suffix instead, and with it the exponent).
  std::int64_t shown = exponent - ((exponent % 3) + 3) % 3;
  if (format_ != Format::kDecimalExponent)
    shown = std::min<std::int64_t>(shown, kLargestDecimalExponent);
  if (nanos.length() + kNano - shown > kMostPrintedDigits) {
    const auto [digits, power] = nanos.leading();
    return std::to_string(digits) + "e" + std::to_string(power + kNano);
  }
  std::string text = nanos.sign() < 0 ? "-" : "";

  // Below 1Ki, and where it would lose something, the binary form gives way.
  if (format_ == Format::kBinarySI && exponent >= 0) {
    const auto [digits, suffix] = nanos.binary_digits(-kNano, kLargestBinarySuffix);
    if (suffix > 0 || digits.size() > 4 || (digits.size() == 4 && digits >= "1024"))
      return text + digits + std::string(kBinarySuffixes[suffix]);
  }
  text += nanos.digits(zeros);
  text.append(static_cast<std::size_t>(exponent - shown), '0');
  if (format_ != Format::kDecimalExponent) return text + std::string(decimal_suffix(shown));
  return shown == 0 ? text : text + "e" + std::to_string(shown);
}

}  // namespace berth
