#include "ui/live_feed.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>
#include <variant>

#include "page/cluster_json.h"

namespace berth::ui {
namespace {

constexpr Duration kLookAgain = std::chrono::seconds(10);

}  // namespace

LiveFeed::LiveFeed(Loop& loop, std::uint64_t epoch) : ChangeWriter(loop), epoch_(epoch) {}

LiveFeed::~LiveFeed() { let_go(); }

void LiveFeed::let_go() {
  engine_ = nullptr;
  collected_.reset();
  hand_out(nullptr);
  stop_recording();
}

// ---- changes

void LiveFeed::changed(const Delta& delta) {
  if (!recording_ || !engine_) return;
  // While a cycle is open the cluster does not have it yet, and a snapshot would not show it.
  engine_->in_turn(lifetime_.guard([this, delta] {
    if (recording_ && engine_) write(delta);
  }));
}

void LiveFeed::write(const Delta& delta) {
  if (const auto* pod = std::get_if<Ref<const Pod>>(&delta.object)) {
    const Ref<const Pod> before = engine_->cluster().seen_pod(**pod);
    PodStage known;
    if (before && before->uid() == (*pod)->uid())
      known = {.bound = !before->node().empty(),
               .terminating = before->terminating(),
               .finished = before->finished()};
    pod_changed(delta.type, **pod, known);
  } else if (const auto* object = std::get_if<Ref<const Object>>(&delta.object)) {
    if ((*object)->kind == ObjectKind::kNode)
      node_changed(delta.type, static_cast<const Node&>(**object));
    const NodeTable& table = engine_->cluster().nodes();
    for (const std::string& name : devices_.changed(delta)) {
      const NodeRow row = table.find(engine_->cluster().symbols().find(name));
      if (row != kNoRow && table.has_node(row)) show_node("nodeChanged", table.node(row));
    }
  }
}

void LiveFeed::node_changed(DeltaType type, const Node& node) {
  if (type == DeltaType::kDeleted) return add(change("nodeRemoved").text("node", node.name));
  const NodeTable& table = engine_->cluster().nodes();
  const NodeRow row = table.find(node.symbol);
  // A heartbeat changes nothing that the page shows.
  if (type == DeltaType::kUpdated && row != kNoRow && table.has_node(row) &&
      page::node_members(table.node(row), nullptr) == page::node_members(node, nullptr))
    return;
  show_node(type == DeltaType::kAdded ? "nodeAdded" : "nodeChanged", node);
}

void LiveFeed::show_node(std::string_view what, const Node& node) {
  add(change(what)
          .text("node", node.name)
          .raw("now", "{" + page::node_members(node, devices_.on(node.name)) + "}"));
}

void LiveFeed::describe(JsonLine& created, const Pod& pod) {
  created.text("name", pod.name()).raw("template", page::template_json(pod));
}

void LiveFeed::add(const JsonLine& change) {
  std::string json = change.done();
  const MutexLock lock(mutex_);
  bytes_ += json.size();
  changes_.push_back(std::move(json));
  while (changes_.size() > kMostChanges || bytes_ > kMostBytes) {
    bytes_ -= changes_.front().size();
    changes_.pop_front();
    ++first_;
  }
}

std::optional<std::string> LiveFeed::changes_since(std::string_view cursor) {
  note_question();
  const std::size_t dash = cursor.rfind('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = cursor.substr(dash + 1);
  std::uint64_t next = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), next);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const MutexLock lock(mutex_);
  if (epoch_text_.empty() || cursor.substr(0, dash) != epoch_text_) return std::nullopt;
  if (next < first_ || next > first_ + changes_.size()) return std::nullopt;
  std::string list = "[";
  for (; next < first_ + changes_.size() && list.size() < kMostAnswered; ++next) {
    if (list.size() > 1) list += ",\n";
    list += changes_[next - first_];
  }
  return fmt::format(R"({{"cursor": "{}-{}", "at": {}, "isAll": {}, "changes": {}]}})", epoch_text_,
                     next, page::milliseconds(loop_.now().since_start),
                     next == first_ + changes_.size(), list);
}

void LiveFeed::record() {
  if (std::exchange(recording_, true)) return;
  {
    const MutexLock lock(mutex_);
    epoch_text_ = fmt::format("{:x}.{}", epoch_, ++times_recorded_);
  }
  stop_when_forgotten();
}

void LiveFeed::stop_recording() {
  recording_ = false;
  devices_ = {};
  last_snapshot_ = nullptr;
  const MutexLock lock(mutex_);
  epoch_text_.clear();
  changes_.clear();
  changes_.shrink_to_fit();
  first_ = 0;
  bytes_ = 0;
}

void LiveFeed::stop_when_forgotten() {
  auto look = lifetime_.guard([this] {
    if (!recording_) return;
    const Duration silence = loop_.now() - last_question_.load(std::memory_order_relaxed);
    if (silence > kForgottenAfter && takers_.empty()) return stop_recording();
    if (loop_.now() - last_snapshot_at_ > kSnapshotLasts) last_snapshot_ = nullptr;
    stop_when_forgotten();
  });
  loop_.after(kLookAgain, std::move(look), TimerKind::kHousekeeping);
}

// ---- snapshots

void LiveFeed::snapshot(TakeSnapshot take) {
  note_question();
  loop_.post(lifetime_.guard(
      [this, take = std::move(take)]() mutable { begin_snapshot(std::move(take)); }));
}

void LiveFeed::begin_snapshot(TakeSnapshot take) {
  if (!engine_ || takers_.size() >= kMostWaiting) return take(nullptr);
  if (last_snapshot_ && loop_.now() - last_snapshot_at_ <= kSnapshotLasts)
    return take(last_snapshot_);
  takers_.push_back(std::move(take));
  if (takers_.size() > 1) return;  // one is under way
  record();
  std::string cursor;
  {
    const MutexLock lock(mutex_);
    cursor = fmt::format("{}-{}", epoch_text_, first_ + changes_.size());
  }
  last_snapshot_at_ = loop_.now();
  collected_ = std::make_unique<Snapshot>(*engine_, loop_, devices_, std::move(cursor));
  loop_.post(lifetime_.guard([this] { look_further(); }));
}

void LiveFeed::look_further() {
  if (!collected_) return;
  if (!collected_->look_further()) return write_snapshot();
  loop_.post(lifetime_.guard([this] { look_further(); }));
}

void LiveFeed::write_snapshot() {
  auto finished =
      lifetime_.guard([this](const std::shared_ptr<const std::string>& json) { hand_out(json); });
  writer_.start([&loop = loop_, snapshot = std::shared_ptr<const Snapshot>(std::move(collected_)),
                 finished](const std::atomic<bool>& cancelled) mutable {
    if (cancelled) return;
    auto json = std::make_shared<const std::string>(snapshot->json());
    snapshot.reset();
    loop.post([finished, json = std::move(json)]() mutable { finished(json); });
  });
}

void LiveFeed::hand_out(const std::shared_ptr<const std::string>& json) {
  if (recording_) last_snapshot_ = json;
  for (TakeSnapshot& take : std::exchange(takers_, {})) take(json);
}

}  // namespace berth::ui
