#include "app/explain_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>

#include "api/defaulting.h"
#include "api/manifest.h"
#include "app/cluster_source.h"
#include "app/explain_server.h"
#include "app/input.h"
#include "app/page_output.h"
#include "berth/interner.h"
#include "explain/alike_pods.h"
#include "explain/explainer.h"
#include "explain/explanation_text.h"
#include "page/page.h"
#include "plugins/table.h"
#include "wire/json_tree.h"
#include "wire/yaml_text.h"

namespace berth::app {
namespace {

constexpr std::string_view kLeftOut =
    "Not shown, because only a running scheduler knows: places in its queue, backoff, missed "
    "events,\n"
    "and who holds pods at Permit.\n";

// Explains pods of one cluster, each with the profile that is responsible for it.
class ExplainedCluster {
 public:
  static Result<ExplainedCluster> make(const ExplainOptions& options, std::ostream& err);

  // The pods that are asked about, by name, in files, or all that have no node, as places in objects_;
  // of the latter those that are alike together.
  using Alike = std::vector<std::size_t>;
  Result<std::vector<Alike>> asked_pods() const;
  Result<explain::Explanation> explain(const Alike& places);
  const std::string& source() const { return source_; }

 private:
  explicit ExplainedCluster(const ExplainOptions& options)
      : options_(options), interner_(std::make_unique<Interner>()) {}

  Result<void> read_settings(std::ostream& err);
  Result<void> read_cluster(std::ostream& err);
  Result<void> read_files(std::ostream& err);
  Result<void> add_from_file(ManifestObject object);
  // None: std::nullopt.
  std::optional<std::size_t> place_of(const std::string& namespace_name,
                                      const std::string& pod_name) const;
  Result<std::size_t> find_pod(const std::string& name) const;
  std::vector<Alike> pending_pods() const;
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
  Admission admission_;                     // of what files add
  std::vector<std::size_t> new_pods_;       // places in objects_: pods that are in files only
  std::unique_ptr<explain::ManifestTexts> texts_;
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
  Result<ClusterObjects> cluster = app::read_cluster(
      {options_.cluster, options_.kubeconfig, options_.context, options_.strict}, *interner_, err);
  if (!cluster) return fail(cluster.error());
  objects_ = std::move(cluster->objects);
  source_ = std::move(cluster->source);
  namespace_name_ = std::move(cluster->namespace_name);
  return {};
}

Result<void> ExplainedCluster::read_files(std::ostream& err) {
  admission_ = admission_in(objects_);
  for (const std::string& path : options_.files) {
    Result<std::vector<ManifestObject>> added =
        read_manifests(path, options_.strict, *interner_, err);
    if (!added) return fail(added.error());
    if (Result<void> admitted = admit_all(*added, *interner_, admission_); !admitted)
      return admitted;
    const std::size_t before = new_pods_.size();
    for (ManifestObject& object : *added)
      if (Result<void> done = add_from_file(std::move(object)); !done) return done;
    if (new_pods_.size() == before)
      return fail(
          ErrorKind::kInvalid,
          fmt::format("{}: no pod without a node to explain; in the place of a Deployment or "
                      "Job write the pod that it would make",
                      shown_path(path)));
  }
  texts_ = std::make_unique<explain::ManifestTexts>(objects_);
  return {};
}

// A pod without a node takes the place of the one that has its name.
Result<void> ExplainedCluster::add_from_file(ManifestObject object) {
  const auto* pod = std::get_if<Ref<const Pod>>(&object.object);
  if (!pod || !(*pod)->node().empty()) {
    objects_.push_back(std::move(object));
    return {};
  }
  std::optional<std::size_t> place = place_of(object.namespace_name, object.name);
  if (!place) {
    place = objects_.size();
    objects_.emplace_back();
  } else if (const auto& known = std::get<Ref<const Pod>>(objects_[*place].object);
             !known->node().empty()) {
    return fail(
        ErrorKind::kConflict,
        fmt::format("{}: pod {} is on node {} already: to judge another one like it, give it "
                    "another name",
                    object.where, known->full_name(), known->node_name()));
  }
  objects_[*place] = std::move(object);
  new_pods_.push_back(*place);
  return {};
}

std::optional<std::size_t> ExplainedCluster::place_of(const std::string& namespace_name,
                                                      const std::string& pod_name) const {
  const auto found = std::ranges::find_if(objects_, [&](const ManifestObject& object) {
    return object.kind == ObjectKind::kPod && object.name == pod_name &&
           object.namespace_name == namespace_name;
  });
  if (found == objects_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - objects_.begin());
}

Result<std::size_t> ExplainedCluster::find_pod(const std::string& name) const {
  const std::size_t slash = name.find('/');
  std::string namespace_name =
      options_.namespace_name.empty() ? namespace_name_ : options_.namespace_name;
  std::string pod_name = name;
  if (slash != std::string::npos) {
    const std::string before = name.substr(0, slash);
    pod_name = name.substr(slash + 1);
    if (before != "pod" && before != "pods" && before != "po") namespace_name = before;
  }
  const std::optional<std::size_t> place = place_of(namespace_name, pod_name);
  if (!place)
    return fail(ErrorKind::kNotFound, fmt::format("{} has no pod \"{}\" in namespace \"{}\"",
                                                  source_, pod_name, namespace_name));
  if (const auto& pod = std::get<Ref<const Pod>>(objects_[*place].object); pod->finished())
    return fail(ErrorKind::kInvalid,
                fmt::format("pod {} has finished: it needs no node", pod->full_name()));
  return *place;
}

Result<std::vector<ExplainedCluster::Alike>> ExplainedCluster::asked_pods() const {
  if (options_.all_pending) return pending_pods();
  std::vector<Alike> asked;
  for (const std::string& name : options_.pods) {
    const Result<std::size_t> place = find_pod(name);
    if (!place) return fail(place.error());
    asked.push_back({*place});
  }
  for (const std::size_t place : new_pods_) asked.push_back({place});
  return asked;
}

std::vector<ExplainedCluster::Alike> ExplainedCluster::pending_pods() const {
  std::vector<Ref<const Pod>> pods;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < objects_.size(); ++i) {
    const auto* pod = std::get_if<Ref<const Pod>>(&objects_[i].object);
    if (!pod || !(*pod)->node().empty() || (*pod)->finished()) continue;
    pods.push_back(*pod);
    places.push_back(i);
  }
  std::vector<Alike> groups = explain::alike_pods(pods);
  for (Alike& group : groups)
    for (std::size_t& place : group) place = places[place];
  return groups;
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
      *judge.evaluator, explain::ExplainerOptions{.texts = texts_.get(), .nodes = options_.nodes});
  return &judge;
}

Result<explain::Explanation> ExplainedCluster::explain(const Alike& places) {
  const std::size_t place = places.front();
  const auto& pod = std::get<Ref<const Pod>>(objects_[place].object);
  const std::string profile = profile_of(*pod);
  const Result<Judge*> judge = judge_for(profile);
  if (!judge) return fail(judge.error());
  // As the evaluator knows it: a pod without a UID was given one.
  const Ref<const Pod> known = (*judge)->evaluator->cluster().seen_pod(*pod);
  const bool is_new = std::ranges::find(new_pods_, place) != new_pods_.end();
  explain::Explanation explanation =
      (*judge)->explainer->explain(known, is_new ? &admission_ : nullptr);
  for (const std::size_t other : std::span(places).subspan(1))
    explanation.alike.push_back(std::get<Ref<const Pod>>(objects_[other].object)->full_name());
  if (const std::string_view wanted = pod->text(pod->scheduler_name());
      options_.profile.empty() && !wanted.empty() && wanted != profile)
    explanation.notes.push_back(
        fmt::format("its schedulerName is {}, for which no profile is known here: judged as {}",
                    wanted, profile));
  return explanation;
}

// The `PageData` of web/model.js.
std::string page_data(const std::string& title, JsonValue explanations) {
  JsonValue data = JsonValue::object();
  data.add("title", JsonValue::of_text(title));
  data.add("explanations", std::move(explanations.members.front().value));
  return to_json(data);
}

// Prints explanations as they are asked for. Whether every pod has a node, or would get one.
bool print(const std::vector<explain::Explanation>& explanations, JsonValue tree,
           const std::string& source, bool from_scheduler, const ExplainOptions& options,
           std::ostream& out, std::ostream& err) {
  const bool all_have_nodes = std::ranges::all_of(explanations, [](const auto& explanation) {
    return explanation.verdict == "Scheduled" || explanation.verdict == "Schedulable";
  });
  switch (options.output) {
    case OutputFormat::kTable:
      out << explain::to_table(explanations);
      if (!all_have_nodes && !from_scheduler) out << '\n' << kLeftOut;
      if (explanations.empty()) err << "no pod is pending\n";
      break;
    case OutputFormat::kJson: out << to_indented_json(tree) << '\n'; break;
    case OutputFormat::kYaml: out << to_go_yaml(tree); break;
    case OutputFormat::kHtml: out << page::page_with(page_data(source, std::move(tree))); break;
  }
  return all_have_nodes;
}

Result<bool> explain_by_scheduler(const ExplainOptions& options, std::ostream& out,
                                  std::ostream& err) {
  Result<JsonValue> tree = ask_scheduler_to_explain(options, err);
  if (!tree) return fail(tree.error());
  const Result<std::vector<explain::Explanation>> explanations = explain::read_explanations(*tree);
  if (!explanations)
    return fail(ErrorKind::kInvalid,
                fmt::format("the scheduler at {} answered with no explanations: {}",
                            options.scheduler.server, explanations.error().message));
  return print(*explanations, *std::move(tree), options.scheduler.server, true, options, out, err);
}

}  // namespace

std::string check_explain(const ExplainOptions& options) {
  if (options.pods.empty() && options.files.empty() && !options.all_pending)
    return "explain needs pods by name, -f FILE or --all-pending";
  if (!options.pods.empty() && options.all_pending)
    return "explain takes either pods by name or --all-pending";
  if (!options.cluster.empty() && !(options.kubeconfig + options.context).empty())
    return "explain takes either --cluster or --kubeconfig and --context";
  if (!options.scheduler.server.empty()) {
    if (!options.cluster.empty() || !options.context.empty())
      return "explain takes either --server or --cluster and --context";
    if (!(options.config + options.profile + options.feature_gates).empty())
      return "--server goes without --config, --profile and --feature-gates: the scheduler has its "
             "own";
    return check_address(options.scheduler);
  }
  if (!(options.scheduler.token + options.scheduler.token_file +
        options.scheduler.client_certificate + options.scheduler.client_key +
        options.scheduler.certificate_authority)
           .empty() ||
      options.scheduler.insecure_skip_tls_verify)
    return "tokens, certificates and --insecure-skip-tls-verify go with --server";
  if (options.cluster == "-" && std::ranges::count(options.files, "-") > 0)
    return "standard input can be read once only: as the cluster or as a manifest";
  return {};
}

Result<bool> explain(const ExplainOptions& options, std::ostream& out, std::ostream& err) {
  if (options.output == OutputFormat::kHtml)
    if (Result<void> allowed = check_page_output(out); !allowed) return fail(allowed.error());
  if (!options.scheduler.server.empty()) return explain_by_scheduler(options, out, err);
  Result<ExplainedCluster> cluster = ExplainedCluster::make(options, err);
  if (!cluster) return fail(cluster.error());
  const auto pods = cluster->asked_pods();
  if (!pods) return fail(pods.error());
  std::vector<explain::Explanation> explanations;
  for (const auto& alike : *pods) {
    Result<explain::Explanation> explanation = cluster->explain(alike);
    if (!explanation) return fail(explanation.error());
    explanations.push_back(*std::move(explanation));
  }
  return print(explanations, explain::to_json_tree(explanations), cluster->source(), false, options,
               out, err);
}

}  // namespace berth::app
