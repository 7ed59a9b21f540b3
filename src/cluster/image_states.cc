#include "cluster/image_states.h"

#include <algorithm>

namespace berth {

ImageStates::Ids ImageStates::add(const Node& node) {
  Ids added;
  for (const ContainerImage& image : node.images)
    for (const Symbol name : image.names) {
      const auto [found, is_new] = ids_.try_emplace(name, 0);
      if (is_new) {
        if (unused_.empty()) {
          unused_.push_back(static_cast<std::uint32_t>(entries_.size()));
          entries_.emplace_back();
        }
        found->second = unused_.back();
        unused_.pop_back();
        // Parity: later reporters' sizes do not count.
        entries_[found->second] = {name, image.size_bytes, 0};
      }
      added.push_back(found->second);
    }
  // A name that the node lists twice is one holder.
  std::ranges::sort(added, {}, [this](std::uint32_t id) { return entries_[id].name; });
  added.erase(std::unique(added.begin(), added.end()), added.end());
  added.shrink_to_fit();
  for (const std::uint32_t id : added) ++entries_[id].node_count;
  if (!added.empty()) ++generation_;
  return added;
}

void ImageStates::remove(const Ids& ids) {
  for (const std::uint32_t id : ids) {
    ImageState& entry = entries_[id];
    if (--entry.node_count > 0) continue;
    ids_.erase(entry.name);
    entry = {};
    unused_.push_back(id);
  }
  if (!ids.empty()) ++generation_;
}

bool ImageStates::freeze(const Ids& ids, std::vector<ImageState>& frozen) const {
  const auto same = [this](std::uint32_t id, const ImageState& was) { return entries_[id] == was; };
  if (std::equal(ids.begin(), ids.end(), frozen.begin(), frozen.end(), same)) return false;
  frozen.clear();
  frozen.reserve(ids.size());
  for (const std::uint32_t id : ids) frozen.push_back(entries_[id]);
  return true;
}

}  // namespace berth
