// KeptObjects: pods and nodes in full, as JSON, to be sent to extenders. The scheduler's own pods
// and nodes hold what scheduling reads; an extender gets all fields, as from upstream.
//
// The code that applies deltas to the engine applies them here as well, with the JSON that they
// came from, and under the same gate: what is here is what the cycle sees. Only what some extender
// is going to be sent is kept (core.md §12.2); where none is configured, nothing is.
//
// World thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/keyed_hash.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "config/configuration.h"

namespace berth::extender {

// Which objects extenders get in full.
struct ObjectNeeds {
  enum class Pods : std::uint8_t {
    kNone,
    kUnassigned,  // those that are to be scheduled
    kAll,         // those that may have to go, as well
  };
  bool nodes = false;
  Pods pods = Pods::kNone;

  bool any() const { return nodes || pods != Pods::kNone; }
  friend bool operator==(const ObjectNeeds&, const ObjectNeeds&) = default;
};
ObjectNeeds needs_of(std::span<const config::ExtenderConfig> extenders);

// An object as an API server writes it.
using ObjectText = std::shared_ptr<const std::string>;

class KeptObjects {
 public:
  explicit KeptObjects(ObjectNeeds needs) : needs_(needs) {}

  const ObjectNeeds& needs() const { return needs_; }

  // `text` may be empty for what is deleted or not needed.
  void apply(const Delta& delta, ObjectText text);

  // As upstream's scheduler would write them: without kind and apiVersion, pods without
  // managedFields. A pod that was assumed on a node has its nodeName, even if the API server does
  // not know it yet. Nothing: not kept.
  std::optional<std::string> pod(const Pod& pod);
  // Valid until the next change.
  std::optional<std::string_view> node(std::string_view name);

  std::size_t pods() const { return pods_.size(); }
  std::size_t nodes() const { return nodes_.size(); }

 private:
  // Computed when first needed.
  struct Kept {
    ObjectText text;
    bool ready = false;

    const std::string& bare(bool managed_fields);
  };
  void apply_pod(const Pod& pod, DeltaType type, ObjectText text);

  const ObjectNeeds needs_;
  std::unordered_map<Uid, Kept> pods_;
  std::unordered_map<std::string, Kept, TextHash, std::equal_to<>> nodes_;
};

}  // namespace berth::extender
