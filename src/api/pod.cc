#include "berth/pod.h"

#include <algorithm>
#include <ranges>

#include "base/keyed_hash.h"

namespace berth {

// ---- UIDs -------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kUuidLength = 36;
constexpr bool is_dash_place(std::size_t i) { return i == 8 || i == 13 || i == 18 || i == 23; }

// The bits of a lower-case UUID; zero for any other text.
Uid parse_uuid(std::string_view text) {
  if (text.size() != kUuidLength) return {};
  std::uint64_t half[2] = {0, 0};
  std::size_t digits = 0;
  for (std::size_t i = 0; i < kUuidLength; ++i) {
    const char c = text[i];
    if (is_dash_place(i)) {
      if (c != '-') return {};
      continue;
    }
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) return {};
    const auto value = static_cast<std::uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
    std::uint64_t& part = half[digits++ / 16];
    part = part << 4 | value;
  }
  return {half[0], half[1]};
}

// A 64-bit hash that is the same everywhere; other seeds give other, independent ones.
std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = seed ^ (text.size() * 0x9e3779b97f4a7c15ULL);
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
  hash = (hash ^ hash >> 29) * 0xc4ceb9fe1a85ec53ULL;
  return hash ^ hash >> 32;
}

}  // namespace

Uid Uid::of(std::string_view text) {
  if (text.empty()) return {};
  if (const Uid uuid = parse_uuid(text); !uuid.empty()) return uuid;
  // Never zero, which stands for no UID at all.
  return {hash_text(text, 0x243f6a8885a308d3ULL) | 1, hash_text(text, 0x13198a2e03707344ULL)};
}

// ---- equality and hashes of the shared parts --------------------------------------------------

bool operator==(const PodSpec& a, const PodSpec& b) {
  const bool same_affinity =
      a.affinity == b.affinity || (a.affinity && b.affinity && *a.affinity == *b.affinity);
  return same_affinity && a.containers == b.containers && a.init_containers == b.init_containers &&
         a.pod_requests == b.pod_requests && a.pod_limits == b.pod_limits &&
         a.overhead == b.overhead && a.node_selector == b.node_selector &&
         a.tolerations == b.tolerations &&
         a.topology_spread_constraints == b.topology_spread_constraints &&
         a.scheduling_gates == b.scheduling_gates && a.volumes == b.volumes &&
         a.resource_claims == b.resource_claims && a.scheduler_name == b.scheduler_name &&
         a.priority_class_name == b.priority_class_name &&
         a.scheduling_group == b.scheduling_group && a.priority == b.priority &&
         a.termination_grace_seconds == b.termination_grace_seconds &&
         a.preemption_policy == b.preemption_policy && a.host_network == b.host_network &&
         a.own_users == b.own_users &&
         a.ephemeral_bind_mount_options == b.ephemeral_bind_mount_options;
}

bool operator==(const PodMeta& a, const PodMeta& b) {
  return a.namespace_name == b.namespace_name && a.labels == b.labels &&
         a.controller == b.controller;
}

namespace {

// Takes in one value after the other. Lists go in with their lengths, so that what belongs to one
// cannot be taken for part of the next.
class Hasher {
 public:
  std::size_t result() const { return hash_.value(); }

  template <typename... Values>
  void add(const Values&... values) {
    (take(values), ...);
  }

 private:
  void mix(std::uint64_t value) { hash_.add(value); }

  template <typename Number>
    requires std::is_integral_v<Number> || std::is_enum_v<Number>
  void take(Number value) {
    mix(static_cast<std::uint64_t>(value));
  }
  void take(Symbol symbol) { mix(symbol.id); }
  void take(const Quantity& quantity) { mix(quantity.hash()); }

  template <std::ranges::sized_range Range>
  void take(const Range& range) {
    mix(range.size());
    for (const auto& element : range) take(element);
  }
  template <typename T>
  void take(const std::optional<T>& value) {
    mix(value.has_value());
    if (value) take(*value);
  }

  void take(const Label& label) { add(label.key, label.value); }
  void take(const ResourceAmount& amount) { add(amount.name, amount.amount); }
  void take(const ContainerPort& port) {
    add(port.container_port, port.host_port, port.protocol, port.host_ip);
  }
  void take(const Container& container) {
    add(container.name, container.image, container.requests, container.limits, container.ports,
        container.restart_always, container.restarts_all, container.bind_mount_options);
  }
  void take(const SelectorRequirement& requirement) {
    add(requirement.key, requirement.op, requirement.operator_text, requirement.values);
  }
  void take(const LabelSelector& selector) {
    add(selector.match_labels, selector.match_expressions);
  }
  void take(const NodeSelectorTerm& term) { add(term.match_expressions, term.match_fields); }
  void take(const PreferredSchedulingTerm& term) { add(term.weight, term.preference); }
  void take(const NodeAffinity& affinity) { add(affinity.required, affinity.preferred); }
  void take(const PodAffinityTerm& term) {
    add(term.label_selector, term.namespace_selector, term.namespaces, term.topology_key,
        term.match_label_keys, term.mismatch_label_keys);
  }
  void take(const WeightedPodAffinityTerm& term) { add(term.weight, term.term); }
  void take(const PodAffinity& affinity) { add(affinity.required, affinity.preferred); }
  void take(const Affinity& affinity) { add(affinity.node, affinity.pod, affinity.pod_anti); }
  void take(const Toleration& toleration) {
    add(toleration.key, toleration.value, toleration.op, toleration.effect,
        toleration.toleration_seconds);
  }
  void take(const TopologySpreadConstraint& constraint) {
    add(constraint.max_skew, constraint.topology_key, constraint.when_unsatisfiable,
        constraint.label_selector, constraint.min_domains, constraint.node_affinity_policy,
        constraint.node_taints_policy, constraint.match_label_keys);
  }
  void take(const Volume& volume) {
    add(volume.name, volume.source, volume.read_only, volume.source_name, volume.detail,
        volume.kind, volume.monitors);
  }
  void take(const PodResourceClaim& claim) {
    add(claim.name, claim.claim_name, claim.template_name);
  }

  KeyedHash hash_;
};

}  // namespace

std::size_t hash_of(const PodSpec& spec) {
  Hasher hasher;
  hasher.add(spec.containers, spec.init_containers, spec.pod_requests, spec.pod_limits,
             spec.overhead, spec.node_selector, spec.affinity != nullptr);
  if (spec.affinity) hasher.add(*spec.affinity);
  hasher.add(spec.tolerations, spec.topology_spread_constraints, spec.scheduling_gates,
             spec.volumes, spec.resource_claims, spec.scheduler_name, spec.priority_class_name,
             spec.scheduling_group, spec.priority, spec.termination_grace_seconds,
             spec.preemption_policy, spec.host_network, spec.own_users,
             spec.ephemeral_bind_mount_options);
  return hasher.result();
}

std::size_t hash_of(const PodMeta& meta) {
  Hasher hasher;
  hasher.add(meta.namespace_name, meta.labels, meta.controller.api_version, meta.controller.kind,
             meta.controller.name);
  return hasher.result();
}

// ---- pods -------------------------------------------------------------------------------------

Pod::~Pod() {
  if (!spec_) return;
  Symbols& symbols = *spec_->symbols.table();
  symbols.release(node_);
  symbols.release(nominated_node_);
}

std::string Pod::full_name() const {
  const std::string_view parts[] = {namespace_name(), "/", name()};
  std::string full;
  full.reserve(parts[0].size() + 1 + parts[2].size());
  for (const std::string_view part : parts) full += part;
  return full;
}

std::string_view Pod::resource_version() const {
  return {text_.get() + name_length_, version_length_};
}

std::string Pod::uid_text() const {
  if (uid_length_ != 0)
    return std::string(text_.get() + name_length_ + version_length_, uid_length_);
  if (uid_.empty()) return {};
  // Written digit by digit: every pod's is asked for several times on its way.
  std::string text = "00000000-0000-0000-0000-000000000000";
  std::size_t at = text.size();
  for (const std::uint64_t half : {uid_.low, uid_.high})
    for (int shift = 0; shift < 64; shift += 4) {
      if (text[--at] == '-') --at;
      text[at] = "0123456789abcdef"[half >> shift & 0xf];
    }
  return text;
}

void Pod::set_texts(std::string_view name, std::string_view version, std::string_view uid) {
  // The lengths are what fits; nothing that an API server lets pass comes near.
  constexpr std::size_t kLongest = (1U << 28) - 1;
  for (std::string_view* text : {&name, &version, &uid}) *text = text->substr(0, kLongest);
  name_length_ = static_cast<std::uint32_t>(name.size());
  version_length_ = static_cast<std::uint32_t>(version.size()) & kLongest;
  uid_length_ = static_cast<std::uint32_t>(uid.size());
  text_ = std::make_unique_for_overwrite<char[]>(name.size() + version.size() + uid.size());
  char* end = text_.get();
  for (const std::string_view text : {name, version, uid}) end = std::ranges::copy(text, end).out;
}

bool PodExtra::resize_is_infeasible() const {
  const auto resize = std::ranges::find(conditions, "PodResizePending", &PodCondition::type);
  return resize != conditions.end() && resize->reason == "Infeasible";
}

const PodCondition* Pod::condition(std::string_view type) const {
  if (!extra_) return nullptr;
  const auto found = std::ranges::find(extra_->conditions, type, &PodCondition::type);
  return found == extra_->conditions.end() ? nullptr : &*found;
}

Ref<const Pod> make_pod(PodDraft draft) {
  const Ref<Pod> pod(new Pod());
  const Uid uuid = parse_uuid(draft.uid);
  const bool usual_uid = draft.uid.empty() || !uuid.empty();
  pod->uid_ = usual_uid ? uuid : Uid::of(draft.uid);
  pod->set_texts(draft.name, draft.resource_version,
                 usual_uid ? std::string_view() : std::string_view(draft.uid));

  // The epoch stands for "no time", so a time that is the epoch goes by a nanosecond.
  const auto time = [](const std::optional<WallTime>& given) {
    if (given && given->since_epoch.count() == 0) return WallTime{Duration(1)};
    return given.value_or(WallTime{});
  };
  pod->spec_ = std::move(draft.spec);
  pod->meta_ = std::move(draft.meta);
  Symbols& symbols = *pod->spec_->symbols.table();
  pod->node_ = symbols.intern(draft.node_name);
  pod->nominated_node_ = symbols.intern(draft.nominated_node_name);
  pod->phase_ = draft.phase;
  pod->scheduled_condition_ = draft.scheduled_condition;
  pod->generation_ = draft.generation;
  pod->creation_time_ = time(draft.creation_time);
  pod->start_time_ = time(draft.start_time);
  pod->deletion_time_ = time(draft.deletion_time);
  if (draft.extra) {
    PodExtra& extra = *draft.extra;
    pod->extra_ = std::move(draft.extra);
    extra.usage.reset();
    if (extra.has_resources()) extra.usage = pod_usage(*pod);
  }
  return pod;
}

PodDraft draft_of(const Pod& pod) {
  PodDraft draft;
  draft.name = pod.name();
  draft.uid = pod.uid_text();
  draft.meta = pod.meta_ref();
  draft.spec = pod.spec_ref();
  draft.node_name = pod.node_name();
  draft.nominated_node_name = pod.nominated_node_name();
  draft.resource_version = pod.resource_version();
  draft.generation = pod.generation();
  draft.phase = pod.phase();
  draft.scheduled_condition = pod.scheduled_condition();
  draft.creation_time = pod.creation_time();
  draft.start_time = pod.start_time();
  draft.deletion_time = pod.deletion_time();
  if (pod.extra()) draft.extra = std::make_unique<PodExtra>(*pod.extra());
  return draft;
}

Ref<Pod> Pod::unplaced_copy(std::string_view resource_version) const {
  const Ref<Pod> copy(new Pod());
  copy->set_texts(name(), resource_version,
                  {text_.get() + name_length_ + version_length_, uid_length_});
  copy->spec_ = spec_;
  copy->meta_ = meta_;
  copy->uid_ = uid_;
  copy->phase_ = phase_;
  copy->scheduled_condition_ = scheduled_condition_;
  copy->generation_ = generation_;
  copy->creation_time_ = creation_time_;
  copy->start_time_ = start_time_;
  copy->deletion_time_ = deletion_time_;
  return copy;
}

Ref<const Pod> with_node(const Pod& pod, std::string_view node_name) {
  const Ref<Pod> placed = pod.unplaced_copy(pod.resource_version());
  Symbols& symbols = *pod.spec_->symbols.table();
  placed->node_ = symbols.intern(node_name);
  placed->nominated_node_ = pod.nominated_node_;
  symbols.retain(placed->nominated_node_);
  if (pod.extra_) placed->extra_ = std::make_unique<PodExtra>(*pod.extra_);
  return placed;
}

Ref<const Pod> bound_to(const Pod& pod, std::string_view node_name,
                        std::string_view resource_version) {
  const Ref<Pod> bound = pod.unplaced_copy(resource_version);
  bound->node_ = pod.spec_->symbols.table()->intern(node_name);
  bound->scheduled_condition_ = true;
  return bound;
}

}  // namespace berth
