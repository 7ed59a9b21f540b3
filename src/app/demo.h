// Demo: a sample cluster for `berth run --demo`, and people who use it: nodes in three zones,
// priority classes, namespaces, and a stream of pods of several kinds, some of which fit nowhere
// for a while. Everything goes through the API server, as kubectl would do it. World thread only.
#pragma once

#include <cstdint>
#include <string>

#include "base/lifetime.h"
#include "berth/loop.h"
#include "berth/random.h"
#include "memapi/local_client.h"

namespace berth::app {

struct DemoOptions {
  Duration interval = std::chrono::milliseconds(700);  // between two arrivals
  std::size_t rounds = 0;                              // arrivals in all; 0: no end
};

class Demo {
 public:
  // Makes the cluster, unless there are nodes already, and begins the stream.
  Demo(memapi::LocalClient& api, Random random, DemoOptions options);
  ~Demo();
  Demo(const Demo&) = delete;
  Demo& operator=(const Demo&) = delete;

  // All that was to come has come.
  bool over() const { return options_.rounds != 0 && arrivals_ >= options_.rounds; }

 private:
  void make_cluster();
  void arrive();
  void leave();

  memapi::LocalClient& api_;
  Random random_;
  const DemoOptions options_;
  std::size_t arrivals_ = 0;
  Lifetime lifetime_;
};

}  // namespace berth::app
