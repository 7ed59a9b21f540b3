#include "config/feature_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "berth/labels.h"
#include "config/go_values.h"
#include "config/known_gates.h"

namespace berth::config {
namespace {

constexpr std::string_view kAllAlpha = "AllAlpha";
constexpr std::string_view kAllBeta = "AllBeta";

const Gate* find_gate(std::string_view name) {
  const std::span<const Gate> gates = known_gates();
  const auto found = std::ranges::lower_bound(gates, name, {}, &Gate::name);
  return found != gates.end() && found->name == name ? &*found : nullptr;
}

struct Assignment {
  std::string_view component;  // empty when not written
  std::string_view text;       // "A=true"
};

std::vector<Assignment> split(std::string_view flag_value) {
  std::vector<Assignment> assignments;
  while (!flag_value.empty()) {
    const std::size_t comma = flag_value.find(',');
    const std::string_view pair = flag_value.substr(0, comma);
    flag_value = comma == std::string_view::npos ? "" : flag_value.substr(comma + 1);
    if (pair.empty()) continue;
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) {
      assignments.push_back({"", trimmed(pair)});
    } else {
      assignments.push_back({trimmed(pair.substr(0, colon)), trimmed(pair.substr(colon + 1))});
    }
  }
  return assignments;
}

}  // namespace

void FeatureGates::emulate(MinorVersion version, MinorVersion min_compatibility) {
  version_ = std::move(version);
  min_compatibility_ = std::move(min_compatibility);
}

std::optional<Gate> FeatureGates::find(std::string_view name) const {
  const Gate* const found = find_gate(name);
  if (!found) return std::nullopt;
  Gate gate = *found;
  for (const PastGate& past :
       std::ranges::equal_range(past_gates(), name, std::ranges::less(), &PastGate::name)) {
    if (version_.minor > past.until) continue;
    gate.enabled_by_default = past.enabled_by_default;
    gate.stage = past.stage;
    gate.locked = false;
    return gate;
  }
  if (gate.on_from_compatibility > 0 && min_compatibility_.minor >= gate.on_from_compatibility)
    gate.enabled_by_default = true;
  return gate;
}

Result<void> FeatureGates::set(std::string_view flag_value) {
  const std::vector<Assignment> assignments = split(flag_value);
  for (const Assignment& assignment : assignments) {
    if (assignment.component.empty()) bare_names_ = true;
    if (assignment.component == "kube") prefixed_names_ = true;
  }
  if (bare_names_ && prefixed_names_) {
    return fail(ErrorKind::kInvalid,
                "set kube feature gates with default empty prefix or kube: prefix consistently, do "
                "not mix use");
  }
  std::map<std::string, bool, std::less<>> wanted;
  for (const Assignment& assignment : assignments) {
    if (!assignment.component.empty() && assignment.component != "kube") {
      return fail(ErrorKind::kInvalid,
                  fmt::format("component not registered: {}", assignment.component));
    }
    if (assignment.text.empty()) continue;
    const std::size_t equals = assignment.text.find('=');
    const std::string_view name = trimmed(assignment.text.substr(0, equals));
    if (equals == std::string_view::npos) {
      return fail(ErrorKind::kInvalid, fmt::format("missing bool value for {}", name));
    }
    const std::string_view value = trimmed(assignment.text.substr(equals + 1));
    const Result<bool> on = parse_bool(value);
    if (!on) {
      return fail(ErrorKind::kInvalid,
                  fmt::format("invalid value of {}={}, err: {}", name, value, on.error().message));
    }
    wanted.insert_or_assign(std::string(name), *on);
  }
  for (const auto& [name, on] : wanted) {
    if (!find_gate(name)) {
      return fail(ErrorKind::kInvalid, fmt::format("unrecognized feature gate: {}", name));
    }
  }
  std::vector<std::string> refusals;
  for (const auto& [name, on] : wanted) {
    const Gate gate = *find(name);
    if (gate.locked && gate.enabled_by_default != on) {
      refusals.push_back(fmt::format("cannot set feature gate {} to {}, feature is locked to {}",
                                     name, on, gate.enabled_by_default));
    } else if (gate.stage == Gate::Stage::kPreAlpha) {
      refusals.push_back(fmt::format(
          "cannot set feature gate {} to {}, feature is PreAlpha at emulated version {}, min "
          "compatibility version {}",
          name, on, version_.text, min_compatibility_.text));
    }
  }
  if (!refusals.empty()) return fail(aggregate(refusals));
  for (const auto& [name, on] : wanted) set_.insert_or_assign(name, on);
  return {};
}

Result<void> FeatureGates::validate() const {
  std::vector<std::string> complaints;
  const std::span<const GateNeed> needs = gate_needs();
  for (std::size_t i = 0; i < needs.size();) {
    const std::string_view gate = needs[i].gate;
    std::vector<std::string_view> missing;
    for (; i < needs.size() && needs[i].gate == gate; ++i) {
      if (!enabled(needs[i].needs)) missing.push_back(needs[i].needs);
    }
    if (!missing.empty() && enabled(gate)) {
      complaints.push_back(
          fmt::format("{} is enabled, but depends on features that are disabled: [{}]", gate,
                      fmt::join(missing, " ")));
    }
  }
  if (complaints.empty()) return {};
  return fail(aggregate(complaints));
}

std::vector<std::string_view> FeatureGates::without_effect() const {
  std::vector<std::string_view> names;
  for (const Gate& gate : known_gates())
    if (gate.use == Gate::Use::kNotBuilt && enabled(gate.name)) names.push_back(gate.name);
  return names;
}

bool FeatureGates::enabled(std::string_view name) const {
  if (const auto found = set_.find(name); found != set_.end()) return found->second;
  const std::optional<Gate> gate = find(name);
  if (!gate) return false;
  // Neither of the two switches the other.
  if (name != kAllAlpha && name != kAllBeta) {
    const bool alpha = gate->stage == Gate::Stage::kAlpha;
    const bool beta = gate->stage == Gate::Stage::kBeta;
    if (const auto all = set_.find(kAllAlpha); alpha && all != set_.end()) return all->second;
    if (const auto all = set_.find(kAllBeta); beta && all != set_.end()) return all->second;
  }
  return gate->enabled_by_default;
}

}  // namespace berth::config
