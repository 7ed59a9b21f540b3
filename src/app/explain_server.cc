#include "app/explain_server.h"

#include <fmt/format.h>

#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "api/manifest.h"
#include "app/command_client.h"
#include "app/input.h"
#include "berth/interner.h"
#include "net/http_message.h"
#include "serve/explanations.h"

namespace berth::app {
namespace {

constexpr Duration kExplainTimeout = std::chrono::minutes(2);
// NAMESPACE/NAME of a pod as it is typed.
std::string full_name(const std::string& typed, const std::string& namespace_name) {
  std::string name = typed;
  if (const std::size_t slash = typed.find('/'); slash != std::string::npos) {
    const std::string before = typed.substr(0, slash);
    if (before != "pod" && before != "pods" && before != "po") return typed;
    name = typed.substr(slash + 1);
  }
  return (namespace_name.empty() ? "default" : namespace_name) + "/" + name;
}

kube::ApiCall call_for(const ExplainOptions& options) {
  kube::ApiCall call;
  call.accept = "application/json";
  call.path = serve::kExplainPath;
  char separator = '?';
  const auto parameter = [&](std::string_view name, const std::string& value) {
    call.path += fmt::format("{}{}={}", separator, name, net::escape(value));
    separator = '&';
  };
  for (const std::string& node : options.nodes) parameter("node", node);
  return call;
}

// One call for the pods that are named, and one for each that is in a file.
Result<std::vector<kube::ApiCall>> calls_for(const ExplainOptions& options, std::ostream& err) {
  std::vector<kube::ApiCall> calls;
  if (!options.pods.empty() || options.all_pending) {
    kube::ApiCall call = call_for(options);
    char separator = options.nodes.empty() ? '?' : '&';
    if (options.all_pending) call.path += fmt::format("{}all-pending=true", separator);
    for (const std::string& pod : options.pods)
      call.path += fmt::format("{}pod={}", std::exchange(separator, '&'),
                               net::escape(full_name(pod, options.namespace_name)));
    calls.push_back(std::move(call));
  }
  for (const std::string& path : options.files) {
    Interner interner;
    Result<std::vector<ManifestObject>> objects =
        read_manifests(path, options.strict, interner, err);
    if (!objects) return fail(objects.error());
    for (ManifestObject& object : *objects) {
      if (object.kind != ObjectKind::kPod)
        return fail(ErrorKind::kInvalid,
                    fmt::format("{}: a {} cannot be sent to the scheduler, only pods can: make it "
                                "first, or ask with --kubeconfig",
                                object.where, object.kind_text));
      kube::ApiCall call = call_for(options);
      call.method = "POST";
      call.content_type = "application/json";
      call.body = std::move(object.json);
      calls.push_back(std::move(call));
    }
    if (objects->empty())
      return fail(ErrorKind::kInvalid, fmt::format("{}: no pod to explain", shown_path(path)));
  }
  return calls;
}

}  // namespace

Result<JsonValue> ask_scheduler_to_explain(const ExplainOptions& options, std::ostream& err) {
  SchedulerAddress scheduler = options.scheduler;
  scheduler.kubeconfig = options.kubeconfig;
  Result<std::vector<kube::ApiCall>> calls = calls_for(options, err);
  if (!calls) return fail(calls.error());
  Result<kube::ClientConfig> config = scheduler_client_config(scheduler, err);
  if (!config) return fail(config.error());
  const std::string server = config->server;
  CommandClient client(*std::move(config), kExplainTimeout);
  JsonValue all = JsonValue::object();
  all.add("pods", JsonValue::array());
  for (kube::ApiCall& call : *calls) {
    const kube::ApiResult answer = *client.wait_for(client.api().call(std::move(call)));
    if (!answer)
      return fail(explain_refusal(answer.error(), server,
                                  "nonResourceURLs /explain, verbs get and post",
                                  "does not explain pods"));
    Result<JsonValue> read = parse_json(answer->body);
    if (!read)
      return fail(ErrorKind::kInvalid,
                  fmt::format("the scheduler at {} answered with what is no JSON: {}", server,
                              read.error().message));
    for (JsonMember& member : read->members)
      if (member.name == "pods")
        for (JsonValue& pod : member.value.items)
          all.members.front().value.items.push_back(std::move(pod));
  }
  return all;
}

}  // namespace berth::app
