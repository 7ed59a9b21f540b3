#include "trace/simkube.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "api/decode.h"
#include "api/defaulting.h"
#include "base/stable_sort.h"
#include "wire/json_tree.h"
#include "wire/message_pack.h"

namespace berth::trace {
namespace {

using std::chrono::seconds;

std::string text_of(const JsonValue& object, std::string_view name) {
  const JsonValue* const found = object.find(name);
  return found && found->kind == JsonValue::Kind::kString ? found->text : "";
}

std::optional<std::int64_t> second_of(const JsonValue* value) {
  std::int64_t second = 0;
  if (!value || value->kind != JsonValue::Kind::kNumber) return std::nullopt;
  const char* const end = value->text.data() + value->text.size();
  const auto [stop, error] = std::from_chars(value->text.data(), end, second);
  // Two of them as nanoseconds fit into 64 bits.
  if (error != std::errc() || stop != end || second < 0 || second > 4'000'000'000)
    return std::nullopt;
  return second;
}

// From the pod's start to its end, which may not have come.
struct Lifetime {
  std::int64_t start = 0;
  std::optional<std::int64_t> end;
};

// {"Finished": [start, end]}, {"Running": start}, "Empty".
std::optional<Lifetime> lifetime_of(const JsonValue& value) {
  if (const JsonValue* const running = value.find("Running")) {
    const std::optional<std::int64_t> start = second_of(running);
    return start ? std::optional(Lifetime{*start, {}}) : std::nullopt;
  }
  const JsonValue* const finished = value.find("Finished");
  if (!finished || finished->items.size() != 2) return std::nullopt;
  const auto start = second_of(&finished->items[0]);
  const auto end = second_of(&finished->items[1]);
  if (!start || !end) return std::nullopt;
  return Lifetime{*start, std::max(*start, *end)};
}

class SimKubeReader {
 public:
  SimKubeReader(const std::string& name, Interner& interner, Trace& trace)
      : name_(name), interner_(interner), trace_(trace) {}

  Result<void> read(const JsonValue& root) {
    const JsonValue* const events = root.find("events");
    if (!events || events->kind != JsonValue::Kind::kArray)
      return wrong("no trace of SimKube: it has no list of events");
    if (const JsonValue* const first = events->items.empty() ? nullptr : &events->items.front())
      start_ = second_of(first->find("ts")).value_or(0);
    trace_.start = WallTime{seconds(start_)};
    admission_.now = trace_.start;
    read_lifecycles(root.find("pod_lifecycles"));
    for (std::size_t i = 0; i < events->items.size(); ++i) {
      const JsonValue& event = events->items[i];
      const std::optional<std::int64_t> at = second_of(event.find("ts"));
      if (!at) return wrong(fmt::format("events[{}].ts: expected a number of seconds", i));
      if (seconds(*at - start_) > kLongestTrace)
        return wrong(fmt::format("events[{}].ts: more than ten years after the first event", i));
      at_ = std::max(at_, Duration(seconds(*at - start_)));
      trace_.length = std::max(trace_.length, at_);
      for (const auto& [list, applied] : {std::pair("applied_objs", true), {"deleted_objs", false}})
        if (Result<void> read = read_objects(event.find(list), applied); !read)
          return wrong(fmt::format("events[{}].{}{}", i, list, read.error().message));
    }
    for (auto& [owner, lifetimes] : lifetimes_)
      for (const Lifetime& lifetime : lifetimes)
        if (lifetime.end)
          trace_.run_times_by_owner[owner].push_back(seconds(*lifetime.end - lifetime.start));
    return {};
  }

 private:
  std::unexpected<Error> wrong(std::string_view what) const {
    return fail(ErrorKind::kInvalid, fmt::format("{}: {}", name_, what));
  }

  // By "apps/v1.Deployment namespace/name", then by a hash of the pod's spec.
  void read_lifecycles(const JsonValue* lifecycles) {
    if (!lifecycles) return;
    for (const JsonMember& owner : lifecycles->members) {
      const std::size_t space = owner.name.find(' ');
      const std::size_t dot = owner.name.rfind('.', space);
      if (space == std::string::npos || dot == std::string::npos || dot > space) continue;
      std::vector<Lifetime>& lifetimes = lifetimes_[owner.name.substr(dot + 1)];
      for (const JsonMember& spec : owner.value.members)
        for (const JsonValue& value : spec.value.items)
          if (const std::optional<Lifetime> lifetime = lifetime_of(value))
            lifetimes.push_back(*lifetime);
      sort_stably(lifetimes, {}, &Lifetime::start);
    }
  }

  Result<void> read_objects(const JsonValue* objects, bool applied) {
    if (!objects) return {};
    for (std::size_t i = 0; i < objects->items.size(); ++i)
      if (Result<void> read = read_object(objects->items[i], applied); !read)
        return fail(read.error().kind, fmt::format("[{}]: {}", i, read.error().message));
    return {};
  }

  Result<void> read_object(const JsonValue& object, bool applied) {
    const ObjectKind kind = object_kind(text_of(object, "apiVersion"), text_of(object, "kind"));
    const JsonValue* const metadata = object.find("metadata");
    const std::string name = metadata ? text_of(*metadata, "name") : "";
    if (name.empty()) return fail(ErrorKind::kInvalid, "metadata.name: is missing");
    if (kind == ObjectKind::kOther) {
      note_unused(text_of(object, "kind"));
      return {};
    }
    std::string json = to_json(object);
    if (kind == ObjectKind::kPod) return read_pod(json, applied);
    trace_.steps.push_back(
        {at_, applied ? DeltaType::kAdded : DeltaType::kDeleted, {}, std::move(json)});
    return {};
  }

  void note_unused(const std::string& kind) {
    std::string note = fmt::format("{}: objects of the kind {} are not read", name_, kind);
    if (std::ranges::find(trace_.notes, note) == trace_.notes.end())
      trace_.notes.push_back(std::move(note));
  }

  Result<void> read_pod(std::string_view json, bool applied) {
    Result<AnyObject> decoded = decode_object(ObjectKind::kPod, json, interner_, &admission_);
    if (!decoded) return fail(decoded.error());
    PodDraft draft = draft_of(*std::get<Ref<const Pod>>(*decoded));
    draft.node_name.clear();
    const Ref<const Pod> pod = make_pod(std::move(draft));
    const auto [known, is_new] = pods_.try_emplace(pod->full_name(), trace_.pods.size());
    if (!applied) {
      if (!is_new) remove_pod(trace_.pods[known->second], pod);
      pods_.erase(known);
      return {};
    }
    trace_.steps.push_back(
        {at_, is_new ? DeltaType::kAdded : DeltaType::kUpdated, AnyObject(pod), {}});
    if (is_new) add_past(*pod);
    return {};
  }

  void add_past(const Pod& pod) {
    PodPast& past = trace_.pods.emplace_back();
    past.uid = pod.uid();
    past.namespace_name = pod.namespace_name();
    past.name = pod.name();
    past.arrived = at_;
    past.scheduled_there = true;
    const auto lifetimes = lifetimes_.find("Pod " + pod.full_name());
    if (lifetimes == lifetimes_.end() || lifetimes->second.empty()) return;
    const Lifetime& lifetime = lifetimes->second.front();
    past.bound =
        std::clamp(Duration(seconds(lifetime.start - start_)), at_, std::max(at_, kLongestTrace));
    if (lifetime.end) past.run_time = seconds(*lifetime.end - lifetime.start);
  }

  void remove_pod(PodPast& past, const Ref<const Pod>& pod) {
    if (past.run_time)
      past.removed_after_end = std::max(Duration{0}, at_ - (*past.bound + *past.run_time));
    else
      trace_.steps.push_back({at_, DeltaType::kDeleted, AnyObject(pod), {}});
  }

  const std::string& name_;
  Interner& interner_;
  Trace& trace_;
  Admission admission_;
  std::int64_t start_ = 0;
  Duration at_{0};
  std::map<std::string, std::vector<Lifetime>> lifetimes_;  // by "Deployment namespace/name"
  std::map<std::string, std::size_t> pods_;                 // those that are there, by full name
};

}  // namespace

bool is_simkube(std::string_view beginning) {
  if (beginning.empty()) return false;
  const auto first = static_cast<unsigned char>(beginning.front());
  return (first >= 0x80 && first <= 0x8f) || first == 0xde || first == 0xdf;
}

Result<void> add_simkube(std::string_view bytes, const std::string& name, Interner& interner,
                         Trace& trace) {
  const Result<JsonValue> root = parse_message_pack(bytes);
  if (!root) return fail(root.error().kind, fmt::format("{}: {}", name, root.error().message));
  return SimKubeReader(name, interner, trace).read(*root);
}

}  // namespace berth::trace
