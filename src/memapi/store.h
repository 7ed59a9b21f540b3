// Store: every object of the embedded API server, in memory, with one version counter for all.
//
// An object is kept once, as the JSON text that clients get, with what selectors ask about beside
// it; it never changes, a write puts another in its place. Each kind keeps its last changes, so
// that a watch can begin in the past and a list can be continued as it was. Events are removed some
// time after they were last written, and the oldest ones when there are too many. Any thread; one
// mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread.h"
#include "berth/loop.h"
#include "memapi/api_error.h"
#include "memapi/resources.h"
#include "memapi/selection.h"
#include "store/kind_table.h"
#include "wire/json_tree.h"

namespace berth::memapi {

struct StoredObject {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::uint64_t version = 0;
  TimePoint written;
  LabelPairs labels;
  std::vector<std::string> fields;  // of selectable_fields()
  std::string json;                 // without kind and apiVersion; members by name

  Selectable selectable() const { return {namespace_name, name, labels, fields, json}; }
  JsonValue tree() const;
  // About what it takes in memory.
  std::size_t bytes() const { return json.size() + 512; }
};
using ObjectRef = std::shared_ptr<const StoredObject>;

enum class ChangeType : std::uint8_t { kAdded, kModified, kDeleted };

struct Change {
  ChangeType type = ChangeType::kAdded;
  std::uint64_t version = 0;
  ObjectRef object;    // of kDeleted: the last state, with the version of the deletion
  ObjectRef previous;  // none for kAdded

  std::string key() const;
  std::size_t bytes() const { return object->bytes() + (previous ? previous->bytes() : 0); }
};

// Somebody who follows the changes of one kind.
class ChangeSink {
 public:
  virtual ~ChangeSink() = default;

  // Under the store's lock, in the order of versions: remember it, call nobody.
  virtual void offer(const Change& change) = 0;
  virtual void offer_initial(const ObjectRef& object) = 0;
  virtual void offer_initial_end(std::uint64_t version) = 0;
  virtual void offer_bookmark(std::uint64_t version) = 0;
  // Without the lock, after offers: pass on what was remembered. Any thread.
  virtual void flush() = 0;
  // It takes nothing more and may be forgotten. Any thread.
  virtual bool over() const = 0;
  // The kind is no longer there: what was offered is the last of it. Without the lock.
  virtual void end() = 0;
};

// Which objects a list wants.
struct ListRange {
  std::string namespace_name;            // empty: of all
  std::optional<std::uint64_t> version;  // as it was then; else as it is
  std::string start;                     // keys before it are left out
  std::size_t limit = 0;                 // 0: all
};

struct ListPage {
  std::vector<ObjectRef> items;
  std::uint64_t version = 0;
  std::string next;           // key of the first one left out; empty: none
  std::size_t remaining = 0;  // how many were left out
};

// Where a watch begins.
struct WatchStart {
  std::string namespace_name;          // empty: of all
  std::optional<std::uint64_t> after;  // changes after this version; else the state as it is first
  bool initial_end = false;            // tell when the state has been told
};

struct StoreLimits {
  // Of each kind: changes that are remembered, for watches that begin in the past.
  std::size_t history_bytes = std::size_t{64} << 20;
  std::size_t event_bytes = std::size_t{64} << 20;  // of all events
  // How long an event stays after it was last written; zero: until there are too many.
  Duration event_ttl = std::chrono::hours(1);
};

class Store {
 public:
  // `loop`, whose clock is used, outlives this.
  Store(const Loop& loop, StoreLimits limits);

  std::uint64_t version() const EXCLUDES(mutex_);
  // Versions from here on are greater than `version`.
  void advance_to(std::uint64_t version) EXCLUDES(mutex_);

  // Null when there is none.
  ObjectRef get(const Resource& resource, std::string_view namespace_name,
                std::string_view name) const EXCLUDES(mutex_);
  // 410 when history does not go back that far.
  Answer<ListPage> list(const Resource& resource, const ListRange& range,
                        const Selection& selection) const EXCLUDES(mutex_);
  std::size_t count(const Resource& resource) const EXCLUDES(mutex_);
  bool any_in_namespace(const Resource& resource, std::string_view namespace_name) const
      EXCLUDES(mutex_);

  // The tree has its metadata, but for the version.
  Answer<ObjectRef> create(const Resource& resource, JsonValue object) EXCLUDES(mutex_);
  // In place of `current`; nothing (and no error) when that is no longer what is stored. An object
  // that says the same as before is not written.
  ObjectRef replace(const Resource& resource, const ObjectRef& current, JsonValue object)
      EXCLUDES(mutex_);
  // Removes `current`; `last` is what watchers see. Nothing when it is no longer what is stored.
  ObjectRef remove(const Resource& resource, const ObjectRef& current, JsonValue last)
      EXCLUDES(mutex_);

  // False when history does not go back that far: then the sink has got nothing and is not kept.
  bool watch(const Resource& resource, const WatchStart& start, std::shared_ptr<ChangeSink> sink)
      EXCLUDES(mutex_);
  void unwatch(const ChangeSink* sink) EXCLUDES(mutex_);
  // Tells everybody how far they have seen, and forgets those that are over.
  void bookmark_all() EXCLUDES(mutex_);
  void bookmark(const Resource& resource, const std::shared_ptr<ChangeSink>& sink) EXCLUDES(mutex_);
  std::size_t watchers() const EXCLUDES(mutex_);

  // Removes the events whose time is over.
  void expire_events() EXCLUDES(mutex_);

  // Makes a place for objects of a custom kind; nothing when it is there.
  void add_kind(std::size_t slot) EXCLUDES(mutex_);
  // Forgets the objects of a custom kind, ends its watches.
  void drop_kind(std::size_t slot) EXCLUDES(mutex_);

  // The oldest version a watch of the kind may begin at.
  std::uint64_t oldest(const Resource& resource) const EXCLUDES(mutex_);

 private:
  struct KindStore {
    KindTable<Change> table;
    std::vector<std::shared_ptr<ChangeSink>> sinks;
  };

  KindStore& kind(const Resource& resource) REQUIRES(mutex_);
  const KindStore& kind(const Resource& resource) const REQUIRES(mutex_);
  ObjectRef change(const Resource& resource, ChangeType type, const ObjectRef& current,
                   JsonValue object) EXCLUDES(mutex_);
  ObjectRef commit(const Resource& resource, ChangeType type, JsonValue object) REQUIRES(mutex_);
  void count_event(const ObjectRef& previous, const ObjectRef& now) REQUIRES(mutex_);
  void limit_events() REQUIRES(mutex_);
  void remove_oldest_event() REQUIRES(mutex_);

  const Loop& loop_;
  const StoreLimits limits_;
  const Resource& events_;
  mutable Mutex mutex_;
  std::uint64_t version_ GUARDED_BY(mutex_) = 1;
  std::deque<KindStore> kinds_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, ObjectRef> events_by_age_ GUARDED_BY(mutex_);  // by version
  std::size_t event_bytes_ GUARDED_BY(mutex_) = 0;
};

// "default/web-1", "node-1".
std::string object_key(std::string_view namespace_name, std::string_view name);

}  // namespace berth::memapi
