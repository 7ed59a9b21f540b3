#include "ui/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "page/change_writer.h"
#include "page/cluster_json.h"
#include "wire/json_line.h"
#include "wire/json_text.h"

namespace berth::ui {
namespace {

// Distinct texts, numbered in the order in which they come.
class NumberedTexts {
 public:
  std::size_t number_of(std::string text) {
    const auto [found, is_new] = numbers_.try_emplace(std::move(text), numbers_.size());
    if (is_new) texts_.push_back(&found->first);
    return found->second;
  }
  const std::vector<const std::string*>& texts() const { return texts_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> texts_;
};

// The templates of pods. Pods with the same spec and metadata share both objects.
class Templates {
 public:
  std::size_t number_of(const Pod& pod) {
    if (pod.extra() && pod.extra()->usage) return texts_.number_of(page::template_json(pod));
    const auto known = numbers_.find({pod.spec_ref().get(), pod.meta_ref().get()});
    if (known != numbers_.end()) return known->second;
    const std::size_t number = texts_.number_of(page::template_json(pod));
    numbers_.emplace(std::pair(pod.spec_ref().get(), pod.meta_ref().get()), number);
    return number;
  }
  const std::vector<const std::string*>& texts() const { return texts_.texts(); }

 private:
  std::map<std::pair<const PodSpec*, const PodMeta*>, std::size_t> numbers_;
  NumberedTexts texts_;
};

void append_list(std::string& json, const std::vector<const std::string*>& items, bool as_text) {
  json += '[';
  for (const std::string* item : items) {
    if (json.back() != '[') json += ",\n";
    if (as_text)
      append_json_string(json, *item);
    else
      json += *item;
  }
  json += ']';
}

// The store's word about a pod that has a node.
const char* place_on_node(const Pod& pod) {
  if (pod.finished()) return "finished";
  return pod.terminating() ? "terminating" : "bound";
}

}  // namespace

Snapshot::Snapshot(Engine& engine, Loop& loop, page::NodeDevices& devices, std::string cursor)
    : engine_(engine),
      devices_(devices),
      cursor_(std::move(cursor)),
      now_(loop.now().since_start),
      wall_(loop.wall_now()) {}

bool Snapshot::look_further() {
  switch (stage_) {
    case Stage::kNodes: list_nodes(); break;
    case Stage::kPods: list_pods(); break;
    case Stage::kDevices: list_device_objects(); break;
    case Stage::kEachDevice: {
      const std::size_t end = std::min(looked_at_ + kDeviceSlice, device_objects_.size());
      for (; looked_at_ < end; ++looked_at_) show_devices(device_objects_[looked_at_]);
      if (looked_at_ < device_objects_.size()) return true;
      devices_by_node_ = devices_.all();
      break;
    }
    case Stage::kEachPod: {
      const std::size_t end = std::min(looked_at_ + kSlice, pods_.size());
      for (; looked_at_ < end; ++looked_at_) look_at(pods_[looked_at_]);
      return looked_at_ < pods_.size();
    }
  }
  stage_ = Stage{static_cast<std::uint8_t>(static_cast<std::uint8_t>(stage_) + 1)};
  looked_at_ = 0;
  return true;
}

void Snapshot::list_nodes() {
  const NodeTable& table = engine_.cluster().nodes();
  nodes_.reserve(table.node_count());
  table.nodes().for_each([&](NodeRow row) {
    node_numbers_.emplace(table.name(row).id, static_cast<std::int32_t>(nodes_.size()));
    nodes_.push_back({table.node(row).name, table.node_ref(row)});
  });
}

void Snapshot::list_pods() {
  const Cluster& cluster = engine_.cluster();
  pods_.reserve(cluster.seen_count());
  cluster.for_each_seen([this](const Ref<const Pod>& pod) { pods_.emplace_back().pod = pod; });
}

void Snapshot::list_device_objects() {
  const Cluster& cluster = engine_.cluster();
  device_objects_ = cluster.list(ObjectKind::kResourceSlice);
  for (Ref<const Object>& claim : cluster.list(ObjectKind::kResourceClaim))
    device_objects_.push_back(std::move(claim));
}

void Snapshot::show_devices(const Ref<const Object>& object) {
  // As it is now: it may have changed, or gone, since it was noted here.
  const Ref<const Object> now = engine_.cluster().find(
      object->kind, object->symbols.text(object->namespace_name), object->name);
  if (now) devices_.changed({DeltaType::kUpdated, now});
}

std::int32_t Snapshot::number_of_node(Symbol name) {
  const auto [found, is_new] =
      node_numbers_.try_emplace(name.id, static_cast<std::int32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({std::string(engine_.cluster().symbols().text(name)), nullptr});
  return found->second;
}

void Snapshot::look_at(Entry& entry) {
  const Cluster& cluster = engine_.cluster();
  const SchedulingQueue& queue = engine_.queue();
  const Pod& pod = *entry.pod;
  entry.since = pod.creation_time() ? on_loop(*pod.creation_time()) : now_;
  if (!pod.node().empty()) {
    entry.place = place_on_node(pod);
    entry.node = number_of_node(pod.node());
    if (pod.start_time()) entry.since = on_loop(*pod.start_time());
    return;
  }
  if (pod.finished()) {
    entry.place = "finished";
    return;
  }
  if (const std::optional<WaitingPod> waiting = engine_.waiting_pods().find(pod.uid())) {
    entry.place = "waiting";
    entry.holds = waiting->pending_plugins;
  } else if (cluster.is_assumed(pod.uid())) {
    entry.place = "binding";
  } else if (const QueuedPod* queued = queue.find(pod); queued && queued->pod->uid() == pod.uid()) {
    const QueuePlace place = queue.place(pod);
    entry.place = queued->gated()                       ? "gated"
                  : place == QueuePlace::kUnschedulable ? "unschedulable"
                  : place == QueuePlace::kActive        ? "active"
                                                        : "backoff";
    entry.attempts = queued->attempts;
    entry.since = on_loop(queued->timestamp);
    entry.gate = queued->gating_plugin;
  } else if (queue.in_flight(pod.uid())) {
    entry.place = "scheduling";
  }
  if (cluster.is_assumed(pod.uid())) {
    const NodeRow row = cluster.row_of(pod.uid());
    entry.node = number_of_node(cluster.nodes().name(row));
  }
}

std::string Snapshot::json() const {
  Templates templates;
  NumberedTexts texts;
  std::string pods = "[";
  for (const Entry& entry : pods_) {
    const Pod& pod = *entry.pod;
    JsonLine line;
    line.text("uid", pod.uid_text()).text("name", pod.name());
    line.number("template", templates.number_of(pod)).text("place", entry.place);
    line.raw("since", page::milliseconds(entry.since));
    if (pod.creation_time()) line.raw("created", page::milliseconds(on_loop(*pod.creation_time())));
    if (entry.node >= 0) line.number("node", entry.node);
    if (entry.attempts > 0) line.number("attempt", entry.attempts);
    if (!entry.holds.empty()) line.texts("holds", entry.holds);
    if (!entry.gate.empty()) line.text("gate", entry.gate);
    const PodCondition* scheduled = pod.node().empty() ? pod.condition("PodScheduled") : nullptr;
    if (scheduled && !scheduled->message.empty())
      line.number("message", texts.number_of(scheduled->message));
    if (pods.size() > 1) pods += ",\n";
    pods += line.done();
  }
  std::string json = JsonLine()
                         .text("cursor", cursor_)
                         .raw("at", page::milliseconds(now_))
                         .raw("wall", page::milliseconds(wall_.since_epoch))
                         .done();
  json.back() = ',';
  json += "\n\"nodes\": [";
  for (const NodeEntry& entry : nodes_) {
    if (json.back() != '[') json += ",\n";
    JsonLine name;
    name.text("name", entry.name);
    const auto devices = devices_by_node_.find(entry.name);
    json += fmt::format(
        "{{{}, {}}}", name.members(),
        entry.node
            ? page::node_members(*entry.node,
                                 devices == devices_by_node_.end() ? nullptr : &devices->second)
            : R"("gone": true, "labels": {}, "allocatable": {})");
  }
  json += "],\n\"templates\": ";
  append_list(json, templates.texts(), false);
  json += ",\n\"texts\": ";
  append_list(json, texts.texts(), true);
  json += ",\n\"pods\": ";
  json += pods;
  return json + "]}";
}

}  // namespace berth::ui
