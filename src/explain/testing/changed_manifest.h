// A manifest and what suggestions do to it, carried out apart from the code that finds them: JSON
// patches by an interpreter of their own, and every cluster loaded from scratch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/manifest.h"
#include "berth/interner.h"
#include "explain/evaluator.h"
#include "explain/explanation.h"
#include "explain/suggestions.h"
#include "wire/json_tree.h"

namespace berth::explain::testing {

// RFC 6902: add, replace, remove. False if an operation does not fit.
bool apply_patch(JsonValue& object, const JsonValue& patch);

// The JSON of every object of a manifest.
class ChangedManifest {
 public:
  explicit ChangedManifest(const std::string& yaml);

  // False if a change is of an object that is not there, or does not fit.
  bool apply(const Change& change);
  // The nodes on which the pending pod of this name fits, sorted; with `preempts` the one that is
  // nominated for it. "error: …" if the cluster cannot be loaded.
  std::vector<std::string> nodes_for(const std::string& pod, bool preempts = false) const;
  std::vector<JsonValue>& objects() { return objects_; }
  JsonValue* find(const std::string& kind, const std::string& namespace_name,
                  const std::string& name);

 private:
  std::vector<JsonValue> objects_;
};

// The default plugins over a manifest.
struct LoadedManifest {
  Interner interner;
  std::vector<ManifestObject> objects;
  std::unique_ptr<Evaluator> evaluator;

  explicit LoadedManifest(const std::string& yaml, bool preempts = false);
  Ref<const Pod> pending(const std::string& pod) const;
  Suggestions suggest(const std::string& pod = "default/p");
};

}  // namespace berth::explain::testing
