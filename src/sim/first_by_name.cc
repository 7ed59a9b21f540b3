#include "sim/first_by_name.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "berth/plugin.h"
#include "berth/views.h"
#include "framework/group_plugins.h"

namespace berth::sim {
namespace {

constexpr std::int64_t kDigit = kMaxScore + 1;

// The place of each node in the order of names.
using Places = std::map<std::string, std::int64_t, std::less<>>;

class PlaceDigit final : public PerNodeScore, public PlacementScorePlugin, public SignPlugin {
 public:
  PlaceDigit(std::string name, std::int64_t unit, std::shared_ptr<const Places> places)
      : name_(std::move(name)), unit_(unit), places_(std::move(places)) {}

  std::string_view name() const override { return name_; }
  Dependence dependence() const override { return Dependence::kRow; }
  Score score_node(const Cycle& cycle, NodeRow row) const override {
    return score_of(cycle.nodes().name_text(row));
  }
  // Parity: digit by digit, as the oracle does.
  Score score_placement(const TriedPlacement& placement, const Cluster& cluster) const override {
    Score best = kMinScore;
    placement.nodes.for_each(
        [&](NodeRow row) { best = std::max(best, score_of(cluster.nodes().name_text(row))); });
    return best;
  }
  bool normalizes() const override { return false; }
  std::optional<std::vector<EventRegistration>> events_to_register() const override {
    return std::vector<EventRegistration>();
  }
  Outcome sign(const Pod&, std::vector<SignatureFragment>&) const override { return {}; }

 private:
  Score score_of(std::string_view node) const {
    const auto found = places_->find(node);
    const std::int64_t place = found == places_->end() ? kDigit * kDigit - 1 : found->second;
    return kMaxScore - place / unit_ % kDigit;
  }

  std::string name_;
  std::int64_t unit_;
  std::shared_ptr<const Places> places_;
};

struct Digit {
  std::string_view name;
  std::int64_t unit;
};
constexpr Digit kDigits[] = {{"FirstByNameHigh", kDigit}, {"FirstByNameLow", 1}};

Result<void> add_digits(PluginTable& table, const std::shared_ptr<const Places>& places) {
  for (const Digit& digit : kDigits) {
    PluginEntry entry;
    entry.name = digit.name;
    entry.create = [places, digit](const config::PluginArgs&,
                                   const Handle&) -> Result<std::unique_ptr<Plugin>> {
      return std::make_unique<PlaceDigit>(std::string(digit.name), digit.unit, places);
    };
    if (Result<void> added = table.add(std::move(entry)); !added) return added;
  }
  return {};
}

}  // namespace

Result<void> take_first_by_name(std::vector<std::string> nodes, PluginTable& table,
                                config::Configuration& configuration) {
  using config::ExtensionPoint;
  std::ranges::sort(nodes);
  auto places = std::make_shared<Places>();
  for (std::string& node : nodes)
    places->emplace(std::move(node), static_cast<std::int64_t>(places->size()));
  for (config::Profile& profile : configuration.profiles) {
    for (const ExtensionPoint point :
         {ExtensionPoint::kMultiPoint, ExtensionPoint::kScore, ExtensionPoint::kPlacementScore})
      for (config::PluginRef& plugin : profile.plugins.at(point).enabled) {
        // One that is not built stays as it is: it is left out where it stands by default.
        const PluginEntry* const known = table.find(plugin.name);
        if (known && known->create)
          plugin.weight = std::max(plugin.weight, 1) * static_cast<std::int32_t>(kDigit * kDigit);
      }
    // In Score, too, for profiles in which multiPoint is not expanded there.
    for (const ExtensionPoint point : {ExtensionPoint::kMultiPoint, ExtensionPoint::kScore})
      for (const Digit& digit : kDigits)
        profile.plugins.at(point).enabled.push_back(
            {std::string(digit.name), static_cast<std::int32_t>(digit.unit)});
  }
  return add_digits(table, places);
}

}  // namespace berth::sim
