// Objects as JSON, for suggestions: the engine keeps only what it decides from, so they are asked for
// one by one where they are.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/thread.h"
#include "berth/loop.h"
#include "berth/task.h"
#include "explain/object_texts.h"

namespace berth::live {

class ObjectSource {
 public:
  virtual ~ObjectSource() = default;
  // World thread. nullopt: there is none, or it may not be read. `namespace_name` is empty for kinds
  // without one.
  virtual Task<std::optional<std::string>> get(std::string kind, std::string namespace_name,
                                               std::string name) = 0;
};

// The objects that one question needs. Asked on any thread but the world's, which fetches them.
class AskedObjects final : public explain::ObjectTexts {
 public:
  struct Key {
    std::string kind, namespace_name, name;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // Called by who needs an object: has it fetched on the world, which then calls answer().
  using Fetch = std::function<void(const Key&)>;

  explicit AskedObjects(Fetch fetch) : fetch_(std::move(fetch)) {}

  // Waits until the object is there.
  std::optional<JsonValue> of(std::string_view kind, std::string_view namespace_name,
                              std::string_view name) const override EXCLUDES(mutex_);

  // ---- any thread
  void answer(const Key& key, std::optional<std::string> json) EXCLUDES(mutex_);
  // The question has been given up: nobody waits for an object any more.
  void end() EXCLUDES(mutex_);
  bool ended() const EXCLUDES(mutex_);

 private:
  // More objects than any question needs; a limit to what one costs the API server.
  static constexpr std::size_t kMost = 300;

  const Fetch fetch_;
  mutable Mutex mutex_;
  mutable Condition changed_;
  mutable std::map<Key, std::optional<std::string>> texts_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;
};

}  // namespace berth::live
