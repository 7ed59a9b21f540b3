#include "cycle/testing/cycle_fixture.h"

namespace berth::testing {

void CycleFixture::start() {
  if (profile.plugins.queue_sort.empty())
    profile.add(std::make_unique<FakeQueueSort>(), profile.plugins.queue_sort);
  if (profile.plugins.bind.empty()) profile.bind("Binder");
  writes.emplace(world.loop, world.cluster, *api, observer);
  queue = std::make_unique<SchedulingQueue>(world.loop, world.cluster, QueueOptions{}, observer);
  const QueueSortPlugin& sort = *profile.plugins.queue_sort.front().plugin;
  Handle handle{"default-scheduler",    world.loop, world.random, world.cluster, world.waiting_pods,
                world.pods_in_pre_bind, *queue,     *queue,       *writes,       world.gates,
                &world.cluster,         &gate,      &observer,    extenders};
  framework = std::make_unique<Framework>("default-scheduler", std::move(profile.plugins), handle,
                                          observer);
  QueueProfile queue_profile;
  queue_profile.scheduler_name = "default-scheduler";
  auto registered = framework->queueing_events();
  for (Framework::QueueingEvents& events : *registered)
    queue_profile.events.push_back({std::move(events.plugin), std::move(events.events)});
  for (const Placed<PreEnqueuePlugin>& placed : framework->plugins().pre_enqueue)
    queue_profile.pre_enqueue.push_back(placed.plugin);
  queue->set_profiles(sort, std::vector{std::move(queue_profile)});
  failures =
      std::make_unique<FailureHandler>(world.loop, world.cluster, *queue, *writes, tasks, observer);
  search = std::make_unique<NodeSearch>(world.cluster, world.random, extenders, observer);
  const auto with = [this](Loop& of_cycle) {
    return CycleCollaborators{of_cycle,
                              world.cluster,
                              *queue,
                              world.waiting_pods,
                              world.pods_in_pre_bind,
                              *writes,
                              gate,
                              *failures,
                              tasks,
                              observer};
  };
  bindings = std::make_unique<BindingCycle>(with(world.loop), extenders, binding_options);
  schedule_one = std::make_unique<ScheduleOne>(
      with(*loop), *bindings,
      std::vector<ScheduleProfile>{
          {framework.get(), world.symbol("default-scheduler"), percentage}},
      *search);
  queue->run();
  schedule_one->start();
}

}  // namespace berth::testing
