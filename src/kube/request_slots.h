// RequestSlots: how many requests of one client are under way at once. The others wait, the most
// urgent first, those of one urgency in order: what is on the wire costs memory here and a stream
// there, and cannot be overtaken. World thread; it outlives the waiting tasks. For
// http_api_client.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "berth/task.h"
#include "kube/api_client.h"

namespace berth::kube {

class RequestSlots {
 public:
  explicit RequestSlots(std::size_t slots) : free_(slots) {}
  RequestSlots(const RequestSlots&) = delete;
  RequestSlots& operator=(const RequestSlots&) = delete;

  // True: a slot is taken, to be given back. False: it was cancelled before. A destroyed task while
  // it waits leaves.
  Task<bool> take(Urgency urgency, CancelToken cancel);
  void give_back();

  std::size_t waiting() const { return waiting_.size(); }

 private:
  using Place = std::pair<Urgency, std::uint64_t>;
  class Waiting;

  std::size_t free_;
  std::uint64_t last_ = 0;
  std::map<Place, Waiting*> waiting_;
};

// A slot that was taken, for as long as this lives.
class TakenSlot {
 public:
  explicit TakenSlot(RequestSlots& slots) : slots_(slots) {}
  ~TakenSlot() { slots_.give_back(); }
  TakenSlot(const TakenSlot&) = delete;
  TakenSlot& operator=(const TakenSlot&) = delete;

 private:
  RequestSlots& slots_;
};

}  // namespace berth::kube
