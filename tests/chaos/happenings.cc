// What can happen in a ChaosRun, apart from the schedulers' own doing and the network's weather.
#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "chaos_run.h"
#include "memapi/json_edit.h"
#include "tests/simulation/manifests.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

}  // namespace

void ChaosRun::something_happens() {
  struct Choice {
    std::uint64_t weight;
    void (ChaosRun::*happen)();
  };
  static constexpr Choice kChoices[] = {
      {14, &ChaosRun::create_pod},
      {4, &ChaosRun::delete_pod},
      {1, &ChaosRun::remove_node},
      {3, &ChaosRun::bring_node_back},
      {1, &ChaosRun::cordon},
      {2, &ChaosRun::touch_claim},
      {1, &ChaosRun::bind_behind_the_back},
      {3, &ChaosRun::settle_waiting},
      {3, &ChaosRun::kill_scheduler},
      {1, &ChaosRun::stop_scheduler},
      {3, &ChaosRun::halt_scheduler},
      {2, &ChaosRun::part_scheduler},
      {1, &ChaosRun::jump_clock},
      {1, &ChaosRun::rotate_tokens},
      {1, &ChaosRun::server_goes_down},
      {1, &ChaosRun::server_is_restored},
      {1, &ChaosRun::watches_end},
  };
  std::uint64_t sum = 0;
  for (const Choice& choice : kChoices) sum += choice.weight;
  std::uint64_t drawn = random_.below(sum);
  for (const Choice& choice : kChoices) {
    if (drawn < choice.weight) return (this->*choice.happen)();
    drawn -= choice.weight;
  }
}

// ---- choosing

SimulatedScheduler* ChaosRun::some_scheduler() {
  // The leader is the one that matters most.
  if (random_.chance(0.6))
    if (SimulatedScheduler* leading = leader()) return leading;
  SimulatedScheduler* drawn = schedulers_[random_.below(schedulers_.size())].get();
  return drawn->running() ? drawn : nullptr;
}

Ref<const Pod> ChaosRun::some_pod(const std::function<bool(const Pod&)>& which) {
  std::vector<Ref<const Pod>> candidates = server_.pods();
  std::erase_if(candidates, [&](const Ref<const Pod>& pod) { return !which(*pod); });
  return candidates.empty() ? nullptr : candidates[random_.below(candidates.size())];
}

// ---- objects

void ChaosRun::create_pod() {
  static constexpr std::string_view kCpu[] = {"100m", "300m", "500m", "900m", "50"};
  static constexpr const char* kClasses[] = {"low", "middle", "high"};
  static constexpr const char* kHolders[] = {"Warden", "Usher", "Both"};
  simulation::PodTraits traits;
  traits.cpu = kCpu[random_.below(random_.chance(0.1) ? 5 : 4)];
  traits.spec = fmt::format(R"("priorityClassName":"{}")", kClasses[random_.below(3)]);
  if (random_.chance(0.2))
    traits.labels = fmt::format(R"("{}":"{}")", simulation::kHeldLabel, kHolders[random_.below(3)]);
  const simulation::PodManifests made = simulation::pod_manifests(++made_pods_, random_, traits);
  for (const std::string& claim : made.shared_claims)
    server_.put(simulation::shared_claim_manifest(claim));
  for (const std::string& claim : made.own_claims) server_.put(claim);
  note("create pod", made.summary);
  server_.put(made.pod);
}

void ChaosRun::delete_pod() {
  const Ref<const Pod> pod = some_pod([](const Pod& one) { return !one.terminating(); });
  if (!pod) return;
  note(pod->node().empty() ? "delete pending pod" : "delete bound pod", pod->name());
  static_cast<void>(
      server_.local().remove(memapi::resource_of("pods"), pod->namespace_name(), pod->name()));
}

void ChaosRun::remove_node() {
  const std::vector<Ref<const Object>> nodes = server_.objects(ObjectKind::kNode);
  if (nodes.size() < 2) return;
  const std::string name = nodes[random_.below(nodes.size())]->name;
  note("remove node", name);
  static_cast<void>(server_.local().remove(memapi::resource_of("nodes"), "", name));
}

void ChaosRun::bring_node_back() {
  for (const auto& [name, cpu] : nodes_) {
    if (server_.local().get(memapi::resource_of("nodes"), "", name)) continue;
    note("bring node back", name);
    for (const std::string& manifest : simulation::node_manifests(name, cpu)) server_.put(manifest);
    return;
  }
}

void ChaosRun::cordon() {
  const std::vector<Ref<const Object>> nodes = server_.objects(ObjectKind::kNode);
  const std::string name = nodes[random_.below(nodes.size())]->name;
  static_cast<void>(server_.local().update(
      memapi::resource_of("nodes"), "", name, [&](JsonValue& node) -> memapi::Answer<void> {
        const bool cordoned = memapi::true_at(node, "spec.unschedulable");
        note(cordoned ? "uncordon" : "cordon", name);
        memapi::set(memapi::object_at(node, "spec"), "unschedulable",
                    JsonValue::of_bool(!cordoned));
        return {};
      }));
}

// Somebody else writes a claim: the version that a scheduler knows is old by now.
void ChaosRun::touch_claim() {
  const auto& claims = memapi::resource_of("resourceclaims", "resource.k8s.io");
  const std::vector<memapi::ObjectRef> all = server_.local().list(claims);
  if (all.empty()) return;
  const memapi::ObjectRef claim = all[random_.below(all.size())];
  note("touch claim", claim->name);
  static_cast<void>(server_.local().update(claims, claim->namespace_name, claim->name,
                                           [this](JsonValue& object) -> memapi::Answer<void> {
                                             memapi::set_text(
                                                 memapi::object_at(object, "metadata.annotations"),
                                                 "touched", std::to_string(random_.next()));
                                             return {};
                                           }));
}

// Another scheduler binds a pod of ours.
void ChaosRun::bind_behind_the_back() {
  const Ref<const Pod> pod = some_pod([](const Pod& one) {
    return one.node().empty() && !one.terminating() && one.spec().resource_claims.empty() &&
           one.spec().volumes.empty();
  });
  const std::vector<Ref<const Object>> nodes = server_.objects(ObjectKind::kNode);
  if (!pod || nodes.empty()) return;
  note("bind behind the back", pod->name());
  ledger_.place_unasked(std::string(pod->full_name()));
  static_cast<void>(server_.local().bind(pod->namespace_name(), pod->name(), pod->uid_text(),
                                         nodes[random_.below(nodes.size())]->name));
}

void ChaosRun::settle_waiting() {
  SimulatedScheduler* scheduler = leader();
  if (!scheduler) return;
  WaitingPods& all = scheduler->engine().waiting_pods();
  const std::vector<WaitingPod> waiting = all.list();
  if (waiting.empty()) return;
  const WaitingPod& pod = waiting[random_.below(waiting.size())];
  if (pod.pending_plugins.empty()) return;
  const std::string& plugin = pod.pending_plugins[random_.below(pod.pending_plugins.size())];
  const bool allows = random_.chance(0.7);
  note(allows ? "allow" : "reject", pod.pod->name());
  if (allows) all.allow(pod.pod->uid(), plugin);
  if (!allows || random_.chance(0.3)) all.reject(pod.pod->uid(), plugin, "chaos");
}

// ---- schedulers

void ChaosRun::kill_scheduler() {
  SimulatedScheduler* scheduler = some_scheduler();
  if (!scheduler) return;
  note("kill", scheduler->who());
  scheduler->kill();
  const Duration pause = delay(20s);
  outside_.after(pause, [this, scheduler] {
    if (scheduler->running()) return;
    note("start", scheduler->machine());
    scheduler->start();
  });
}

void ChaosRun::stop_scheduler() {
  SimulatedScheduler* scheduler = some_scheduler();
  if (!scheduler) return;
  note("stop", scheduler->who());
  scheduler->stop();
}

// The process, or one of its threads, stands still for a while.
void ChaosRun::halt_scheduler() {
  SimulatedScheduler* scheduler = some_scheduler();
  if (!scheduler) return;
  const std::uint64_t which = random_.below(3);
  const Duration length = delay(30s);
  note(which == 0   ? "halt process"
       : which == 1 ? "halt world"
                    : "halt election",
       fmt::format("{} for {}", scheduler->who(), length / 1ms));
  if (which != 2) scheduler->world().halt();
  if (which != 1) scheduler->election().halt();
  outside_.after(length, [scheduler, who = scheduler->who()] {
    if (!scheduler->running() || scheduler->who() != who) return;
    scheduler->world().resume();
    scheduler->election().resume();
  });
}

void ChaosRun::part_scheduler() {
  SimulatedScheduler* scheduler = some_scheduler();
  if (!scheduler) return;
  const Duration length = delay(40s);
  note("part", fmt::format("{} for {}", scheduler->machine(), length / 1ms));
  network_.part(scheduler->machine(), length);
}

void ChaosRun::jump_clock() {
  SimulatedScheduler* scheduler = some_scheduler();
  if (!scheduler) return;
  const Duration by = delay(random_.chance(0.5) ? Duration(3s) : Duration(2h));
  const bool forward = random_.chance(0.5);
  note(forward ? "clock jumps forward" : "clock jumps back",
       fmt::format("{} by {}", scheduler->who(), by / 1ms));
  scheduler->world().jump_wall_clock(forward ? by : -by);
  scheduler->election().jump_wall_clock(forward ? by : -by);
}

// ---- the server

void ChaosRun::write_tokens() {
  for (const std::unique_ptr<SimulatedScheduler>& scheduler : schedulers_)
    BERTH_CHECK(write_file(scheduler->token_file(), fmt::format("token-{:06}\n", made_tokens_))
                    .has_value());
}

// The server takes a new token from now on, the old one for a while, or not at all. Machines may
// get the new one late.
void ChaosRun::rotate_tokens() {
  note("rotate tokens", "");
  const std::string fresh = fmt::format("token-{:06}", ++made_tokens_);
  tokens_.insert(fresh);
  if (random_.chance(0.5)) tokens_ = {fresh};
  network_.set_tokens(tokens_);
  if (made_tokens_ == 1 || random_.chance(0.5)) return write_tokens();
  outside_.after(delay(15s), [this] { write_tokens(); });
}

void ChaosRun::server_goes_down() {
  if (!server_.up()) return;
  note("server goes down", "");
  server_.go_down();
  outside_.after(delay(random_.chance(0.7) ? Duration(3s) : Duration(25s)), [this] {
    if (!server_.up()) server_.come_up();
  });
}

// Whoever restores a cluster stops its API servers for a while: nobody's lease outlives that.
void ChaosRun::server_is_restored() {
  if (!server_.has_backup()) {
    note("back up", "");
    return server_.back_up();
  }
  if (!server_.up()) return;
  server_.go_down();
  const bool new_versions = random_.chance(0.5);
  note(new_versions ? "restore" : "restore versions too", "");
  outside_.after(kLeaseDuration + 1s + delay(10s), [this, new_versions] {
    if (server_.up()) return;
    // What was sent to a server that is gone does not reach the one that comes after it.
    if (!new_versions) network_.reset_connections();
    server_.restore(new_versions ? SimulatedServer::Versions::kNew
                                 : SimulatedServer::Versions::kOld);
    ledger_.restored();
    server_.come_up();
  });
}

void ChaosRun::watches_end() {
  note("watches end", "");
  server_.end_watches();
}

}  // namespace berth::chaos
