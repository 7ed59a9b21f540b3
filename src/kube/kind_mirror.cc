#include "kube/kind_mirror.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/keyed_hash.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth::kube {
namespace {

using Type = WatchedEvent::Type;

struct FullName {
  std::string_view namespace_name;
  std::string_view name;

  friend bool operator==(const FullName&, const FullName&) = default;
  friend auto operator<=>(const FullName&, const FullName&) = default;
};

FullName full_name(const Pod& pod) { return {pod.namespace_name(), pod.name()}; }
FullName full_name(const Object& object) {
  return {object.symbols.text(object.namespace_name), object.name};
}
std::string_view version_of(const Pod& pod) { return pod.resource_version(); }
std::string_view version_of(const Object& object) { return object.resource_version; }
bool same_uid(const Pod& a, const Pod& b) { return a.uid() == b.uid(); }
bool same_uid(const Object& a, const Object& b) { return a.uid == b.uid; }
bool has_uid(const Pod& pod, std::string_view uid) { return pod.uid() == Uid::of(uid); }
bool has_uid(const Object& object, std::string_view uid) { return object.uid == uid; }

// Whether all that we hold of two pods of one name and UID is the same. Equal specs and metas are one
// object (berth/interner.h).
bool same_extra(const PodExtra& a, const PodExtra& b) {
  return a.conditions == b.conditions && a.container_resources == b.container_resources &&
         a.pod_resources == b.pod_resources &&
         a.resource_claim_statuses == b.resource_claim_statuses &&
         a.extended_resource_claim_status == b.extended_resource_claim_status;
}
bool same_content(const Pod& a, const Pod& b) {
  return a.spec_ref() == b.spec_ref() && a.meta_ref() == b.meta_ref() && a.node() == b.node() &&
         a.nominated_node() == b.nominated_node() && a.phase() == b.phase() &&
         a.scheduled_condition() == b.scheduled_condition() && a.generation() == b.generation() &&
         a.creation_time() == b.creation_time() && a.start_time() == b.start_time() &&
         a.deletion_time() == b.deletion_time() && !a.extra() == !b.extra() &&
         (!a.extra() || same_extra(*a.extra(), *b.extra()));
}
bool same_content(const Node& a, const Node& b) {
  return a.generation == b.generation && a.labels == b.labels && a.annotations == b.annotations &&
         a.taints == b.taints && a.unschedulable == b.unschedulable && a.capacity == b.capacity &&
         a.allocatable == b.allocatable && a.images == b.images && a.conditions == b.conditions &&
         a.declared_features == b.declared_features &&
         a.pod_preemption_policy == b.pod_preemption_policy;
}
// Objects of other kinds are few: nobody compares them.
bool same_content(const Object& a, const Object& b) {
  return a.kind == ObjectKind::kNode && b.kind == ObjectKind::kNode &&
         same_content(static_cast<const Node&>(a), static_cast<const Node&>(b));
}

// An object is found by texts that it has itself: a pointer is all that is kept.
template <typename T>
struct Slot {
  mutable Ref<const T> object;
};

struct SlotHash {
  using is_transparent = void;
  std::size_t operator()(const FullName& full) const noexcept {
    return hash_text(full.name) ^ (hash_text(full.namespace_name) * 0x9e3779b97f4a7c15ULL);
  }
  template <typename T>
  std::size_t operator()(const Slot<T>& slot) const noexcept {
    return (*this)(full_name(*slot.object));
  }
};

struct SlotEqual {
  using is_transparent = void;
  static FullName name(FullName full) { return full; }  // two views
  template <typename T>
  static FullName name(const Slot<T>& slot) {
    return full_name(*slot.object);
  }
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    return name(a) == name(b);
  }
};

template <typename T>
class MirrorOf final : public KindMirror {
 public:
  MirrorOf(const Apply& apply, const TakeText* take_text) : apply_(apply), take_text_(take_text) {}

  void changed(WatchedEvent event) override { take(event); }

  void begin_list(bool trusts_versions) override {
    abandon_list();
    trusts_versions_ = trusts_versions;
    // What an empty mirror has at the end of a list came from it.
    looking_ = !slots_.empty();
  }

  void listed(WatchedEvent event) override {
    if (event.detail && event.detail->header.name.empty()) looking_ = false;
    if (event.type == Type::kAdded && (is_known(event) || event.detail)) return;
    staged_.push_back(std::move(event));
  }

  void finish_list() override {
    const std::vector<WatchedEvent> staged = std::exchange(staged_, {});
    in_list_ = true;
    for (const WatchedEvent& event : staged) take(event);
    if (looking_) remove_unseen();
    in_list_ = false;
    ever_listed_ = true;
    abandon_list();
  }

  void abandon_list() override {
    staged_ = std::vector<WatchedEvent>();
    seen_ = boost::unordered_flat_set<const T*>();
    looking_ = false;
  }

  std::size_t size() const override { return slots_.size(); }

 private:
  using Slots = boost::unordered_flat_set<Slot<T>, SlotHash, SlotEqual>;

  static FullName name_of(const WatchedEvent& event) {
    if (const Ref<const T>* object = std::get_if<Ref<const T>>(&event.object))
      return full_name(**object);
    return {event.detail->header.namespace_name, event.detail->header.name};
  }
  // An event without a UID is taken to be about the known object.
  static bool is_about(const WatchedEvent& event, const T& known) {
    if (const Ref<const T>* object = std::get_if<Ref<const T>>(&event.object))
      return same_uid(**object, known);
    return event.detail->header.uid.empty() || has_uid(known, event.detail->header.uid);
  }

  void see(const Ref<const T>& object) {
    if (looking_) seen_.insert(object.get());
  }
  void forget(const Ref<const T>& object) {
    if (looking_) seen_.erase(object.get());
  }

  // Whether a listed object is here already, just so: the usual case when a kind is listed again,
  // and the new copy of the object is not needed.
  bool is_known(const WatchedEvent& event) {
    const auto found = slots_.find(name_of(event));
    if (found == slots_.end() || !is_about(event, *found->object)) return false;
    if (const Ref<const T>* object = std::get_if<Ref<const T>>(&event.object)) {
      if (event.version() != version_of(*found->object)) return false;
      // A text may differ in what we do not read.
      if (!trusts_versions_ && (take_text_ || !same_content(**object, *found->object)))
        return false;
    }
    see(found->object);
    return true;
  }

  void take(const WatchedEvent& event) {
    const auto found = slots_.find(name_of(event));
    const Ref<const T>* object = std::get_if<Ref<const T>>(&event.object);
    if (found == slots_.end()) {
      if (object && event.type != Type::kDeleted) add(*object, event.text);
      return;
    }
    const Ref<const T> known = found->object;
    const std::string_view version = event.version();
    const bool same = is_about(event, *known);
    if (event.type == Type::kDeleted) {
      // A server may report a deletion with the version that was deleted.
      if (version != version_of(*known) && !is_news(version, *known)) return;
      remove(found, same && object ? *object : known);
    } else if (!same) {
      if (!is_news(version, *known)) return;
      remove(found, known);
      if (object) add(*object, event.text);
    } else if (!object || is_same_version(version, *known) || !is_news(version, *known)) {
      see(known);
    } else if (!is_newer_version(version, version_of(*known))) {
      // Versions went back. Code that compares versions would ignore this one as old: it is
      // reported as another object.
      remove(found, known);
      add(*object, event.text);
    } else {
      forget(known);
      found->object = *object;
      see(*object);
      emit({DeltaType::kUpdated, *object}, event.text);
    }
  }

  bool is_same_version(std::string_view version, const T& known) const {
    return version == version_of(known) && (trusts_versions_ || !in_list_);
  }
  // A list is always right, also where its objects are older than ours: the store behind the server
  // may have been set back. An event that could not be read at all has no version: it is news.
  bool is_news(std::string_view version, const T& known) const {
    return in_list_ || version.empty() || is_newer_version(version, version_of(known));
  }

  Learned learned() const {
    if (!in_list_) return Learned::kFromWatch;
    return ever_listed_ ? Learned::kFromLaterList : Learned::kFromFirstList;
  }

  void emit(Delta delta, const ObjectText& text) {
    if (take_text_) (*take_text_)(delta, text, learned());
    apply_(std::move(delta));
  }

  void add(const Ref<const T>& object, const ObjectText& text) {
    slots_.insert(Slot<T>{object});
    see(object);
    emit({DeltaType::kAdded, object}, text);
  }

  void remove(typename Slots::iterator slot, const Ref<const T>& last_state) {
    forget(slot->object);
    slots_.erase(slot);
    emit({DeltaType::kDeleted, last_state}, nullptr);
  }

  // In the order of their names, so that a run can be repeated.
  void remove_unseen() {
    std::vector<Ref<const T>> gone;
    for (const Slot<T>& slot : slots_)
      if (!seen_.contains(slot.object.get())) gone.push_back(slot.object);
    std::ranges::sort(gone, {}, [](const Ref<const T>& object) { return full_name(*object); });
    for (const Ref<const T>& object : gone) remove(slots_.find(full_name(*object)), object);
  }

  const Apply& apply_;
  const TakeText* const take_text_;
  Slots slots_;
  bool ever_listed_ = false;

  // Of the list that is being read.
  bool in_list_ = false;  // it is being applied
  bool trusts_versions_ = true;
  bool looking_ = false;  // for what it does not have; not if it has an object without a name
  std::vector<WatchedEvent> staged_;
  boost::unordered_flat_set<const T*> seen_;
};

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

}  // namespace

bool is_newer_version(std::string_view version, std::string_view known) {
  if (!is_number(version) || !is_number(known)) return version != known;
  while (version.starts_with('0')) version.remove_prefix(1);
  while (known.starts_with('0')) known.remove_prefix(1);
  if (version.size() != known.size()) return version.size() > known.size();
  return version > known;
}

std::unique_ptr<KindMirror> KindMirror::make(ObjectKind kind, const Apply& apply,
                                             const TakeText* take_text) {
  if (kind == ObjectKind::kPod) return std::make_unique<MirrorOf<Pod>>(apply, take_text);
  return std::make_unique<MirrorOf<Object>>(apply, take_text);
}

}  // namespace berth::kube
