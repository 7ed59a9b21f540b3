// Extender: an external program that filters and scores nodes. The webhook client is in `extender`;
// this is its interface for the scheduling cycle. Answers may take long: the cycle is suspended
// meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/pod.h"
#include "berth/result.h"
#include "berth/task.h"

namespace berth {

struct ExtenderVerdicts {
  std::vector<std::string> nodes;                          // that pass, in the order given
  std::map<std::string, std::string> failed;               // node: why
  std::map<std::string, std::string> failed_unresolvable;  // node: why; preemption cannot help
};

struct ExtenderScore {
  std::string node;
  std::int64_t score = 0;  // 0 to 10 by convention; not checked
};

// The pods that would be evicted from a node.
struct ExtenderVictims {
  std::vector<Ref<const Pod>> pods;  // most important first
  std::int64_t pdb_violations = 0;
};
using VictimsByNode = std::map<std::string, ExtenderVictims>;

// The same as an extender answers it: pods by their UIDs, which may be any text.
struct ExtenderMetaVictims {
  std::vector<std::string> pod_uids;
  std::int64_t pdb_violations = 0;
};
using MetaVictimsByNode = std::map<std::string, ExtenderMetaVictims>;

class Extender {
 public:
  virtual ~Extender() = default;
  virtual std::string_view name() const = 0;
  virtual bool interested_in(const Pod& pod) const = 0;
  virtual bool ignorable() const = 0;  // its errors are skipped
  virtual bool filters() const = 0;
  virtual bool prioritizes() const = 0;
  virtual bool binds() const = 0;
  virtual std::int64_t weight() const = 0;

  virtual Task<Result<ExtenderVerdicts>> filter(Ref<const Pod> pod,
                                                std::vector<std::string> nodes) = 0;
  virtual Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod> pod,
                                                              std::vector<std::string> nodes) = 0;
  // Fails with kTimeout when there was no answer: the binding may be under way nevertheless.
  virtual Task<Result<void>> bind(Ref<const Pod> pod, std::string node) = 0;

  // Preemption: which of these nodes remain, and with which victims. Without an answer of its own:
  // all of them.
  virtual bool preempts() const { return false; }
  virtual Task<Result<MetaVictimsByNode>> preempt(Ref<const Pod> pod, VictimsByNode victims);
};

}  // namespace berth
