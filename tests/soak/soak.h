// Soak: a scheduler in virtual time, in a cluster of a steady size where nothing stays: nodes,
// pods, namespaces, claims and devices go after a few hours, and what comes instead has other
// names, labels, resources and constraints. All drawn from one seed, and every day the same, but
// for the names, so that what is held on two days can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "engine/engine.h"
#include "storeapi/cluster_view.h"
#include "storeapi/store_api.h"

namespace berth::soak {

// What is held, on average over some hours.
struct Held {
  std::size_t bytes = 0;
  std::size_t symbols = 0;
  std::size_t rows = 0;   // of nodes, also of those that are gone
  std::size_t specs = 0;  // of pods
  std::size_t pods = 0;   // that the cluster has
};

class Soak final : public Observer {
 public:
  // `new_resources`: every node offers an extended resource of its own.
  Soak(std::uint64_t seed, bool new_resources);
  ~Soak() override;

  Held run(int hours);
  // Everything goes. Then two nodes come, and as many plain pods, one after the other, as it takes
  // to forget what was kept between pods: what is held then. Then these two go as well.
  Held start_over();
  std::size_t rows() const { return engine_->cluster().nodes().rows(); }

  std::size_t decisions() const { return decisions_; }
  std::size_t placed() const { return placed_; }
  void decided(const Decision& decision) override;

 private:
  void apply(DeltaType type, const std::string& json);
  // Comes now, and goes when `kept` others of its kind have come.
  void replace(std::deque<std::string>& kind, std::string json, std::size_t kept);
  void forget_oldest(std::deque<std::string>& kind);

  void next_hour();
  void add_node();
  void add_workload();
  void add_pod(const std::string& name, const std::string& namespace_name,
               const std::string& labels, const std::string& rest);
  void remove_oldest_pod();
  std::string draw_spec(std::uint64_t id, std::uint64_t nth);
  Held now() const;

  const std::uint64_t seed_;
  Random random_;
  Interner interner_;
  PluginTable plugins_;
  VirtualLoop loop_;
  ClusterView objects_{loop_, ClusterView::Shows::kAtOnce};
  StoreApi api_{loop_, objects_};
  std::unique_ptr<Engine> engine_;

  const bool new_resources_;
  std::uint64_t made_;            // the number in the newest names
  std::uint64_t made_today_ = 0;  // how many of them
  int hours_ = 0;
  // What there is, oldest first: as JSON, or of pods by namespace and name.
  std::deque<std::string> nodes_, namespaces_, claims_, volumes_, slices_, services_, budgets_;
  std::deque<std::pair<std::string, std::string>> pods_;
  std::size_t decisions_ = 0, placed_ = 0;
};

}  // namespace berth::soak
