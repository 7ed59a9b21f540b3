#include "cel/cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cel/library/named_formats.h"
#include "cel/numbers.h"

namespace berth::cel {

namespace {

constexpr double kPerRune = 0.1;
constexpr double kPerPatternRune = 0.25;
constexpr std::uint64_t kNewList = 10;

struct Named {
  std::string_view name;
  CostRule rule;
};

// By overload, before everything else.
constexpr std::array<Named, 9> kTracked = {{
    {"list_slice", CostRule::kListResult},
    {"list_flatten", CostRule::kFlatten},
    {"list_flatten_int", CostRule::kFlatten},
    {"lists_range", CostRule::kListResult},
    {"list_reverse", CostRule::kListResult},
    {"list_distinct", CostRule::kSelfCompare},
    {"list_sets_contains_list", CostRule::kSets},
    {"list_sets_intersects_list", CostRule::kSets},
    {"list_sets_equivalent_list", CostRule::kSetsBothWays},
}};

// By function.
constexpr std::array<Named, 30> kFunctions = {{
    {"_==_", CostRule::kEquals},
    {"isSorted", CostRule::kTraversal},
    {"sum", CostRule::kTraversal},
    {"max", CostRule::kTraversal},
    {"min", CostRule::kTraversal},
    {"indexOf", CostRule::kTraversal},
    {"lastIndexOf", CostRule::kTraversal},
    {"includes", CostRule::kTraversal},
    {"url", CostRule::kFirst},
    {"lowerAscii", CostRule::kFirst},
    {"upperAscii", CostRule::kFirst},
    {"substring", CostRule::kFirst},
    {"trim", CostRule::kFirst},
    {"replace", CostRule::kFirstTwice},
    {"split", CostRule::kFirstTwice},
    {"join", CostRule::kResultTwice},
    {"find", CostRule::kRegex},
    {"findAll", CostRule::kRegex},
    {"cidr", CostRule::kFirst},
    {"isIP", CostRule::kFirst},
    {"isCIDR", CostRule::kFirst},
    {"ip.isCanonical", CostRule::kFirstTwice},
    {"quantity", CostRule::kFirst},
    {"isQuantity", CostRule::kFirst},
    {"semver", CostRule::kFirst},
    {"isSemver", CostRule::kFirst},
    {"containsIP", CostRule::kContainsIp},
    {"containsCIDR", CostRule::kContainsCidr},
    {"validate", CostRule::kValidate},
    {"check", CostRule::kAuthorization},
}};

// By overload, what is left.
constexpr std::array<Named, 22> kOverloads = {{
    {"starts_with_string", CostRule::kSecond},
    {"ends_with_string", CostRule::kSecond},
    {"string_to_bytes", CostRule::kFirst},
    {"bytes_to_string", CostRule::kFirst},
    {"strings_quote", CostRule::kFirst},
    {"string_format", CostRule::kFirst},
    {"in_list", CostRule::kListSize},
    {"less_string", CostRule::kShorter},
    {"greater_string", CostRule::kShorter},
    {"less_equals_string", CostRule::kShorter},
    {"greater_equals_string", CostRule::kShorter},
    {"less_bytes", CostRule::kShorter},
    {"greater_bytes", CostRule::kShorter},
    {"less_equals_bytes", CostRule::kShorter},
    {"greater_equals_bytes", CostRule::kShorter},
    {"equals", CostRule::kShorter},
    {"not_equals", CostRule::kShorter},
    {"add_string", CostRule::kBoth},
    {"add_bytes", CostRule::kBoth},
    {"matches", CostRule::kRegex},
    {"matches_string", CostRule::kRegex},
    {"contains_string", CostRule::kProduct},
}};

template <std::size_t N>
const CostRule* find(const std::array<Named, N>& table, std::string_view name) {
  for (const Named& each : table) {
    if (each.name == name) return &each.rule;
  }
  return nullptr;
}

std::uint64_t whole(double cost) { return static_cast<std::uint64_t>(std::ceil(cost)); }

std::uint64_t size_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kString: return count_runes(value.as_string());
    case Kind::kBytes: return value.as_bytes().size();
    case Kind::kList: return value.as_list().size();
    case Kind::kMap: return value.as_map().size();
    case Kind::kIp: return value.as_ip().v6 ? 16 : 4;
    case Kind::kCidr: return static_cast<std::uint64_t>(value.as_cidr().bits + 7) / 8;
    case Kind::kOptional:
      return value.as_optional().value ? size_of(*value.as_optional().value) : 1;
    default: return 1;
  }
}

double size(const Value& value) { return static_cast<double>(size_of(value)); }

// All levels of a list or map. Ends early past what any evaluation may cost.
std::uint64_t traversal(const Value& value, std::uint64_t& visits) {
  if (++visits > 10'000'000) return 0;
  switch (value.kind()) {
    case Kind::kString:
      return static_cast<std::uint64_t>(static_cast<double>(value.as_string().size()) * kPerRune);
    case Kind::kBytes:
      return static_cast<std::uint64_t>(static_cast<double>(value.as_bytes().size()) * kPerRune);
    case Kind::kList: {
      std::uint64_t cost = 0;
      const List& list = value.as_list();
      for (std::size_t i = 0; i < list.size(); ++i) cost += traversal(list[i], visits);
      return cost;
    }
    case Kind::kMap: {
      std::uint64_t cost = 0;
      for (const Map::Entry& entry : value.as_map().entries()) {
        cost += traversal(entry.key, visits) + traversal(entry.value, visits);
      }
      return cost;
    }
    default: return 1;
  }
}

constexpr std::uint64_t kBytesPerPart = 16;

// How many parts a value has, on all levels: a list that contains another one twice counts it
// twice, because comparing or printing it visits it twice. Ends early at `most`.
void count_parts(const Value& value, std::uint64_t most, std::uint64_t& count) {
  if (count >= most) return;
  ++count;
  switch (value.kind()) {
    case Kind::kString: count += value.as_string().size() / kBytesPerPart; break;
    case Kind::kBytes: count += value.as_bytes().size() / kBytesPerPart; break;
    case Kind::kOptional:
      if (value.as_optional().value) count_parts(*value.as_optional().value, most, count);
      break;
    case Kind::kList: {
      const List& list = value.as_list();
      if (list.size() >= most) count = most;
      for (std::size_t i = 0; count < most && i < list.size(); ++i)
        count_parts(list[i], most, count);
      break;
    }
    case Kind::kMap:
      for (const Map::Entry& entry : value.as_map().entries()) {
        count_parts(entry.key, most, count);
        count_parts(entry.value, most, count);
        if (count >= most) break;
      }
      break;
    default: break;
  }
  count = std::min(count, most);
}

std::uint64_t self_compare(const Value& list) {
  if (!list.is(Kind::kList)) return 1;
  const std::uint64_t count = list.as_list().size();
  double factor = 2.0;
  if (count > 0) {
    const Kind first = list.as_list()[0].kind();
    if (first == Kind::kString || first == Kind::kBytes) factor += kPerRune;
  }
  return static_cast<std::uint64_t>(static_cast<double>(count * count) * factor) + 1 + kNewList;
}

std::uint64_t sets(std::span<const Value> args, double factor) {
  return 1 + static_cast<std::uint64_t>(static_cast<double>(size_of(args[0]) * size_of(args[1])) *
                                        factor);
}

bool is_of_kubernetes(const Value& value) {
  switch (value.kind()) {
    case Kind::kQuantity:
    case Kind::kSemver:
    case Kind::kIp:
    case Kind::kCidr:
    case Kind::kUrl:
    case Kind::kFormat: return true;
    default: return false;
  }
}

std::uint64_t shorter(std::span<const Value> args) {
  return whole(static_cast<double>(std::min(size_of(args[0]), size_of(args[1]))) * kPerRune);
}

// An address with a range: as many octets as the range has, twice; a text has to be read too.
std::uint64_t contains_address(std::span<const Value> args, bool range, bool text) {
  const auto octets = size(args[0]);
  std::uint64_t cost = whole((octets + octets) * kPerRune);
  if (range) cost += whole(octets * kPerRune) + 1;
  if (text) cost += whole(size(args[1]) * kPerRune);
  return cost;
}

std::uint64_t regex(double text, double pattern) {
  return whole((1.0 + text) * kPerRune) * whole(pattern * kPerPatternRune);
}

}  // namespace

CostRule cost_rule(std::string_view function, std::string_view overload) {
  if (!overload.empty()) {
    if (const CostRule* rule = find(kTracked, overload)) return *rule;
    if (function == "sort") return CostRule::kSelfCompare;
    if (function == "@sortByAssociatedKeys") return CostRule::kSelfCompareKeys;
    if (overload == "cidr_contains_ip_string") return CostRule::kContainsIpText;
    if (overload == "cidr_contains_cidr_string") return CostRule::kContainsCidrText;
  }
  if (function == "ip") return overload == "cidr_ip" ? CostRule::kOne : CostRule::kFirst;
  if (const CostRule* rule = find(kFunctions, function)) return *rule;
  if (const CostRule* rule = find(kOverloads, overload)) return *rule;
  return CostRule::kOne;
}

std::uint64_t call_cost(CostRule rule, std::span<const Value> args, const Value& result) {
  switch (rule) {
    case CostRule::kOne: return 1;
    case CostRule::kEquals: return is_of_kubernetes(args[0]) ? 1 : shorter(args);
    case CostRule::kShorter: return shorter(args);
    case CostRule::kBoth:
      return whole(static_cast<double>(size_of(args[0]) + size_of(args[1])) * kPerRune);
    case CostRule::kProduct:
      return whole(size(args[0]) * kPerRune) * whole(size(args[1]) * kPerRune);
    case CostRule::kFirst: return whole(size(args[0]) * kPerRune);
    case CostRule::kSecond: return whole(size(args[1]) * kPerRune);
    case CostRule::kFirstTwice: return whole(size(args[0]) * 2 * kPerRune);
    case CostRule::kResultTwice: return whole(size(result) * 2 * kPerRune);
    case CostRule::kRegex: return regex(size(args[0]), size(args[1]));
    case CostRule::kTraversal: {
      std::uint64_t visits = 0;
      return traversal(args[0], visits);
    }
    case CostRule::kListSize: return size_of(args[1]);
    case CostRule::kListResult: return size_of(result) + 1 + kNewList;
    case CostRule::kFlatten: {
      const double depth =
          args.size() == 2 && args[1].is(Kind::kInt) ? static_cast<double>(args[1].as_int()) : 1.0;
      const double cost = std::clamp(size(args[0]) * depth, 0.0, 1e18);
      return static_cast<std::uint64_t>(cost) + 1 + kNewList;
    }
    case CostRule::kSelfCompare: return self_compare(args[0]);
    case CostRule::kSelfCompareKeys: return self_compare(args[1]);
    case CostRule::kSets: return sets(args, 1);
    case CostRule::kSetsBothWays: return sets(args, 2);
    case CostRule::kContainsIp: return contains_address(args, false, false);
    case CostRule::kContainsIpText: return contains_address(args, false, true);
    case CostRule::kContainsCidr: return contains_address(args, true, false);
    case CostRule::kContainsCidrText: return contains_address(args, true, true);
    case CostRule::kValidate:
      if (!args[0].is(Kind::kFormat)) return 1;
      return regex(size(args[1]), args[0].as_format().pattern_size);
    case CostRule::kAuthorization: return 350'000;
  }
  return 1;
}

std::string cannot_count(CostRule rule, std::span<const Value> args) {
  const std::size_t list = rule == CostRule::kSelfCompareKeys ? 1 : 0;
  if ((rule == CostRule::kSelfCompare || rule == CostRule::kSelfCompareKeys) &&
      args[list].is_error()) {
    return "internal error: interface conversion: *types.Err is not traits.Lister: missing method "
           "Add";
  }
  if (rule == CostRule::kFlatten && args.size() == 2 && args[1].is_error()) {
    return "internal error: interface conversion: ref.Val is *types.Err, not types.Int";
  }
  return {};
}

std::uint64_t call_work(CostRule rule, std::span<const Value> args, std::uint64_t most) {
  std::uint64_t sum = 0, product = 1;
  for (const Value& arg : args) {
    std::uint64_t steps = 0;
    count_parts(arg, most, steps);
    sum = std::min(sum + steps, most);
    product = std::min(product * (steps + 1), most);  // both are below 2^32
  }
  switch (rule) {
    case CostRule::kSelfCompare:
    case CostRule::kSelfCompareKeys: return std::min(sum * sum, most);
    case CostRule::kRegex:  // a pattern's program may be much longer than the pattern
    case CostRule::kSets:
    case CostRule::kSetsBothWays: return product;
    default: return sum;
  }
}

std::uint64_t text_work(std::span<const Value> args) {
  std::uint64_t steps = 0;
  for (const Value& arg : args) {
    if (arg.is(Kind::kString)) steps += arg.as_string().size() / kBytesPerPart;
    if (arg.is(Kind::kBytes)) steps += arg.as_bytes().size() / kBytesPerPart;
  }
  return steps;
}

Value operation_interrupted() { return Value::fatal("operation interrupted"); }

Value cost_limit_exceeded() {
  return Value::fatal("operation cancelled: actual cost limit exceeded");
}

Value CostTracker::push(std::int64_t id, Value value) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= latest_.size()) latest_.resize(index + 1, kNowhere);
  const auto place = static_cast<std::int64_t>(stack_.size());
  stack_.push_back({id, std::exchange(latest_[index], place), value});
  if (value.is_fatal()) return value;
  if (cost_ > limit_) return cost_limit_exceeded();
  if (!work(1)) return operation_interrupted();
  return value;
}

void CostTracker::cut(std::int64_t size) {
  while (static_cast<std::int64_t>(stack_.size()) > size) {
    latest_[static_cast<std::size_t>(stack_.back().id)] = stack_.back().before;
    stack_.pop_back();
  }
}

void CostTracker::drop(std::int64_t id) {
  if (const std::int64_t at = latest(id); at != kNowhere) cut(at);
}

bool CostTracker::take(std::span<const std::int64_t> ids, std::vector<Value>& values) {
  values.resize(ids.size());
  for (std::size_t n = ids.size(); n-- > 0;) {
    const std::int64_t at = latest(ids[n]);
    if (at == kNowhere) return false;
    values[n] = std::move(stack_[static_cast<std::size_t>(at)].value);
    cut(at);
  }
  return true;
}

}  // namespace berth::cel
