// Builders for tests: objects in one line.
//
//   World world;
//   Ref<const Pod> pod = world.pod("web-1").cpu("500m").tolerates("gpu", "NoSchedule");
//   Ref<const Node> node = world.node("n1").cpu("4").zone("a");
//
// A builder turns into the object where one is expected. UIDs follow from namespace and name unless
// given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/interner.h"
#include "berth/node.h"
#include "berth/pod.h"

namespace berth::testing {

using Amounts = std::vector<std::pair<std::string, std::string>>;

class PodBuilder {
 public:
  PodBuilder(Interner& interner, std::string name);
  PodBuilder(PodBuilder&&) = default;

  PodBuilder& in(std::string namespace_name);
  PodBuilder& uid(std::string uid);
  PodBuilder& label(std::string key, std::string value);
  PodBuilder& controlled_by(std::string api_version, std::string kind, std::string name);

  // Requests of the one container that every pod has, unless container() adds others.
  PodBuilder& cpu(std::string amount) { return request("cpu", std::move(amount)); }
  PodBuilder& memory(std::string amount) { return request("memory", std::move(amount)); }
  PodBuilder& request(std::string resource, std::string amount);
  PodBuilder& image(std::string image);
  PodBuilder& container(const Amounts& requests);  // the first one replaces the implicit one
  PodBuilder& init_container(const Amounts& requests);
  PodBuilder& sidecar(const Amounts& requests);
  PodBuilder& pod_level(const Amounts& requests);
  PodBuilder& overhead(const Amounts& amounts);
  PodBuilder& host_port(std::int32_t port, std::string protocol = "TCP", std::string ip = "");

  PodBuilder& priority(std::int32_t priority);
  PodBuilder& never_preempts();
  PodBuilder& gate(std::string name);
  // effect "" tolerates every effect; value "" with Exists.
  PodBuilder& tolerates(std::string key, std::string effect = "", std::string value = "");
  PodBuilder& toleration(Toleration toleration);
  PodBuilder& node_selector(std::string key, std::string value);
  PodBuilder& scheduler(std::string name);
  PodBuilder& group(std::string pod_group);

  PodBuilder& on(std::string node);
  PodBuilder& nominated(std::string node);
  PodBuilder& phase(PodPhase phase);
  PodBuilder& version(std::string resource_version);
  PodBuilder& generation(std::int64_t generation);
  PodBuilder& created(WallTime time);
  PodBuilder& started(WallTime time);
  PodBuilder& deleted(WallTime time);
  PodBuilder& condition(PodCondition condition);
  // Anything else: edit the spec itself. Symbols come from spec.symbols.
  PodSpec& spec() { return spec_; }
  Symbol symbol(std::string_view text) { return spec_.symbols.intern(text); }

  Ref<const Pod> build() const;
  operator Ref<const Pod>() const { return build(); }  // NOLINT(google-explicit-constructor)

 private:
  ResourceList amounts(const Amounts& amounts);
  static void ensure_container(PodSpec& spec);

  Interner& interner_;
  PodSpec spec_;
  std::string name_, namespace_ = "default", uid_, node_, nominated_, version_ = "1";
  std::vector<std::pair<std::string, std::string>> labels_;
  std::vector<std::string> controller_;
  std::int64_t generation_ = 1;
  PodPhase phase_ = PodPhase::kPending;
  std::optional<WallTime> created_, started_, deleted_;
  std::vector<PodCondition> conditions_;
};

class NodeBuilder {
 public:
  NodeBuilder(Interner& interner, std::string name);
  NodeBuilder(NodeBuilder&&) = default;

  NodeBuilder& allocatable(const Amounts& amounts);  // adds to, or replaces, what is there
  NodeBuilder& cpu(std::string amount) { return allocatable({{"cpu", std::move(amount)}}); }
  NodeBuilder& memory(std::string amount) { return allocatable({{"memory", std::move(amount)}}); }
  NodeBuilder& label(std::string key, std::string value);
  NodeBuilder& zone(std::string zone);
  NodeBuilder& region(std::string region);
  NodeBuilder& taint(std::string key, std::string effect, std::string value = "");
  NodeBuilder& cordoned(bool cordoned = true);
  NodeBuilder& image(std::string name, std::int64_t size_bytes);
  NodeBuilder& feature(std::string declared);
  NodeBuilder& condition(std::string type, std::string status);
  NodeBuilder& annotation(std::string key, std::string value);
  NodeBuilder& version(std::string resource_version);

  Ref<const Node> build() const;
  operator Ref<const Node>() const { return build(); }  // NOLINT(google-explicit-constructor)

 private:
  Node node_;
  std::vector<Label> labels_, annotations_;
};

// An interner, and builders on it. Pods get 1 container without requests; nodes get 4 cpu, 16Gi
// memory and 110 pods unless they say otherwise.
struct World {
  Interner interner;

  PodBuilder pod(std::string name) { return PodBuilder(interner, std::move(name)); }
  NodeBuilder node(std::string name) { return NodeBuilder(interner, std::move(name)); }
  Symbol symbol(std::string_view text) { return interner.symbols()->intern(text); }
};

}  // namespace berth::testing
