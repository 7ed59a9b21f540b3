#include "sim/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/json_reader.h"
#include "api/object_json.h"

namespace berth::sim {
namespace {

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Names without vowels and lookalikes, so that they spell nothing.
std::string spell(std::uint64_t number, std::size_t length) {
  static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::string text;
  for (std::size_t i = 0; i < length; ++i, number /= kLetters.size())
    text += kLetters[number % kLetters.size()];
  return text;
}

}  // namespace

std::string name_suffix(std::string_view seed, std::uint64_t number) {
  std::uint64_t mixed = hash_text(seed) + number * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ (mixed >> 31)) * 0xbf58476d1ce4e5b9;
  return spell(mixed >> 8, 5);
}

std::int64_t Workload::index_of(std::string_view pod) const {
  std::int64_t index = 0;
  const std::string_view rest = pod.substr(std::min(pod.size(), name.size() + 1));
  std::from_chars(rest.data(), rest.data() + rest.size(), index);
  return index;
}

std::int64_t Workload::next_index() const {
  std::set<std::int64_t> taken = finished_indexes;
  for (const std::string& pod : pods) taken.insert(index_of(pod));
  std::int64_t index = 0;
  while (taken.contains(index)) ++index;
  return index;
}

Result<Workload> read_workload(const ManifestObject& manifest, Interner& interner) {
  Workload workload(interner);
  workload.kind = manifest.kind;
  workload.api_version = manifest.api_version;
  workload.namespace_name = manifest.namespace_name;
  workload.name = manifest.name;
  std::string template_json;
  std::optional<std::int64_t> parallelism, completions;

  JsonReader json(manifest.json);
  json.fields([&](std::string_view top) {
    if (top != "spec") return;
    json.fields([&](std::string_view field) {
      if (field == "replicas")
        workload.replicas = json.int32();
      else if (field == "selector")
        workload.selector = read_label_selector(json, workload.selector_symbols);
      else if (field == "podManagementPolicy")
        workload.ordered = json.text() != "Parallel";
      else if (field == "parallelism")
        parallelism = json.int32();
      else if (field == "completions")
        completions = json.int32();
      else if (field == "completionMode")
        workload.indexed = json.text() == "Indexed";
      else if (field == "template")
        template_json = json.raw();
    });
  });
  if (json.error()) return fail(*json.error());
  if (template_json.empty()) return fail(ErrorKind::kInvalid, "spec.template: must be set");
  Result<PodTemplate> decoded = decode_pod_template(template_json, interner);
  if (!decoded)
    return fail(decoded.error().kind, fmt::format("spec.template.{}", decoded.error().message));
  workload.pod_template = std::move(*decoded);

  workload.replicas = std::max<std::int64_t>(workload.replicas, 0);
  if (manifest.kind == ObjectKind::kJob) {
    workload.replicas = std::max<std::int64_t>(parallelism.value_or(1), 0);
    workload.completions = completions.value_or(workload.replicas);
  }
  if (manifest.kind == ObjectKind::kDeployment) {
    // A Deployment's pods belong to the ReplicaSet of its current template.
    workload.template_hash = spell(hash_text(template_json), 10);
    workload.kind = ObjectKind::kReplicaSet;
    workload.name = fmt::format("{}-{}", manifest.name, workload.template_hash);
  }
  return workload;
}

}  // namespace berth::sim
