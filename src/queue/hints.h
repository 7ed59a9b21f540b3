// Hints: whether an event can help a pod that was rejected (core.md §5.6).
//
// Only the plugins that rejected the pod are asked. Which of their hints an event concerns depends
// on the pod's profile, its rejectors and the event, not on the pod itself, so it is found out once
// for all pods with the same rejectors (Questions) and then asked of each, or of one of each class.
// Who measures hears of the calls that were made, with the average time of those made together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "base/symbols.h"
#include "framework/events.h"
#include "framework/measurements.h"
#include "framework/observer.h"
#include "framework/queued_pod.h"
#include "queue/scheduling_queue.h"

namespace berth {

// Where a pod goes: stays unschedulable; backoff if it has not ended, else active; or active at
// once.
enum class Requeue : std::uint8_t { kSkip, kAfterBackoff, kImmediately };

class Hints {
 public:
  Hints(std::vector<QueueProfile> profiles, std::shared_ptr<Symbols> symbols, Observer& observer);

  static constexpr std::uint32_t kUnknownProfile = ~std::uint32_t{0};
  std::uint32_t profile_of(const Pod& pod) const;
  std::size_t profiles() const { return profiles_.size(); }
  const QueueProfile& profile(std::uint32_t index) const { return profiles_[index]; }

  // Whether any plugin waits for such an event; a wildcard concerns everybody.
  bool concerns_anyone(const ClusterEvent& event);
  // Whether a plugin that gates a pod waits for it.
  bool concerns_gate(std::string_view gating_plugin, const ClusterEvent& event) const;

  // What has to be asked about pods with the same rejectors, and what was answered so far.
  class Questions {
   public:
    // Nobody has to be asked: no pod moves.
    bool none() const { return kind_ == Kind::kHints && hints_.empty(); }
    // Whether all pods of a class get the same answer, but for the one that the event is about.
    bool same_for_class() const { return same_for_class_; }

   private:
    friend class Hints;
    enum class Kind : std::uint8_t { kHints, kWildcard, kAlways };
    struct Question {
      std::string_view plugin;
      const HintFunction* hint;
      bool pending;                            // its plugin held the pod back without penalty
      std::array<std::uint32_t, 3> answers{};  // by verdict
    };
    Kind kind_ = Kind::kHints;
    bool same_for_class_ = true;
    std::vector<Question> hints_;
    TimePoint begun_;  // when measured
  };
  Questions questions(std::uint32_t profile, const PluginNames& unschedulable_plugins,
                      const PluginNames& pending_plugins, const ClusterEvent& event) const;
  Requeue ask(Questions& questions, const Pod& pod, const AnyObject& before,
              const AnyObject& after) const;
  // After the last of them was asked: tells who measures. `event` is its label.
  void asked(const Questions& questions, std::string_view event) const;

  // All of it, for a single pod.
  Requeue worth_requeuing(const QueuedPod& queued, const ClusterEvent& event,
                          const AnyObject& before, const AnyObject& after) const;

 private:
  // Null when the profile has no such plugin.
  const QueueProfile::PluginEvents* events_of(const QueueProfile& profile,
                                              std::string_view plugin) const;
  HintVerdict verdict(const Questions::Question& question, const Pod& pod, const AnyObject& before,
                      const AnyObject& after) const;

  std::vector<QueueProfile> profiles_;
  SymbolHold symbols_;
  std::vector<Symbol> scheduler_names_;  // by profile
  // Of the few dozen kinds of events that happen, what concerns_anyone found out.
  struct Concern {
    EventResource resource;
    std::uint32_t actions;
    bool anyone;
  };
  std::vector<Concern> concerns_;
  Observer& observer_;
  Measurements* measured_;
};

}  // namespace berth
