#include "compare/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/parallel.h"
#include "base/thread.h"
#include "base/time_text.h"
#include "compare/difference.h"

namespace berth::compare {
namespace {

JsonValue numbered(std::size_t value) {
  return JsonValue::of_int(static_cast<std::int64_t>(value));
}

// Tells sweeps apart that are not of the same inputs, sides and settings.
class Fingerprint {
 public:
  void add(std::string_view text) {
    for (const char c : text) put(static_cast<unsigned char>(c));
    put(0xff);
  }
  void add(const NamedText& file) {
    add(file.name);
    add(file.text);
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  void put(unsigned byte) { hash_ = (hash_ ^ byte) * 0x100000001b3ULL; }
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::string fingerprint_of(const SweepPlan& plan) {
  Fingerprint fingerprint;
  for (const Input& input : plan.inputs) {
    fingerprint.add(input.name);
    for (const NamedText& file : input.files) fingerprint.add(file);
    fingerprint.add(input.cluster);
    fingerprint.add(input.scenario);
    fingerprint.add(fmt::format("{}", static_cast<int>(input.trace.gpu_share)));
    for (const std::string& path : input.traces) {
      fingerprint.add(path);
      fingerprint.add(read_file(path).value_or(""));  // the run says what is wrong with it
    }
  }
  for (const Side& side : plan.sides) {
    fingerprint.add(side.name);
    fingerprint.add(side.config);
    fingerprint.add(side.feature_gates);
    fingerprint.add(side.seed ? fmt::format("{}", *side.seed) : "");
  }
  for (const std::uint64_t seed : plan.seeds) fingerprint.add(fmt::format("{}", seed));
  fingerprint.add(fmt::format("{} {} {} {} {}", plan.until.value_or(Duration(-1)).count(),
                              plan.limits.pods, plan.limits.shapes, plan.explained,
                              plan.keep_series));
  return fingerprint.text();
}

JsonValue side_json(const Side& side) {
  JsonValue json = JsonValue::object();
  json.add("name", JsonValue::of_text(side.name));
  if (!side.config.name.empty()) json.add("config", JsonValue::of_text(side.config.name));
  if (!side.feature_gates.empty()) json.add("featureGates", JsonValue::of_text(side.feature_gates));
  if (side.seed) json.add("seed", JsonValue::of_number(fmt::format("{}", *side.seed)));
  return json;
}

JsonValue sweep_json(const SweepPlan& plan) {
  JsonValue json = JsonValue::object();
  json.add("fingerprint", JsonValue::of_text(fingerprint_of(plan)));
  json.add("runs", numbered(plan.runs()));
  JsonValue inputs = JsonValue::array(), sides = JsonValue::array(), seeds = JsonValue::array();
  for (const Input& input : plan.inputs) inputs.items.push_back(JsonValue::of_text(input.name));
  for (const Side& side : plan.sides) sides.items.push_back(side_json(side));
  for (const std::uint64_t seed : plan.seeds)
    seeds.items.push_back(JsonValue::of_number(fmt::format("{}", seed)));
  json.add("inputs", std::move(inputs));
  json.add("sides", std::move(sides));
  json.add("seeds", std::move(seeds));
  if (plan.until) json.add("until", JsonValue::of_text(go_duration(*plan.until)));
  json.add("fitLimit", JsonValue::of_int(plan.limits.pods));
  return json;
}

JsonValue document_of(JsonValue sweep, const Shard& shard) {
  JsonValue document = JsonValue::object();
  document.add("kind", JsonValue::of_text("BerthComparison"));
  document.add("version", JsonValue::of_int(1));
  document.add("sweep", std::move(sweep));
  if (shard.count > 1)
    document.add("shard", JsonValue::of_text(fmt::format("{}/{}", shard.index, shard.count)));
  return document;
}

// ---- the runs ------------------------------------------------------------------------------------

// The runs of one input and seed: they share the result of the first side, which is made by whoever
// needs it first and dropped after the last.
struct Group {
  Mutex mutex;
  std::optional<Result<std::shared_ptr<const SideResult>>> first GUARDED_BY(mutex);
  std::size_t left GUARDED_BY(mutex) = 0;
};

class Sweep {
 public:
  Sweep(const SweepPlan& plan, const PluginTable& plugins, const SweepProgress& progress)
      : plan_(plan),
        plugins_(plugins),
        progress_(progress),
        begin_(plan.runs() * plan.shard.index / plan.shard.count),
        end_(plan.runs() * (plan.shard.index + 1) / plan.shard.count),
        groups_(plan.inputs.size() * plan.seeds.size()),
        runs_(end_ - begin_),
        errors_(end_ - begin_) {}

  Result<SweepResult> run();

 private:
  struct Run {
    JsonValue json;
    std::string history;
    std::vector<std::string> warnings;
  };

  SideQuestion question(std::size_t group, std::size_t side) const;
  Result<std::shared_ptr<const SideResult>> first_side(std::size_t group);
  Result<Run> make(std::size_t number);
  void ended(std::size_t group);

  const SweepPlan& plan_;
  const PluginTable& plugins_;
  const SweepProgress& progress_;
  const std::size_t begin_, end_;  // the runs that are ours
  std::vector<Group> groups_;
  std::vector<Run> runs_;
  std::vector<std::optional<Error>> errors_;
  Mutex progress_mutex_;
  std::size_t ended_ GUARDED_BY(progress_mutex_) = 0;
};

SideQuestion Sweep::question(std::size_t group, std::size_t side) const {
  const std::size_t seed = group % plan_.seeds.size();
  return {.input = plan_.inputs[group / plan_.seeds.size()],
          .side = plan_.sides[side],
          .seed = plan_.seeds[seed],
          .until = plan_.until,
          .limits = plan_.limits,
          .strict = plan_.strict,
          .warns = seed == 0,
          .keep_series = plan_.keep_series && seed == 0,
          .keep_history = plan_.keep_histories && seed == 0};
}

Result<std::shared_ptr<const SideResult>> Sweep::first_side(std::size_t group) {
  Group& of = groups_[group];
  const MutexLock lock(of.mutex);
  if (!of.first) {
    Result<SideResult> result = run_side(question(group, 0), plugins_);
    if (result)
      of.first = std::make_shared<const SideResult>(*std::move(result));
    else
      of.first = fail(result.error());
  }
  return *of.first;
}

void Sweep::ended(std::size_t group) {
  {
    Group& of = groups_[group];
    const MutexLock lock(of.mutex);
    if (--of.left == 0) of.first.reset();
  }
  const MutexLock lock(progress_mutex_);
  ++ended_;
  if (progress_) progress_(ended_, end_ - begin_);
}

Result<Sweep::Run> Sweep::make(std::size_t number) {
  const std::size_t group = number / plan_.sides.size();
  const std::size_t side = number % plan_.sides.size();
  const SideQuestion here = question(group, side);
  Run run;
  run.json = JsonValue::object();
  run.json.add("number", numbered(number));
  run.json.add("input", JsonValue::of_text(here.input.name));
  run.json.add("side", JsonValue::of_text(here.side.name));
  run.json.add("seed", JsonValue::of_number(fmt::format("{}", here.side.seed.value_or(here.seed))));
  const auto add_result = [&run](const SideResult& result) {
    run.json.add("figures", result.figures);
    if (!result.series.is_null()) run.json.add("series", result.series);
    run.history = result.history;
    run.warnings = result.warnings;
  };
  std::optional<SideResult> own;
  if (side > 0) {  // before the first side is waited for
    Result<SideResult> result = run_side(here, plugins_);
    if (!result) return fail(result.error());
    own = *std::move(result);
  }
  const Result<std::shared_ptr<const SideResult>> first = first_side(group);
  if (!first) return fail(first.error());
  add_result(own ? *own : **first);
  if (!own) return run;
  const SideQuestion there = question(group, 0);
  Result<JsonValue> difference = find_difference({.there = there,
                                                  .here = here,
                                                  .log_there = (*first)->log,
                                                  .log_here = own->log,
                                                  .explained = plan_.explained},
                                                 plugins_);
  if (!difference) return fail(difference.error());
  run.json.add("difference", *std::move(difference));
  return run;
}

Result<SweepResult> Sweep::run() {
  for (std::size_t number = begin_; number < end_; ++number) {
    Group& of = groups_[number / plan_.sides.size()];
    const MutexLock lock(of.mutex);
    ++of.left;
  }
  run_jobs(end_ - begin_, plan_.threads, [this](std::size_t job) {
    Result<Run> run = make(begin_ + job);
    if (run)
      runs_[job] = *std::move(run);
    else
      errors_[job] = run.error();
    ended((begin_ + job) / plan_.sides.size());
    return !errors_[job];
  });
  for (const std::optional<Error>& error : errors_)
    if (error) return fail(*error);
  SweepResult result;
  result.document = document_of(sweep_json(plan_), plan_.shard);
  JsonValue runs = JsonValue::array();
  for (Run& run : runs_) {
    runs.items.push_back(std::move(run.json));
    if (plan_.keep_histories) result.histories.push_back(std::move(run.history));
    for (std::string& warning : run.warnings)
      if (std::ranges::find(result.warnings, warning) == result.warnings.end())
        result.warnings.push_back(std::move(warning));
  }
  result.document.add("runs", std::move(runs));
  return result;
}

// ---- parts ---------------------------------------------------------------------------------------

struct Part {
  std::string name;
  JsonValue document;
  Shard shard;
};

std::optional<std::size_t> count_from(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::size_t count = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    count = count * 10 + static_cast<std::size_t>(c - '0');
  }
  return count;
}

std::string text_member(const JsonValue* json, std::string_view name) {
  const JsonValue* const member = json ? json->find(name) : nullptr;
  return member && (member->kind == JsonValue::Kind::kString ||
                    member->kind == JsonValue::Kind::kNumber)
             ? member->text
             : std::string();
}

Result<Part> read_part(const NamedText& file) {
  const auto wrong = [&file](std::string_view what) {
    return fail(ErrorKind::kInvalid, fmt::format("{}: {}", file.name, what));
  };
  Result<JsonValue> document = parse_json(file.text);
  if (!document) return wrong(document.error().message);
  if (text_member(&*document, "kind") != "BerthComparison" ||
      text_member(&*document, "version") != "1")
    return wrong("not a part written by `berth compare --shard`");
  const std::string shard = text_member(&*document, "shard");
  const std::size_t slash = shard.find('/');
  if (slash == std::string::npos) return wrong("it is whole: there is nothing to merge");
  const std::optional<std::size_t> index = count_from(std::string_view(shard).substr(0, slash));
  const std::optional<std::size_t> count = count_from(std::string_view(shard).substr(slash + 1));
  if (!index || !count || *index >= *count) return wrong(fmt::format("\"{}\" is no shard", shard));
  const JsonValue* const runs = document->find("runs");
  if (!runs || runs->kind != JsonValue::Kind::kArray) return wrong("it has no runs");
  return Part{file.name, *std::move(document), {*index, *count}};
}

Result<void> check_parts(const std::vector<Part>& parts) {
  const auto wrong = [](std::string what) { return fail(ErrorKind::kInvalid, std::move(what)); };
  const Part& first = parts.front();
  std::map<std::size_t, std::string> names;  // by shard
  for (const Part& part : parts) {
    if (to_json(*part.document.find("sweep")) != to_json(*first.document.find("sweep")) ||
        part.shard.count != first.shard.count)
      return wrong(fmt::format("{} and {} are parts of different sweeps", first.name, part.name));
    if (const auto [known, is_new] = names.emplace(part.shard.index, part.name); !is_new)
      return wrong(fmt::format("{} and {} are both shard {}/{}", known->second, part.name,
                               part.shard.index, part.shard.count));
  }
  for (std::size_t index = 0; index < first.shard.count; ++index)
    if (!names.contains(index))
      return wrong(fmt::format("shard {}/{} is missing", index, first.shard.count));
  return {};
}

}  // namespace

Result<SweepResult> run_sweep(const SweepPlan& plan, const PluginTable& plugins,
                              const SweepProgress& progress) {
  return Sweep(plan, plugins, progress).run();
}

Result<JsonValue> merge_parts(const std::vector<NamedText>& files) {
  std::vector<Part> parts;
  for (const NamedText& file : files) {
    Result<Part> part = read_part(file);
    if (!part) return fail(part.error());
    if (!part->document.find("sweep"))
      return fail(ErrorKind::kInvalid,
                  fmt::format("{}: it does not say of which sweep it is", file.name));
    parts.push_back(*std::move(part));
  }
  if (parts.empty()) return fail(ErrorKind::kInvalid, "there are no parts to merge");
  if (Result<void> checked = check_parts(parts); !checked) return fail(checked.error());
  std::ranges::sort(parts, std::less<>(), [](const Part& part) { return part.shard.index; });
  const JsonValue sweep = *parts.front().document.find("sweep");
  JsonValue runs = JsonValue::array();
  for (Part& part : parts)
    for (const JsonValue& run : part.document.find("runs")->items) {
      if (text_member(&run, "number") != fmt::format("{}", runs.items.size()))
        return fail(ErrorKind::kInvalid,
                    fmt::format("{}: run {} is missing", part.name, runs.items.size()));
      runs.items.push_back(run);
    }
  if (text_member(&sweep, "runs") != fmt::format("{}", runs.items.size()))
    return fail(ErrorKind::kInvalid,
                fmt::format("{}: run {} is missing", parts.back().name, runs.items.size()));
  JsonValue document = document_of(sweep, {});
  document.add("runs", std::move(runs));
  return document;
}

}  // namespace berth::compare
