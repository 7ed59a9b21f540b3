// What `berth compare` was told on its command line, and what it means: sides, inputs, seeds and
// shards, before any file is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/result.h"

namespace berth::app {

struct CompareWords {
  std::vector<std::string> configs;  // "default" is berth's own
  std::vector<std::string> sides;    // "name=…,config=…,seed=…,feature-gates=A=true,B=false"
  std::string seed, seeds;           // "3", "1..5" or "1,4"
  std::string feature_gates;
  std::vector<std::string> files, traces;
  std::string cluster, scenario;
  std::vector<std::string> inputs;  // "name=…,file=…,trace=…,cluster=…,scenario=…"
  std::string shard;                // "0/4"
};

struct SideWords {
  std::string name;
  std::string config{};  // a path; empty: the default
  std::string feature_gates{};
  std::optional<std::uint64_t> seed{};
};
struct InputWords {
  std::string name;
  std::vector<std::string> files, traces;
  std::string cluster, scenario;
};

// In the order in which they are compared; names are made different.
Result<std::vector<SideWords>> sides_of(const CompareWords& words);
Result<std::vector<InputWords>> inputs_of(const CompareWords& words);
// The seeds with which every side runs. None if each of them is a side (sides_of has them).
Result<std::vector<std::uint64_t>> seeds_of(const CompareWords& words);
// Index and count; {0, 1} if there is nothing about it.
Result<std::pair<std::size_t, std::size_t>> shard_of(std::string_view text);

// What is wrong with the words taken together; empty if nothing is.
std::string check_words(const CompareWords& words, bool merges);

}  // namespace berth::app
