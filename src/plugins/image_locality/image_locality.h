// ImageLocality prefers nodes that have the pod's images already, large ones more than small ones,
// and images that many nodes have more than those of a few, so that not all pods run to one node.
// Reads the images that nodes report, how they are spread, and the number of nodes.
// Rejects nothing, so no event changes its mind.
#pragma once

#include <memory>
#include <vector>

#include "berth/plugin_table.h"
#include "plugins/recent_answers.h"

namespace berth::plugins {

// With the tag that is meant when none is written: "nginx" is "nginx:latest".
std::string normalized_image_name(std::string_view image);

// The images of a pod by the names under which nodes report them, as often as they are used;
// remembered for pods of the same spec.
class ImageNames {
 public:
  struct Wanted {
    Symbol name;
    std::int64_t uses;  // by how many containers and volumes
  };

  // Sorted by name, each once. Valid until the next call.
  const std::vector<Wanted>& of(const Pod& pod);

 private:
  struct Images {
    std::vector<Wanted> wanted;
    SymbolHold symbols;  // of their names
  };
  RecentAnswers<PodSpec, Images> recent_;
};

class ImageLocality final : public ScorePlugin, public SignPlugin {
 public:
  static Result<std::unique_ptr<Plugin>> create(const config::PluginArgs& arguments,
                                                const Handle& handle);

  std::string_view name() const override { return "ImageLocality"; }
  Dependence dependence() const override { return Dependence::kRow; }

  Outcome score(const Cycle& cycle, const NodeSet& feasible,
                std::span<Score> by_row) const override;
  bool normalizes() const override { return false; }

  Outcome sign(const Pod& pod, std::vector<SignatureFragment>& fragments) const override;

 private:
  mutable ImageNames names_;  // a memory, and only on the world thread
};

}  // namespace berth::plugins
