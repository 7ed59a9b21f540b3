#include "queue/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

namespace berth {

Hints::Hints(std::vector<QueueProfile> profiles, std::shared_ptr<Symbols> symbols,
             Observer& observer)
    : profiles_(std::move(profiles)),
      symbols_(std::move(symbols)),
      observer_(observer),
      measured_(observer.measurements()) {
  for (const QueueProfile& profile : profiles_)
    scheduler_names_.push_back(symbols_.intern(profile.scheduler_name));
}

std::uint32_t Hints::profile_of(const Pod& pod) const {
  const auto found = std::ranges::find(scheduler_names_, pod.scheduler_name());
  return found == scheduler_names_.end()
             ? kUnknownProfile
             : static_cast<std::uint32_t>(found - scheduler_names_.begin());
}

const std::vector<EventRegistration>* Hints::events_of(const QueueProfile& profile,
                                                       std::string_view plugin) const {
  const auto found = std::ranges::find(profile.events, plugin, &QueueProfile::PluginEvents::plugin);
  return found == profile.events.end() ? nullptr : &found->events;
}

bool Hints::concerns_anyone(const ClusterEvent& event) const {
  if (event.is_wildcard()) return true;
  for (const QueueProfile& profile : profiles_)
    for (const QueueProfile::PluginEvents& plugin : profile.events)
      for (const EventRegistration& registration : plugin.events)
        if (matches(registration.event, event)) return true;
  return false;
}

bool Hints::concerns_gate(std::string_view gating_plugin, const ClusterEvent& event) const {
  if (event.is_wildcard()) return true;
  // Parity: the plugin's events of all profiles count, whichever the pod's is.
  for (const QueueProfile& profile : profiles_)
    if (const auto* registrations = events_of(profile, gating_plugin))
      for (const EventRegistration& registration : *registrations)
        if (matches(registration.event, event)) return true;
  return false;
}

Hints::Questions Hints::questions(std::uint32_t profile, const PluginNames& unschedulable_plugins,
                                  const PluginNames& pending_plugins,
                                  const ClusterEvent& event) const {
  Questions questions;
  if (measured_) questions.event_ = event.label();
  if (unschedulable_plugins.empty() && pending_plugins.empty()) {
    questions.kind_ = Questions::Kind::kAlways;  // nobody in particular to ask
  } else if (event.is_wildcard()) {
    questions.kind_ = Questions::Kind::kWildcard;
  } else if (profile == kUnknownProfile) {
    questions.kind_ = Questions::Kind::kAlways;
  } else {
    const auto add = [&](const std::string& plugin, bool pending) {
      if (const auto* registrations = events_of(profiles_[profile], plugin))
        for (const EventRegistration& registration : *registrations)
          if (matches(registration.event, event))
            questions.hints_.push_back({plugin, &registration.hint, pending});
    };
    // Pending plugins first: a Queue from one of them beats all others, so the first Queue decides.
    for (const std::string& plugin : pending_plugins) add(plugin, true);
    for (const std::string& plugin : unschedulable_plugins)
      if (!pending_plugins.contains(plugin)) add(plugin, false);
  }
  return questions;
}

Requeue Hints::ask(const Questions& questions, const Pod& pod, const AnyObject& before,
                   const AnyObject& after) const {
  switch (questions.kind_) {
    case Questions::Kind::kAlways: return Requeue::kAfterBackoff;
    case Questions::Kind::kWildcard: {
      if (std::holds_alternative<std::monostate>(after)) return Requeue::kAfterBackoff;
      // About one pod in particular: for that one only.
      const auto* meant = std::get_if<Ref<const Pod>>(&after);
      return meant && *meant && (*meant)->uid() == pod.uid() ? Requeue::kAfterBackoff
                                                             : Requeue::kSkip;
    }
    case Questions::Kind::kHints: break;
  }
  for (const Question& question : questions.hints_) {
    HintVerdict verdict = HintVerdict::kQueue;
    const TimePoint start = measured_ ? measured_->now() : TimePoint{};
    const bool queue = says_queue(question, pod, before, after, verdict);
    if (measured_)
      measured_->hint_ran(question.plugin, questions.event_, verdict, measured_->now() - start);
    if (queue) return question.pending ? Requeue::kImmediately : Requeue::kAfterBackoff;
  }
  return Requeue::kSkip;
}

bool Hints::says_queue(const Question& question, const Pod& pod, const AnyObject& before,
                       const AnyObject& after, HintVerdict& verdict) const {
  if (!*question.hint) return true;
  const auto failed = [&](std::string_view what) {
    observer_.trouble(fmt::format("QueueingHint of plugin {} failed for pod {}: {}",
                                  question.plugin, pod.full_name(), what));
    verdict = HintVerdict::kError;
    return true;  // rather a try too many than a pod forgotten
  };
  try {
    const Result<QueueingHint> hint = (*question.hint)(pod, before, after);
    if (!hint) return failed(hint.error().message);
    verdict = *hint == QueueingHint::kQueue ? HintVerdict::kQueue : HintVerdict::kSkip;
    return verdict == HintVerdict::kQueue;
  } catch (const std::exception& thrown) {
    return failed(thrown.what());
  } catch (...) {
    return failed("unknown exception");
  }
}

Requeue Hints::worth_requeuing(const QueuedPod& queued, const ClusterEvent& event,
                               const AnyObject& before, const AnyObject& after) const {
  return ask(questions(profile_of(*queued.pod), queued.unschedulable_plugins,
                       queued.pending_plugins, event),
             *queued.pod, before, after);
}

}  // namespace berth
