#include "app/live_objects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <expected>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "api/envelope.h"
#include "app/command_client.h"
#include "config/load.h"
#include "kube/object_list.h"

namespace berth::app {
namespace {

constexpr std::string_view kExplainRole = "berth-explain-reader in packaging/explain-reader.yaml";

using ListResult = std::expected<kube::ObjectList, kube::ApiFailure>;

// ---- what went wrong, and what to do about it ---------------------------------------------------

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// `Get "https://10.0.0.1:6443/api/v1/pods?…": dial tcp …` without the request.
std::string_view without_request(std::string_view message) {
  constexpr std::string_view kEnd = "\": ";
  const std::size_t end = message.starts_with("Get \"") ? message.find(kEnd) : message.npos;
  return end == message.npos ? message : message.substr(end + kEnd.size());
}

// A failure that is not about one kind, but would meet any request.
std::optional<Error> server_fault(const kube::ApiFailure& failure,
                                  const kube::KubectlConfig& config) {
  const Error& error = failure.error;
  const std::string& server = config.client.server;
  if (failure.status.code == 0)
    return Error{error.kind,
                 fmt::format("cannot read from {}: {}", server, without_request(error.message))};
  if (failure.status.code != 401) return std::nullopt;
  if (config.user.empty() && !config.context.empty())
    return Error{error.kind, fmt::format("{} wants to know who asks, and the context \"{}\" names "
                                         "no user: {}",
                                         server, config.context, error.message)};
  const std::string who = config.context.empty() ? "this pod's service account"
                                                 : fmt::format("the user \"{}\"", config.user);
  return Error{error.kind, fmt::format("{} does not accept the credentials of {}: {}", server, who,
                                       error.message)};
}

// All that is refused at once, so that a role can be made in one go.
Error refusal(const std::vector<std::string>& resources, const std::string& server,
              const std::string& why, std::string_view role) {
  return {ErrorKind::kForbidden,
          fmt::format("not allowed to list {} at {}: {} (the ClusterRole {} allows what is needed)",
                      fmt::join(resources, ", "), server, why, role)};
}

Error other_failure(const kube::WatchedKind& kind, const std::string& server,
                    const kube::ApiFailure& failure) {
  if (failure.status.code == 404)
    return {ErrorKind::kNotFound, fmt::format("{} does not serve {}: it is no API server of a "
                                              "Kubernetes cluster",
                                              server, kind.full_resource())};
  return {failure.error.kind, fmt::format("cannot list {} at {}: {}", kind.full_resource(), server,
                                          without_request(failure.error.message))};
}

// ---- the lists ----------------------------------------------------------------------------------

bool is_core(const kube::WatchedKind& kind) {
  return std::ranges::find(kind.consumers, "core") != kind.consumers.end();
}

void append_list(kube::ObjectList list, LiveObjects& live) {
  std::ranges::move(list.objects, std::back_inserter(live.objects));
  std::ranges::move(list.undecodable, std::back_inserter(live.undecodable));
}

// `failures`: what went wrong with each of `kinds`; null where nothing did.
Result<ReadAccess> sort_failures(const std::vector<LiveKind>& kinds,
                                 const std::vector<const kube::ApiFailure*>& failures,
                                 const kube::KubectlConfig& config, std::string_view role) {
  ReadAccess access;
  std::vector<std::string> refused;
  std::string why_refused;
  std::optional<Error> other;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (!failures[i]) continue;
    const kube::WatchedKind& kind = kinds[i].kind;
    const kube::ApiFailure& failure = *failures[i];
    if (std::optional<Error> fault = server_fault(failure, config)) return fail(*std::move(fault));
    if (failure.status.code == 404 && !is_core(kind)) {
      access.unserved.push_back(kind.full_resource());
    } else if (failure.status.code == 403 && kinds[i].optional) {
      access.forbidden.push_back(kind.full_resource());
    } else if (failure.status.code == 403) {
      if (refused.empty()) why_refused = failure.error.message;
      refused.push_back(kind.full_resource());
    } else if (!other) {
      other = other_failure(kind, config.client.server, failure);
    }
  }
  if (!refused.empty()) return fail(refusal(refused, config.client.server, why_refused, role));
  if (other) return fail(*std::move(other));
  return access;
}

// Takes what every kind's list came to, in the order of `kinds`.
Result<LiveObjects> join_lists(const std::vector<LiveKind>& kinds, std::vector<ListResult> lists,
                               const kube::KubectlConfig& config) {
  std::vector<const kube::ApiFailure*> failures;
  for (const ListResult& list : lists) failures.push_back(list ? nullptr : &list.error());
  Result<ReadAccess> access = sort_failures(kinds, failures, config, kExplainRole);
  if (!access) return fail(std::move(access.error()));
  LiveObjects live;
  live.unserved = std::move(access->unserved);
  live.forbidden = std::move(access->forbidden);
  for (ListResult& list : lists)
    if (list) append_list(*std::move(list), live);
  return live;
}

Task<std::vector<ListResult>> list_all(kube::ApiClient& api, const std::vector<LiveKind>& kinds,
                                       std::string server, Interner& interner) {
  std::vector<Task<ListResult>> lists;
  lists.reserve(kinds.size());
  for (const LiveKind& kind : kinds)
    lists.push_back(kube::list_objects(api, kind.kind, {.where = server}, interner));
  WhenAll<ListResult> all(std::move(lists));
  std::vector<ListResult> results = co_await all;
  co_return results;
}

Result<LiveObjects> read_objects(const LiveObjectsOptions& options, Interner& interner) {
  Result<kube::KubectlConfig> config =
      kube::load_kubectl_config(options.kubeconfig, options.context, options.environment);
  if (!config) return fail(std::move(config.error()));
  const std::vector<LiveKind> kinds = live_kinds();
  std::optional<std::vector<ListResult>> lists;
  {
    CommandClient client(config->client, options.request_timeout, {SIGINT, SIGTERM});
    lists = client.wait_for(list_all(client.api(), kinds, config->client.server, interner));
  }
  if (!lists)
    return fail(ErrorKind::kCancelled,
                fmt::format("interrupted while reading from {}", config->client.server));
  Result<LiveObjects> live = join_lists(kinds, *std::move(lists), *config);
  if (!live) return live;
  live->namespace_name = std::move(config->namespace_name);
  live->context = std::move(config->context);
  live->server = std::move(config->client.server);
  return live;
}

}  // namespace

std::vector<LiveKind> live_kinds() {
  const config::FeatureGates gates;
  std::vector<LiveKind> kinds;
  for (kube::WatchedKind& kind : kube::watched_kinds(config::default_configuration(gates), gates))
    kinds.push_back({std::move(kind)});
  kinds.push_back({{ObjectKind::kPriorityClass,
                    "scheduling.k8s.io/v1",
                    "PriorityClass",
                    "priorityclasses",
                    "",
                    {"admission"}}});
  const auto add_owner = [&kinds](ObjectKind kind, const char* api_version, const char* name,
                                  const char* resource) {
    kinds.push_back({{kind, api_version, name, resource, "", {"suggestions"}}, true});
  };
  add_owner(ObjectKind::kDeployment, "apps/v1", "Deployment", "deployments");
  add_owner(ObjectKind::kDaemonSet, "apps/v1", "DaemonSet", "daemonsets");
  add_owner(ObjectKind::kJob, "batch/v1", "Job", "jobs");
  return kinds;
}

Task<Result<ReadAccess>> check_read_access(kube::ApiClient& api, const std::vector<LiveKind>& kinds,
                                           const kube::KubectlConfig& config,
                                           std::string_view role) {
  std::vector<Task<kube::ApiResult>> asking;
  for (const LiveKind& kind : kinds) {
    kube::ApiCall call;
    call.path = kind.kind.path() + "?limit=1";
    call.accept = kJsonContentType;
    asking.push_back(api.call(std::move(call)));
  }
  WhenAll<kube::ApiResult> all(std::move(asking));
  const std::vector<kube::ApiResult> answers = co_await all;
  std::vector<const kube::ApiFailure*> failures;
  for (const kube::ApiResult& answer : answers)
    failures.push_back(answer ? nullptr : &answer.error());
  Result<ReadAccess> access = sort_failures(kinds, failures, config, role);
  if (!access) std::ranges::replace(access.error().message, '\n', ' ');
  co_return access;
}

Result<LiveObjects> read_live_objects(const LiveObjectsOptions& options, Interner& interner) {
  Result<LiveObjects> live = read_objects(options, interner);
  if (!live) live.error().message = one_line(std::move(live.error().message));
  return live;
}

}  // namespace berth::app
