#include "live/asked_objects.h"

#include <utility>

#include "base/thread.h"

namespace berth::live {

std::optional<JsonValue> AskedObjects::of(std::string_view kind, std::string_view namespace_name,
                                          std::string_view name) const {
  const Key key{std::string(kind), std::string(namespace_name), std::string(name)};
  std::optional<std::string> text;
  {
    const MutexLock lock(mutex_);
    if (ended_) return std::nullopt;
    if (!texts_.contains(key)) {
      if (texts_.size() == kMost) return std::nullopt;
      fetch_(key);
      while (!ended_ && !texts_.contains(key)) changed_.wait(mutex_);
      if (ended_) return std::nullopt;
    }
    text = texts_.at(key);
  }
  if (!text) return std::nullopt;
  Result<JsonValue> parsed = parse_json(*text);
  if (!parsed) return std::nullopt;
  return *std::move(parsed);
}

void AskedObjects::answer(const Key& key, std::optional<std::string> json) {
  const MutexLock lock(mutex_);
  texts_.try_emplace(key, std::move(json));
  changed_.notify_all();
}

void AskedObjects::end() {
  const MutexLock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool AskedObjects::ended() const {
  const MutexLock lock(mutex_);
  return ended_;
}

}  // namespace berth::live
