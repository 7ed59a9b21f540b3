// ClusterCopy: what a running scheduler knows, as the cluster of an Evaluator: nodes, the pods on
// them (assumed ones included), the other objects and the nominations. What would be is tried on the
// copy, on any thread, while the scheduler goes on. Objects are shared, not copied. What plugins have
// reserved and nobody has written yet (framework/remembering_plugin.h) is in the copy's plugins, too.
//
// World thread, which nobody uses the Evaluator beside meanwhile.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "berth/handle.h"
#include "berth/views.h"
#include "explain/evaluator.h"

namespace berth::explain {

class ClusterCopy {
 public:
  // `copy` has loaded nothing, and outlives this. `framework` is the original's for the copy's profile;
  // null: nothing is reserved there.
  ClusterCopy(const Cluster& original, const Nominator& nominator, const Framework* framework,
              Evaluator& copy);

  // Makes the copy equal to the original as that is now. False: `time_left` said that it is enough for
  // now; call it again, soon, and what has changed meanwhile is copied, too.
  bool catch_up(WallTime now, const std::function<bool()>& time_left);

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(ObjectKind::kOther);

  std::vector<NodeRow> changed_rows();
  void copy_row(NodeRow row);
  void copy_pods(NodeRow row);
  Ref<const Pod> as_bound(const Ref<const Pod>& pod, NodeRow row);
  void remove_node(Symbol name);
  struct ChangedObject {
    Ref<const Object> object;
    bool gone;  // or another has its name now
  };
  std::vector<ChangedObject> changed_objects();
  void compare(ObjectKind kind, const std::vector<Ref<const Object>>& objects,
               std::vector<ChangedObject>& changed) const;
  void copy_object(const ChangedObject& changed);
  void copy_nominations();
  void copy_memory();

  const Cluster& original_;
  const Nominator& nominator_;
  const Framework* framework_;
  Evaluator::Parts& copy_;
  // The node that the copy has for each row of the original; empty: none.
  std::vector<Symbol> names_;
  // Rows that changed since then are in no round yet; nullopt: all rows are.
  std::optional<std::uint64_t> log_position_;
  // Of this round, and how far it is.
  std::vector<NodeRow> rows_;
  std::vector<ChangedObject> objects_;
  std::size_t next_row_ = 0, next_object_ = 0;
  int round_ = 0;  // since the copy was complete
  struct Bound {
    Ref<const Pod> assumed, pod;
  };
  std::unordered_map<Uid, Bound> bound_;                          // assumed pods as they will be
  std::array<std::optional<std::uint64_t>, kKinds> generations_;  // of what is copied, by kind
  bool claims_assumed_ = false;  // a copied claim is ahead of what is stored
};

}  // namespace berth::explain
