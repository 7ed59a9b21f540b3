// Amounts of resources: one amount (Quantity), amounts as an object lists them (ResourceList), and
// as the scheduler counts them (Resources).
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "berth/symbols.h"

namespace berth {

// resource.Quantity, exact to the bit.
//
// A number written as Kubernetes writes amounts ("500m", "1.5Gi", "1e3"). Sums and comparisons are
// exact; value() and milli_value() round up, and overflow the way upstream's do, because decisions
// depend on it.
class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity();  // zero
  Quantity(const Quantity& other);
  Quantity(Quantity&& other) noexcept;
  Quantity& operator=(Quantity other) noexcept;
  ~Quantity();

  static Result<Quantity> parse(std::string_view text);
  // `value` whole units, or thousandths.
  static Quantity of(std::int64_t value, Format format = Format::kDecimalSI);
  static Quantity of_milli(std::int64_t value, Format format = Format::kDecimalSI);

  // Rounded up to whole units, or to thousandths.
  std::int64_t value() const;
  std::int64_t milli_value() const;
  // Upstream's AsInt64: nullopt if the text has a fraction ("1.0", "1000m") or the value does not
  // fit 64 bits in its own format ("1.5Gi").
  std::optional<std::int64_t> as_int64() const;
  // The number as upstream's holds it, unscaled * 10^scale; nullopt if it is too large for that.
  struct Decimal {
    std::int64_t unscaled = 0;
    std::int32_t scale = 0;
    friend bool operator==(const Decimal&, const Decimal&) = default;
  };
  std::optional<Decimal> decimal() const;
  bool is_zero() const;
  int sign() const;  // -1, 0, 1
  Format format() const { return format_; }

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

class Pod;
struct PodSpec;

struct ResourceAmount {
  Symbol name;
  Quantity amount;

  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

// Sorted by name (by number); a name is there at most once.
class ResourceList {
 public:
  ResourceList() = default;
  explicit ResourceList(std::vector<ResourceAmount> amounts);

  const Quantity* find(Symbol name) const;
  void set(Symbol name, Quantity amount);
  void add(const ResourceList& other);           // sums, name by name
  void raise_to(const ResourceList& other);      // maximum, name by name
  void fill_from(const ResourceList& defaults);  // takes names that are missing here

  bool empty() const { return amounts_.empty(); }
  std::size_t size() const { return amounts_.size(); }
  auto begin() const { return amounts_.begin(); }
  auto end() const { return amounts_.end(); }

  friend bool operator==(const ResourceList&, const ResourceList&) = default;

 private:
  std::vector<ResourceAmount> amounts_;
};

struct ScalarAmount {
  Symbol name;
  std::int64_t amount = 0;

  friend bool operator==(const ScalarAmount&, const ScalarAmount&) = default;
};

// The scheduler's vector (plugins.md §3.2). Scalars are extended resources, hugepages and the like,
// sorted by name; a scalar that is named with amount 0 is there.
struct Resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral_storage = 0;
  std::int64_t pods = 0;  // of a node: how many it takes
  std::vector<ScalarAmount> scalars;

  std::int64_t scalar(Symbol name) const;  // 0 when absent
  bool has_scalar(Symbol name) const;

  friend bool operator==(const Resources&, const Resources&) = default;
};

bool is_scalar_resource(std::string_view name);
bool is_extended_resource(std::string_view name);

// As they are, negative ones too (a node's allocatable).
Resources to_resources(const ResourceList& list, const Symbols& symbols);
// With negatives as zero (an incoming pod's requests).
Resources to_request(const ResourceList& list, const Symbols& symbols);

// Which parts of a pod count towards its requests (plugins.md §3.1).
struct RequestOptions {
  bool use_status = false;                 // resources in the status of a pod that is being resized
  bool pod_level = true;                   // spec.resources
  bool pod_level_status = false;           // status.resources and status.allocatedResources
  const ResourceList* defaults = nullptr;  // for containers that do not name a resource
  bool overhead = true;                    // spec.overhead
};

ResourceList pod_requests(const PodSpec& spec, const RequestOptions& options);
ResourceList pod_requests(const Pod& pod, const RequestOptions& options);

// What a pod takes from the node it is on: real requests, and the pair with upstream's defaults for
// containers that request nothing, which scoring looks at.
struct PodUsage {
  Resources requests;
  std::int64_t nonzero_milli_cpu = 0;
  std::int64_t nonzero_memory = 0;
};
PodUsage pod_usage(const PodSpec& spec, const Symbols& symbols);
PodUsage pod_usage(const Pod& pod);  // of a pod whose status has resources

inline constexpr std::int64_t kDefaultMilliCpuRequest = 100;
inline constexpr std::int64_t kDefaultMemoryRequest = 200LL * 1024 * 1024;

}  // namespace berth
