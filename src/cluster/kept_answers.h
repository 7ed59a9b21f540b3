// KeptAnswers: answers that are kept between cycles, by question, with a bound on their memory.
//
// Answers that were not used for a while are dropped, and so are the least recently used when there
// are too many. An answer that was used in a cycle stays valid until the next cycle begins; a
// caller that needs more in one cycle than there is room for (has_room()) keeps the rest itself.
// For the parts of Cluster that keep answers. Answer::bytes() is the memory that it takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace berth {

template <typename Answer>
class KeptAnswers {
 public:
  explicit KeptAnswers(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // The answer to the question of this hash that `fits`, or null.
  template <typename Fits>
  Answer* find(std::size_t hash, Fits fits) {
    for (std::uint32_t at = buckets_.empty() ? kNone : buckets_[bucket(hash)]; at != kNone;
         at = entries_[at].next) {
      Entry& entry = entries_[at];
      if (entry.hash != hash || !fits(*entry.answer)) continue;
      entry.asked = cycle_;
      return entry.answer.get();
    }
    return nullptr;
  }

  Answer& insert(std::size_t hash, std::unique_ptr<Answer> answer) {
    entries_.push_back({hash, cycle_, kNone, std::move(answer)});
    if (entries_.size() > buckets_.size())
      index();
    else
      link(static_cast<std::uint32_t>(entries_.size() - 1));
    return *entries_.back().answer;
  }

  void begin_cycle() {
    ++cycle_;
    // Weighed only now: most are filled after they were put in.
    weigh();
    if (cycle_ % kCyclesPerSweep == 0 || new_bytes_ > max_bytes_ / 4) sweep();
  }

  // Whether one more answer may be kept in this cycle. Those of earlier cycles make room.
  bool has_room() {
    if (full_in_ == cycle_) return false;
    weigh();
    if (kept_bytes_ + new_bytes_ <= max_bytes_) return true;
    sweep();
    if (kept_bytes_ <= max_bytes_) return true;
    full_in_ = cycle_;
    return false;
  }
  // Drops the answers for which `goes` is true, also those of this cycle.
  template <typename Goes>
  void erase_if(Goes goes) {
    weigh();
    const auto erased =
        std::erase_if(entries_, [&](const Entry& entry) { return goes(*entry.answer); });
    if (erased == 0) return;
    weighed_ = entries_.size();
    index();
  }
  // An answer that was weighed takes so much more.
  void grew(std::size_t bytes) { new_bytes_ += bytes; }

  std::size_t size() const { return entries_.size(); }

 private:
  static constexpr std::uint64_t kCyclesPerSweep = 1024;
  static constexpr std::uint64_t kLongAgo = 16 * kCyclesPerSweep;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Entry {
    std::size_t hash;
    std::uint64_t asked;  // in which cycle, last
    std::uint32_t next;   // in the same bucket
    std::unique_ptr<Answer> answer;
  };

  // There are a power of two of them.
  std::size_t bucket(std::size_t hash) const { return (hash ^ hash >> 32) & (buckets_.size() - 1); }

  void link(std::uint32_t at) {
    std::uint32_t& first = buckets_[bucket(entries_[at].hash)];
    entries_[at].next = first;
    first = at;
  }

  void index() {
    std::size_t count = 16;
    while (count < 2 * entries_.size()) count *= 2;
    buckets_.assign(count, kNone);
    for (std::uint32_t at = 0; at < entries_.size(); ++at) link(at);
  }

  void weigh() {
    for (; weighed_ < entries_.size(); ++weighed_) new_bytes_ += entries_[weighed_].answer->bytes();
  }

  void sweep() {
    new_bytes_ = 0;
    kept_bytes_ = 0;
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.asked > b.asked; });
    std::size_t kept = 0;
    for (; kept < entries_.size(); ++kept) {
      const Entry& entry = entries_[kept];
      const std::size_t bytes = entry.answer->bytes();
      const bool goes = kept_bytes_ + bytes > max_bytes_ || entry.asked + kLongAgo < cycle_;
      if (goes && entry.asked != cycle_) break;
      kept_bytes_ += bytes;
    }
    entries_.resize(kept);
    weighed_ = kept;
    index();
  }

  std::size_t max_bytes_;
  std::size_t kept_bytes_ = 0;  // at the last sweep
  std::size_t new_bytes_ = 0;   // since then
  std::uint64_t cycle_ = 1;
  std::uint64_t full_in_ = 0;  // in which cycle there was no more room
  std::vector<Entry> entries_;
  std::size_t weighed_ = 0;  // of them
  std::vector<std::uint32_t> buckets_;
};

}  // namespace berth
