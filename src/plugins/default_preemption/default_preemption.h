// DefaultPreemption: makes room for a pod that fits nowhere by evicting pods of lower priority.
//
// It reads priorities, preemptionPolicy, start times and PodDisruptionBudgets, and asks all filters
// of the profile again without the pods that would go. The pod is nominated to the node at once;
// its victims are evicted in the background (feature gate SchedulerAsyncPreemption), and until they
// have been asked to go the pod is kept out of the queue. For a PodGroup that cannot be placed it
// does the same with victims from the whole cluster. No event alone changes its mind: whoever
// rejected the pod decides what wakes it.
#pragma once

#include <memory>

#include "berth/plugin_table.h"
#include "config/configuration.h"
#include "framework/group_preemption.h"
#include "framework/preemption.h"
#include "framework/preemption_evictions.h"

namespace berth::plugins {

class DefaultPreemption final : public PreEnqueuePlugin,
                                public PostFilterPlugin,
                                public PodGroupPostFilterPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);
  DefaultPreemption(const config::DefaultPreemptionArgs& arguments, const Handle& handle);

  std::string_view name() const override { return "DefaultPreemption"; }
  Dependence dependence() const override { return Dependence::kRow; }  // it gives no such answer

  Outcome pre_enqueue(const Pod& pod) const override;
  Task<PostFilterResult> post_filter(Cycle& cycle, const Diagnosis& diagnosis) const override;
  Task<GroupPostFilterResult> post_filter_group(UnplacedGroup& group) const override;
  std::optional<std::vector<EventRegistration>> events_to_register() const override;

 private:
  Task<PostFilterResult> make_room(Cycle& cycle, const Diagnosis& diagnosis) const;

  const Handle handle_;
  const bool in_background_;
  const bool groups_;  // GenericWorkload
  Preemption preemption_;
  GroupPreemption group_preemption_;
  std::unique_ptr<Evictions> evictions_;
};

}  // namespace berth::plugins
