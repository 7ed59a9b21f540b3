#include "app/compare_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "config/feature_gates.h"

namespace berth::app {
namespace {

constexpr std::uint64_t kMostSeeds = 100'000;
constexpr std::size_t kMostShards = 100'000;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::unexpected<Error> invalid(std::string message) {
  return fail(ErrorKind::kInvalid, std::move(message));
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// "a/b/spread.yaml" is called spread.
std::string name_of_file(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  for (const std::string_view ending : {".yaml", ".yml", ".json"})
    if (name.size() > ending.size() && name.ends_with(ending))
      return name.substr(0, name.size() - ending.size());
  return name;
}

using KeyValue = std::pair<std::string, std::string>;

// "key=value,key=value". What follows `lists` and is no key belongs to its value: feature-gates=A=true,
// B=false.
Result<std::vector<KeyValue>> key_values(std::string_view flag, const std::string& text,
                                         std::initializer_list<std::string_view> keys,
                                         std::string_view lists = "") {
  std::vector<KeyValue> found;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const bool known = equals != std::string::npos && std::ranges::find(keys, key) != keys.end();
    if (known)
      found.emplace_back(key, part.substr(equals + 1));
    else if (!lists.empty() && !found.empty() && found.back().first == lists)
      found.back().second += "," + part;
    else
      return invalid(fmt::format("{}: \"{}\" in \"{}\" is none of {}=", flag, part, text,
                                 fmt::join(keys, "=, ")));
  }
  return found;
}

Result<SideWords> side_from(const std::string& text) {
  Result<std::vector<KeyValue>> pairs =
      key_values("--side", text, {"name", "config", "seed", "feature-gates"}, "feature-gates");
  if (!pairs) return fail(pairs.error());
  SideWords side;
  for (const auto& [key, value] : *pairs) {
    if (key == "name") side.name = value;
    if (key == "config" && value != "default") side.config = value;
    if (key == "feature-gates") {
      config::FeatureGates gates;
      Result<void> set = gates.set(value);
      if (set) set = gates.validate();
      if (!set) return invalid(fmt::format("--side {}: {}", text, set.error().message));
      side.feature_gates = value;
    }
    if (key == "seed") {
      side.seed = whole_number(value);
      if (!side.seed)
        return invalid(fmt::format("--side {}: seed \"{}\" is not a whole number", text, value));
    }
  }
  if (side.name.empty()) side.name = side.config.empty() ? "default" : name_of_file(side.config);
  return side;
}

Result<std::vector<std::uint64_t>> seeds_from(const std::string& text) {
  const auto wrong = [&text] {
    return invalid(fmt::format(
        "--seeds: \"{}\" is neither a range like 1..5 nor a list like 1,4 (at most {} seeds)", text,
        kMostSeeds));
  };
  std::vector<std::uint64_t> seeds;
  if (const std::size_t dots = text.find(".."); dots != std::string::npos) {
    const auto first = whole_number(std::string_view(text).substr(0, dots));
    const auto last = whole_number(std::string_view(text).substr(dots + 2));
    if (!first || !last || *last < *first || *last - *first >= kMostSeeds) return wrong();
    for (std::uint64_t i = 0; i <= *last - *first; ++i) seeds.push_back(*first + i);
    return seeds;
  }
  for (const std::string& part : split(text, ',')) {
    const auto seed = whole_number(part);
    if (!seed || std::ranges::find(seeds, *seed) != seeds.end() || seeds.size() >= kMostSeeds)
      return wrong();
    seeds.push_back(*seed);
  }
  return seeds;
}

template <typename Named>
void make_names_different(std::vector<Named>& all) {
  std::set<std::string> taken;
  for (Named& one : all) {
    const std::string name = one.name;
    for (int number = 2; !taken.insert(one.name).second; ++number)
      one.name = fmt::format("{}#{}", name, number);
  }
}

Result<InputWords> input_from(const std::string& text) {
  Result<std::vector<KeyValue>> pairs =
      key_values("--input", text, {"name", "file", "trace", "cluster", "scenario"});
  if (!pairs) return fail(pairs.error());
  InputWords input;
  for (const auto& [key, value] : *pairs) {
    if (key == "name") input.name = value;
    if (key == "file") input.files.push_back(value);
    if (key == "trace") input.traces.push_back(value);
    if (key == "cluster") input.cluster = value;
    if (key == "scenario") input.scenario = value;
  }
  if (input.files.empty() && input.traces.empty() && input.cluster.empty())
    return invalid(fmt::format("--input {}: it needs file=, trace= or cluster=", text));
  return input;
}

void name_input(InputWords& input) {
  if (!input.name.empty()) return;
  input.name = name_of_file(!input.files.empty()    ? input.files.front()
                            : !input.traces.empty() ? input.traces.front()
                                                    : input.cluster);
  if (!input.scenario.empty()) input.name += "+" + name_of_file(input.scenario);
}

}  // namespace

Result<std::vector<SideWords>> sides_of(const CompareWords& words) {
  std::vector<SideWords> sides;
  for (const std::string& config : words.configs) {
    SideWords& side = sides.emplace_back();
    if (config != "default") side.config = config;
    side.name = name_of_file(config);
  }
  for (const std::string& text : words.sides) {
    Result<SideWords> side = side_from(text);
    if (!side) return fail(side.error());
    if (side->seed && !words.seeds.empty())
      return invalid(
          fmt::format("--side {}: it has a seed of its own, and --seeds gives others", text));
    sides.push_back(*std::move(side));
  }
  if (sides.empty()) sides.push_back({.name = "default"});
  if (sides.size() == 1 && !words.seeds.empty()) {
    const Result<std::vector<std::uint64_t>> seeds = seeds_from(words.seeds);
    if (!seeds) return fail(seeds.error());
    const SideWords only = sides.front();
    sides.clear();
    for (const std::uint64_t seed : *seeds) {
      SideWords& side = sides.emplace_back(only);
      side.seed = seed;
      side.name = fmt::format("seed {}", seed);
    }
  }
  for (SideWords& side : sides)
    if (side.feature_gates.empty()) side.feature_gates = words.feature_gates;
  make_names_different(sides);
  return sides;
}

Result<std::vector<InputWords>> inputs_of(const CompareWords& words) {
  std::vector<InputWords> inputs;
  if (!words.files.empty() || !words.traces.empty() || !words.cluster.empty())
    inputs.push_back({"", words.files, words.traces, words.cluster, words.scenario});
  for (const std::string& text : words.inputs) {
    Result<InputWords> input = input_from(text);
    if (!input) return fail(input.error());
    inputs.push_back(*std::move(input));
  }
  for (InputWords& input : inputs) name_input(input);
  make_names_different(inputs);
  return inputs;
}

Result<std::vector<std::uint64_t>> seeds_of(const CompareWords& words) {
  const bool seeds_are_sides = words.configs.size() + words.sides.size() < 2;
  if (!words.seeds.empty() && !seeds_are_sides) return seeds_from(words.seeds);
  return std::vector<std::uint64_t>{whole_number(words.seed).value_or(0)};
}

Result<std::pair<std::size_t, std::size_t>> shard_of(std::string_view text) {
  if (text.empty()) return std::pair<std::size_t, std::size_t>(0, 1);
  const std::size_t slash = text.find('/');
  const auto index = whole_number(text.substr(0, slash));
  const auto count = slash == text.npos ? std::nullopt : whole_number(text.substr(slash + 1));
  if (!index || !count || *count == 0 || *count > kMostShards || *index >= *count)
    return invalid(fmt::format("--shard: \"{}\" is not I/N with I from 0 to N-1", text));
  return std::pair<std::size_t, std::size_t>(*index, *count);
}

std::string check_words(const CompareWords& words, bool merges) {
  const bool runs = !(words.configs.empty() && words.sides.empty() && words.files.empty() &&
                      words.inputs.empty() && words.traces.empty() &&
                      (words.cluster + words.scenario + words.seeds + words.shard).empty());
  if (merges) return runs ? "--merge makes no runs: it takes parts and -o only" : "";
  const Result<std::vector<SideWords>> sides = sides_of(words);
  if (!sides) return sides.error().message;
  const Result<std::vector<InputWords>> inputs = inputs_of(words);
  if (!inputs) return inputs.error().message;
  if (inputs->empty())
    return "compare needs an input: -f FILE, --trace FILE, --cluster FILE or --input";
  if (!words.scenario.empty() && words.files.empty() && words.traces.empty() &&
      words.cluster.empty())
    return "--scenario belongs to -f, --trace or --cluster; with --input, write scenario= into it";
  const Result<std::vector<std::uint64_t>> seeds = seeds_of(words);
  if (!seeds) return seeds.error().message;
  if (!words.seed.empty() && !words.seeds.empty()) return "compare takes either --seed or --seeds";
  if (sides->size() < 2 && inputs->size() < 2)
    return "compare needs two sides: --config twice, --side, or --seeds";
  std::size_t readers_of_input = 0;
  for (const InputWords& input : *inputs) {
    readers_of_input += static_cast<std::size_t>(std::ranges::count(input.files, "-"));
    readers_of_input += (input.cluster == "-" ? 1U : 0U) + (input.scenario == "-" ? 1U : 0U);
  }
  for (const SideWords& side : *sides) readers_of_input += side.config == "-" ? 1U : 0U;
  if (readers_of_input > 1) return "standard input can be read once only";
  const auto shard = shard_of(words.shard);
  return shard ? std::string() : shard.error().message;
}

}  // namespace berth::app
