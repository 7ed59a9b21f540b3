#include "kube/kubeconfig.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/base64.h"
#include "base/file.h"
#include "base/go_quote.h"
#include "wire/json_text.h"
#include "wire/json_tree.h"
#include "wire/yaml.h"

namespace berth::kube {
namespace {

using Kind = JsonValue::Kind;

std::string_view word_of(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "bool";
    case Kind::kNumber: return "number";
    case Kind::kString: return "string";
    case Kind::kArray: return "array";
    case Kind::kObject: return "object";
  }
  return "";
}

// Reads the fields of one object; the first thing that is wrong is kept. Unknown fields are fine:
// other clients keep things of their own there.
class Fields {
 public:
  Fields(const JsonValue& object, std::string path, std::optional<Error>& error)
      : object_(object), path_(std::move(path)), error_(error) {}

  void read(std::string_view name, std::string& out) {
    if (const JsonValue* value = find(name, Kind::kString, "string")) out = value->text;
  }
  void read(std::string_view name, bool& out) {
    if (const JsonValue* value = find(name, Kind::kBool, "bool")) out = value->boolean;
  }
  void read(std::string_view name, std::vector<std::string>& out) {
    const JsonValue* list = find(name, Kind::kArray, "[]string");
    if (!list) return;
    for (const JsonValue& item : list->items) {
      if (item.kind == Kind::kString) {
        out.push_back(item.text);
      } else if (!item.is_null()) {
        complain(name, item.kind, "string");
      }
    }
  }
  void read_base64(std::string_view name, std::string& out) {
    const JsonValue* value = find(name, Kind::kString, "[]uint8");
    if (!value) return;
    std::expected<std::string, std::size_t> decoded = decode_base64(value->text);
    if (decoded) {
      out = std::move(*decoded);
    } else if (!error_) {
      error_ = Error{ErrorKind::kInvalid,
                     fmt::format("illegal base64 data at input byte {}", decoded.error())};
    }
  }
  // The members of an object, if it is there.
  const JsonValue* object(std::string_view name) { return find(name, Kind::kObject, "object"); }
  const JsonValue* list(std::string_view name) { return find(name, Kind::kArray, "list"); }

  // Of a field of this object.
  Fields inside(std::string_view name, const JsonValue& value) {
    return Fields(value, fmt::format("{}.{}", path_, name), error_);
  }

 private:
  const JsonValue* find(std::string_view name, Kind kind, std::string_view type) {
    const JsonValue* value = object_.find(name);
    if (!value || value->is_null()) return nullptr;
    if (value->kind == kind) return value;
    complain(name, value->kind, type);
    return nullptr;
  }
  void complain(std::string_view name, Kind kind, std::string_view type) {
    if (error_) return;
    error_ = Error{ErrorKind::kInvalid,
                   fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}",
                               word_of(kind), path_, name, type)};
  }

  const JsonValue& object_;
  std::string path_;
  std::optional<Error>& error_;
};

void decode(Fields in, KubeconfigCluster& out) {
  in.read("server", out.server);
  in.read("tls-server-name", out.tls_server_name);
  in.read("insecure-skip-tls-verify", out.insecure_skip_tls_verify);
  in.read("certificate-authority", out.certificate_authority);
  in.read_base64("certificate-authority-data", out.certificate_authority_data);
  in.read("proxy-url", out.proxy_url);
}

void decode(Fields in, KubeconfigContext& out) {
  in.read("cluster", out.cluster);
  in.read("user", out.user);
  in.read("namespace", out.namespace_name);
}

void decode_exec(Fields in, KubeconfigUser& out) {
  ExecPlugin& exec = out.exec.emplace();
  in.read("command", exec.command);
  in.read("args", exec.args);
  in.read("apiVersion", exec.api_version);
  in.read("installHint", exec.install_hint);
  in.read("provideClusterInfo", exec.provide_cluster_info);
  in.read("interactiveMode", out.exec_interactive_mode);
  if (const JsonValue* list = in.list("env")) {
    for (const JsonValue& item : list->items) {
      auto& [name, value] = exec.env.emplace_back();
      Fields variable = in.inside("env", item);
      variable.read("name", name);
      variable.read("value", value);
    }
  }
  // Only the beta version has a default.
  if (out.exec_interactive_mode.empty() &&
      exec.api_version == "client.authentication.k8s.io/v1beta1") {
    out.exec_interactive_mode = "IfAvailable";
  }
  exec.needs_terminal = out.exec_interactive_mode == "Always";
}

void decode(Fields in, KubeconfigUser& out) {
  in.read("client-certificate", out.client_certificate);
  in.read_base64("client-certificate-data", out.client_certificate_data);
  in.read("client-key", out.client_key);
  in.read_base64("client-key-data", out.client_key_data);
  in.read("token", out.token);
  in.read("tokenFile", out.token_file);
  in.read("username", out.username);
  in.read("password", out.password);
  in.read("as", out.impersonate.user);
  in.read("as-uid", out.impersonate.uid);
  in.read("as-groups", out.impersonate.groups);
  if (const JsonValue* extra = in.object("as-user-extra")) {
    Fields values = in.inside("as-user-extra", *extra);
    for (const JsonMember& member : extra->members) {
      values.read(member.name, out.impersonate.extra[member.name]);
    }
  }
  out.auth_provider = in.object("auth-provider") != nullptr;
  if (const JsonValue* exec = in.object("exec")) decode_exec(in.inside("exec", *exec), out);
}

// [{name: N, <field>: {…}}, …] as a map.
template <typename T>
void decode_named(Fields& file, std::string_view list_name, std::string_view field,
                  std::map<std::string, T>& out, std::optional<Error>& error) {
  const JsonValue* list = file.list(list_name);
  if (!list) return;
  for (const JsonValue& item : list->items) {
    Fields entry = file.inside(list_name, item);
    std::string name;
    entry.read("name", name);
    const auto [place, is_new] = out.try_emplace(name);
    if (!is_new) {
      if (!error) {
        error = Error{ErrorKind::kInvalid,
                      fmt::format("duplicate name {} in list {}", go_quoted(name), list_name)};
      }
      return;
    }
    if (const JsonValue* value = entry.object(field)) {
      decode(entry.inside(field, *value), place->second);
    }
  }
}

void resolve(std::string& path, const std::string& folder) {
  if (path.empty() || path.starts_with('/')) return;
  path = (std::filesystem::path(folder) / path).lexically_normal().string();
}

void resolve_paths(Kubeconfig& config, const std::string& folder) {
  for (auto& [name, cluster] : config.clusters) resolve(cluster.certificate_authority, folder);
  for (auto& [name, user] : config.users) {
    resolve(user.client_certificate, folder);
    resolve(user.client_key, folder);
    resolve(user.token_file, folder);
    // A bare name is looked for in PATH.
    if (user.exec && user.exec->command.contains('/')) resolve(user.exec->command, folder);
  }
}

Result<JsonValue> read_tree(std::string_view text) {
  Result<std::vector<YamlDocument>> documents = parse_yaml(text);
  if (!documents) return fail(std::move(documents.error()));
  if (documents->empty()) return JsonValue::object();
  return parse_json(documents->front().json);
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& folder) {
  Result<JsonValue> tree = read_tree(text);
  if (!tree) return fail(std::move(tree.error()));
  if (tree->is_null()) *tree = JsonValue::object();
  if (tree->kind != Kind::kObject) {
    return fail(
        ErrorKind::kInvalid,
        fmt::format("couldn't get version/kind; json parse error: json: cannot unmarshal {} "
                    "into Go value of type struct {{ APIVersion string "
                    "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                    "\"json:\\\"kind,omitempty\\\"\" }}",
                    word_of(tree->kind)));
  }
  std::optional<Error> error;
  Fields file(*tree, "Config", error);
  std::string kind = "Config";
  std::string api_version = "v1";
  file.read("kind", kind);
  file.read("apiVersion", api_version);
  if (!error &&
      ((!kind.empty() && kind != "Config") || (!api_version.empty() && api_version != "v1"))) {
    return fail(ErrorKind::kInvalid,
                fmt::format("no kind {} is registered for version {} in scheme "
                            "\"pkg/runtime/scheme.go:111\"",
                            go_quoted(kind), go_quoted(api_version)));
  }
  Kubeconfig config;
  file.read("current-context", config.current_context);
  decode_named(file, "clusters", "cluster", config.clusters, error);
  decode_named(file, "users", "user", config.users, error);
  decode_named(file, "contexts", "context", config.contexts, error);
  if (error) return fail(std::move(*error));
  resolve_paths(config, folder);
  return config;
}

Result<Kubeconfig> load_kubeconfig(const std::string& path) {
  if (Result<void> there = check_file_exists(path);
      !there && there.error().kind == ErrorKind::kNotFound) {
    return fail(std::move(there.error()));
  }
  const auto in_file = [&path](const Error& error) {
    return fail(error.kind,
                fmt::format("error loading config file {}: {}", go_quoted(path), error.message));
  };
  const Result<std::string> text = read_file(path);
  if (!text) return in_file(text.error());
  std::error_code ignored;
  const std::filesystem::path absolute = std::filesystem::absolute(path, ignored);
  Result<Kubeconfig> config = parse_kubeconfig(*text, absolute.parent_path().string());
  if (!config) return in_file(config.error());
  return config;
}

}  // namespace berth::kube
