// Controllers: what moves objects of the embedded API server, each under its upstream name, the
// node agent included. World thread only; ends before the server.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/result.h"
#include "control_plane/api_server.h"
#include "control_plane/controller.h"
#include "control_plane/node_agent.h"
#include "control_plane/pod_feed.h"
#include "control_plane/workloads.h"

namespace berth::control_plane {

// "garbage-collector-controller", "node-agent", …
std::vector<std::string_view> controller_names();

// What is meant by words of kube-controller-manager's kind: "*" all, "name" that one, "-name" not
// that one. An error names what is no controller.
Result<std::vector<std::string>> choose_controllers(std::span<const std::string> words);

class Controllers {
 public:
  // Runs those that `names` has. `root_certificate` is whom clients of the server have to believe
  // (PEM; empty when it speaks no TLS).
  Controllers(LocalClient& api, std::span<const std::string> names,
              NodeAgentOptions node_agent = {}, const std::string& root_certificate = {});

 private:
  std::unique_ptr<PodFeed> pods_;
  std::unique_ptr<Workloads> workloads_;
  std::vector<std::unique_ptr<ApiFollower>> running_;
};

}  // namespace berth::control_plane
