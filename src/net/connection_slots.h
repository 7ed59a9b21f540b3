// ConnectionSlots: how many connections a server has at a time, and which of them goes when there
// is no room for another: the one that has waited for a request the longest. Connections whose
// request is being answered stay.
//
//   common    [ . . . . . . . . ]   anybody
//   reserved  [ . . ]               clients on this machine, first; so a node's own probes get in
//                                   when strangers have taken the rest and are busy with it
//
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/thread.h"

namespace berth::net {

class ConnectionSlots {
 public:
  using Id = std::uint64_t;

  ConnectionSlots(std::size_t common, std::size_t reserved)
      : common_{.size = common, .used = 0, .idle = {}},
        reserved_{.size = reserved, .used = 0, .idle = {}} {}

  struct Evicted {
    Id id = 0;
    std::size_t worker = 0;
  };
  struct Entry {
    Id id = 0;
    std::optional<Evicted> evicted;  // to be closed; it has no slot any more
  };
  // A slot for a new connection, which belongs to that worker. Nothing: there is no room.
  std::optional<Entry> enter(bool from_this_machine, std::size_t worker) EXCLUDES(mutex_);

  // Whether a request of the connection is being answered; if not, it waits for the next from now
  // on. It begins with waiting.
  void set_busy(Id id, bool busy) EXCLUDES(mutex_);
  void leave(Id id) EXCLUDES(mutex_);  // may be called for one that was evicted

 private:
  struct Pool {
    std::size_t size = 0;
    std::size_t used = 0;
    std::map<std::uint64_t, Id> idle;  // by when they became so, as a count
  };
  struct Slot {
    Pool* pool = nullptr;
    std::size_t worker = 0;
    std::uint64_t idle_since = 0;
    bool busy = false;
  };
  std::optional<Evicted> evict_oldest(Pool& pool) REQUIRES(mutex_);

  Mutex mutex_;
  Pool common_ GUARDED_BY(mutex_);
  Pool reserved_ GUARDED_BY(mutex_);
  std::unordered_map<Id, Slot> slots_ GUARDED_BY(mutex_);
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
};

}  // namespace berth::net
