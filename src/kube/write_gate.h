// WriteGate: only the holder of the lease may write. HttpApiClient asks it before each try of a
// request that changes something, and the network's thread asks once more when the request leaves
// (net::HttpCall::may_send): what has waited for its turn, for a connection or between two tries is
// judged by how things are then.
//
// It also knows which writes have left without an answer so far, so that the lease is not given to
// another scheduler while one of them can still arrive (leader_election.h:
// LeaderCallbacks::settle).
//
// World thread, but for permit().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "berth/loop.h"
#include "berth/task.h"

namespace berth::kube {

enum class WritePermit : std::uint8_t {
  kSend,
  kWait,  // it is not known whether the lease is still ours
  kDrop,  // it is not
};

class WriteGate {
 public:
  // `permit` may be called on any thread. A write without an answer may arrive for so long after it
  // was given up. The loop outlives this, and this outlives the writes.
  WriteGate(Loop& loop, std::function<WritePermit()> permit, Duration doubt)
      : loop_(loop), permit_(std::move(permit)), doubt_(doubt) {}
  WriteGate(const WriteGate&) = delete;
  WriteGate& operator=(const WriteGate&) = delete;

  // Any thread.
  WritePermit permit() const { return permit_(); }

  // True when a write may be sent now, false when it is dropped, or was cancelled before.
  Task<bool> pass(CancelToken cancel);

  // A write that is handed to the network, for as long as this lives.
  class UnderWay {
   public:
    explicit UnderWay(WriteGate& gate) : gate_(gate) { ++gate_.under_way_; }
    ~UnderWay() { gate_.ended(answered_); }
    UnderWay(const UnderWay&) = delete;
    UnderWay& operator=(const UnderWay&) = delete;

    // The server has answered, or the request never left.
    void answered() { answered_ = true; }

   private:
    WriteGate& gate_;
    bool answered_ = false;
  };

  // Whether no write can arrive at the server any more; waits for that, but not for longer than
  // `limit`.
  Task<bool> settle(Duration limit);

 private:
  void ended(bool answered);
  bool settled() const { return under_way_ == 0 && loop_.now() >= doubtful_until_; }

  Loop& loop_;
  const std::function<WritePermit()> permit_;
  const Duration doubt_;
  std::size_t under_way_ = 0;
  TimePoint doubtful_until_;
};

}  // namespace berth::kube
