#include "kube/reflectors.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"

namespace berth::kube {

Reflectors::Reflectors(Loop& loop, ApiClient& client, Interner& interner, Random random,
                       telemetry::Log log, ReflectorsOptions options,
                       std::function<void(Delta)> apply)
    : loop_(loop),
      apply_(std::move(apply)),
      unsynced_(options.kinds.size()),
      self_(std::make_shared<Reflectors*>(this)) {
  reflectors_.reserve(options.kinds.size());
  for (WatchedKind& kind : options.kinds)
    reflectors_.push_back(std::make_unique<Reflector>(loop, client, interner, random.fork(), log,
                                                      std::move(kind), options.each, apply_,
                                                      [this] { one_synced(); }));
}

Reflectors::~Reflectors() {
  *self_ = nullptr;
  stop();
}

void Reflectors::start() {
  BERTH_CHECK(!stopped_);
  for (const std::unique_ptr<Reflector>& reflector : reflectors_) reflector->start();
}

void Reflectors::stop() {
  stopped_ = true;
  when_synced_.clear();
  for (const std::unique_ptr<Reflector>& reflector : reflectors_) reflector->stop();
}

void Reflectors::list_again() {
  BERTH_CHECK(!stopped_);
  for (const std::unique_ptr<Reflector>& reflector : reflectors_) {
    if (reflector->synced()) ++unsynced_;
    reflector->list_again();
  }
}

std::vector<std::string> Reflectors::unsynced() const {
  std::vector<std::string> names;
  for (const std::unique_ptr<Reflector>& reflector : reflectors_) {
    if (reflector->synced()) continue;
    std::string name = reflector->kind().full_resource();
    names.push_back(reflector->last_error().empty()
                        ? std::move(name)
                        : fmt::format("{}: {}", name, reflector->last_error()));
  }
  return names;
}

void Reflectors::on_synced(Callback callback) {
  when_synced_.push_back(std::move(callback));
  if (synced()) tell_synced();
}

void Reflectors::one_synced() {
  --unsynced_;
  if (synced()) tell_synced();
}

// Posted to the loop: the callback may stop this object.
void Reflectors::tell_synced() {
  loop_.post([self = self_] {
    if (*self == nullptr || (*self)->stopped_) return;
    for (Callback& callback : std::exchange((*self)->when_synced_, {})) {
      callback();
      if (*self == nullptr) return;
    }
  });
}

}  // namespace berth::kube
