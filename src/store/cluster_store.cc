#include "store/cluster_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "api/owned_fields.h"

namespace berth {
namespace {

ObjectKind kind_of(const AnyObject& object) {
  const auto* other = std::get_if<Ref<const Object>>(&object);
  return other ? (*other)->kind : ObjectKind::kPod;
}

Result<void> not_stored(ObjectKind kind, std::string_view key) {
  return fail(ErrorKind::kNotFound, fmt::format("{} \"{}\" not found", to_string(kind), key));
}

const ResourceClaim& as_claim(const Object& object) {
  return static_cast<const ResourceClaim&>(object);
}

bool is_deallocated(const Object& before, const Object& after) {
  return after.kind == ObjectKind::kResourceClaim && as_claim(before).allocated() &&
         !as_claim(after).allocated();
}
bool is_free_to_go(const Object& object) {
  return object.kind == ObjectKind::kResourceClaim && as_claim(object).deleting() &&
         as_claim(object).finalizers.empty();
}

}  // namespace

ClusterStore::ClusterStore(Loop& loop, Duration watch_delay)
    : loop_(loop), watch_(loop, watch_delay) {}

ClusterStore::~ClusterStore() = default;

// ---- changes

std::string ClusterStore::next_version(std::string_view than) {
  std::uint64_t number = 0;
  std::from_chars(than.data(), than.data() + than.size(), number);
  version_ = std::max(version_, number) + 1;
  return std::to_string(version_);
}

void ClusterStore::commit(ObjectKind kind, DeltaType type, AnyObject object) {
  const Delta delta{type, std::move(object)};
  if (type == DeltaType::kDeleted)
    table(kind).erase(namespace_of(delta.object), name_of(delta.object));
  else
    table(kind).put(delta.object);
  watch_.show(delta);
  for (const DeltaSink& controller : controllers_) controller(delta);
}

bool ClusterStore::is_new(const Uid& uid) {
  const auto hash = static_cast<std::uint32_t>(std::hash<Uid>()(uid));
  const HashIndex::Slot known =
      pods_ever_index_.find(hash, [&](HashIndex::Slot slot) { return pods_ever_[slot] == uid; });
  if (known != HashIndex::kNone) return false;
  pods_ever_index_.insert(hash, static_cast<HashIndex::Slot>(pods_ever_.size()));
  pods_ever_.push_back(uid);
  return true;
}

Ref<const Pod> ClusterStore::store(PodDraft draft, DeltaType type) {
  draft.resource_version = next_version({});
  Ref<const Pod> pod = make_pod(std::move(draft));
  commit(ObjectKind::kPod, type, pod);
  return pod;
}

void ClusterStore::store(const Ref<const Object>& object, DeltaType type) {
  commit(object->kind, type, object);
}

Ref<const Object> ClusterStore::versioned(const Ref<const Object>& object) {
  Ref<Object> copy = copy_of(*object);
  if (!copy) return object;
  copy->resource_version = next_version({});
  if (copy->uid.empty())
    copy->uid = deterministic_uid(to_string(copy->kind), namespace_of(*copy), copy->name);
  // UIDs of manifests follow from names; what comes again is another object all the same.
  const Ref<const Object> present = this->object(copy->kind, namespace_of(*copy), copy->name);
  const bool is_new = !present || present->uid != copy->uid;
  if (is_new && !objects_ever_.insert(copy->uid).second) {
    copy->uid = deterministic_uid(to_string(copy->kind), namespace_of(*copy),
                                  fmt::format("{}#{}", copy->name, objects_ever_.size()));
    objects_ever_.insert(copy->uid);
  }
  return copy;
}

// ---- what people and controllers do

Result<void> ClusterStore::create_object(AnyObject object) {
  const ObjectKind kind = kind_of(object);
  if (table(kind).contains(namespace_of(object), name_of(object)))
    return fail(ErrorKind::kConflict,
                fmt::format("{} \"{}\" already exists", to_string(kind), key_of(object)));
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object)) {
    if (!(*pod)->node().empty()) ++changes_;
    PodDraft draft = draft_of(**pod);
    if (!draft.creation_time) draft.creation_time = loop_.wall_now();
    // UIDs of manifests follow from names; a pod that comes again is another pod all the same.
    const bool is_known = !is_new((*pod)->uid());
    if (is_known)
      draft.uid = deterministic_uid("Pod", (*pod)->namespace_name(),
                                    fmt::format("{}#{}", (*pod)->name(), pods_ever_.size()));
    const Ref<const Pod> stored = store(std::move(draft), DeltaType::kAdded);
    if (is_known) is_new(stored->uid());
    return {};
  }
  ++changes_;
  store(versioned(std::get<Ref<const Object>>(object)), DeltaType::kAdded);
  return {};
}

Result<void> ClusterStore::update_object(AnyObject object) {
  const ObjectKind kind = kind_of(object);
  if (!table(kind).contains(namespace_of(object), name_of(object)))
    return not_stored(kind, key_of(object));
  ++changes_;
  if (const auto* pod = std::get_if<Ref<const Pod>>(&object))
    store(draft_of(**pod), DeltaType::kUpdated);
  else
    store(versioned(std::get<Ref<const Object>>(object)), DeltaType::kUpdated);
  return {};
}

Result<void> ClusterStore::remove_object(ObjectKind kind, std::string_view namespace_name,
                                         std::string_view name) {
  const AnyObject present = table(kind).find(namespace_name, name);
  if (const auto* pod = std::get_if<Ref<const Pod>>(&present))
    delete_pod(*pod);
  else if (const auto* other = std::get_if<Ref<const Object>>(&present))
    delete_object(*other);
  else
    return not_stored(kind, object_key(namespace_name, name));
  return {};
}

Result<void> ClusterStore::remove_at_once(ObjectKind kind, std::string_view namespace_name,
                                          std::string_view name) {
  AnyObject last = table(kind).find(namespace_name, name);
  if (std::holds_alternative<std::monostate>(last))
    return not_stored(kind, object_key(namespace_name, name));
  ++changes_;
  ++version_;
  commit(kind, DeltaType::kDeleted, std::move(last));
  return {};
}

Ref<const Pod> ClusterStore::pod(std::string_view namespace_name, std::string_view name) const {
  const AnyObject found = table(ObjectKind::kPod).find(namespace_name, name);
  const auto* pod = std::get_if<Ref<const Pod>>(&found);
  return pod ? *pod : nullptr;
}

Ref<const Object> ClusterStore::object(ObjectKind kind, std::string_view namespace_name,
                                       std::string_view name) const {
  const AnyObject found = table(kind).find(namespace_name, name);
  const auto* object = std::get_if<Ref<const Object>>(&found);
  return object ? *object : nullptr;
}

std::vector<Ref<const Pod>> ClusterStore::pods() const {
  std::vector<Ref<const Pod>> all;
  for (const AnyObject& object : table(ObjectKind::kPod).sorted())
    all.push_back(std::get<Ref<const Pod>>(object));
  return all;
}

std::vector<Ref<const Object>> ClusterStore::objects(ObjectKind kind) const {
  std::vector<Ref<const Object>> all;
  for (const AnyObject& object : table(kind).sorted())
    if (const auto* other = std::get_if<Ref<const Object>>(&object)) all.push_back(*other);
  return all;
}

std::vector<AnyObject> ClusterStore::relist() {
  watch_.clear();
  std::vector<AnyObject> all;
  for (const ObjectSet& table : tables_) std::ranges::move(table.sorted(), std::back_inserter(all));
  return all;
}

Admission ClusterStore::admission() const {
  Admission admission;
  admission.now = loop_.wall_now();
  for (const Ref<const Object>& object : objects(ObjectKind::kPriorityClass))
    admission.priority_classes.emplace(
        object->name, Ref<const PriorityClass>(static_cast<const PriorityClass*>(object.get())));
  return admission;
}

// ---- what a StoreApi does

Ref<const Pod> ClusterStore::stored_pod(const Pod& named_alike) const {
  return pod(named_alike.namespace_name(), named_alike.name());
}

Ref<const Object> ClusterStore::stored_object(ObjectKind kind, std::string_view namespace_name,
                                              std::string_view name) const {
  return object(kind, namespace_name, name);
}

void ClusterStore::replace_pod(const Ref<const Pod>& before, Ref<const Pod> after) {
  if (counts_bindings_ && before->node().empty() && !after->node().empty())
    ++bindings_[before->uid()];
  commit(ObjectKind::kPod, DeltaType::kUpdated, std::move(after));
}

void ClusterStore::replace_object(const Ref<const Object>& before, Ref<const Object> after) {
  // Devices that are free again may be what somebody waits for.
  if (is_deallocated(*before, *after)) ++changes_;
  store(after, DeltaType::kUpdated);
  if (is_free_to_go(*after))
    static_cast<void>(remove_at_once(after->kind, namespace_of(*after), after->name));
}

void ClusterStore::delete_pod(const Ref<const Pod>& stored) {
  const std::int32_t grace = stored->node().empty() ? 0 : stored->spec().termination_grace_seconds;
  if (grace <= 0) {
    static_cast<void>(remove_at_once(ObjectKind::kPod, stored->namespace_name(), stored->name()));
    return;
  }
  if (stored->terminating()) return;
  ++changes_;
  PodDraft draft = draft_of(*stored);
  draft.deletion_time = loop_.wall_now() + std::chrono::seconds(grace);
  const Ref<const Pod> going = store(std::move(draft), DeltaType::kUpdated);
  loop_.after(std::chrono::seconds(grace), lifetime_.guard([this, going] {
    const Ref<const Pod> still = stored_pod(*going);
    if (still && still->uid() == going->uid())
      static_cast<void>(remove_at_once(ObjectKind::kPod, going->namespace_name(), going->name()));
  }));
}

// A claim that has finalizers is marked, and goes when the last of them does.
void ClusterStore::delete_object(const Ref<const Object>& stored) {
  if (stored->kind != ObjectKind::kResourceClaim || as_claim(*stored).finalizers.empty()) {
    static_cast<void>(remove_at_once(stored->kind, namespace_of(*stored), stored->name));
    return;
  }
  if (as_claim(*stored).deleting()) return;
  auto going = make_ref<ResourceClaim>(as_claim(*stored));
  going->deletion_time = loop_.wall_now();
  going->resource_version = next_version({});
  ++changes_;
  store(going, DeltaType::kUpdated);
}

Result<Ref<const Object>> ClusterStore::create_claim(const ResourceClaim& claim) {
  auto made = make_ref<ResourceClaim>(claim);
  if (made->name.empty()) made->name = fmt::format("{}{}", made->generate_name, version_ + 1);
  if (object(made->kind, namespace_of(*made), made->name))
    return fail(ErrorKind::kConflict,
                fmt::format("{} \"{}\" already exists", written_resource(made->kind), made->name));
  made->creation_time = loop_.wall_now();
  made->status = {};  // a status is not created with its object
  const Ref<const Object> stored = versioned(made);
  store(stored, DeltaType::kAdded);
  return stored;
}

}  // namespace berth
