#include "memapi/apply_managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "base/stable_sort.h"
#include "base/time_text.h"
#include "memapi/json_edit.h"

namespace berth::memapi {
namespace {

constexpr std::size_t kMostNameBytes = 128;
constexpr std::size_t kMostUpdaters = 10;
constexpr std::string_view kAncient = "ancient-changes";
constexpr std::string_view kBeforeFirst = "before-first-apply";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kLocalManager = "berth";

// What nobody manages: the server writes it, or it says which object is meant.
const std::vector<FieldPath>& never_managed() {
  static const std::vector<FieldPath> kPaths = {
      {"f:apiVersion"},
      {"f:kind"},
      {"f:metadata", "f:name"},
      {"f:metadata", "f:namespace"},
      {"f:metadata", "f:creationTimestamp"},
      {"f:metadata", "f:selfLink"},
      {"f:metadata", "f:uid"},
      {"f:metadata", "f:generation"},
      {"f:metadata", "f:managedFields"},
      {"f:metadata", "f:resourceVersion"},
  };
  return kPaths;
}

// Without what nobody manages, and what a write to the subresource does not change.
FieldSet managed(const FieldSet& fields, const Resource& resource, std::string_view subresource) {
  FieldSet kept = fields.without(never_managed());
  if (subresource == "status") {
    const bool custom = resource.custom != nullptr;
    return custom ? kept.only({{"f:status"}}) : kept.only({{"f:status"}, {"f:metadata"}});
  }
  if (resource.has("status")) kept = kept.without({{"f:status"}});
  FieldSet top;  // the object and its metadata as such
  top.insert({});
  top.insert({"f:metadata"});
  kept.remove(top);
  return kept;
}

FieldSet changed(const FieldChanges& changes) {
  FieldSet set = changes.modified;
  set.add(changes.added);
  return set;
}

struct ApplyConflict {
  std::string manager;
  std::string path;
};

// Parity: who has applied with kubectl on the client's side before may go on on the server's; the
// fields are still as they were applied then.
FieldSet applied_by_kubectl(const FieldManager& manager, const JsonValue& live,
                            const Shape& shape) {
  const JsonValue* annotations = at(live, "metadata.annotations");
  const JsonValue* last = is_object(annotations) ? annotations->find(kLastApplied) : nullptr;
  if (manager.name != "kubectl" || last == nullptr) return {};
  const Result<JsonValue> said = parse_json(last->text);
  if (!said || said->kind != JsonValue::Kind::kObject) return {};
  FieldSet fields = fields_of_value(*said, shape);
  fields.remove(compare_fields(*said, live, shape).modified);
  return fields;
}

ApiError conflict_error(const std::vector<ApplyConflict>& conflicts) {
  ApiError error;
  error.code = 409;
  error.reason = "Conflict";
  error.has_details = true;
  for (const ApplyConflict& one : conflicts)
    error.causes.push_back({"FieldManagerConflict", "conflict with " + one.manager, one.path});
  if (conflicts.size() == 1) {
    error.message = fmt::format("Apply failed with 1 conflict: conflict with {}: {}",
                                conflicts[0].manager, conflicts[0].path);
    return error;
  }
  std::map<std::string, std::vector<std::string>> by_manager;
  for (const ApplyConflict& one : conflicts) by_manager[one.manager].push_back(one.path);
  std::string text;
  for (const auto& [manager, paths] : by_manager) {
    text += fmt::format("{}conflicts with {}:", text.empty() ? "" : "\n", manager);
    for (const std::string& path : paths) text += fmt::format("\n- {}", path);
  }
  error.message = fmt::format("Apply failed with {} conflicts: {}", conflicts.size(), text);
  return error;
}

// Kinds that are many and written often, and that people seldom apply: who manages their fields is
// kept from the first apply on.
bool tracked_from_the_start(const Resource& resource) {
  static constexpr std::array<std::string_view, 9> kLight = {
      "Pod",       "Node",    "Event",         "Lease",        "ReplicaSet",
      "Endpoints", "CSINode", "ResourceSlice", "EndpointSlice"};
  return resource.custom != nullptr || std::ranges::find(kLight, resource.kind) == kLight.end();
}

}  // namespace

bool FieldManager::same_as(const FieldManager& other) const {
  return name == other.name && applies == other.applies && subresource == other.subresource &&
         (applies || api_version == other.api_version);
}

std::string FieldManager::text() const {
  std::string text = fmt::format("\"{}\"", name);
  if (!subresource.empty()) text += fmt::format(" with subresource \"{}\"", subresource);
  if (!applies) text += fmt::format(" using {}", api_version);
  return text;
}

std::string manager_of(const ApiRequest& request) {
  if (const std::string_view said = request.parameter("fieldManager"); !said.empty())
    return std::string(said);
  const std::string_view agent = request.http.headers.find("User-Agent").value_or("");
  std::string name;
  for (const char c : agent.substr(0, agent.find('/'))) {
    if (name.size() == kMostNameBytes) break;
    if (c >= ' ' && c <= '~') name += c;
  }
  return name;
}

FieldManagers FieldManagers::of(const JsonValue& object) {
  FieldManagers managers;
  for (const JsonValue& entry : items_at(object, "metadata.managedFields")) {
    const std::string_view operation = text_at(entry, "operation");
    const JsonValue* fields = at(entry, "fieldsV1");
    auto set = fields != nullptr ? FieldSet::parse(*fields) : std::optional(FieldSet());
    if (!set || (operation != "Apply" && operation != "Update")) continue;
    managers.managers_.push_back({std::string(text_at(entry, "manager")), operation == "Apply",
                                  std::string(text_at(entry, "apiVersion")),
                                  std::string(text_at(entry, "subresource")),
                                  std::string(text_at(entry, "time")), std::move(*set)});
  }
  return managers;
}

void FieldManagers::begin(const JsonValue& object, const Resource& resource, WallTime now) {
  FieldManager manager{
      std::string(kBeforeFirst), false, resource.group_version(), "", rfc3339(now), {}};
  manager.fields = managed(fields_of_value(object, Shape::of(resource)), resource, "");
  if (!manager.fields.empty()) managers_.push_back(std::move(manager));
}

void FieldManagers::write_to(JsonValue& object) const {
  std::vector<const FieldManager*> sorted;
  for (const FieldManager& manager : managers_) sorted.push_back(&manager);
  sort_stably(sorted, [](const FieldManager* a, const FieldManager* b) {
    const auto key = [](const FieldManager& one) {
      return std::tuple(one.applies ? 0 : 1, std::string_view(one.time), std::string_view(one.name),
                        std::string_view(one.api_version), std::string_view(one.subresource));
    };
    return key(*a) < key(*b);
  });
  JsonValue list = JsonValue::array();
  for (const FieldManager* manager : sorted) {
    JsonValue entry = JsonValue::object();
    entry.add("manager", JsonValue::of_text(manager->name));
    entry.add("operation", JsonValue::of_text(manager->applies ? "Apply" : "Update"));
    entry.add("apiVersion", JsonValue::of_text(manager->api_version));
    if (!manager->time.empty()) entry.add("time", JsonValue::of_text(manager->time));
    entry.add("fieldsType", JsonValue::of_text("FieldsV1"));
    entry.add("fieldsV1", manager->fields.to_json());
    if (!manager->subresource.empty())
      entry.add("subresource", JsonValue::of_text(manager->subresource));
    list.items.push_back(std::move(entry));
  }
  JsonValue& metadata = object_at(object, "metadata");
  if (list.items.empty()) {
    erase(metadata, "managedFields");
  } else {
    set(metadata, "managedFields", std::move(list));
  }
}

// Drops who manages nothing, and makes one of the oldest when there are too many that update.
void FieldManagers::settle(const std::string& now) {
  std::erase_if(managers_, [](const FieldManager& one) { return one.fields.empty(); });
  for (;;) {
    std::vector<FieldManager*> updaters;
    for (FieldManager& one : managers_)
      if (!one.applies && one.subresource.empty()) updaters.push_back(&one);
    if (updaters.size() <= kMostUpdaters) return;
    sort_stably(updaters, {}, [](const FieldManager* one) { return one->time; });
    FieldManager& oldest = *updaters[0];
    FieldManager& next = *updaters[1];
    oldest.fields.add(next.fields);
    oldest.name = kAncient;
    oldest.time = now;
    next.fields = FieldSet();
    std::erase_if(managers_, [](const FieldManager& one) { return one.fields.empty(); });
  }
}

void FieldManagers::update(const FieldManager& manager, const JsonValue& before,
                           const JsonValue& after, const Resource& resource) {
  const FieldChanges changes = compare_fields(before, after, Shape::of(resource));
  const FieldSet mine = managed(changed(changes), resource, manager.subresource);
  for (FieldManager& other : managers_) {
    if (other.same_as(manager)) continue;
    other.fields.remove(mine);
    other.fields.remove(changes.removed);
  }
  auto found = std::ranges::find_if(managers_,
                                    [&](const FieldManager& one) { return one.same_as(manager); });
  if (found == managers_.end()) {
    managers_.push_back(manager);
    found = managers_.end() - 1;
    found->fields = FieldSet();
  }
  FieldSet fields = found->fields;
  fields.add(mine);
  fields.remove(changes.removed);
  if (fields != found->fields || !mine.empty()) {
    found->fields = std::move(fields);
    found->time = manager.time;
    found->api_version = manager.api_version;
  }
  settle(manager.time);
}

Answer<void> FieldManagers::apply(FieldManager manager, JsonValue& object, const JsonValue& wish,
                                  const Resource& resource, bool force) {
  const Shape shape = Shape::of(resource);
  const JsonValue live = object;
  FieldSet mine = managed(fields_of_value(wish, shape), resource, manager.subresource);
  merge_fields(object, wish, shape);

  const auto found = std::ranges::find_if(
      managers_, [&](const FieldManager& one) { return one.same_as(manager); });
  const bool known = found != managers_.end();
  if (known) {
    // What was said before and no longer is, and nobody else manages, goes.
    FieldSet gone;
    found->fields.for_each([&](const FieldPath& path) {
      if (mine.has_below(path)) return;
      const bool others = std::ranges::any_of(managers_, [&](const FieldManager& one) {
        return &one != &*found && one.fields.has_below(path);
      });
      if (!others) gone.insert(path);
    });
    remove_fields(object, gone, shape);
  }
  const FieldChanges changes = compare_fields(live, object, shape);
  const FieldSet touched = changed(changes);
  const FieldSet allowed = applied_by_kubectl(manager, live, shape);
  std::vector<ApplyConflict> conflicts;
  for (FieldManager& other : managers_) {
    if (other.same_as(manager)) continue;
    const FieldSet taken = other.fields.common(touched);
    if (!force) {
      taken.for_each([&](const FieldPath& path) {
        if (!allowed.has(path)) conflicts.push_back({other.text(), path_text(path)});
      });
    }
    other.fields.remove(taken);
    other.fields.remove(changes.removed);
  }
  if (!conflicts.empty()) return refuse(conflict_error(conflicts));
  if (known) {
    if (found->fields != mine || found->api_version != manager.api_version || !touched.empty() ||
        !changes.removed.empty()) {
      found->time = manager.time;
      found->api_version = manager.api_version;
    }
    found->fields = std::move(mine);
  } else {
    manager.fields = std::move(mine);
    managers_.push_back(manager);
  }
  settle(manager.time);
  return {};
}

// ---- what an update leaves behind ---------------------------------------------------------------

namespace {

// A client says that nobody manages anything: a list with one entry that says nothing.
bool resets_managers(const JsonValue& object) {
  const auto& entries = items_at(object, "metadata.managedFields");
  return entries.size() == 1 && entries[0].members.empty();
}

void record(const FieldManager& manager, const Resource& resource, JsonValue& object,
            const JsonValue& before) {
  FieldManagers managers = FieldManagers::of(object);
  if (managers.empty()) managers = FieldManagers::of(before);
  managers.update(manager, before, object, resource);
  managers.write_to(object);
}

}  // namespace

void track_update(const ApiRequest& request, JsonValue& object, const JsonValue* before,
                  WallTime now) {
  const Resource& resource = *request.resource;
  if (before != nullptr && resets_managers(object)) {
    erase(object_at(object, "metadata"), "managedFields");
    return;
  }
  const bool kept = before != nullptr && !items_at(*before, "metadata.managedFields").empty();
  if (!kept && !tracked_from_the_start(resource)) {
    erase(object_at(object, "metadata"), "managedFields");
    return;
  }
  const FieldManager manager{manager_of(request), false,        resource.group_version(),
                             request.subresource, rfc3339(now), {}};
  record(manager, resource, object, before != nullptr ? *before : Shape::of(resource).beginning());
}

void track_local_update(const Resource& resource, std::string_view subresource, JsonValue& object,
                        const JsonValue& before, WallTime now) {
  if (items_at(before, "metadata.managedFields").empty()) return;
  record({std::string(kLocalManager),
          false,
          resource.group_version(),
          std::string(subresource),
          rfc3339(now),
          {}},
         resource, object, before);
}

}  // namespace berth::memapi
