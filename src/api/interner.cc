#include "api/interner.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <utility>
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
    Shard& shard = shards_[hash % kShards];
    std::vector<Ref<const T>> dropped;  // goes after the lock, as it takes others
    MutexLock lock(shard.mutex);
    if (const auto found = shard.entries.find(Key{hash, value}); found != shard.entries.end())
      return found->object;
    if (shard.entries.size() >= shard.sweep_at) dropped = sweep(shard);
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
  static constexpr std::size_t kFirstSweep = 64;

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
    std::size_t sweep_at GUARDED_BY(mutex) = kFirstSweep;
  };

  // Takes out what only the table still holds. Nobody can get hold of such an object meanwhile:
  // that would need the lock.
  static std::vector<Ref<const T>> sweep(Shard& shard) REQUIRES(shard.mutex) {
    std::vector<Ref<const T>> dropped;
    for (auto entry = shard.entries.begin(); entry != shard.entries.end();) {
      if (entry->object->use_count() > 1) {
        ++entry;
        continue;
      }
      dropped.push_back(entry->object);
      shard.entries.erase(entry++);
    }
    shard.sweep_at = std::max(kFirstSweep, 2 * shard.entries.size());
    return dropped;
  }

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
