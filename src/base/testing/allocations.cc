#include "base/testing/allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_THREAD__)
#define BERTH_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#define BERTH_COUNTS_ALLOCATIONS !__has_feature(thread_sanitizer)
#else
#define BERTH_COUNTS_ALLOCATIONS 1
#endif

namespace berth::testing {

const bool kCountsAllocations = BERTH_COUNTS_ALLOCATIONS;

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};
std::atomic<std::size_t> count{0};

#if BERTH_COUNTS_ALLOCATIONS

// The size that malloc found for it, and malloc's own word in front of it.
std::size_t cost_of(void* block) { return malloc_usable_size(block) + sizeof(std::size_t); }

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  const std::size_t now =
      live.fetch_add(cost_of(block), std::memory_order_relaxed) + cost_of(block);
  std::size_t highest = peak.load(std::memory_order_relaxed);
  while (now > highest && !peak.compare_exchange_weak(highest, now, std::memory_order_relaxed)) {
  }
  count.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void discard(void* block) {
  if (block == nullptr) return;
  live.fetch_sub(cost_of(block), std::memory_order_relaxed);
  std::free(block);
}

#endif

}  // namespace

std::size_t live_bytes() { return live.load(); }
std::size_t peak_bytes() { return peak.load(); }
void reset_peak_bytes() { peak.store(live.load()); }
std::size_t allocations() { return count.load(); }

}  // namespace berth::testing

#if BERTH_COUNTS_ALLOCATIONS

using berth::testing::counted;
using berth::testing::discard;

void* operator new(std::size_t size) { return counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
// Named here although the library's own would come to the one above: a sanitizer's would not.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return ::operator new(size);
}
void operator delete(void* block) noexcept { discard(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { discard(block); }
void operator delete(void* block, std::size_t) noexcept { discard(block); }
void operator delete(void* block, std::align_val_t) noexcept { discard(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { discard(block); }

#endif
