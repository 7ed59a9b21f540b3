#include "cluster/assumed_objects.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "berth/views.h"

namespace berth {
namespace {

std::string_view namespace_of(const Object& object) {
  return object.symbols.table() ? object.symbols.text(object.namespace_name) : std::string_view();
}

std::string key(std::string_view namespace_name, std::string_view name) {
  return namespace_name.empty() ? std::string(name) : fmt::format("{}/{}", namespace_name, name);
}

std::optional<std::int64_t> version(const Object& object) {
  std::int64_t number = 0;
  const char* end = object.resource_version.data() + object.resource_version.size();
  const auto [rest, error] = std::from_chars(object.resource_version.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

// Of two versions of an object. Those of an API server are numbers that grow; where they are not
// (a program that makes up its own), the one that came last is the newer one.
bool older(const Object& a, const Object& b) {
  const std::optional<std::int64_t> of_a = version(a), of_b = version(b);
  return of_a && of_b && *of_a < *of_b;
}

}  // namespace

std::string key_of(const Object& object) { return key(namespace_of(object), object.name); }

// ---- passive ------------------------------------------------------------------------------------

bool PassiveAssumeStore::ByName::operator()(const Ref<const Object>& a,
                                            const Ref<const Object>& b) const {
  return std::tuple(namespace_of(*a), std::string_view(a->name)) <
         std::tuple(namespace_of(*b), std::string_view(b->name));
}

PassiveAssumeStore::PassiveAssumeStore(const Cluster& cluster, ObjectKind kind,
                                       std::string resource, IndexOf index_of)
    : cluster_(cluster),
      kind_(kind),
      resource_(std::move(resource)),
      index_of_(std::move(index_of)),
      subscription_(cluster.object_changes().listen(
          kind, [this](const Ref<const Object>& before, const Ref<const Object>& after) {
            changed(before, after);
          })) {
  if (index_of_)
    for (const Ref<const Object>& object : cluster.list(kind))
      indexed_[index_of_(*object)].insert(object);
}

PassiveAssumeStore::~PassiveAssumeStore() {
  cluster_.object_changes().count_assumed(assumed_.size(), 0);
}

Result<Ref<const Object>> PassiveAssumeStore::stored(std::string_view namespace_name,
                                                     std::string_view name) const {
  Ref<const Object> object = cluster_.find(kind_, namespace_name, name);
  if (!object)
    return fail(ErrorKind::kNotFound,
                fmt::format("{} \"{}\" not found", resource_, key(namespace_name, name)));
  return object;
}

Ref<const Object> PassiveAssumeStore::assumed_or(const Ref<const Object>& stored) const {
  if (assumed_.empty()) return stored;
  const auto found = assumed_.find(key_of(*stored));
  const bool counts =
      found != assumed_.end() && found->second->resource_version == stored->resource_version;
  return counts ? found->second : stored;
}

Result<Ref<const Object>> PassiveAssumeStore::get(std::string_view namespace_name,
                                                  std::string_view name) const {
  Result<Ref<const Object>> object = stored(namespace_name, name);
  if (!object) return object;
  return assumed_or(*object);
}

void PassiveAssumeStore::for_each(
    std::string_view index, const std::function<void(const Ref<const Object>&)>& visit) const {
  const auto found = indexed_.find(index);
  if (found == indexed_.end()) return;
  for (const Ref<const Object>& object : found->second) visit(assumed_or(object));
}

Result<void> PassiveAssumeStore::assume(Ref<const Object> object) {
  const Result<Ref<const Object>> present = stored(namespace_of(*object), object->name);
  if (!present) return fail(present.error());
  std::string object_key = key_of(*object);
  const std::string& version = (*present)->resource_version;
  if (version != object->resource_version)
    return fail(ErrorKind::kConflict, fmt::format("\"{}\" is out of sync (stored: {}, assume: {})",
                                                  object_key, version, object->resource_version));
  const std::size_t before = assumed_.size();
  assumed_.insert_or_assign(std::move(object_key), std::move(object));
  cluster_.object_changes().count_assumed(before, assumed_.size());
  return {};
}

void PassiveAssumeStore::restore(const Object& object) {
  const auto found = assumed_.find(key_of(object));
  if (found != assumed_.end() && found->second->resource_version == object.resource_version)
    drop(found);
}

void PassiveAssumeStore::assume_as(const PassiveAssumeStore& other) {
  while (!assumed_.empty()) drop(assumed_.begin());
  for (const auto& [key, object] : other.assumed_) (void)assume(object);
}

std::vector<Ref<const Object>> PassiveAssumeStore::assumed() const {
  std::vector<Ref<const Object>> all;
  for (const auto& [key, object] : assumed_) all.push_back(object);
  return all;
}

void PassiveAssumeStore::drop(Assumed::iterator assumed) {
  assumed_.erase(assumed);
  cluster_.object_changes().count_assumed(1, 0);
}

void PassiveAssumeStore::changed(const Ref<const Object>& before, const Ref<const Object>& after) {
  if (index_of_) {
    if (before) {
      const auto found = indexed_.find(index_of_(*before));
      if (found != indexed_.end()) {
        found->second.erase(before);
        if (found->second.empty()) indexed_.erase(found);
      }
    }
    if (after) indexed_[index_of_(*after)].insert(after);
  }
  if (assumed_.empty()) return;
  const auto found = assumed_.find(key_of(after ? *after : *before));
  if (found != assumed_.end() &&
      (!after || after->resource_version != found->second->resource_version))
    drop(found);
}

// ---- the claims' --------------------------------------------------------------------------------

const AssumeCache::Entry* AssumeCache::find(std::string_view namespace_name,
                                            std::string_view name) const {
  const auto found = entries_.find(std::pair(namespace_name, name));
  return found == entries_.end() ? nullptr : &found->second;
}

std::string AssumeCache::not_found(std::string_view namespace_name, std::string_view name) const {
  return fmt::format("could not find {} \"{}\"", description_, key(namespace_name, name));
}

Subscription AssumeCache::add_handler(Handler handler) {
  for (const auto& [name, entry] : entries_) handler(Ref<const Object>(), entry.latest);
  return handlers_.add(std::move(handler));
}

Result<Ref<const Object>> AssumeCache::get(std::string_view namespace_name,
                                           std::string_view name) const {
  if (const Entry* entry = find(namespace_name, name)) return entry->latest;
  return fail(ErrorKind::kInternal, not_found(namespace_name, name));
}

Result<Ref<const Object>> AssumeCache::stored(std::string_view namespace_name,
                                              std::string_view name) const {
  if (const Entry* entry = find(namespace_name, name)) return entry->stored;
  return fail(ErrorKind::kInternal, not_found(namespace_name, name));
}

std::vector<Ref<const Object>> AssumeCache::list() const {
  std::vector<Ref<const Object>> objects;
  objects.reserve(entries_.size());
  for (const auto& [name, entry] : entries_) objects.push_back(entry.latest);
  return objects;
}

std::size_t AssumeCache::assumed_count() const {
  std::size_t count = 0;
  for (const auto& [name, entry] : entries_)
    if (entry.latest != entry.stored) ++count;
  return count;
}

Result<void> AssumeCache::assume(Ref<const Object> object) {
  const std::string_view namespace_name = namespace_of(*object);
  const auto found = entries_.find(std::pair(namespace_name, std::string_view(object->name)));
  if (found == entries_.end())
    return fail(ErrorKind::kInternal, not_found(namespace_name, object->name));
  Entry& entry = found->second;
  if (older(*object, *entry.latest))
    return fail(
        ErrorKind::kConflict,
        fmt::format("{} \"{}\" is out of sync (stored: {}, assume: {})", description_,
                    key_of(*object), entry.latest->resource_version, object->resource_version));
  Ref<const Object> before = std::exchange(entry.latest, object);
  notify({std::move(before), std::move(object)});
  return {};
}

void AssumeCache::restore(std::string_view namespace_name, std::string_view name) {
  const auto found = entries_.find(std::pair(namespace_name, name));
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.latest == entry.stored) return;
  Ref<const Object> before = std::exchange(entry.latest, entry.stored);
  notify({std::move(before), entry.stored});
}

void AssumeCache::put(const Ref<const Object>& object) {
  const std::string_view namespace_name = namespace_of(*object);
  const auto found = entries_.find(std::pair(namespace_name, std::string_view(object->name)));
  if (found == entries_.end()) {
    entries_.emplace(Key(namespace_name, object->name), Entry{object, object});
    notify({Ref<const Object>(), object});
    return;
  }
  Entry& entry = found->second;
  // An echo of our own write, or of an earlier one, is no news; but it is what is stored now.
  if (object->resource_version == entry.latest->resource_version) {
    entry.stored = entry.latest;
    return;
  }
  if (older(*object, *entry.latest)) {
    if (!older(*object, *entry.stored)) entry.stored = object;
    return;
  }
  Ref<const Object> before = std::exchange(entry.latest, object);
  entry.stored = object;
  notify({std::move(before), object});
}

void AssumeCache::remove(std::string_view namespace_name, std::string_view name) {
  const auto found = entries_.find(std::pair(namespace_name, name));
  if (found == entries_.end()) return;
  Ref<const Object> before = std::move(found->second.latest);
  entries_.erase(found);
  notify({std::move(before), Ref<const Object>()});
}

void AssumeCache::notify(Change change) {
  to_tell_.push_back(std::move(change));
  if (telling_) return;  // called from a handler: its change is notified after the current one
  telling_ = true;
  while (!to_tell_.empty()) {
    const Change next = std::move(to_tell_.front());
    to_tell_.pop_front();
    handlers_.notify(next.before, next.after);
  }
  telling_ = false;
}

}  // namespace berth
