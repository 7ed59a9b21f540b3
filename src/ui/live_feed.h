// LiveFeed: what the live page is told of a running scheduler: how all stands at one moment (a
// snapshot), and every change after it.
//
//   deltas of the watch ─► changed() ─┐
//   the Observer's calls ─────────────┴─► kept changes ─► changes_since(cursor)
//   the engine ─► slices ─► JSON, on a thread of its own ─► snapshot()
//
// Nothing is recorded until somebody asks for a snapshot, and nothing any more when nobody has asked
// for a while. A client takes a snapshot and asks for what has changed since, again and again; when
// that is not known any more (the scheduler began anew, or too much has happened), it takes another
// snapshot. Changes say how things are, not what to add: one that is in the snapshot already does no
// harm.
//
// World thread, unless a function says otherwise.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/thread.h"
#include "base/worker.h"
#include "berth/loop.h"
#include "engine/engine.h"
#include "page/change_writer.h"
#include "page/node_devices.h"
#include "ui/snapshot.h"

namespace berth::ui {

class LiveFeed final : public page::ChangeWriter {
 public:
  // What is kept of changes that clients have not taken yet; more: the oldest go.
  static constexpr std::size_t kMostChanges = 100'000;
  static constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  // One answer has no more than that (and one change).
  static constexpr std::size_t kMostAnswered = std::size_t{1} << 20;
  // Clients that wait for a snapshot at one time.
  static constexpr std::size_t kMostWaiting = 64;
  // How long recording goes on after the last question.
  static constexpr Duration kForgottenAfter = std::chrono::seconds(30);
  // How long a snapshot is good for whoever asks next.
  static constexpr Duration kSnapshotLasts = std::chrono::seconds(1);

  // `epoch` differs from process to process: cursors of another one are not taken for ours.
  LiveFeed(Loop& loop, std::uint64_t epoch);
  ~LiveFeed() override;

  // Whose engine it is, which outlives this or is let go of. It is also to be shown all that the
  // engine's observer is, and before the engine every delta.
  void follow(Engine& engine) { engine_ = &engine; }
  void let_go();
  void changed(const Delta& delta);

  bool recording() const { return recording_; }

  // JSON, or null if the scheduler cannot be asked now. Any thread; answers on another one.
  using TakeSnapshot = std::function<void(std::shared_ptr<const std::string> json)>;
  void snapshot(TakeSnapshot take);
  // {"cursor": "…", "at": …, "isAll": true, "changes": […]}; nullopt: take a snapshot. Any thread.
  std::optional<std::string> changes_since(std::string_view cursor) EXCLUDES(mutex_);

 private:
  bool wanted() const override { return recording_; }
  void add_pod(JsonLine& line, std::string_view key, const Pod& pod) override {
    line.text(key, pod.uid_text());
  }
  void add_node(JsonLine& line, std::string_view key, std::string_view node) override {
    line.text(key, node);
  }
  void add_text(JsonLine& line, std::string_view key, std::string_view text) override {
    line.text(key, text);
  }
  void describe(JsonLine& created, const Pod& pod) override;
  void add(const JsonLine& change) override EXCLUDES(mutex_);
  void write(const Delta& delta);
  void node_changed(DeltaType type, const Node& node);
  void show_node(std::string_view what, const Node& node);

  void begin_snapshot(TakeSnapshot take);
  void look_further();
  void write_snapshot();
  void hand_out(const std::shared_ptr<const std::string>& json);
  void record() EXCLUDES(mutex_);
  void stop_recording() EXCLUDES(mutex_);
  void stop_when_forgotten();
  void note_question() { last_question_.store(loop_.now(), std::memory_order_relaxed); }

  const std::uint64_t epoch_;
  Engine* engine_ = nullptr;
  bool recording_ = false;
  page::NodeDevices devices_;  // while it records
  std::atomic<TimePoint> last_question_{};

  std::unique_ptr<Snapshot> collected_;  // in slices; null: none is under way
  std::vector<TakeSnapshot> takers_;
  std::shared_ptr<const std::string> last_snapshot_;
  TimePoint last_snapshot_at_;

  Mutex mutex_;
  std::string epoch_text_ GUARDED_BY(mutex_);  // grows with every time that recording begins
  std::uint64_t times_recorded_ = 0;
  std::deque<std::string> changes_ GUARDED_BY(mutex_);
  std::uint64_t first_ GUARDED_BY(mutex_) = 0;  // the number of the oldest change that is kept
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;

  Lifetime lifetime_;
  Worker writer_{"live-page"};
};

}  // namespace berth::ui
