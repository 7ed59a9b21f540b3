#include "berth/plugin.h"

namespace berth {

void PerNodeFilter::filter(const Cycle& cycle, FilterPass& pass) const {
  pass.feasible().for_each([&](NodeRow row) {
    Outcome outcome = filter_node(cycle, row);
    if (!outcome.ok()) pass.reject(row, outcome.code, outcome.all_reasons());
  });
}

Outcome PerNodeScore::score(const Cycle& cycle, const NodeSet& feasible,
                            std::span<Score> by_row) const {
  feasible.for_each([&](NodeRow row) { by_row[row] = score_node(cycle, row); });
  return {};
}

}  // namespace berth
