#include "app/explain_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "api/defaulting.h"
#include "api/manifest.h"
#include "app/input.h"
#include "app/live_objects.h"
#include "berth/interner.h"
#include "explain/explainer.h"
#include "explain/explanation_text.h"
#include "plugins/table.h"
#include "wire/yaml_text.h"

namespace berth::app {
namespace {

// Explains pods of one cluster, each with the profile that is responsible for it.
class ExplainedCluster {
 public:
  static Result<ExplainedCluster> make(const ExplainOptions& options, std::ostream& err);

  // The pods that are asked about, by name, in files, or all that have no node.
  Result<std::vector<Ref<const Pod>>> asked_pods() const;
  Result<explain::Explanation> explain(const Ref<const Pod>& pod);

 private:
  explicit ExplainedCluster(const ExplainOptions& options)
      : options_(options), interner_(std::make_unique<Interner>()) {}

  Result<void> read_settings(std::ostream& err);
  Result<void> read_cluster(std::ostream& err);
  Result<void> read_files(std::ostream& err);
  Result<Ref<const Pod>> find_pod(const std::string& name) const;
  std::string profile_of(const Pod& pod) const;

  // An evaluator for one profile, with the cluster loaded.
  struct Judge {
    std::unique_ptr<explain::Evaluator> evaluator;
    std::unique_ptr<explain::Explainer> explainer;
  };
  Result<Judge*> judge_for(const std::string& profile);

  const ExplainOptions& options_;
  std::unique_ptr<Interner> interner_;
  config::Configuration configuration_;
  config::FeatureGates gates_;
  std::vector<ManifestObject> objects_;     // of the cluster, and what the files add to it
  std::string source_;                      // what messages call the cluster
  std::string namespace_name_ = "default";  // of pods that are named without one
  std::vector<Ref<const Pod>> new_pods_;
  std::map<std::string, Judge> judges_;  // by profile
};

Result<ExplainedCluster> ExplainedCluster::make(const ExplainOptions& options, std::ostream& err) {
  ExplainedCluster made(options);
  if (Result<void> read = made.read_settings(err); !read) return fail(read.error());
  if (Result<void> read = made.read_cluster(err); !read) return fail(read.error());
  if (Result<void> read = made.read_files(err); !read) return fail(read.error());
  return made;
}

Result<void> ExplainedCluster::read_settings(std::ostream& err) {
  if (Result<void> set = gates_.set(options_.feature_gates); !set) return set;
  if (Result<void> valid = gates_.validate(); !valid) return valid;
  Result<config::Configuration> configuration =
      read_configuration(options_.config, gates_, *interner_);
  if (!configuration) return fail(configuration.error());
  configuration_ = std::move(*configuration);
  if (!configuration_.extenders.empty())
    err << fmt::format("{}: {} extender(s) are configured; an explanation does not ask them\n",
                       options_.config, configuration_.extenders.size());
  return {};
}

Result<void> ExplainedCluster::read_cluster(std::ostream& err) {
  if (!options_.cluster.empty()) {
    Result<std::vector<ManifestObject>> objects =
        read_manifests(options_.cluster, options_.strict, *interner_, err);
    if (!objects) return fail(objects.error());
    objects_ = *std::move(objects);
    source_ = shown_path(options_.cluster);
    return {};
  }
  LiveObjectsOptions where;
  where.kubeconfig = options_.kubeconfig;
  where.context = options_.context;
  Result<LiveObjects> live = read_live_objects(where, *interner_);
  if (!live) return fail(live.error());
  for (const std::string& line : live->undecodable) err << line << '\n';
  objects_ = std::move(live->objects);
  source_ = live->server;
  namespace_name_ = live->namespace_name;
  return {};
}

Result<void> ExplainedCluster::read_files(std::ostream& err) {
  Admission admission;
  for (const ManifestObject& object : objects_)
    if (object.kind == ObjectKind::kPriorityClass)
      admission.priority_classes[object.name] = Ref<const PriorityClass>(
          static_cast<const PriorityClass*>(std::get<Ref<const Object>>(object.object).get()));
  for (const std::string& path : options_.files) {
    Result<std::vector<ManifestObject>> added =
        read_manifests(path, options_.strict, *interner_, err);
    if (!added) return fail(added.error());
    if (Result<void> admitted = admit_all(*added, *interner_, admission); !admitted)
      return admitted;
    std::size_t pods = 0;
    for (ManifestObject& object : *added) {
      const auto* pod = std::get_if<Ref<const Pod>>(&object.object);
      if (pod && (*pod)->node().empty()) {
        new_pods_.push_back(*pod);
        ++pods;
      } else {
        objects_.push_back(std::move(object));
      }
    }
    if (pods == 0)
      return fail(ErrorKind::kInvalid,
                  fmt::format("{}: no pod without a node to explain", shown_path(path)));
  }
  return {};
}

Result<Ref<const Pod>> ExplainedCluster::find_pod(const std::string& name) const {
  const std::size_t slash = name.find('/');
  std::string namespace_name =
      options_.namespace_name.empty() ? namespace_name_ : options_.namespace_name;
  std::string pod_name = name;
  if (slash != std::string::npos) {
    const std::string before = name.substr(0, slash);
    pod_name = name.substr(slash + 1);
    if (before != "pod" && before != "pods" && before != "po") namespace_name = before;
  }
  for (const ManifestObject& object : objects_)
    if (object.kind == ObjectKind::kPod && object.name == pod_name &&
        object.namespace_name == namespace_name)
      return std::get<Ref<const Pod>>(object.object);
  return fail(ErrorKind::kNotFound, fmt::format("{} has no pod \"{}\" in namespace \"{}\"", source_,
                                                pod_name, namespace_name));
}

Result<std::vector<Ref<const Pod>>> ExplainedCluster::asked_pods() const {
  std::vector<Ref<const Pod>> pods;
  for (const std::string& name : options_.pods) {
    Result<Ref<const Pod>> pod = find_pod(name);
    if (!pod) return fail(pod.error());
    if ((*pod)->finished())
      return fail(ErrorKind::kInvalid,
                  fmt::format("pod {} has finished: it needs no node", (*pod)->full_name()));
    pods.push_back(*std::move(pod));
  }
  pods.insert(pods.end(), new_pods_.begin(), new_pods_.end());
  if (!options_.all_pending) return pods;
  for (const ManifestObject& object : objects_) {
    const auto* pod = std::get_if<Ref<const Pod>>(&object.object);
    if (pod && (*pod)->node().empty() && !(*pod)->finished()) pods.push_back(*pod);
  }
  return pods;
}

// The pod's own, if it is configured.
std::string ExplainedCluster::profile_of(const Pod& pod) const {
  if (!options_.profile.empty()) return options_.profile;
  const std::string_view wanted = pod.text(pod.scheduler_name());
  for (const config::Profile& profile : configuration_.profiles)
    if (profile.scheduler_name == wanted) return profile.scheduler_name;
  return configuration_.profiles.front().scheduler_name;
}

Result<ExplainedCluster::Judge*> ExplainedCluster::judge_for(const std::string& profile) {
  Judge& judge = judges_[profile];
  if (judge.explainer) return &judge;
  explain::EvaluatorOptions how;
  how.configuration = configuration_;
  how.gates = gates_;
  how.profile = profile;
  how.preempt = true;
  Result<std::unique_ptr<explain::Evaluator>> evaluator =
      explain::Evaluator::make(*interner_, plugins::make_plugin_table(), std::move(how));
  if (!evaluator) return fail(evaluator.error());
  if (Result<void> loaded = (*evaluator)->load(objects_); !loaded) return fail(loaded.error());
  judge.evaluator = *std::move(evaluator);
  judge.explainer = std::make_unique<explain::Explainer>(
      *judge.evaluator, explain::ExplainerOptions{.nodes = options_.nodes});
  return &judge;
}

Result<explain::Explanation> ExplainedCluster::explain(const Ref<const Pod>& pod) {
  const std::string profile = profile_of(*pod);
  const Result<Judge*> judge = judge_for(profile);
  if (!judge) return fail(judge.error());
  // As the evaluator knows it: a pod without a UID was given one.
  const Ref<const Pod> known = (*judge)->evaluator->cluster().seen_pod(*pod);
  const bool is_new = std::ranges::find(new_pods_, pod) != new_pods_.end();
  explain::Explanation explanation = (*judge)->explainer->explain(known && !is_new ? known : pod);
  if (const std::string_view wanted = pod->text(pod->scheduler_name());
      options_.profile.empty() && !wanted.empty() && wanted != profile)
    explanation.notes.push_back(
        fmt::format("its schedulerName is {}, for which no profile is known here: judged as {}",
                    wanted, profile));
  return explanation;
}

}  // namespace

std::string check_explain(const ExplainOptions& options) {
  if (options.pods.empty() && options.files.empty() && !options.all_pending)
    return "explain needs pods by name, -f FILE or --all-pending";
  if (!options.pods.empty() && options.all_pending)
    return "explain takes either pods by name or --all-pending";
  if (!options.cluster.empty() && !(options.kubeconfig + options.context).empty())
    return "explain takes either --cluster or --kubeconfig and --context";
  if (options.cluster == "-" && std::ranges::count(options.files, "-") > 0)
    return "standard input can be read once only: as the cluster or as a manifest";
  return {};
}

Result<bool> explain(const ExplainOptions& options, std::ostream& out, std::ostream& err) {
  Result<ExplainedCluster> cluster = ExplainedCluster::make(options, err);
  if (!cluster) return fail(cluster.error());
  const Result<std::vector<Ref<const Pod>>> pods = cluster->asked_pods();
  if (!pods) return fail(pods.error());
  std::vector<explain::Explanation> explanations;
  bool all_have_nodes = true;
  for (const Ref<const Pod>& pod : *pods) {
    Result<explain::Explanation> explanation = cluster->explain(pod);
    if (!explanation) return fail(explanation.error());
    if (explanation->verdict != "Scheduled" && explanation->verdict != "Schedulable")
      all_have_nodes = false;
    explanations.push_back(*std::move(explanation));
  }
  const JsonValue tree = explain::to_json_tree(explanations);
  switch (options.output) {
    case ExplainOptions::Format::kTable:
      out << explain::to_table(explanations);
      if (explanations.empty()) err << "no pod is pending\n";
      break;
    case ExplainOptions::Format::kJson: out << to_indented_json(tree) << '\n'; break;
    case ExplainOptions::Format::kYaml: out << to_go_yaml(tree); break;
  }
  return all_have_nodes;
}

}  // namespace berth::app
