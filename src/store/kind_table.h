// KindTable: the objects of one kind by key, and the last changes of them, up to a bound.
//
// An object never changes: a write puts another in its place. What a stored object is, is the
// caller's: the embedded API server keeps JSON. A `Change` has
//
//   type      an enum with kDeleted
//   version   of the change; grows from one change to the next
//   object    what is stored now; of kDeleted: the last state
//   previous  what was stored before; Object{} when there was nothing
//   key()     of the object
//   bytes()   about what it takes in memory, if changes are remembered
//
// where Object is a handle that compares by identity and whose default value is "nothing". Not
// synchronized: whoever shares it between threads holds a lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

template <typename Change>
class KindTable {
 public:
  using Object = decltype(Change::object);
  using Objects = std::map<std::string, Object, std::less<>>;

  const Objects& objects() const { return objects_; }
  // Object{} when there is none.
  Object find(std::string_view key) const {
    const auto found = objects_.find(key);
    return found == objects_.end() ? Object{} : found->second;
  }
  bool contains(std::string_view key) const { return objects_.contains(key); }
  // Whether `object` is what is stored: a write that was computed from it is still in order.
  bool is_current(std::string_view key, const Object& object) const {
    const auto found = objects_.find(key);
    return found != objects_.end() && found->second == object;
  }

  // Carries the change out. `object` and `version` are set; `previous` is filled in.
  void commit(Change& change) {
    std::string key = change.key();
    const auto found = objects_.find(key);
    change.previous = found == objects_.end() ? Object{} : found->second;
    if (change.type == decltype(change.type)::kDeleted) {
      if (found != objects_.end()) objects_.erase(found);
    } else if (found != objects_.end()) {
      found->second = change.object;
    } else {
      objects_.emplace(std::move(key), change.object);
    }
  }

  // ---- history: without remember() there is none

  // Keeps the change for those who ask about the past; the oldest ones go when all together take
  // more than `bound` bytes.
  void remember(Change change, std::size_t bound) {
    history_bytes_ += change.bytes();
    history_.push_back(std::move(change));
    while (history_bytes_ > bound) {
      forgotten_ = history_.front().version;
      history_bytes_ -= history_.front().bytes();
      history_.pop_front();
    }
  }
  // Versions up to here are not in the history, even if no change of them was remembered.
  void forget_until(std::uint64_t version) { forgotten_ = version; }
  // The version of the last change that history has lost: nobody can begin before it.
  std::uint64_t oldest() const { return forgotten_; }
  bool reaches_back_to(std::uint64_t version) const { return version >= forgotten_; }

  // The changes after `version`, in order.
  template <typename Visit>
  void for_each_change_after(std::uint64_t version, Visit visit) const {
    const auto first = std::ranges::upper_bound(history_, version, {}, &Change::version);
    for (auto change = first; change != history_.end(); ++change) visit(*change);
  }

  // The objects with keys from `begin` up to `end` (empty: to the last), by key, as they are. None
  // where `end` is before `begin`: both may come from a client.
  template <typename Visit>
  void for_each(std::string_view begin, std::string_view end, Visit visit) const {
    if (!end.empty() && begin >= end) return;
    const auto last = end.empty() ? objects_.end() : objects_.lower_bound(end);
    for (auto entry = objects_.lower_bound(begin); entry != last; ++entry)
      visit(entry->first, entry->second);
  }
  // The same as they were at `version`, to which history reaches back.
  template <typename Visit>
  void for_each_at(std::uint64_t version, std::string_view begin, std::string_view end,
                   Visit visit) const {
    if (!end.empty() && begin >= end) return;
    const Objects then = changed_since(version);
    auto past = then.lower_bound(begin);
    const auto past_end = end.empty() ? then.end() : then.lower_bound(end);
    const auto visit_past = [&] {
      if (past->second != Object{}) visit(past->first, past->second);
      ++past;
    };
    for_each(begin, end, [&](const std::string& key, const Object& object) {
      while (past != past_end && past->first < key) visit_past();
      if (past != past_end && past->first == key)
        visit_past();
      else
        visit(key, object);
    });
    while (past != past_end) visit_past();
  }

 private:
  // What the keys that have changed since `version` had then; Object{}: nothing.
  Objects changed_since(std::uint64_t version) const {
    Objects then;
    for (auto change = history_.rbegin(); change != history_.rend() && change->version > version;
         ++change)
      then.insert_or_assign(change->key(), change->previous);
    return then;
  }

  Objects objects_;
  std::deque<Change> history_;
  std::size_t history_bytes_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace berth
