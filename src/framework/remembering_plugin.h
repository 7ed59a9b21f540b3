// RememberingPlugin: what a plugin knows beside the cluster because Reserve decided it and nobody has
// written it yet. A copy of the world (explain/cluster_copy.h) is only equal if its plugins know it too.
#pragma once

#include "berth/loop.h"
#include "berth/plugin.h"

namespace berth {

class RememberingPlugin : public virtual Plugin {
 public:
  // From now on remembers what `other` does, and nothing else. `other` is a plugin of the same type
  // whose cluster has the same objects. Called on the world's thread of `other`.
  virtual void remember_as(const Plugin& other) = 0;
  // Forgets what was reserved for this pod, until the callback that it returns is called.
  [[nodiscard]] virtual Callback forget(const Pod& pod) = 0;
};

}  // namespace berth
