// Manifests and sides for the tests of this room, to be put together with +.
#pragma once

#include <string>

#include "compare/side_run.h"

namespace berth::compare::testing {

inline std::string node(const std::string& name, const std::string& cpu = "4",
                        const std::string& zone = "a") {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name +
         ", labels: {kubernetes.io/hostname: " + name + ", topology.kubernetes.io/zone: " + zone +
         "}}\nstatus: {capacity: {cpu: \"" + cpu + "\", memory: 8Gi, pods: \"110\"}}\n";
}

inline std::string pod(const std::string& name, const std::string& cpu = "1",
                       const std::string& spec = "", const std::string& app = "web") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {app: " + app +
         "}}\nspec: {" + spec + "containers: [{name: c, image: i, resources: {requests: {cpu: \"" +
         cpu + "\", memory: 512Mi}}}]}\n";
}

inline Input input(const std::string& manifests, const std::string& scenario = "") {
  Input made;
  made.name = "input";
  made.files = {{"input.yaml", manifests}};
  if (!scenario.empty()) made.scenario = {"scenario.yaml", "kind: Scenario\n" + scenario};
  return made;
}

inline Side side(const std::string& name, const std::string& profile = "") {
  Side made;
  made.name = name;
  if (!profile.empty())
    made.config = {name + ".yaml",
                   "apiVersion: kubescheduler.config.k8s.io/v1\n"
                   "kind: KubeSchedulerConfiguration\n"
                   "profiles:\n- " +
                       profile + "\n"};
  return made;
}

// Fills the fullest node first.
inline Side packing() {
  return side("packing",
              "pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
              "{type: MostAllocated, resources: [{name: cpu, weight: 1}]}}}]");
}

}  // namespace berth::compare::testing
