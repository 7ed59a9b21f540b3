#include "kube/authentication_config.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace berth::kube {
namespace {

constexpr std::string_view kNamespace = "kube-system";
constexpr std::string_view kName = "extension-apiserver-authentication";
constexpr std::string_view kCollection = "/api/v1/namespaces/kube-system/configmaps";
// The role that lets one read it.
constexpr std::string_view kRole = "extension-apiserver-authentication-reader";
constexpr Duration kReadTimeout = std::chrono::seconds(30);

// `["X-Remote-User"]`; nothing written is an empty list.
Result<std::vector<std::string>> read_list(std::string_view text) {
  std::vector<std::string> list;
  if (text.empty()) return list;
  const Result<JsonValue> value = parse_json(text);
  if (!value) return fail(value.error());
  if (value->is_null()) return list;
  if (value->kind != JsonValue::Kind::kArray)
    return fail(ErrorKind::kInvalid, "is not a list of strings");
  for (const JsonValue& item : value->items) {
    if (item.kind != JsonValue::Kind::kString)
      return fail(ErrorKind::kInvalid, "is not a list of strings");
    list.push_back(item.text);
  }
  return list;
}

std::string data_text_at(const JsonValue* data, std::string_view key) {
  const JsonValue* value = data ? data->find(key) : nullptr;
  return value && value->kind == JsonValue::Kind::kString ? value->text : "";
}

struct ListKey {
  std::string_view key;
  std::vector<std::string> AuthenticationSettings::* list;
};
constexpr ListKey kLists[] = {
    {"requestheader-username-headers", &AuthenticationSettings::username_headers},
    {"requestheader-uid-headers", &AuthenticationSettings::uid_headers},
    {"requestheader-group-headers", &AuthenticationSettings::group_headers},
    {"requestheader-extra-headers-prefix", &AuthenticationSettings::extra_header_prefixes},
    {"requestheader-allowed-names", &AuthenticationSettings::allowed_names},
};

}  // namespace

AuthenticationSettings read_authentication_settings(const JsonValue& config_map,
                                                    const AuthenticationSettings& before,
                                                    std::vector<std::string>& complaints) {
  const JsonValue* data = config_map.find("data");
  AuthenticationSettings settings = before;
  // An authority that disappears is still accepted: better than to lock all users out because of a
  // ConfigMap that is being written anew.
  if (std::string ca = data_text_at(data, "client-ca-file"); !ca.empty())
    settings.client_ca = std::move(ca);
  if (std::string ca = data_text_at(data, "requestheader-client-ca-file"); !ca.empty())
    settings.request_header_ca = std::move(ca);

  // All lists or none: names of headers and names of proxies belong together.
  AuthenticationSettings lists = settings;
  for (const auto& [key, list] : kLists) {
    Result<std::vector<std::string>> read = read_list(data_text_at(data, key));
    if (!read) {
      complaints.push_back(fmt::format("{}: {}", key, read.error().message));
      return settings;
    }
    lists.*list = std::move(*read);
  }
  return lists;
}

AuthenticationConfig::AuthenticationConfig(Loop& loop, ApiClient& client, Random random,
                                           Changed changed, telemetry::Log log)
    : client_(client),
      changed_(std::move(changed)),
      log_(std::move(log)),
      watch_(
          loop, client, random, std::string(kCollection), std::string(kName),
          [this](const JsonValue* config_map) {
            if (config_map) take(*config_map);
          },
          log_) {}

Task<Result<void>> AuthenticationConfig::load(CancelToken cancel) {
  ApiCall call;
  call.path = fmt::format("{}/{}", kCollection, kName);
  call.accept = "application/json";
  call.timeout = kReadTimeout;
  Task<ApiResult> reading = client_.call(std::move(call), cancel);
  const ApiResult answer = co_await reading;
  if (!answer) {
    const ApiFailure& failure = answer.error();
    if (failure.error.kind == ErrorKind::kNotFound) co_return Result<void>();
    if (failure.status.code == 403) {
      log_.plain(telemetry::Severity::kWarning,
                 fmt::format("Unable to get configmap/{} in {}.  Usually fixed by 'kubectl create "
                             "rolebinding -n {} ROLEBINDING_NAME --role={} "
                             "--serviceaccount=YOUR_NS:YOUR_SA'",
                             kName, kNamespace, kNamespace, kRole));
    }
    co_return fail(failure.error);
  }
  const Result<JsonValue> config_map = parse_json(answer->body);
  if (!config_map) co_return fail(config_map.error());
  take(*config_map);
  co_return Result<void>();
}

Task<void> AuthenticationConfig::watch(CancelToken cancel) { return watch_.run(cancel); }

void AuthenticationConfig::take(const JsonValue& config_map) {
  std::vector<std::string> complaints;
  AuthenticationSettings settings = read_authentication_settings(config_map, settings_, complaints);
  for (const std::string& complaint : complaints) {
    log_.error(complaint, "Cannot read the cluster's authentication configuration",
               {{"configMap", telemetry::LogValue::object(kNamespace, kName)}});
  }
  if (settings == settings_) return;
  settings_ = std::move(settings);
  log_.info(2, "Loaded the cluster's authentication configuration",
            {{"configMap", telemetry::LogValue::object(kNamespace, kName)}});
  if (changed_) changed_(settings_);
}

}  // namespace berth::kube
