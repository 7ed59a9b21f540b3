#include "app/capacity_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>

#include "api/manifest.h"
#include "app/input.h"
#include "berth/interner.h"
#include "capacity/more_fit_text.h"
#include "capacity/more_pods.h"
#include "config/configuration.h"
#include "config/feature_gates.h"
#include "explain/evaluator.h"
#include "plugins/table.h"
#include "wire/json_tree.h"
#include "wire/yaml_text.h"

namespace berth::app {
namespace {

constexpr std::int64_t kMostOfShape = 1'000'000;

// What is to be placed, and where.
struct Question {
  Interner interner;
  config::FeatureGates gates;
  config::Configuration configuration;
  ClusterObjects cluster;
  std::vector<capacity::Shape> shapes;
};

Result<void> read_settings(const CapacityOptions& options, Question& question, std::ostream& err) {
  if (Result<void> set = question.gates.set(options.feature_gates); !set) return set;
  if (Result<void> valid = question.gates.validate(); !valid) return valid;
  Result<config::Configuration> configuration =
      read_configuration(options.config, question.gates, question.interner);
  if (!configuration) return fail(configuration.error());
  question.configuration = *std::move(configuration);
  if (!question.configuration.extenders.empty())
    err << fmt::format("{}: {} extender(s) are configured; they are not asked\n", options.config,
                       question.configuration.extenders.size());
  return {};
}

// Pods become shapes; what else stands in the files is part of the cluster.
Result<void> read_shapes(const CapacityOptions& options, Question& question, std::ostream& err) {
  Admission admission = admission_in(question.cluster.objects);
  for (const std::string& path : options.files) {
    Result<std::vector<ManifestObject>> objects =
        read_manifests(path, options.cluster.strict, question.interner, err);
    if (!objects) return fail(objects.error());
    if (Result<void> admitted = admit_all(*objects, question.interner, admission); !admitted)
      return admitted;
    const std::size_t before = question.shapes.size();
    for (ManifestObject& object : *objects) {
      const auto* pod = std::get_if<Ref<const Pod>>(&object.object);
      if (pod)
        question.shapes.push_back({(*pod)->full_name(), *pod, 1});
      else
        question.cluster.objects.push_back(std::move(object));
    }
    if (question.shapes.size() == before)
      return fail(ErrorKind::kInvalid, fmt::format("{}: no pod in it", shown_path(path)));
  }
  if (options.ratio.empty()) return {};
  if (options.ratio.size() != question.shapes.size())
    return fail(ErrorKind::kInvalid,
                fmt::format("--ratio has {} numbers for {} pods: give one for each, in their order",
                            options.ratio.size(), question.shapes.size()));
  for (std::size_t i = 0; i < options.ratio.size(); ++i)
    question.shapes[i].in_round = options.ratio[i];
  return {};
}

// Of the pod's schedulerName, if that is configured; else the first.
Result<std::string> profile_of(const CapacityOptions& options, const Question& question) {
  if (!options.profile.empty()) return options.profile;
  const std::vector<config::Profile>& profiles = question.configuration.profiles;
  std::string profile;
  for (const capacity::Shape& shape : question.shapes) {
    const std::string_view wanted = shape.pod->text(shape.pod->scheduler_name());
    const auto found = std::ranges::find(profiles, wanted, &config::Profile::scheduler_name);
    const std::string& own =
        found == profiles.end() ? profiles.front().scheduler_name : found->scheduler_name;
    if (!profile.empty() && own != profile)
      return fail(
          ErrorKind::kInvalid,
          fmt::format("the pods belong to the profiles {} and {}: choose one for all of them "
                      "with --profile",
                      profile, own));
    profile = own;
  }
  return profile;
}

std::size_t pods_without_node(const ClusterObjects& cluster) {
  return static_cast<std::size_t>(
      std::ranges::count_if(cluster.objects, [](const ManifestObject& object) {
        const auto* pod = std::get_if<Ref<const Pod>>(&object.object);
        return pod && (*pod)->node().empty() && !(*pod)->finished();
      }));
}

}  // namespace

Result<std::vector<std::int64_t>> parse_ratio(const std::string& text) {
  std::vector<std::int64_t> ratio;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t count = 0;
    const auto [stopped, error] = std::from_chars(at, end, count);
    if (error != std::errc() || count < 1 || count > kMostOfShape ||
        (stopped != end && *stopped != ':'))
      return fail(ErrorKind::kInvalid,
                  fmt::format("\"{}\" is not a ratio of whole numbers from 1 to {}, like 2:1", text,
                              kMostOfShape));
    ratio.push_back(count);
    if (stopped == end) return ratio;
    at = stopped + 1;
  }
}

Result<void> capacity(const CapacityOptions& options, std::ostream& out, std::ostream& err) {
  Question question;
  if (Result<void> read = read_settings(options, question, err); !read) return read;
  Result<ClusterObjects> cluster = read_cluster(options.cluster, question.interner, err);
  if (!cluster) return fail(cluster.error());
  question.cluster = *std::move(cluster);
  if (Result<void> read = read_shapes(options, question, err); !read) return read;
  const Result<std::string> profile = profile_of(options, question);
  if (!profile) return fail(profile.error());

  explain::EvaluatorOptions how;
  how.configuration = question.configuration;
  how.gates = question.gates;
  how.profile = *profile;
  Result<std::unique_ptr<explain::Evaluator>> evaluator =
      explain::Evaluator::make(question.interner, plugins::make_plugin_table(), std::move(how));
  if (!evaluator) return fail(evaluator.error());
  if (Result<void> loaded = (*evaluator)->load(question.cluster.objects); !loaded) return loaded;
  const Result<capacity::MoreFit> fit =
      capacity::MorePods(**evaluator).place(question.shapes, options.most);
  if (!fit) return fail(fit.error());
  switch (options.output) {
    case OutputFormat::kJson: out << to_indented_json(capacity::to_json_tree(*fit)) << '\n'; break;
    case OutputFormat::kYaml: out << to_go_yaml(capacity::to_json_tree(*fit)); break;
    default:
      out << capacity::to_table(*fit);
      if (const std::size_t pending = pods_without_node(question.cluster); pending > 0)
        out << fmt::format(
            "\nPods of the cluster without a node: {}. They take no room, unless they are "
            "nominated.\n",
            pending);
  }
  return {};
}

}  // namespace berth::app
