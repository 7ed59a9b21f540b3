#include "controllers/controller.h"

#include <utility>

namespace berth::controllers {

Controller::~Controller() {
  for (const auto& [key, timer] : timers_) loop_.cancel(timer);
}

void Controller::enqueue(std::string key) {
  if (!queued_.insert(key).second) return;
  queue_.push_back(std::move(key));
  if (posted_) return;
  posted_ = true;
  loop_.post(lifetime_.guard([this] {
    posted_ = false;
    run_queued();
  }));
}

void Controller::enqueue_after(Duration delay, std::string key, TimerKind kind) {
  const TimePoint when = loop_.now() + delay;
  const auto [entry, fresh] = timers_.try_emplace({key, kind});
  if (!fresh) {
    if (entry->second.when <= when) return;
    loop_.cancel(entry->second);
  }
  const auto wake = [this, kind, key = std::move(key)] {
    timers_.erase({key, kind});
    enqueue(key);
  };
  entry->second = loop_.at(when, wake, kind);
}

bool Controller::run_queued() {
  std::deque<std::string> batch;
  batch.swap(queue_);
  queued_.clear();
  for (const std::string& key : batch) sync(key);
  return !batch.empty();
}

std::string object_key(std::string_view namespace_name, std::string_view name) {
  if (namespace_name.empty()) return std::string(name);
  std::string key(namespace_name);
  key += '/';
  key += name;
  return key;
}

ObjectName name_of(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {"", std::string(key)};
  return {std::string(key.substr(0, slash)), std::string(key.substr(slash + 1))};
}

}  // namespace berth::controllers
