// LiveExplainer: explains pods of a running scheduler, on demand.
//
//   ask ──► waiting ──► copy of the world ──► search, suggestions ──► done
//                       (world, in slices)    (a thread of its own)
//
// A question is answered from the world as it was when the copy (explain/cluster_copy.h) was complete,
// with what the queue said at that moment; what would be is tried on the copy. The copy stays for a
// while, and the next question only brings it up to date. One question is worked on at a time.
//
// World thread. While nobody asks it does nothing, and no pod costs anything.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/defaulting.h"
#include "base/lifetime.h"
#include "base/worker.h"
#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/task.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "engine/engine.h"
#include "explain/cluster_copy.h"
#include "explain/evaluator.h"
#include "explain/question.h"
#include "live/asked_objects.h"

namespace berth::live {

struct LiveExplainerOptions {
  config::Configuration configuration;  // the engine's
  config::FeatureGates gates;
  std::size_t most_waiting = 8;  // questions, beside the one that is worked on
  // The world is held for so long at a time, and is free for as long afterwards.
  Duration slice = std::chrono::milliseconds(4);
  Duration copies_live = std::chrono::seconds(30);  // after the last question
};

class LiveExplainer {
 public:
  using Id = std::uint64_t;
  using Done = std::function<void(explain::Answer)>;

  // What is referred to outlives it.
  LiveExplainer(Loop& loop, Engine& engine, Interner& interner, const PluginTable& plugins,
                ObjectSource& objects, LiveExplainerOptions options);
  ~LiveExplainer();
  LiveExplainer(const LiveExplainer&) = delete;
  LiveExplainer& operator=(const LiveExplainer&) = delete;

  // Calls back once, in a later turn of the loop. nullopt: too many are waiting.
  std::optional<Id> ask(explain::Question question, Done done);
  // The answer is not wanted any more: `done` is not called. After the answer it does nothing.
  void give_up(Id id);

  // The same from any thread. Calls back at most once, with nullopt if too many questions wait; what it
  // returns gives the question up. `ready` is asked on the world's thread, whose error is the answer.
  using Door = std::function<std::function<void()>(
      explain::Question, std::function<void(std::optional<explain::Answer>)>)>;
  Door door(std::function<Result<void>()> ready);

 private:
  struct Asking {
    Id id;
    explain::Question question;
    Done done;
    std::shared_ptr<AskedObjects> objects;  // whose end is the question's
  };
  // The world as one profile sees it.
  struct WorldCopy {
    std::unique_ptr<explain::Evaluator> evaluator;
    std::optional<explain::ClusterCopy> cluster;
  };
  struct Asked {
    Ref<const Pod> pod;
    std::vector<std::string> alike;
    std::optional<explain::Explanation::Queue> queue;
    std::optional<explain::Explanation::Permit> permit;
  };

  void begin_next();
  Task<void> work();
  Task<explain::Answer> answer(const explain::Question& question, AskedObjects& objects);
  Task<Result<void>> read_new_pod(const explain::Question& question, AskedObjects& objects);
  Task<Result<WorldCopy*>> fresh_copy(std::string profile, const AskedObjects& objects);
  Result<WorldCopy*> copy_for(const std::string& profile);
  Task<explain::Answer> explain(const explain::Question& question, std::vector<Asked> asked,
                                WorldCopy& copy, AskedObjects& objects);

  Result<Ref<const Pod>> find_pod(const std::string& name) const;
  std::vector<Asked> pending_pods(const std::string& profile) const;
  std::string profile_of(const Pod& pod) const;
  bool is_ours(const Pod& pod) const;
  Asked asked(Ref<const Pod> pod) const;
  void drop_copies_later();

  Loop& loop_;
  Engine& engine_;
  Interner& interner_;
  const PluginTable& plugins_;
  ObjectSource& objects_;
  const LiveExplainerOptions options_;
  Id last_id_ = 0;
  std::deque<Asking> waiting_;
  std::optional<Asking> current_;            // the one that is worked on
  Ref<const Pod> new_pod_;                   // of it
  Admission admission_;                      // of that
  std::map<std::string, WorldCopy> copies_;  // by profile
  std::shared_ptr<AskedObjects> wanted_;     // as current_ has it; read on the worker's thread
  std::optional<TimerId> drop_timer_;
  TaskSet tasks_;
  Lifetime lifetime_;
  std::optional<Worker> worker_;
};

}  // namespace berth::live
