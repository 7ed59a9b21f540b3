// ExpiringCache: answers that are good for a while. Bounded: strangers decide what is asked. Not
// safe for several threads by itself.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/keyed_hash.h"
#include "berth/loop.h"

namespace berth::serve {

template <typename Value>
class ExpiringCache {
 public:
  explicit ExpiringCache(std::size_t max_entries) : max_entries_(max_entries) {}

  // Null: not known, or no longer. Valid until the next put().
  const Value* find(const std::string& key, TimePoint now) const {
    const auto found = entries_.find(key);
    return found != entries_.end() && now < found->second.expires.when ? &found->second.value
                                                                       : nullptr;
  }

  void put(const std::string& key, Value value, TimePoint now, Duration ttl) {
    if (ttl <= Duration::zero()) return;
    if (const auto old = entries_.find(key); old != entries_.end()) drop(old);
    while (!by_expiry_.empty() &&
           (entries_.size() >= max_entries_ || by_expiry_.begin()->first.when <= now))
      drop(entries_.find(by_expiry_.begin()->second));
    const Expiry expires{now + ttl, ++sequence_};
    by_expiry_.emplace(expires, key);
    entries_.emplace(key, Entry{std::move(value), expires});
  }

  std::size_t size() const { return entries_.size(); }

 private:
  struct Expiry {
    TimePoint when;
    std::uint64_t sequence = 0;
    friend auto operator<=>(const Expiry&, const Expiry&) = default;
  };
  struct Entry {
    Value value;
    Expiry expires;
  };
  using Entries = std::unordered_map<std::string, Entry, TextHash>;

  void drop(typename Entries::iterator entry) {
    by_expiry_.erase(entry->second.expires);
    entries_.erase(entry);
  }

  const std::size_t max_entries_;
  std::uint64_t sequence_ = 0;
  Entries entries_;
  std::map<Expiry, std::string> by_expiry_;
};

}  // namespace berth::serve
