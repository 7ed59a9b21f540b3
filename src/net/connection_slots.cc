#include "net/connection_slots.h"

namespace berth::net {

std::optional<ConnectionSlots::Entry> ConnectionSlots::enter(bool from_this_machine,
                                                             std::size_t worker) {
  const MutexLock lock(mutex_);
  Pool* pool = from_this_machine && reserved_.used < reserved_.size ? &reserved_ : &common_;
  std::optional<Evicted> evicted;
  if (pool->used >= pool->size) {
    // The common slots are taken, and for a client on this machine the reserved ones as well.
    if (from_this_machine) {
      evicted = evict_oldest(reserved_);
      if (evicted) pool = &reserved_;
    }
    if (!evicted) evicted = evict_oldest(common_);
    if (!evicted) return std::nullopt;
  }
  const Id id = ++last_;
  ++pool->used;
  pool->idle.emplace(id, id);
  slots_.emplace(id, Slot{pool, worker, id, false});
  return Entry{id, evicted};
}

std::optional<ConnectionSlots::Evicted> ConnectionSlots::evict_oldest(Pool& pool) {
  if (pool.idle.empty()) return std::nullopt;
  const auto oldest = pool.idle.begin();
  const auto slot = slots_.find(oldest->second);
  const Evicted evicted{slot->first, slot->second.worker};
  pool.idle.erase(oldest);
  slots_.erase(slot);
  --pool.used;
  return evicted;
}

void ConnectionSlots::set_busy(Id id, bool busy) {
  const MutexLock lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return;
  Slot& slot = found->second;
  if (!slot.busy) slot.pool->idle.erase(slot.idle_since);
  slot.busy = busy;
  if (busy) return;
  slot.idle_since = ++last_;
  slot.pool->idle.emplace(slot.idle_since, id);
}

void ConnectionSlots::leave(Id id) {
  const MutexLock lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return;
  if (!found->second.busy) found->second.pool->idle.erase(found->second.idle_since);
  --found->second.pool->used;
  slots_.erase(found);
}

}  // namespace berth::net
