#include "app/permit_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command_client.h"
#include "net/http_message.h"
#include "serve/waiting_pods.h"
#include "wire/json_tree.h"

namespace berth::app {
namespace {

constexpr Duration kTimeout = std::chrono::seconds(30);
constexpr std::string_view kJson = "application/json";

// ---- what we ask ----------------------------------------------------------------------------------

kube::ApiCall call_of(const PermitOptions& options) {
  kube::ApiCall call;
  call.accept = kJson;
  call.path = serve::kWaitingPodsPath;
  if (options.action == PermitOptions::Action::kList) return call;

  std::string namespace_name = options.namespace_name;
  std::string name = options.pod;
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    namespace_name = name.substr(0, slash);
    name.erase(0, slash + 1);
  }
  if (namespace_name.empty()) namespace_name = "default";
  const bool rejects = options.action == PermitOptions::Action::kReject;
  call.method = "POST";
  call.path += fmt::format("/{}/{}/{}", net::escape(namespace_name), net::escape(name),
                           rejects ? "reject" : "allow");
  char separator = '?';
  const auto parameter = [&call, &separator](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    call.path += fmt::format("{}{}={}", separator, key, net::escape(value));
    separator = '&';
  };
  parameter("plugin", options.plugin);
  if (rejects) parameter("message", options.message);
  return call;
}

// ---- what is shown ------------------------------------------------------------------------------

struct Row {
  std::string namespace_name, name, node, plugins;
};

std::string text_at(const JsonValue& object, std::string_view name) {
  const JsonValue* value = object.find(name);
  return value && value->kind == JsonValue::Kind::kString ? value->text : "";
}

Row row_of(const JsonValue& pod) {
  Row row{text_at(pod, "namespace"), text_at(pod, "name"), text_at(pod, "node"), {}};
  if (const JsonValue* plugins = pod.find("plugins")) {
    for (const JsonValue& plugin : plugins->items) {
      if (!row.plugins.empty()) row.plugins += ',';
      row.plugins += plugin.text;
    }
  }
  return row;
}

std::string table(const std::vector<JsonValue>& pods) {
  std::vector<Row> rows{{"NAMESPACE", "NAME", "NODE", "PLUGINS"}};
  for (const JsonValue& pod : pods) rows.push_back(row_of(pod));
  std::size_t namespace_width = 0, name_width = 0, node_width = 0;
  for (const Row& row : rows) {
    namespace_width = std::max(namespace_width, row.namespace_name.size());
    name_width = std::max(name_width, row.name.size());
    node_width = std::max(node_width, row.node.size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", row.namespace_name, namespace_width,
                        row.name, name_width, row.node, node_width, row.plugins);
  }
  return text;
}

Result<void> show_list(JsonValue answer, const PermitOptions& options, std::ostream& out,
                       std::ostream& err) {
  for (JsonMember& member : answer.members) {
    if (member.name != "items") continue;
    if (!options.namespace_name.empty()) {
      std::erase_if(member.value.items, [&options](const JsonValue& pod) {
        return text_at(pod, "namespace") != options.namespace_name;
      });
    }
    if (options.output == OutputFormat::kJson) {
      out << to_json(answer) << '\n';
    } else if (member.value.items.empty()) {
      err << "No pods are waiting.\n";
    } else {
      out << table(member.value.items);
    }
    return {};
  }
  return fail(ErrorKind::kInvalid, "the scheduler answered without a list of pods");
}

void show_result(const JsonValue& answer, const PermitOptions& options, std::ostream& out) {
  if (options.output == OutputFormat::kJson) {
    out << to_json(answer) << '\n';
    return;
  }
  const Row row = row_of(answer);
  const std::string plugins = options.plugin.empty() ? row.plugins : options.plugin;
  out << fmt::format("pod {}/{} {} for {} on node {}\n", row.namespace_name, row.name,
                     text_at(answer, "result"), plugins, row.node);
}

}  // namespace

std::string check_permit(const PermitOptions& options) {
  const bool lists = options.action == PermitOptions::Action::kList;
  if (lists && !options.pod.empty())
    return fmt::format("list takes no pod, but \"{}\" was given", options.pod);
  if (lists && !options.plugin.empty()) return "--plugin goes with allow and reject";
  if (!lists && options.pod.empty()) return "which pod? NAME or NAMESPACE/NAME is missing";
  if (options.action != PermitOptions::Action::kReject && !options.message.empty())
    return "--message goes with reject";
  if (const std::size_t slash = options.pod.find('/'); slash != std::string::npos) {
    const std::string_view pod = options.pod;
    if (slash == 0 || slash + 1 == pod.size() || pod.find('/', slash + 1) != pod.npos)
      return fmt::format("\"{}\" is neither NAME nor NAMESPACE/NAME", pod);
    if (!options.namespace_name.empty() && options.namespace_name != pod.substr(0, slash))
      return fmt::format("\"{}\" is not in the namespace \"{}\"", pod, options.namespace_name);
  }
  return check_address(options.address);
}

Result<void> permit(const PermitOptions& options, std::ostream& out, std::ostream& err) {
  Result<kube::ClientConfig> config = scheduler_client_config(options.address, err);
  if (!config) return fail(config.error());
  const std::string server = config->server;
  CommandClient client(std::move(*config), kTimeout);
  const kube::ApiResult answer = *client.wait_for(client.api().call(call_of(options)));
  if (!answer)
    return fail(explain_refusal(
        answer.error(), server,
        fmt::format("nonResourceURLs {0} and {0}/*, verbs get and post", serve::kWaitingPodsPath),
        "does not tell of waiting pods"));
  Result<JsonValue> read = parse_json(answer->body);
  if (!read)
    return fail(ErrorKind::kInvalid,
                fmt::format("the scheduler at {} answered with what is no JSON: {}", server,
                            read.error().message));
  if (options.action == PermitOptions::Action::kList)
    return show_list(std::move(*read), options, out, err);
  show_result(*read, options, out);
  return {};
}

}  // namespace berth::app
