#include "queue/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

namespace berth {

Hints::Hints(std::shared_ptr<Symbols> symbols, Observer& observer)
    : symbols_(std::move(symbols)), observer_(observer), measured_(observer.measuring()) {}

void Hints::set_profiles(std::vector<QueueProfile> profiles) {
  profiles_ = std::move(profiles);
  for (const QueueProfile& profile : profiles_)
    scheduler_names_.push_back(symbols_.intern(profile.scheduler_name));
}

std::uint32_t Hints::profile_of(const Pod& pod) const {
  const auto found = std::ranges::find(scheduler_names_, pod.scheduler_name());
  return found == scheduler_names_.end()
             ? kUnknownProfile
             : static_cast<std::uint32_t>(found - scheduler_names_.begin());
}

const QueueProfile::PluginEvents* Hints::events_of(const QueueProfile& profile,
                                                   std::string_view plugin) const {
  const auto found = std::ranges::find(profile.events, plugin, &QueueProfile::PluginEvents::plugin);
  return found == profile.events.end() ? nullptr : &*found;
}

bool Hints::concerns_anyone(const ClusterEvent& event) {
  if (event.is_wildcard()) return true;
  for (const Concern& known : concerns_)
    if (known.resource == event.resource && known.actions == event.actions &&
        known.other == event.other)
      return known.anyone;
  bool anyone = false;
  for (const QueueProfile& profile : profiles_)
    for (const QueueProfile::PluginEvents& plugin : profile.events)
      for (const EventRegistration& registration : plugin.events)
        anyone |= matches(registration.event, event);
  concerns_.push_back({event.resource, event.actions, event.other, anyone});
  return anyone;
}

bool Hints::concerns_gate(std::string_view gating_plugin, const ClusterEvent& event) const {
  if (event.is_wildcard()) return true;
  // Parity: the plugin's events of all profiles count, whichever the pod's is.
  for (const QueueProfile& profile : profiles_)
    if (const auto* plugin = events_of(profile, gating_plugin))
      for (const EventRegistration& registration : plugin->events)
        if (matches(registration.event, event)) return true;
  return false;
}

Hints::Questions Hints::questions(std::uint32_t profile, const PluginNames& unschedulable_plugins,
                                  const PluginNames& pending_plugins,
                                  const ClusterEvent& event) const {
  Questions questions;
  if (measured_) questions.begun_ = measured_->tick();
  if (unschedulable_plugins.empty() && pending_plugins.empty()) {
    questions.kind_ = Questions::Kind::kAlways;  // no plugin rejected the pod
  } else if (event.is_wildcard()) {
    questions.kind_ = Questions::Kind::kWildcard;
  } else if (profile == kUnknownProfile) {
    questions.kind_ = Questions::Kind::kAlways;
  } else {
    const auto add = [&](const std::string& name, bool pending) {
      const QueueProfile::PluginEvents* plugin = events_of(profiles_[profile], name);
      if (!plugin) return;
      for (const EventRegistration& registration : plugin->events)
        if (matches(registration.event, event)) {
          questions.hints_.push_back({plugin->plugin, &registration.hint, pending, {}});
          questions.same_for_class_ &=
              !registration.hint || registration.scope == HintScope::kClass;
        }
    };
    // Pending plugins first: a Queue from one of them beats all others, so the first Queue decides.
    for (const std::string& plugin : pending_plugins) add(plugin, true);
    for (const std::string& plugin : unschedulable_plugins)
      if (!pending_plugins.contains(plugin)) add(plugin, false);
  }
  return questions;
}

Requeue Hints::ask(Questions& questions, const Pod& pod, const AnyObject& before,
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
  for (Questions::Question& question : questions.hints_) {
    const HintVerdict answer = verdict(question, pod, before, after);
    ++question.answers[static_cast<std::size_t>(answer)];
    if (answer != HintVerdict::kSkip)
      return question.pending ? Requeue::kImmediately : Requeue::kAfterBackoff;
  }
  return Requeue::kSkip;
}

void Hints::measure_answers(const Questions& questions, std::string_view event) const {
  if (!measured_) return;
  std::uint32_t calls = 0;
  for (const Questions::Question& question : questions.hints_)
    for (const std::uint32_t answers : question.answers) calls += answers;
  if (calls == 0) return;
  const Duration each = (measured_->tick() - questions.begun_) / calls;
  for (const Questions::Question& question : questions.hints_)
    for (const HintVerdict answer : {HintVerdict::kQueue, HintVerdict::kSkip, HintVerdict::kError})
      if (const std::uint32_t times = question.answers[static_cast<std::size_t>(answer)])
        measured_->hint_ran(question.plugin, event, answer, each, times);
}

HintVerdict Hints::verdict(const Questions::Question& question, const Pod& pod,
                           const AnyObject& before, const AnyObject& after) const {
  if (!*question.hint) return HintVerdict::kQueue;
  const auto failed = [&](std::string_view what) {
    observer_.internal_error(fmt::format("QueueingHint of plugin {} failed for pod {}: {}",
                                         question.plugin, pod.full_name(), what));
    return HintVerdict::kError;  // queues: rather a try too many than a pod forgotten
  };
  try {
    const Result<QueueingHint> hint = (*question.hint)(pod, before, after);
    if (!hint) return failed(hint.error().message);
    return *hint == QueueingHint::kQueue ? HintVerdict::kQueue : HintVerdict::kSkip;
  } catch (const std::exception& thrown) {
    return failed(thrown.what());
  } catch (...) {
    return failed("unknown exception");
  }
}

Requeue Hints::worth_requeuing(const QueuedPod& queued, const ClusterEvent& event,
                               const AnyObject& before, const AnyObject& after) const {
  Questions asked_of_it = questions(profile_of(*queued.pod), queued.unschedulable_plugins,
                                    queued.pending_plugins, event);
  const Requeue worth = ask(asked_of_it, *queued.pod, before, after);
  if (measured_) measure_answers(asked_of_it, event.label());
  return worth;
}

}  // namespace berth
