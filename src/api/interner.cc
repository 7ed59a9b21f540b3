#include "berth/interner.h"

#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <vector>

#include "api/names.h"
#include "base/thread.h"

namespace berth {
namespace {

// The distinct objects of one type, in parts that can be used side by side.
template <typename T>
class Table {
 public:
  // The object that equals `value`, or the one that `make` makes of it.
  template <typename Make>
  Ref<const T> share(const T& value, Make make) {
    const std::size_t hash = hash_of(value);
    const std::size_t call = calls_.fetch_add(1, std::memory_order_relaxed);
    // All parts in turn: objects that come now may all belong to one.
    if (call % kCallsPerLook == 0) sweep(shards_[call / kCallsPerLook % kShards], call);
    Shard& shard = shards_[hash % kShards];
    MutexLock lock(shard.mutex);
    if (const auto found = shard.entries.find(Key{hash, value}); found != shard.entries.end())
      return found->object;
    return shard.entries.insert(Entry{hash, make(value)}).first->object;
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const Shard& shard : shards_) {
      MutexLock lock(shard.mutex);
      count += shard.entries.size();
    }
    return count;
  }

 private:
  static constexpr std::size_t kShards = 8;  // few threads decode at once
  static constexpr std::size_t kCallsPerLook = 64;

  struct Entry {
    std::size_t hash;
    Ref<const T> object;
  };
  struct Key {
    std::size_t hash;
    const T& value;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Entry& entry) const { return entry.hash; }
    std::size_t operator()(const Key& key) const { return key.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const { return a.object == b.object; }
    bool operator()(const Key& a, const Entry& b) const {
      return a.hash == b.hash && a.value == *b.object;
    }
    bool operator()(const Entry& a, const Key& b) const { return (*this)(b, a); }
  };
  struct Shard {
    mutable Mutex mutex;
    boost::unordered_flat_set<Entry, Hash, Equal> entries GUARDED_BY(mutex);
    std::size_t sweep_at GUARDED_BY(mutex) = 0;  // which call
  };

  // Takes out what only the table still holds, unless it was looked at a short while ago. Nobody
  // can get hold of such an object meanwhile: that would need the lock.
  static void sweep(Shard& shard, std::size_t call) EXCLUDES(shard.mutex) {
    std::vector<Ref<const T>> dropped;  // goes after the lock, as it takes others
    MutexLock lock(shard.mutex);
    if (call < shard.sweep_at) return;
    for (auto entry = shard.entries.begin(); entry != shard.entries.end();) {
      if (entry->object->use_count() > 1) {
        ++entry;
        continue;
      }
      dropped.push_back(entry->object);
      shard.entries.erase(entry++);
    }
    shard.sweep_at = call + 2 * kShards * shard.entries.size();
  }

  std::atomic<std::size_t> calls_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace

struct Interner::Tables {
  Table<PodSpec> specs;
  Table<PodMeta> metas;
};

Interner::Interner() : symbols_(make_symbols()), tables_(std::make_unique<Tables>()) {}
Interner::~Interner() = default;

Ref<const PodSpec> Interner::share(PodSpec spec) {
  return tables_->specs.share(spec, [](const PodSpec& written) {
    // A copy, unlike what was moved in, has no slack in its lists.
    auto shared = make_ref<PodSpec>(written);
    if (written.affinity) shared->affinity = std::make_shared<const Affinity>(*written.affinity);
    shared->usage = pod_usage(*shared, *shared->symbols.table());
    return shared;
  });
}

Ref<const PodMeta> Interner::share(PodMeta meta) {
  return tables_->metas.share(meta,
                              [](const PodMeta& written) { return make_ref<PodMeta>(written); });
}

std::size_t Interner::spec_count() const { return tables_->specs.size(); }
std::size_t Interner::meta_count() const { return tables_->metas.size(); }

}  // namespace berth
