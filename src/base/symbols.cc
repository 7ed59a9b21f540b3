#include "berth/symbols.h"

#include <algorithm>
#include <array>
#include <bit>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstring>

#include "base/check.h"
#include "base/keyed_hash.h"
#include "base/thread.h"

namespace berth {

namespace {

// A string with its hash, so that looking in several places hashes it once.
struct Hashed {
  explicit Hashed(std::string_view t) : text(t), hash(hash_text(t)) {}
  std::string_view text;
  std::size_t hash;

  // By the last bytes and not by the hash, which has another key in every process: the same strings
  // in the same order get the same numbers, in every run.
  std::uint32_t shard(std::uint32_t shards) const {
    std::uint64_t end = 0;
    const std::size_t length = std::min(text.size(), sizeof end);
    std::memcpy(&end, text.data() + text.size() - length, length);
    // The highest bits of the product, which alone depend on all bytes.
    return static_cast<std::uint32_t>(end * 0x9e3779b97f4a7c15ULL >> 60) % shards;
  }
};

struct Hash {
  using is_transparent = void;
  using is_avalanching = void;
  std::size_t operator()(const Hashed& key) const { return key.hash; }
  std::size_t operator()(std::string_view key) const { return hash_text(key); }
};

struct Equal {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  bool operator()(const Hashed& a, std::string_view b) const { return a.text == b; }
  bool operator()(std::string_view a, const Hashed& b) const { return a == b.text; }
};

using Ids = boost::unordered_flat_map<std::string_view, std::uint32_t, Hash, Equal>;

}  // namespace

// A string and how many hold it. Entries never move, so text() needs no lock.
struct Symbols::Entry {
  std::unique_ptr<char[]> text;
  std::uint32_t length = 0;
  std::atomic<std::uint32_t> holders{0};

  std::string_view view() const { return {text.get(), length}; }
  void assign(std::string_view value) {
    text = std::make_unique<char[]>(value.size());
    std::memcpy(text.get(), value.data(), value.size());
    length = static_cast<std::uint32_t>(value.size());
  }
};

// The fixed names, numbered from 1: filled when the table is made and only read afterwards, so
// without a lock.
struct Symbols::Constants {
  std::vector<std::string> texts;
  Ids ids;

  std::uint32_t find(const Hashed& key) const {
    const auto found = ids.find(key);
    return found == ids.end() ? 0 : found->second;
  }
};

// A part of the table with a lock of its own. Number = 1 + fixed names + index * kShards + shard.
struct Symbols::Shard {
  // Each page is twice as long as the one before: small tables stay small, and the page of an index
  // follows from its highest bit.
  static constexpr std::uint32_t kFirstPage = 64;
  static constexpr std::uint32_t kPages = 19;  // 33 M strings per shard
  static constexpr std::size_t kFewBuckets = 1024;

  mutable Mutex mutex;
  Ids ids GUARDED_BY(mutex);
  std::vector<std::uint32_t> unused GUARDED_BY(mutex);
  std::uint32_t made GUARDED_BY(mutex) = 0;
  // Read without the lock: a page is published before any symbol in it is.
  std::array<std::atomic<Entry*>, kPages> pages{};

  ~Shard() {
    for (std::atomic<Entry*>& page : pages) delete[] page.load();
  }

  static std::uint32_t page_of(std::uint32_t index) {
    return static_cast<std::uint32_t>(std::bit_width(index / kFirstPage + 1)) - 1;
  }
  static std::uint32_t first_of(std::uint32_t page) { return kFirstPage * ((1U << page) - 1); }

  Entry& at(std::uint32_t index) const {
    const std::uint32_t page = page_of(index);
    return pages[page].load(std::memory_order_acquire)[index - first_of(page)];
  }

  // Frees memory after many strings were released.
  void shrink_if_sparse() REQUIRES(mutex) {
    if (ids.bucket_count() > kFewBuckets && ids.size() * 8 < ids.bucket_count()) ids.rehash(0);
  }

  // An unused index.
  std::uint32_t take_index() REQUIRES(mutex) {
    if (!unused.empty()) {
      const std::uint32_t index = unused.back();
      unused.pop_back();
      return index;
    }
    const std::uint32_t index = made++;
    const std::uint32_t page = page_of(index);
    BERTH_CHECK(page < kPages);
    if (index == first_of(page))
      pages[page].store(new Entry[kFirstPage << page], std::memory_order_release);
    return index;
  }
};

Symbols::Symbols(std::span<const std::string_view> fixed)
    : fixed_(static_cast<std::uint32_t>(fixed.size())),
      shards_(std::make_unique<Shard[]>(kShards)) {
  auto constants = std::make_unique<Constants>();
  constants->texts.assign(fixed.begin(), fixed.end());
  for (std::uint32_t i = 0; i < fixed_; ++i) {
    const bool is_new = constants->ids.emplace(constants->texts[i], i + 1).second;
    BERTH_CHECK(is_new);
  }
  constants_ = std::move(constants);
}

Symbols::~Symbols() = default;

Symbols::Entry& Symbols::entry(std::uint32_t id) const {
  const std::uint32_t rest = id - fixed_ - 1;
  return shards_[rest % kShards].at(rest / kShards);
}

Symbol Symbols::intern(std::string_view text) {
  if (text.empty()) return {};
  const Hashed key(text);
  if (const std::uint32_t constant = constants_->find(key)) return {constant};
  const std::uint32_t number = key.shard(kShards);
  Shard& shard = shards_[number];
  MutexLock lock(shard.mutex);
  if (const auto found = shard.ids.find(key); found != shard.ids.end()) {
    entry(found->second).holders.fetch_add(1, std::memory_order_relaxed);
    return {found->second};
  }
  const std::uint32_t index = shard.take_index();
  Entry& fresh = shard.at(index);
  fresh.assign(text);
  fresh.holders.store(1, std::memory_order_relaxed);
  const std::uint32_t id = fixed_ + 1 + index * kShards + number;
  shard.ids.emplace(fresh.view(), id);
  return {id};
}

Symbol Symbols::find(std::string_view text) const {
  if (text.empty()) return {};
  const Hashed key(text);
  if (const std::uint32_t constant = constants_->find(key)) return {constant};
  const Shard& shard = shards_[key.shard(kShards)];
  MutexLock lock(shard.mutex);
  const auto found = shard.ids.find(key);
  return found == shard.ids.end() ? Symbol{} : Symbol{found->second};
}

void Symbols::retain(Symbol symbol) {
  if (symbol.id <= fixed_) return;
  entry(symbol.id).holders.fetch_add(1, std::memory_order_relaxed);
}

void Symbols::release(Symbol symbol) {
  if (symbol.id <= fixed_) return;
  Entry& held = entry(symbol.id);
  // All but the last holder leave without the lock.
  std::uint32_t holders = held.holders.load(std::memory_order_relaxed);
  while (holders > 1)
    if (held.holders.compare_exchange_weak(holders, holders - 1, std::memory_order_release)) return;
  const std::uint32_t rest = symbol.id - fixed_ - 1;
  Shard& shard = shards_[rest % kShards];
  MutexLock lock(shard.mutex);
  if (held.holders.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  shard.ids.erase(held.view());
  shard.shrink_if_sparse();
  held.text.reset();
  held.length = 0;
  shard.unused.push_back(rest / kShards);
}

std::string_view Symbols::text(Symbol symbol) const {
  if (symbol.empty()) return {};
  if (symbol.id <= fixed_) return constants_->texts[symbol.id - 1];
  return entry(symbol.id).view();
}

std::size_t Symbols::size() const {
  std::size_t count = fixed_;
  for (std::uint32_t number = 0; number < kShards; ++number) {
    MutexLock lock(shards_[number].mutex);
    count += shards_[number].ids.size();
  }
  return count;
}

SymbolHold::SymbolHold(const SymbolHold& other) : table_(other.table_), held_(other.held_) {
  for (const Symbol symbol : held_) table_->retain(symbol);
}

SymbolHold::~SymbolHold() {
  for (const Symbol symbol : held_) table_->release(symbol);
}

Symbol SymbolHold::intern(std::string_view text) {
  const Symbol symbol = table_->intern(text);
  if (!symbol.empty()) held_.push_back(symbol);
  return symbol;
}

void SymbolHold::retain(Symbol symbol) {
  if (symbol.empty()) return;
  table_->retain(symbol);
  held_.push_back(symbol);
}

}  // namespace berth
