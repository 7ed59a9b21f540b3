#include "berth/waiting_pods.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/thread.h"
#include "base/time_text.h"

namespace berth {
namespace {

// One plugin's hold on a pod.
struct Holder {
  Duration timeout{0};
  std::uint16_t plugin = 0;  // index into the table's names
  bool pending = true;       // has not allowed yet
};

// One waiting pod. It stays where it is in memory until it leaves; it leaves on the world thread,
// after its timer, so that the timer may point at it. One timer is enough: it is set to the nearest
// deadline that counts.
struct Entry {
  Ref<const Pod> pod;
  std::string node_name;
  Entry* previous = nullptr;  // in the order of hold()
  Entry* next = nullptr;
  std::uint64_t wait = 0;  // distinguishes one wait of a pod from a later one
  TimePoint since;         // when the wait began
  TimerId timer;
  std::unique_ptr<Holder[]> holders;
  std::uint16_t holder_count = 0;
  std::uint16_t pending_count = 0;
  bool settled = false;
  bool armed = false;                // the timer is set; the world's to know
  bool noted = false;                // an errand for it is on its way to the world
  std::unique_ptr<Outcome> outcome;  // once settled; none is Success
  std::coroutine_handle<> awaiter;

  std::span<Holder> held_by() { return {holders.get(), holder_count}; }
  std::span<const Holder> held_by() const { return {holders.get(), holder_count}; }
  TimePoint deadline_of(const Holder& holder) const {
    return since + std::max(holder.timeout, Duration{0});
  }
  // Of those that have not allowed, the one whose time is up first. Null when all have.
  const Holder* most_urgent() const {
    const Holder* urgent = nullptr;
    for (const Holder& holder : held_by())
      if (holder.pending && (!urgent || holder.timeout < urgent->timeout)) urgent = &holder;
    return urgent;
  }
};

// Something for the world to do about one wait, noted by any thread.
struct Errand {
  Uid uid;
  std::uint64_t wait = 0;
};

}  // namespace

struct WaitingPods::Table : std::enable_shared_from_this<WaitingPods::Table> {
  explicit Table(Loop& l) : loop(l) {}
  ~Table() { close(); }

  // World thread.
  void hold(Ref<const Pod> pod, std::string node_name, std::span<const PermitHold> holds)
      EXCLUDES(mutex);
  bool await(const Uid& uid, std::coroutine_handle<> awaiter) EXCLUDES(mutex);
  void stop_awaiting(const Uid& uid) EXCLUDES(mutex);
  Outcome leave(const Uid& uid) EXCLUDES(mutex);
  void expire(Entry& entry) EXCLUDES(mutex);
  void run_errands() EXCLUDES(mutex);
  void attend(const Errand& errand) EXCLUDES(mutex);
  void close() EXCLUDES(mutex);

  // Any thread.
  bool allow(const Uid& uid, std::string_view plugin) EXCLUDES(mutex);
  bool allow_together(std::span<const Uid> pods, std::string_view plugin) EXCLUDES(mutex);
  bool allow_locked(const Uid& uid, std::string_view plugin) REQUIRES(mutex);
  bool settle(const Uid& uid, Code code, std::string_view plugin, std::string message)
      EXCLUDES(mutex);

  Entry* find(const Uid& uid) const REQUIRES(mutex) {
    const auto found = entries.find(uid);
    return found == entries.end() ? nullptr : found->second.get();
  }
  std::uint16_t name_index(const std::string& name) REQUIRES(mutex);
  void unlink(Entry& entry) REQUIRES(mutex);
  void note_errand(Entry& entry) REQUIRES(mutex);
  void set_timer(Entry& entry) REQUIRES(mutex);
  void disarm(Entry& entry) REQUIRES(mutex);
  WaitingPod copy_of(const Entry& entry) const REQUIRES(mutex);

  Loop& loop;
  mutable Mutex mutex;
  boost::unordered_flat_map<Uid, std::unique_ptr<Entry>, std::hash<Uid>> entries GUARDED_BY(mutex);
  Entry* first GUARDED_BY(mutex) = nullptr;
  Entry* last GUARDED_BY(mutex) = nullptr;
  std::uint64_t last_wait GUARDED_BY(mutex) = 0;
  std::vector<std::string> names GUARDED_BY(mutex);  // plugins that ever held a pod: a handful
  std::vector<Errand> errands GUARDED_BY(mutex);
  bool errands_posted GUARDED_BY(mutex) = false;
};

// ---- beginning and end of a wait: the world thread --------------------------------------------

void WaitingPods::Table::hold(Ref<const Pod> pod, std::string node_name,
                              std::span<const PermitHold> holds) {
  if (holds.empty()) return;
  BERTH_CHECK(holds.size() <= std::numeric_limits<std::uint16_t>::max());
  auto entry = std::make_unique<Entry>();
  entry->pod = std::move(pod);
  entry->node_name = std::move(node_name);
  entry->node_name.shrink_to_fit();
  entry->holders = std::make_unique<Holder[]>(holds.size());
  entry->holder_count = entry->pending_count = static_cast<std::uint16_t>(holds.size());

  MutexLock lock(mutex);
  entry->since = loop.now();
  for (std::uint16_t i = 0; i < entry->holder_count; ++i) {
    entry->holders[i].plugin = name_index(holds[i].plugin);
    entry->holders[i].timeout = std::min(holds[i].timeout, kLongestWait);
  }
  set_timer(*entry);
  entry->wait = ++last_wait;
  entry->previous = last;
  (last ? last->next : first) = entry.get();
  last = entry.get();
  const Uid uid = entry->pod->uid();
  const bool is_new = entries.emplace(uid, std::move(entry)).second;
  BERTH_CHECK(is_new);
}

// False if there is nothing to wait for: not held, or settled already.
bool WaitingPods::Table::await(const Uid& uid, std::coroutine_handle<> awaiter) {
  MutexLock lock(mutex);
  Entry* entry = find(uid);
  if (entry == nullptr || entry->settled) return false;
  BERTH_CHECK(!entry->awaiter);
  entry->awaiter = awaiter;
  return true;
}

void WaitingPods::Table::stop_awaiting(const Uid& uid) {
  MutexLock lock(mutex);
  if (Entry* entry = find(uid)) entry->awaiter = {};
}

// Takes the pod, which has settled, off the table.
Outcome WaitingPods::Table::leave(const Uid& uid) {
  std::unique_ptr<Entry> entry;
  {
    MutexLock lock(mutex);
    const auto found = entries.find(uid);
    if (found == entries.end()) return Outcome::success();
    entry = std::move(found->second);
    BERTH_CHECK(entry->settled);
    entries.erase(found);
    unlink(*entry);
    disarm(*entry);
  }
  return entry->outcome ? std::move(*entry->outcome) : Outcome::success();
}

void WaitingPods::Table::close() {
  MutexLock lock(mutex);
  for (Entry* entry = first; entry != nullptr; entry = entry->next) disarm(*entry);
  first = last = nullptr;
  entries.clear();
  errands.clear();
}

// ---- what settles a wait ----------------------------------------------------------------------

bool WaitingPods::Table::allow(const Uid& uid, std::string_view plugin) {
  MutexLock lock(mutex);
  return allow_locked(uid, plugin);
}

bool WaitingPods::Table::allow_together(std::span<const Uid> pods, std::string_view plugin) {
  MutexLock lock(mutex);
  for (const Uid& uid : pods)
    if (const Entry* entry = find(uid); entry != nullptr && entry->outcome) return false;
  for (const Uid& uid : pods) allow_locked(uid, plugin);
  return true;
}

bool WaitingPods::Table::allow_locked(const Uid& uid, std::string_view plugin) {
  Entry* entry = find(uid);
  if (entry == nullptr || entry->settled) return false;
  bool changed = false;
  for (Holder& holder : entry->held_by()) {
    if (!holder.pending || names[holder.plugin] != plugin) continue;
    holder.pending = false;
    --entry->pending_count;
    changed = true;
  }
  if (!changed) return false;
  entry->settled = entry->pending_count == 0;
  note_errand(*entry);
  return true;
}

bool WaitingPods::Table::settle(const Uid& uid, Code code, std::string_view plugin,
                                std::string message) {
  MutexLock lock(mutex);
  Entry* entry = find(uid);
  if (entry == nullptr || entry->settled) return false;
  entry->settled = true;
  entry->outcome = std::make_unique<Outcome>(Outcome::of(code, std::move(message)).by(plugin));
  note_errand(*entry);
  return true;
}

void WaitingPods::Table::expire(Entry& entry) {
  Errand errand;
  {
    MutexLock lock(mutex);
    entry.armed = false;
    // Another thread may have settled it, or allowed for the plugin whose time is up, and its
    // errand has not reached us yet.
    if (entry.settled) return;
    const Holder& late = *entry.most_urgent();
    if (entry.deadline_of(late) > loop.now()) return set_timer(entry);
    const std::string& plugin = names[late.plugin];
    entry.settled = true;
    entry.outcome = std::make_unique<Outcome>(
        Outcome::unschedulable("rejected due to timeout after waiting " +
                               go_duration(late.timeout) + " at plugin " + plugin)
            .by(plugin));
    errand = {entry.pod->uid(), entry.wait};
  }
  attend(errand);
}

// ---- work for the world thread ----------------------------------------------------------------

// Timers and coroutines belong to the world, whatever thread we are on. One post serves all errands
// noted until it runs. It is made under the lock: when our caller returns, the loop has work.
void WaitingPods::Table::note_errand(Entry& entry) {
  if (entry.noted) return;
  entry.noted = true;
  errands.push_back({entry.pod->uid(), entry.wait});
  if (std::exchange(errands_posted, true)) return;
  loop.post([weak = weak_from_this()] {
    if (const auto table = weak.lock()) table->run_errands();
  });
}

void WaitingPods::Table::run_errands() {
  std::vector<Errand> batch;
  {
    MutexLock lock(mutex);
    batch.swap(errands);
    errands_posted = false;
  }
  // One at a time: a resumed task may end the waits of others.
  for (const Errand& errand : batch) attend(errand);
}

void WaitingPods::Table::attend(const Errand& errand) {
  std::coroutine_handle<> awaiter;
  {
    MutexLock lock(mutex);
    Entry* entry = find(errand.uid);
    if (entry == nullptr || entry->wait != errand.wait) return;  // gone already
    entry->noted = false;
    if (entry->settled) {
      disarm(*entry);
      awaiter = std::exchange(entry->awaiter, {});
    } else {
      set_timer(*entry);
    }
  }
  if (awaiter) awaiter.resume();
}

// Sets the timer of a pod that still waits to the deadline that counts now. World thread.
void WaitingPods::Table::set_timer(Entry& entry) {
  const TimePoint deadline = entry.deadline_of(*entry.most_urgent());
  if (entry.armed && entry.timer.when == deadline) return;
  disarm(entry);
  entry.armed = true;
  entry.timer = loop.at(deadline, [this, waiting = &entry] { expire(*waiting); });
}

void WaitingPods::Table::disarm(Entry& entry) {
  if (std::exchange(entry.armed, false)) loop.cancel(entry.timer);
}

// ---- bookkeeping ------------------------------------------------------------------------------

std::uint16_t WaitingPods::Table::name_index(const std::string& name) {
  const auto found = std::ranges::find(names, name);
  const auto index = static_cast<std::size_t>(found - names.begin());
  if (found == names.end()) {
    BERTH_CHECK(index <= std::numeric_limits<std::uint16_t>::max());
    names.push_back(name);
  }
  return static_cast<std::uint16_t>(index);
}

void WaitingPods::Table::unlink(Entry& entry) {
  (entry.previous ? entry.previous->next : first) = entry.next;
  (entry.next ? entry.next->previous : last) = entry.previous;
}

WaitingPod WaitingPods::Table::copy_of(const Entry& entry) const {
  const Duration wall_clock_ahead = loop.wall_now().since_epoch - loop.now().since_start;
  const auto wall = [&](TimePoint time) { return WallTime{wall_clock_ahead} + time.since_start; };
  WaitingPod copy{entry.pod, entry.node_name, {}, wall(entry.since)};
  copy.pending_plugins.reserve(entry.pending_count);
  for (const Holder& holder : entry.held_by()) {
    if (!holder.pending) continue;
    copy.pending_plugins.push_back(names[holder.plugin]);
    copy.until.push_back(wall(entry.deadline_of(holder)));
  }
  return copy;
}

// ---- the public face --------------------------------------------------------------------------

WaitingPods::WaitingPods(Loop& loop) : table_(std::make_shared<Table>(loop)) {}

WaitingPods::~WaitingPods() { table_->close(); }

void WaitingPods::hold(Ref<const Pod> pod, std::string node_name,
                       std::span<const PermitHold> holds) {
  table_->hold(std::move(pod), std::move(node_name), holds);
}

WaitingPods::Settled WaitingPods::settled(const Uid& uid) { return {*table_, uid}; }

bool WaitingPods::allow(const Uid& uid, std::string_view plugin) {
  return table_->allow(uid, plugin);
}

bool WaitingPods::allow_together(std::span<const Uid> pods, std::string_view plugin) {
  return table_->allow_together(pods, plugin);
}

bool WaitingPods::reject(const Uid& uid, std::string_view plugin, std::string message) {
  return table_->settle(uid, Code::kUnschedulable, plugin, std::move(message));
}

bool WaitingPods::preempt(const Uid& uid, std::string_view plugin, std::string message) {
  return table_->settle(uid, Code::kError, plugin, std::move(message));
}

bool WaitingPods::contains(const Uid& uid) const {
  MutexLock lock(table_->mutex);
  return table_->find(uid) != nullptr;
}

std::optional<WaitingPod> WaitingPods::find(const Uid& uid) const {
  MutexLock lock(table_->mutex);
  const Entry* entry = table_->find(uid);
  if (entry == nullptr) return std::nullopt;
  return table_->copy_of(*entry);
}

std::vector<WaitingPod> WaitingPods::list() const {
  MutexLock lock(table_->mutex);
  std::vector<WaitingPod> pods;
  pods.reserve(table_->entries.size());
  for (const Entry* entry = table_->first; entry != nullptr; entry = entry->next)
    pods.push_back(table_->copy_of(*entry));
  return pods;
}

void WaitingPods::for_each(const std::function<void(const WaitingPod&)>& visit) const {
  for (const WaitingPod& pod : list()) visit(pod);
}

std::size_t WaitingPods::size() const {
  MutexLock lock(table_->mutex);
  return table_->entries.size();
}

WaitingPods::Settled::~Settled() {
  if (waiting_) table_.stop_awaiting(uid_);
}

bool WaitingPods::Settled::await_suspend(std::coroutine_handle<> awaiter) {
  waiting_ = table_.await(uid_, awaiter);
  return waiting_;
}

Outcome WaitingPods::Settled::await_resume() {
  waiting_ = false;
  return table_.leave(uid_);
}

}  // namespace berth
