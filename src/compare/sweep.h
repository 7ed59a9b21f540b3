// run_sweep(): every side of a comparison on every input with every seed, on many threads; or one
// shard of these runs, to be merged with the others later.
//
// What comes out is one JSON document (docs/compare.md), made of the runs in the order of their
// numbers, whatever thread or process made them:
//
//   number = (input × seeds + seed) × sides + side
//
// The first side of each input and seed is what the others are compared with. A shard that has only
// others runs the first one too, for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "berth/loop.h"
#include "berth/plugin_table.h"
#include "berth/result.h"
#include "compare/end_state.h"
#include "compare/side_run.h"
#include "wire/json_tree.h"

namespace berth::compare {

// Which part of the runs: the index'th of `count` equal ones.
struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;
};

struct SweepPlan {
  std::vector<Input> inputs;
  std::vector<Side> sides;
  std::vector<std::uint64_t> seeds{0};
  std::optional<Duration> until{};  // absent: sim::usual_end of each run
  FitLimits limits{};
  std::size_t explained = 5;
  bool strict = false;
  bool keep_series = false;
  bool keep_histories = false;  // SweepResult::histories
  Shard shard;
  std::size_t threads = 1;

  std::size_t runs() const { return inputs.size() * seeds.size() * sides.size(); }
};

struct SweepResult {
  JsonValue document;
  // By run, JSON (SideResult::history); empty for those that have none. Of several seeds the first
  // has one.
  std::vector<std::string> histories;
  std::vector<std::string> warnings;  // each once
};

// Is told how many of how many runs have ended, from any thread, one call at a time.
using SweepProgress = std::function<void(std::size_t ended, std::size_t all)>;

// The error is that of the first run that failed.
Result<SweepResult> run_sweep(const SweepPlan& plan, const PluginTable& plugins,
                              const SweepProgress& progress = {});

// Parts as JSON, with what messages call them, in any order.
Result<JsonValue> merge_parts(const std::vector<NamedText>& parts);

}  // namespace berth::compare
