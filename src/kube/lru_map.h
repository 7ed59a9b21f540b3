// LruMap: a map of limited size; what was not used for longest goes first.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/keyed_hash.h"

namespace berth::kube {

template <typename Key, typename Value>
class LruMap {
  // Texts come from outside.
  using Hash = std::conditional_t<std::is_same_v<Key, std::string>, TextHash, std::hash<Key>>;

 public:
  explicit LruMap(std::size_t limit) : limit_(limit) {}

  // Null: not there. Being found counts as use.
  Value* find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    order_.splice(order_.end(), order_, found->second);
    return &found->second->second;
  }
  Value& set(const Key& key, Value value) {
    if (Value* present = find(key)) {
      *present = std::move(value);
      return *present;
    }
    if (order_.size() >= limit_) {
      index_.erase(order_.front().first);
      order_.pop_front();
    }
    order_.emplace_back(key, std::move(value));
    index_.emplace(key, std::prev(order_.end()));
    return order_.back().second;
  }
  template <typename Predicate>
  void erase_if(Predicate&& predicate) {
    for (auto entry = order_.begin(); entry != order_.end();) {
      if (!predicate(entry->second)) {
        ++entry;
        continue;
      }
      index_.erase(entry->first);
      entry = order_.erase(entry);
    }
  }
  template <typename Visit>
  void for_each(Visit&& visit) {
    for (auto& [key, value] : order_) visit(value);
  }
  std::size_t size() const { return order_.size(); }

 private:
  using Order = std::list<std::pair<Key, Value>>;  // least recently used first
  std::size_t limit_;
  Order order_;
  std::unordered_map<Key, typename Order::iterator, Hash> index_;
};

}  // namespace berth::kube
