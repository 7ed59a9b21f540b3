#include "cluster/seen_pods.h"

#include <boost/unordered/unordered_flat_set.hpp>

namespace berth {
namespace {

struct FullName {
  std::string_view namespace_name;
  std::string_view name;
};

// A pod is found by texts that it has itself: a pointer is all that is kept.
struct Slot {
  mutable Ref<const Pod> pod;
  FullName full_name() const { return {pod->namespace_name(), pod->name()}; }
};

struct SlotHash {
  using is_transparent = void;
  std::size_t operator()(const FullName& full) const noexcept {
    const std::hash<std::string_view> hash;
    return hash(full.name) ^ (hash(full.namespace_name) * 0x9e3779b97f4a7c15ULL);
  }
  std::size_t operator()(const Slot& slot) const noexcept { return (*this)(slot.full_name()); }
};

struct SlotEqual {
  using is_transparent = void;
  static bool equal(const FullName& a, const FullName& b) {
    return a.name == b.name && a.namespace_name == b.namespace_name;
  }
  bool operator()(const Slot& a, const Slot& b) const {
    return equal(a.full_name(), b.full_name());
  }
  bool operator()(const Slot& a, const FullName& b) const { return equal(a.full_name(), b); }
  bool operator()(const FullName& a, const Slot& b) const { return equal(a, b.full_name()); }
};

}  // namespace

struct SeenPods::Index {
  boost::unordered_flat_set<Slot, SlotHash, SlotEqual> slots;
};

SeenPods::SeenPods() : index_(std::make_unique<Index>()) {}
SeenPods::~SeenPods() = default;

void SeenPods::put(Ref<const Pod> pod) {
  const auto found = index_->slots.find(FullName{pod->namespace_name(), pod->name()});
  if (found == index_->slots.end())
    index_->slots.insert(Slot{std::move(pod)});
  else
    found->pod = std::move(pod);
}

void SeenPods::remove(const Pod& pod) {
  const auto found = index_->slots.find(FullName{pod.namespace_name(), pod.name()});
  if (found != index_->slots.end() && found->pod->uid() == pod.uid()) index_->slots.erase(found);
}

Ref<const Pod> SeenPods::find(std::string_view namespace_name, std::string_view name) const {
  const auto found = index_->slots.find(FullName{namespace_name, name});
  return found == index_->slots.end() ? Ref<const Pod>() : found->pod;
}

std::size_t SeenPods::size() const { return index_->slots.size(); }

void SeenPods::for_each(const std::function<void(const Ref<const Pod>&)>& visit) const {
  for (const Slot& slot : index_->slots) visit(slot.pod);
}

}  // namespace berth
