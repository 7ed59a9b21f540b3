// Churn: a random cluster in which nodes and pods come, change and go, and pods of a few kinds are
// scheduled, by an engine that checks every increment. All drawn from one seed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/testing/builders.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "engine/engine.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"

namespace berth::churn {

struct ChurnReport {
  std::optional<std::string> difference;
  std::size_t decisions = 0;
  std::size_t placed = 0;
  std::map<std::string, int> happened;
};

class Churn final : public Observer {
 public:
  // `adjust` may add plugins and change the configuration.
  using Adjust = std::function<void(PluginTable&, EngineOptions&)>;
  explicit Churn(std::uint64_t seed, const Adjust& adjust = {});
  ~Churn() override;

  // From now on pods are plain and of many priorities, there are disruption budgets, nodes are few
  // and full, and who is evicted takes a while to go.
  void crowd();

  ChurnReport run(int steps);

  void decided(const Decision& decision) override;

 private:
  using Step = void (Churn::*)();
  using Kind = std::function<void(testing::PodBuilder&)>;

  // ---- what can happen
  void create_pods();
  void delete_pod();
  void relabel_pod();
  void add_node();
  void remove_node();
  void change_node();
  void relabel_namespace();
  void change_service();
  void pass_time();
  void change_budget();
  void let_evicted_go();

  Kind draw_kind();
  Kind draw_plain_kind();
  void draw_affinity(testing::PodBuilder& pod, const std::string& app, Random& random);
  void draw_spreading(testing::PodBuilder& pod, const std::string& app, Random& random);
  void draw_node_affinity(testing::PodBuilder& pod, Random& random);
  testing::NodeBuilder draw_node(const std::string& name);
  void show(Delta delta);
  void schedule();
  Ref<const Pod> some_placed_pod();
  std::string some_node();
  template <typename T>
  const T& one_of(const std::vector<T>& values) {
    return values[random_.below(values.size())];
  }

  Random random_;
  testing::World world_;
  PluginTable plugins_;
  VirtualLoop loop_;
  ClusterView objects_{loop_, ClusterView::Shows::kAtOnce};
  StoreApi api_{loop_, objects_};
  std::unique_ptr<Engine> engine_;
  std::vector<Kind> kinds_;
  std::vector<std::string> nodes_;
  std::uint64_t made_ = 0;
  bool crowded_ = false;
  bool evicted_go_later_ = false;
  std::deque<Ref<const Pod>> going_;
  int evicted_ = 0;
  ChurnReport report_;
};

}  // namespace berth::churn
