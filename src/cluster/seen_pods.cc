#include "cluster/seen_pods.h"

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/keyed_hash.h"

namespace berth {
namespace {

struct FullName {
  Symbol namespace_name;
  std::string_view name;
};

FullName full_name_of(const Pod& pod) { return {pod.meta().namespace_name, pod.name()}; }

// A pod is found by what it has itself: a pointer is all that is kept.
struct SeenSlot {
  mutable Ref<const Pod> pod;
  FullName full_name() const { return full_name_of(*pod); }
};

struct SeenSlotHash {
  using is_transparent = void;
  std::size_t operator()(const FullName& full) const noexcept {
    return hash_text(full.name) ^ std::hash<Symbol>()(full.namespace_name);
  }
  std::size_t operator()(const SeenSlot& slot) const noexcept { return (*this)(slot.full_name()); }
};

struct SeenSlotEqual {
  using is_transparent = void;
  static bool equal(const FullName& a, const FullName& b) {
    return a.namespace_name == b.namespace_name && a.name == b.name;
  }
  bool operator()(const SeenSlot& a, const SeenSlot& b) const {
    return equal(a.full_name(), b.full_name());
  }
  bool operator()(const SeenSlot& a, const FullName& b) const { return equal(a.full_name(), b); }
  bool operator()(const FullName& a, const SeenSlot& b) const { return equal(a, b.full_name()); }
};

}  // namespace

struct SeenPods::Index {
  boost::unordered_flat_set<SeenSlot, SeenSlotHash, SeenSlotEqual> slots;
};

SeenPods::SeenPods() : index_(std::make_unique<Index>()) {}
SeenPods::~SeenPods() = default;

void SeenPods::put(Ref<const Pod> pod) {
  const auto found = index_->slots.find(full_name_of(*pod));
  if (found == index_->slots.end())
    index_->slots.insert(SeenSlot{std::move(pod)});
  else
    found->pod = std::move(pod);
}

void SeenPods::remove(const Pod& pod) {
  const auto found = index_->slots.find(full_name_of(pod));
  if (found != index_->slots.end() && found->pod->uid() == pod.uid()) index_->slots.erase(found);
}

Ref<const Pod> SeenPods::find(Symbol namespace_name, std::string_view name) const {
  const auto found = index_->slots.find(FullName{namespace_name, name});
  return found == index_->slots.end() ? Ref<const Pod>() : found->pod;
}

std::size_t SeenPods::size() const { return index_->slots.size(); }

void SeenPods::for_each(const std::function<void(const Ref<const Pod>&)>& visit) const {
  for (const SeenSlot& slot : index_->slots) visit(slot.pod);
}

}  // namespace berth
