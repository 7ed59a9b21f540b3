#include "memapi/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "memapi/crd_kinds.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

// Events that are removed without letting anybody else in between.
constexpr int kExpiredAtOnce = 200;

ObjectRef make_object(const Resource& resource, JsonValue tree, std::uint64_t version,
                      TimePoint now) {
  set_text(object_at(tree, "metadata"), "resourceVersion", fmt::format("{}", version));
  normalize_for(resource, tree);
  auto object = std::make_shared<StoredObject>();
  object->namespace_name = text_at(tree, "metadata.namespace");
  object->name = text_at(tree, "metadata.name");
  object->uid = text_at(tree, "metadata.uid");
  object->version = version;
  object->written = now;
  object->labels = labels_of(tree);
  object->fields = field_values(resource, tree);
  object->json = to_json(tree);
  return object;
}

// Keys of a namespace lie between its "ns/" and "ns0": '0' follows '/'.
std::pair<std::string, std::string> key_range(std::string_view namespace_name) {
  if (namespace_name.empty()) return {};
  return {fmt::format("{}/", namespace_name), fmt::format("{}0", namespace_name)};
}

}  // namespace

Store::Store(const Loop& loop, StoreLimits limits)
    : loop_(loop), limits_(limits), events_(resource_of("events")) {
  kinds_.resize(resources().size());
}

JsonValue StoredObject::tree() const {
  Result<JsonValue> parsed = parse_json(json);
  BERTH_CHECK(parsed.has_value());  // we wrote it
  return std::move(*parsed);
}

std::string object_key(std::string_view namespace_name, std::string_view name) {
  return namespace_name.empty() ? std::string(name) : fmt::format("{}/{}", namespace_name, name);
}

std::string Change::key() const { return object_key(object->namespace_name, object->name); }

Store::KindStore& Store::kind(const Resource& resource) { return kinds_[storage_index(resource)]; }
const Store::KindStore& Store::kind(const Resource& resource) const {
  return kinds_[storage_index(resource)];
}

std::uint64_t Store::version() const {
  const MutexLock lock(mutex_);
  return version_;
}

void Store::advance_to(std::uint64_t version) {
  const MutexLock lock(mutex_);
  if (version <= version_) return;
  version_ = version;
  // What lies between is not in the history.
  for (KindStore& stored : kinds_) stored.table.forget_until(version);
}

void Store::add_kind(std::size_t slot) {
  const MutexLock lock(mutex_);
  while (kinds_.size() <= slot) {
    kinds_.emplace_back();
    kinds_.back().table.forget_until(version_);
  }
}

void Store::drop_kind(std::size_t slot) {
  std::vector<std::shared_ptr<ChangeSink>> sinks;
  {
    const MutexLock lock(mutex_);
    if (slot >= kinds_.size()) return;
    sinks.swap(kinds_[slot].sinks);
    kinds_[slot].table = KindTable<Change>();
    kinds_[slot].table.forget_until(version_);
  }
  for (const auto& sink : sinks) sink->end();
}

std::uint64_t Store::oldest(const Resource& resource) const {
  const MutexLock lock(mutex_);
  return kind(resource).table.oldest();
}

ObjectRef Store::get(const Resource& resource, std::string_view namespace_name,
                     std::string_view name) const {
  const std::string key = object_key(namespace_name, name);
  const MutexLock lock(mutex_);
  return kind(resource).table.find(key);
}

std::size_t Store::count(const Resource& resource) const {
  const MutexLock lock(mutex_);
  return kind(resource).table.objects().size();
}

bool Store::any_in_namespace(const Resource& resource, std::string_view namespace_name) const {
  const auto [begin, end] = key_range(namespace_name);
  const MutexLock lock(mutex_);
  const auto& objects = kind(resource).table.objects();
  const auto found = objects.lower_bound(begin);
  return found != objects.end() && found->first < end;
}

Answer<ListPage> Store::list(const Resource& resource, const ListRange& range,
                             const Selection& selection) const {
  const auto [begin, end] = key_range(range.namespace_name);
  const MutexLock lock(mutex_);
  const KindTable<Change>& table = kind(resource).table;
  if (range.version && !table.reaches_back_to(*range.version))
    return refuse(ApiError::expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter."));
  ListPage page;
  page.version = range.version.value_or(version_);
  const auto take = [&](const std::string& key, const ObjectRef& object) {
    if (!selection.matches(object->selectable())) return;
    if (range.limit == 0 || page.items.size() < range.limit) {
      page.items.push_back(object);
      return;
    }
    if (page.next.empty()) page.next = key;
    ++page.remaining;
  };
  const std::string& first = std::max(begin, range.start);
  if (range.version)
    table.for_each_at(*range.version, first, end, take);
  else
    table.for_each(first, end, take);
  return page;
}

ObjectRef Store::commit(const Resource& resource, ChangeType type, JsonValue object) {
  Change change;
  change.type = type;
  change.version = ++version_;
  change.object = make_object(resource, std::move(object), version_, loop_.now());
  KindStore& stored = kind(resource);
  stored.table.commit(change);
  for (const auto& sink : stored.sinks) sink->offer(change);
  ObjectRef written = change.object;
  if (storage_index(resource) == storage_index(events_))
    count_event(change.previous, type == ChangeType::kDeleted ? nullptr : written);
  stored.table.remember(std::move(change), limits_.history_bytes);
  return written;
}

// ---- events -------------------------------------------------------------------------------------

// In place of `previous` there is `now`; either may be null.
void Store::count_event(const ObjectRef& previous, const ObjectRef& now) {
  if (previous && events_by_age_.erase(previous->version) > 0) event_bytes_ -= previous->bytes();
  if (!now) return;
  events_by_age_.emplace(now->version, now);
  event_bytes_ += now->bytes();
}

void Store::remove_oldest_event() {
  const ObjectRef oldest = events_by_age_.begin()->second;
  commit(events_, ChangeType::kDeleted, oldest->tree());
}

// The newest one stays, however large it is.
void Store::limit_events() {
  while (event_bytes_ > limits_.event_bytes && events_by_age_.size() > 1) remove_oldest_event();
}

void Store::expire_events() {
  if (limits_.event_ttl <= Duration::zero()) return;
  const TimePoint now = loop_.now();
  for (bool more = true; more;) {
    std::vector<std::shared_ptr<ChangeSink>> sinks;
    {
      const MutexLock lock(mutex_);
      const auto expired = [&]() REQUIRES(mutex_) {
        return !events_by_age_.empty() &&
               events_by_age_.begin()->second->written + limits_.event_ttl <= now;
      };
      for (int i = 0; i < kExpiredAtOnce && expired(); ++i) remove_oldest_event();
      more = expired();
      sinks = kind(events_).sinks;
    }
    for (const auto& sink : sinks) sink->flush();
  }
}

// ---- writes -------------------------------------------------------------------------------------

Answer<ObjectRef> Store::create(const Resource& resource, JsonValue object) {
  const std::string name(text_at(object, "metadata.name"));
  const std::string key = object_key(text_at(object, "metadata.namespace"), name);
  ObjectRef written;
  std::vector<std::shared_ptr<ChangeSink>> sinks;
  {
    const MutexLock lock(mutex_);
    KindStore& stored = kind(resource);
    if (stored.table.contains(key)) return refuse(ApiError::already_exists(resource, name));
    written = commit(resource, ChangeType::kAdded, std::move(object));
    limit_events();
    sinks = stored.sinks;
  }
  for (const auto& sink : sinks) sink->flush();
  return written;
}

ObjectRef Store::replace(const Resource& resource, const ObjectRef& current, JsonValue object) {
  set_text(object_at(object, "metadata"), "resourceVersion", fmt::format("{}", current->version));
  normalize_for(resource, object);
  if (to_json(object) == current->json) return current;
  return change(resource, ChangeType::kModified, current, std::move(object));
}

ObjectRef Store::remove(const Resource& resource, const ObjectRef& current, JsonValue last) {
  return change(resource, ChangeType::kDeleted, current, std::move(last));
}

// Null when `current` is not what there is any more.
ObjectRef Store::change(const Resource& resource, ChangeType type, const ObjectRef& current,
                        JsonValue object) {
  ObjectRef written;
  std::vector<std::shared_ptr<ChangeSink>> sinks;
  {
    const MutexLock lock(mutex_);
    KindStore& stored = kind(resource);
    if (!stored.table.is_current(object_key(current->namespace_name, current->name), current))
      return nullptr;
    written = commit(resource, type, std::move(object));
    limit_events();
    sinks = stored.sinks;
  }
  for (const auto& sink : sinks) sink->flush();
  return written;
}

bool Store::watch(const Resource& resource, const WatchStart& start,
                  std::shared_ptr<ChangeSink> sink) {
  {
    const auto [begin, end] = key_range(start.namespace_name);
    const MutexLock lock(mutex_);
    KindStore& stored = kind(resource);
    if (start.after) {
      if (!stored.table.reaches_back_to(*start.after)) return false;
      stored.table.for_each_change_after(*start.after,
                                         [&](const Change& change) { sink->offer(change); });
    } else {
      stored.table.for_each(
          begin, end, [&](const auto&, const ObjectRef& object) { sink->offer_initial(object); });
      if (start.initial_end) sink->offer_initial_end(version_);
    }
    stored.sinks.push_back(sink);
  }
  sink->flush();
  return true;
}

void Store::unwatch(const ChangeSink* sink) {
  std::shared_ptr<ChangeSink> kept;  // let go of without the lock
  const MutexLock lock(mutex_);
  for (KindStore& stored : kinds_) {
    const auto found = std::ranges::find(stored.sinks, sink, &std::shared_ptr<ChangeSink>::get);
    if (found == stored.sinks.end()) continue;
    kept = std::move(*found);
    stored.sinks.erase(found);
    return;
  }
}

void Store::bookmark_all() {
  std::vector<std::shared_ptr<ChangeSink>> sinks;  // also those that go: without the lock
  {
    const MutexLock lock(mutex_);
    for (KindStore& stored : kinds_) {
      for (const auto& sink : stored.sinks) {
        sink->offer_bookmark(version_);
        sinks.push_back(sink);
      }
      std::erase_if(stored.sinks, [](const auto& sink) { return sink->over(); });
    }
  }
  for (const auto& sink : sinks) sink->flush();
}

void Store::bookmark(const Resource& resource, const std::shared_ptr<ChangeSink>& sink) {
  {
    const MutexLock lock(mutex_);
    const auto& sinks = kind(resource).sinks;
    if (std::ranges::find(sinks, sink) == sinks.end()) return;
    sink->offer_bookmark(version_);
  }
  sink->flush();
}

std::size_t Store::watchers() const {
  const MutexLock lock(mutex_);
  std::size_t count = 0;
  for (const KindStore& stored : kinds_) count += stored.sinks.size();
  return count;
}

}  // namespace berth::memapi
