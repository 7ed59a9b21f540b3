// SimulatedServer: the embedded API server, with its controllers, at the end of a simulated
// network. It may be down for a while, end all watches, forget its history (compaction), be set
// back to a backup, or accept other tokens than before.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/interner.h"
#include "berth/loop.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/random.h"
#include "control_plane/controllers.h"
#include "memapi/api_server.h"
#include "memapi/table_codec.h"
#include "network.h"

namespace berth::chaos {

class SimulatedServer {
 public:
  // Down, until come_up().
  SimulatedServer(VirtualLoop& loop, Network& network, Random random);
  ~SimulatedServer();

  memapi::LocalClient& local() { return api_->local(); }
  // Creates what the manifest says; what is there stays.
  void put(const std::string& json);
  // What there is of a kind, decoded.
  std::vector<Ref<const Pod>> pods();
  std::vector<Ref<const Object>> objects(ObjectKind kind);
  // All of it, as a List in JSON.
  std::string save() const { return api_->save(); }

  bool up() const { return up_; }
  void go_down();
  void come_up();
  void end_watches() { api_->end_watches(); }
  void back_up() { backup_ = api_->save(); }
  bool has_backup() const { return !backup_.empty(); }
  // Everything is as it was when back_up() was called. Its versions are such that nobody has seen
  // yet, as etcd is restored with --bump-revision and --mark-compacted; or they are those that it
  // had, and what is written from now on has versions that were used before, for something else.
  enum class Versions : std::uint8_t { kNew, kOld };
  void restore(Versions versions);

  // Called for every pod that is moved from one node to another, which must not happen.
  std::function<void(std::string_view pod)> moved;
  // Stands between the network and the server: a bug to plant.
  std::function<net::HttpHandler(net::HttpHandler)> planted;

 private:
  // `beyond`: all versions are greater.
  void make(std::string_view saved, std::uint64_t beyond);
  const memapi::Resource& resource_of(ObjectKind kind) const;

  VirtualLoop& loop_;
  Network& network_;
  Random random_;
  const std::size_t history_;  // bytes of changes that are remembered per kind
  memapi::TableCodec codec_;
  Interner interner_;
  std::string backup_;
  bool up_ = false;
  std::unique_ptr<memapi::ApiServer> api_;
  std::unique_ptr<control_plane::Controllers> controllers_;
  std::unique_ptr<memapi::Following> following_;
};

}  // namespace berth::chaos
