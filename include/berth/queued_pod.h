// QueuedPod: a pod on its way through the queue, with the memory of its attempts (core.md §1.1).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/loop.h"
#include "berth/pod.h"
#include "berth/ref.h"

namespace berth {

// A set of plugin names in one pointer. A million rejected pods have few different sets of
// rejectors, so copies share one list; insert() makes a new one. In the order of the names.
class PluginNames {
 public:
  using value_type = std::string;
  using const_iterator = const std::string*;

  PluginNames() = default;
  PluginNames(std::initializer_list<std::string_view> names) { assign(names); }
  // What a FitError has.
  PluginNames(const std::set<std::string>& names) {  // NOLINT(google-explicit-constructor)
    assign(names);
  }

  bool empty() const { return !list_; }
  std::size_t size() const { return list_ ? list_->names.size() : 0; }
  const_iterator begin() const { return list_ ? list_->names.data() : nullptr; }
  const_iterator end() const { return begin() + size(); }
  bool contains(std::string_view name) const { return std::binary_search(begin(), end(), name); }

  void insert(std::string_view name) {
    if (contains(name)) return;
    auto list = make_ref<List>();
    list->names.assign(begin(), end());
    list->names.emplace(std::ranges::lower_bound(list->names, name), name);
    list_ = std::move(list);
  }
  void clear() { list_ = nullptr; }

  // Whether both are the very same list, which equal names need not be.
  bool shares_with(const PluginNames& other) const { return list_ == other.list_; }
  // How many sets share the list; 0 for an empty one.
  std::uint32_t shared_by() const { return list_ ? list_->use_count() : 0; }

  friend bool operator==(const PluginNames& a, const PluginNames& b) {
    return a.list_ == b.list_ || std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator<(const PluginNames& a, const PluginNames& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  struct List : RefCounted<List> {
    std::vector<std::string> names;  // sorted, without repetition, never empty
  };
  template <typename Names>
  void assign(const Names& names) {
    if (names.begin() == names.end()) return;
    auto list = make_ref<List>();
    list->names.assign(names.begin(), names.end());
    std::ranges::sort(list->names);
    const auto repeated = std::ranges::unique(list->names);
    list->names.erase(repeated.begin(), repeated.end());
    list_ = std::move(list);
  }

  Ref<const List> list_;  // null: empty
};

struct QueuedPod {
  Ref<const Pod> pod;
  WallTime timestamp;                       // of entry, or of the return after the last attempt
  std::optional<WallTime> initial_attempt;  // first successful entry into the active queue
  std::int32_t attempts = 0;
  std::int32_t unschedulable_count = 0;
  std::int32_t consecutive_errors = 0;
  bool tried_after_flush = false;  // the timeout flush brought it back, and no gate held it since
  std::optional<WallTime> backoff_expiration;  // kept once computed
  PluginNames unschedulable_plugins;
  PluginNames pending_plugins;
  std::string gating_plugin;        // empty: not gated
  std::optional<WallTime> flushed;  // when the timeout flush looked at it last
  std::uint64_t sequence = 0;       // order of arrival; makes every order of pods total

  bool gated() const { return !gating_plugin.empty(); }
  bool has_rejectors() const { return !unschedulable_plugins.empty() || !pending_plugins.empty(); }
};

}  // namespace berth
