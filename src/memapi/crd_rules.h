// CrdRules: the CEL rules of one node of a schema (x-kubernetes-validations), compiled. A rule sees
// `self`, the value at the node, and `oldSelf`, what was there before an update.
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "memapi/api_error.h"
#include "wire/json_tree.h"

namespace berth::memapi {

struct CrdSchema;

// What all rules together may cost for one object, and one of them.
inline constexpr std::uint64_t kMostRuleCost = 10'000'000;
inline constexpr std::uint64_t kMostCostOfRule = 1'000'000;

class CrdRules {
 public:
  // Rules that do not compile are left out: check_rules() says so before they are stored. `root`:
  // of a whole object.
  static CrdRules read(const JsonValue& rules, const CrdSchema& schema, bool root);

  bool empty() const { return rules_ == nullptr; }

  struct Subject {
    const JsonValue& value;
    const JsonValue* old;  // null: there was none, or nobody can say which
    const CrdSchema& schema;
    bool root;
    const std::string& path;
  };
  // Appends what does not hold. False: the budget is used up, and that was said.
  bool check(const Subject& subject, std::uint64_t& budget,
             std::vector<FieldProblem>& problems) const;

  struct Compiled;

 private:
  std::shared_ptr<const Compiled> rules_;
};

// What is wrong with the rules themselves. `path` ends in "x-kubernetes-validations"; `correlated`:
// whether a value's former state can be found.
void check_rules(const JsonValue& rules, const CrdSchema& schema, bool root, bool correlated,
                 const std::string& path, std::vector<FieldProblem>& problems);

}  // namespace berth::memapi
