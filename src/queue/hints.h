// Hints: whether an event can help a pod that was rejected (core.md §5.6).
//
// Only the plugins that rejected the pod are asked. Which of their hints an event concerns depends
// on the pod's profile, its rejectors and the event, not on the pod itself. So it is computed once
// for all pods with the same rejectors (Questions); the hints are then called for each pod, or for
// one pod of each class. Calls that are made together are measured together: each counts with their
// average time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/events.h"
#include "berth/measurements.h"
#include "berth/object.h"
#include "berth/observer.h"
#include "berth/plugin.h"
#include "berth/pod.h"
#include "berth/queued_pod.h"
#include "berth/symbols.h"

namespace berth {

// What the queue uses of one profile's plugins.
struct QueueProfile {
  std::string scheduler_name;
  // By plugin: its events and hints. Complete in the sense of core.md §2.6: with all events for
  // plugins that register none, and the pseudo plugin Extender.
  struct PluginEvents {
    std::string plugin;
    std::vector<EventRegistration> events;
  };
  std::vector<PluginEvents> events;
  std::vector<const PreEnqueuePlugin*> pre_enqueue;
};

// Where a pod goes: stays unschedulable; backoff if it has not ended, else active; or active at
// once.
enum class Requeue : std::uint8_t { kSkip, kAfterBackoff, kImmediately };

class Hints {
 public:
  Hints(std::shared_ptr<Symbols> symbols, Observer& observer);
  void set_profiles(std::vector<QueueProfile> profiles);

  static constexpr std::uint32_t kUnknownProfile = ~std::uint32_t{0};
  std::uint32_t profile_of(const Pod& pod) const;
  std::size_t profiles() const { return profiles_.size(); }
  const QueueProfile& profile(std::uint32_t index) const { return profiles_[index]; }

  // Whether any plugin registered for the event; a wildcard concerns all.
  bool concerns_anyone(const ClusterEvent& event);
  // Whether the plugin registered for the event.
  bool concerns_gate(std::string_view gating_plugin, const ClusterEvent& event) const;

  // The hints to call for pods with the same rejectors, and the answers so far.
  class Questions {
   public:
    // No hint concerns the event: no pod moves.
    bool none() const { return kind_ == Kind::kHints && hints_.empty(); }
    // Whether all pods of a class get the same answer, except the pod that the event is about.
    bool same_for_class() const { return same_for_class_; }

   private:
    friend class Hints;
    enum class Kind : std::uint8_t { kHints, kWildcard, kAlways };
    struct Question {
      std::string_view plugin;
      const HintFunction* hint;
      bool pending;                            // its plugin returned Pending
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
  // Called after the last ask(). `event` is the event's label.
  void measure_answers(const Questions& questions, std::string_view event) const;

  // questions(), ask() and measure_answers() for a single pod.
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
  // Results of concerns_anyone: a few dozen kinds of events happen.
  struct Concern {
    EventResource resource;
    std::uint32_t actions;
    std::string_view other;
    bool anyone;
  };
  std::vector<Concern> concerns_;
  Observer& observer_;
  Observer* measured_;
};

}  // namespace berth
