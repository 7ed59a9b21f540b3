#include "cluster/placed_pods.h"

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/check.h"

namespace berth {
namespace {

// Changed in place; what it is found by never changes.
struct Slot {
  mutable PlacedPods::Entry entry;
};
static_assert(sizeof(Slot) == 16);

struct SlotHash {
  using is_transparent = void;
  std::size_t operator()(const Uid& uid) const noexcept { return std::hash<Uid>{}(uid); }
  std::size_t operator()(const Slot& slot) const noexcept { return (*this)(slot.entry.pod->uid()); }
};

struct SlotEqual {
  using is_transparent = void;
  bool operator()(const Slot& a, const Slot& b) const {
    return a.entry.pod->uid() == b.entry.pod->uid();
  }
  bool operator()(const Slot& slot, const Uid& uid) const { return slot.entry.pod->uid() == uid; }
  bool operator()(const Uid& uid, const Slot& slot) const { return slot.entry.pod->uid() == uid; }
};

}  // namespace

struct PlacedPods::Index {
  boost::unordered_flat_set<Slot, SlotHash, SlotEqual> slots;
};

PlacedPods::PlacedPods() : index_(std::make_unique<Index>()) {}
PlacedPods::~PlacedPods() = default;

const PlacedPods::Entry* PlacedPods::find(const Uid& uid) const {
  const auto found = index_->slots.find(uid);
  return found == index_->slots.end() ? nullptr : &found->entry;
}

void PlacedPods::insert(const Entry& entry) {
  const bool is_new = index_->slots.insert(Slot{entry}).second;
  BERTH_CHECK(is_new);
  assumed_ += entry.assumed;
}

void PlacedPods::erase(const Uid& uid) {
  const auto found = index_->slots.find(uid);
  BERTH_CHECK(found != index_->slots.end());
  assumed_ -= found->entry.assumed;
  index_->slots.erase(found);
}

void PlacedPods::replace(const Entry& entry) {
  const auto found = index_->slots.find(entry.pod->uid());
  BERTH_CHECK(found != index_->slots.end());
  assumed_ -= found->entry.assumed;
  assumed_ += entry.assumed;
  found->entry = entry;
}

void PlacedPods::moved(const Uid& uid, std::uint32_t position) {
  const auto found = index_->slots.find(uid);
  BERTH_CHECK(found != index_->slots.end());
  found->entry.position = position & 0x7fffffffU;
}

std::size_t PlacedPods::size() const { return index_->slots.size(); }

void PlacedPods::for_each(const std::function<void(const Entry&)>& visit) const {
  for (const Slot& slot : index_->slots) visit(slot.entry);
}

}  // namespace berth
