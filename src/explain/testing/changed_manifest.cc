#include "explain/testing/changed_manifest.h"

#include <charconv>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "config/load.h"
#include "plugins/table.h"

namespace berth::explain::testing {
namespace {

std::vector<std::string> steps_of(const std::string& pointer) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      steps.emplace_back();
    } else if (pointer[i] == '~' && i + 1 < pointer.size()) {
      steps.back().push_back(pointer[++i] == '1' ? '/' : '~');
    } else {
      steps.back().push_back(pointer[i]);
    }
  }
  return steps;
}

// The place of a member or an item; -1: there is none.
std::ptrdiff_t place_in(const JsonValue& value, const std::string& step) {
  if (value.kind == JsonValue::Kind::kArray) {
    std::size_t place = 0;
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), place);
    const bool number = error == std::errc() && end == step.data() + step.size();
    return number && place < value.items.size() ? static_cast<std::ptrdiff_t>(place) : -1;
  }
  for (std::size_t i = 0; i < value.members.size(); ++i)
    if (value.members[i].name == step) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

bool apply_operation(JsonValue& object, const JsonValue& operation) {
  const std::string op = operation.find("op")->text;
  std::vector<std::string> steps = steps_of(operation.find("path")->text);
  if (steps.empty()) return false;
  const std::string last = steps.back();
  steps.pop_back();
  JsonValue* at = &object;
  for (const std::string& step : steps) {
    const std::ptrdiff_t place = place_in(*at, step);
    if (place < 0) return false;
    at = at->kind == JsonValue::Kind::kArray ? &at->items[static_cast<std::size_t>(place)]
                                             : &at->members[static_cast<std::size_t>(place)].value;
  }
  const std::ptrdiff_t place = place_in(*at, last);
  const JsonValue* const value = operation.find("value");
  if ((op == "add" || op == "replace") && !value) return false;
  if (at->kind == JsonValue::Kind::kArray) {
    if (op == "add" && last == "-") {
      at->items.push_back(*value);
      return true;
    }
    if (place < 0) return false;
    if (op == "add") at->items.insert(at->items.begin() + place, *value);
    if (op == "replace") at->items[static_cast<std::size_t>(place)] = *value;
    if (op == "remove") at->items.erase(at->items.begin() + place);
    return true;
  }
  if (at->kind != JsonValue::Kind::kObject) return false;
  if (op == "add" && place < 0) {
    at->add(last, *value);
    return true;
  }
  if (place < 0) return false;
  if (op == "remove")
    at->members.erase(at->members.begin() + place);
  else
    at->members[static_cast<std::size_t>(place)].value = *value;
  return true;
}

std::string text_of(const JsonValue& object, const char* a, const char* b = nullptr) {
  const JsonValue* value = object.find(a);
  if (value && b) value = value->find(b);
  return value ? value->text : std::string();
}

EvaluatorOptions options_of(bool preempts) {
  EvaluatorOptions options;
  options.configuration = config::default_configuration(options.gates);
  options.preempt = preempts;
  return options;
}

}  // namespace

bool apply_patch(JsonValue& object, const JsonValue& patch) {
  for (const JsonValue& operation : patch.items)
    if (!apply_operation(object, operation)) return false;
  return true;
}

ChangedManifest::ChangedManifest(const std::string& yaml) {
  Interner interner;
  const auto read = read_manifest(yaml, "test.yaml", interner);
  BERTH_CHECK(read.has_value());
  for (const ManifestObject& object : *read) objects_.push_back(*parse_json(object.json));
}

JsonValue* ChangedManifest::find(const std::string& kind, const std::string& namespace_name,
                                 const std::string& name) {
  for (JsonValue& object : objects_) {
    std::string in = text_of(object, "metadata", "namespace");
    if (in.empty() && !namespace_name.empty()) in = "default";
    if (text_of(object, "kind") == kind && text_of(object, "metadata", "name") == name &&
        in == namespace_name)
      return &object;
  }
  return nullptr;
}

bool ChangedManifest::apply(const Change& change) {
  if (change.op == Change::Op::kCreate) {
    if (find(change.kind, change.namespace_name, change.name)) return false;
    objects_.push_back(change.value);
    return true;
  }
  JsonValue* const object = find(change.kind, change.namespace_name, change.name);
  if (!object) return false;
  if (change.op == Change::Op::kPatch) return apply_patch(*object, change.value);
  objects_.erase(objects_.begin() + (object - objects_.data()));
  return true;
}

std::vector<std::string> ChangedManifest::nodes_for(const std::string& pod, bool preempts) const {
  std::string all;
  for (const JsonValue& object : objects_) all += to_json(object) + "\n---\n";
  Interner interner;
  const auto objects = read_manifest(all, "changed.yaml", interner);
  if (!objects) return {"error: " + objects.error().message};
  auto evaluator = Evaluator::make(interner, plugins::make_plugin_table(), options_of(preempts));
  if (!evaluator) return {"error: " + evaluator.error().message};
  if (const auto loaded = (*evaluator)->load(*objects); !loaded)
    return {"error: " + loaded.error().message};
  for (const PodDecision& decision : (*evaluator)->decide()) {
    if (decision.pod != pod) continue;
    if (!decision.error.empty()) return {"error: " + decision.error};
    std::vector<std::string> nodes;
    for (const auto& [node, total] : decision.totals) nodes.push_back(node);
    if (preempts && decision.preempt && !decision.preempt->node.empty())
      nodes.push_back(decision.preempt->node);
    return nodes;
  }
  return {"error: no such pod"};
}

LoadedManifest::LoadedManifest(const std::string& yaml, bool preempts) {
  auto read = read_manifest(yaml, "test.yaml", interner);
  BERTH_CHECK(read.has_value());
  objects = *std::move(read);
  auto made = Evaluator::make(interner, plugins::make_plugin_table(), options_of(preempts));
  BERTH_CHECK(made.has_value());
  evaluator = *std::move(made);
  BERTH_CHECK(evaluator->load(objects).has_value());
}

Ref<const Pod> LoadedManifest::pending(const std::string& pod) const {
  for (const Ref<const Pod>& one : evaluator->pending())
    if (one->full_name() == pod) return one;
  BERTH_CHECK(false);
  return {};
}

Suggestions LoadedManifest::suggest(const std::string& pod) {
  const ManifestTexts texts(objects);
  return find_suggestions(*evaluator, texts, pending(pod));
}

}  // namespace berth::explain::testing
