#include "explain/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "api/kinds.h"

namespace berth::explain {
namespace {

struct Owner {
  std::string kind;
  std::string name;
  std::optional<JsonValue> json;
};

std::optional<Owner> controller_of(const UnplacedPod& unplaced, const JsonValue& object) {
  for (const JsonValue& reference : items_at(object, {"metadata", "ownerReferences"})) {
    const JsonValue* controls = find_at(reference, {"controller"});
    if (!controls || !controls->boolean) continue;
    Owner owner{std::string(text_at(reference, {"kind"})),
                std::string(text_at(reference, {"name"})), std::nullopt};
    owner.json = unplaced.texts().of(owner.kind, unplaced.name().namespace_name, owner.name);
    return owner;
  }
  return std::nullopt;
}

// The one at the top: the Deployment of a ReplicaSet, the CronJob of a Job.
std::optional<Owner> top_owner(const UnplacedPod& unplaced) {
  if (!unplaced.json()) return std::nullopt;
  std::optional<Owner> owner = controller_of(unplaced, *unplaced.json());
  for (int level = 0; level < 4 && owner && owner->json; ++level) {
    std::optional<Owner> above = controller_of(unplaced, *owner->json);
    if (!above) break;
    owner = std::move(above);
  }
  return owner;
}

// Where the pods of such an owner are described; empty if that is not known, or cannot be changed.
JsonPath template_of(std::string_view kind) {
  if (kind == "CronJob") return {"spec", "jobTemplate", "spec", "template"};
  for (const char* known :
       {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ReplicationController"})
    if (kind == known) return {"spec", "template"};
  return {};
}

// The same edits of the template if that is known, else those of the pod, moved.
JsonValue patch_of_template(const UnplacedPod& unplaced, std::span<const Edit> edits,
                            const AppliedEdits& applied, const Owner& owner, const JsonPath& path) {
  JsonValue patch = applied.patched(unplaced.name())->patch();
  const JsonValue* pods = owner.json ? find_at(*owner.json, path) : nullptr;
  if (pods) {
    PatchedObject edited(*pods);
    const bool all = std::ranges::all_of(edits, [&](const Edit& edit) {
      return edit.object != unplaced.name() || edit.apply(edited);
    });
    if (all) patch = edited.patch();
  }
  for (JsonValue& operation : patch.items)
    for (JsonMember& member : operation.members)
      if (member.name == "path") member.value.text.insert(0, json_pointer(path));
  return patch;
}

std::string in_namespace(const std::string& namespace_name) {
  return " -n " + shell_quoted(namespace_name);
}

std::string patch_command(std::string_view what, const std::string& name,
                          const std::string& namespace_name, const JsonValue& patch) {
  return fmt::format("kubectl patch {} {}{} --type=json -p {}", what, shell_quoted(name),
                     namespace_name.empty() ? "" : in_namespace(namespace_name),
                     shell_quoted(to_json(patch)));
}

std::string lower(std::string_view kind) {
  std::string text(kind);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string command_for_pod(const UnplacedPod& unplaced, std::span<const Edit> edits,
                            const AppliedEdits& applied) {
  const ObjectName& pod = unplaced.name();
  const JsonValue patch = applied.patched(pod)->patch();
  const bool only_tolerations = std::ranges::all_of(
      edits, [&](const Edit& edit) { return edit.object != pod || edit.code == "TolerateTaint"; });
  const std::optional<Owner> owner = top_owner(unplaced);
  if (owner) {
    const JsonPath path = template_of(owner->kind);
    if (!path.empty())
      return patch_command(lower(owner->kind), owner->name, pod.namespace_name,
                           patch_of_template(unplaced, edits, applied, *owner, path));
    if (owner->kind != "Job" && owner->kind != "Node")
      return fmt::format("kubectl edit {} {}{}  # its pods: {}", shell_quoted(lower(owner->kind)),
                         shell_quoted(owner->name), in_namespace(pod.namespace_name),
                         to_json(patch));
  }
  // Tolerations may be added to a pod that is there.
  if (only_tolerations) return patch_command("pod", pod.name, pod.namespace_name, patch);
  const bool job = owner && owner->kind == "Job";
  JsonValue replaced = patch;
  std::string what = "pod", name = pod.name;
  if (job) {
    what = "job", name = owner->name;
    replaced = patch_of_template(unplaced, edits, applied, *owner, {"spec", "template"});
  }
  // What cannot be changed is made anew.
  return patch_command(what, name, pod.namespace_name, replaced) +
         " --dry-run=client -o json | kubectl replace --force -f -";
}

// Priorities come from classes.
std::vector<std::string> commands_for_priority(const UnplacedPod& unplaced,
                                               std::span<const Edit> edits,
                                               const AppliedEdits& applied) {
  const JsonValue* wanted =
      find_at(applied.patched(unplaced.name())->object(), {"spec", "priority"});
  const std::int64_t priority = wanted ? std::strtoll(wanted->text.c_str(), nullptr, 10) : 0;
  std::vector<std::string> commands;
  const PriorityClass* lowest = nullptr;
  const std::vector<Ref<const Object>> classes =
      unplaced.cluster().list(ObjectKind::kPriorityClass);
  for (const Ref<const Object>& object : classes) {
    const auto& known = static_cast<const PriorityClass&>(*object);
    if (known.value >= priority && !known.preempt_never && known.value <= 1'000'000'000 &&
        (!lowest || known.value < lowest->value))
      lowest = &known;
  }
  std::string name = lowest ? lowest->name : fmt::format("priority-{}", priority);
  if (!lowest)
    commands.push_back(
        fmt::format("kubectl create priorityclass {} --value={}", shell_quoted(name), priority));
  Edits by_class(edits.begin(), edits.end());
  for (Edit& edit : by_class)
    if (edit.code == "RaisePriority")
      edit.apply = [name](PatchedObject& pod) {
        pod.remove({"spec", "priority"});
        pod.set({"spec", "priorityClassName"}, JsonValue::of_text(name));
        return true;
      };
  const AppliedEdits applied_by_class(unplaced, by_class);
  if (applied_by_class.patched(unplaced.name()))
    commands.push_back(command_for_pod(unplaced, by_class, applied_by_class));
  return commands;
}

Edits with_what_is_demanded(std::span<const Edit> edits) {
  Edits whole(edits.begin(), edits.end());
  for (Edit& edit : whole)
    if (auto demanded = std::exchange(edit.demanded, nullptr))
      edit.apply = [apply = edit.apply, demanded](PatchedObject& object) {
        return apply(object) && demanded(object);
      };
  return whole;
}

void add_for_deleted(const Edit& edit, std::vector<std::string>& commands) {
  std::map<std::string, std::string> by_namespace;
  for (const Ref<const Pod>& pod : edit.gone)
    by_namespace[std::string(pod->namespace_name())] += " " + shell_quoted(pod->name());
  for (const auto& [namespace_name, names] : by_namespace)
    commands.push_back("kubectl delete pod" + in_namespace(namespace_name) + names);
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./=:,@%+").contains(c);
  });
  if (plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted.push_back(c);
  }
  return quoted + "'";
}

std::vector<std::string> commands_of(const UnplacedPod& unplaced, std::span<const Edit> edits,
                                     const AppliedEdits& applied) {
  if (std::ranges::any_of(edits, [](const Edit& edit) { return edit.demanded != nullptr; })) {
    const Edits whole = with_what_is_demanded(edits);
    return commands_of(unplaced, whole, AppliedEdits(unplaced, whole));
  }
  std::vector<std::string> commands;
  bool pod_done = false;
  for (const Edit& edit : edits) {
    commands.insert(commands.end(), edit.commands.begin(), edit.commands.end());
    if (!edit.gone.empty()) add_for_deleted(edit, commands);
    if (edit.commands.empty())
      for (const JsonValue& object : edit.created)
        commands.push_back("kubectl create -f - <<< " + shell_quoted(to_json(object)));
    if (!edit.object || !edit.commands.empty()) continue;
    if (edit.object != unplaced.name()) {
      if (const PatchedObject* patched = applied.patched(*edit.object))
        commands.push_back(patch_command(lower(edit.object->kind), edit.object->name,
                                         edit.object->namespace_name, patched->patch()));
    } else if (!pod_done) {
      pod_done = true;
      const bool priority = std::ranges::count(edits, "RaisePriority", &Edit::code) > 0;
      if (priority)
        std::ranges::move(commands_for_priority(unplaced, edits, applied),
                          std::back_inserter(commands));
      else
        commands.push_back(command_for_pod(unplaced, edits, applied));
    }
  }
  return commands;
}

}  // namespace berth::explain
