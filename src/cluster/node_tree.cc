#include "cluster/node_tree.h"

#include <algorithm>

#include "api/names.h"

namespace berth {

ZoneKey zone_key(const LabelSet& labels) {
  // Parity: the beta label wins whenever it is present, also with an empty value.
  const auto get = [&labels](Symbol beta, Symbol stable) {
    const Symbol* value = labels.find(beta);
    return value ? *value : labels.get(stable);
  };
  return {get(names::kBetaRegion, names::kRegion), get(names::kBetaZone, names::kZone)};
}

void NodeTree::set(NodeRow row, ZoneKey key) {
  if (row >= places_.size()) places_.resize(row + 1);
  Place& place = places_[row];
  if (place.present && place.key == key) return;
  erase(row);
  const auto [found, is_new] = index_.try_emplace(key, zones_.size());
  if (is_new) zones_.push_back({key, {}});
  zones_[found->second].rows.push_back(row);
  place = {true, key};
  ++size_;
}

void NodeTree::erase(NodeRow row) {
  if (row >= places_.size() || !places_[row].present) return;
  const auto found = index_.find(places_[row].key);
  const std::size_t number = found->second;
  std::vector<NodeRow>& rows = zones_[number].rows;
  rows.erase(std::find(rows.begin(), rows.end(), row));
  places_[row].present = false;
  --size_;
  if (!rows.empty()) return;
  // A zone that comes back later is a new one, at the end.
  index_.erase(found);
  zones_.erase(zones_.begin() + static_cast<std::ptrdiff_t>(number));
  for (std::size_t i = number; i < zones_.size(); ++i) index_[zones_[i].key] = i;
}

void NodeTree::list(std::vector<NodeRow>& rows) const {
  rows.clear();
  rows.reserve(size_);
  // Zones that still have a node for this round, in zone order.
  std::vector<const Zone*> turns;
  turns.reserve(zones_.size());
  for (const Zone& zone : zones_) turns.push_back(&zone);
  for (std::size_t round = 0; !turns.empty(); ++round) {
    std::erase_if(turns, [round](const Zone* zone) { return round >= zone->rows.size(); });
    for (const Zone* zone : turns) rows.push_back(zone->rows[round]);
  }
}

}  // namespace berth
