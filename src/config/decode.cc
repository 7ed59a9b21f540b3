#include "config/decode.h"

#include <fmt/format.h>

#include <utility>

#include "base/ascii.h"
#include "config/load.h"
#include "config/plugin_args.h"
#include "config/strict_decoder.h"
#include "config/type_meta.h"

namespace berth::config {
namespace {

// ---- the object's fields

struct WrittenArgs {
  std::size_t profile;
  std::size_t index;
  const JsonValue* json;
};

// A WrittenConfiguration in the making. Arguments of plugins are decoded when all else is.
class ConfigurationDecoder {
 public:
  StrictDecoder& in() { return in_; }
  WrittenConfiguration& written() { return written_; }
  const std::vector<WrittenArgs>& args() const { return args_; }

  void decode(const JsonValue& json) {
    WrittenConfiguration& out = written_;
    in_.object(
        "v1.KubeSchedulerConfiguration", json, [&](std::string_view name, const JsonValue& value) {
          if (name == "parallelism") return in_.read(value, out.parallelism);
          if (name == "leaderElection") return decode(value, out.leader_election);
          if (name == "clientConnection") return decode(value, out.client_connection);
          if (name == "enableProfiling" || name == "enableContentionProfiling") {
            in_.embedded("DebuggingConfiguration");
            return in_.read(value, name == "enableProfiling" ? out.enable_profiling
                                                             : out.enable_contention_profiling);
          }
          if (name == "percentageOfNodesToScore") {
            return in_.read(value, out.percentage_of_nodes_to_score);
          }
          if (name == "podInitialBackoffSeconds") {
            return in_.read(value, out.pod_initial_backoff_seconds);
          }
          if (name == "podMaxBackoffSeconds") return in_.read(value, out.pod_max_backoff_seconds);
          if (name == "profiles") {
            args_.clear();
            return in_.list("v1.KubeSchedulerProfile", value, out.profiles,
                            [&](StrictDecoder&, const JsonValue& item, WrittenProfile& profile) {
                              decode(item, profile);
                            });
          }
          if (name == "extenders") {
            return in_.list("v1.Extender", value, out.extenders,
                            [&](StrictDecoder&, const JsonValue& item, ExtenderConfig& extender) {
                              decode(item, extender);
                            });
          }
          if (name == "delayCacheUntilActive") return in_.read(value, out.delay_cache_until_active);
          return name == "apiVersion" || name == "kind";
        });
  }

 private:
  bool decode(const JsonValue& json, WrittenLeaderElection& out) {
    in_.object("v1alpha1.LeaderElectionConfiguration", json,
               [&](std::string_view name, const JsonValue& value) {
                 if (name == "leaderElect") return in_.read(value, out.leader_elect);
                 if (name == "leaseDuration") return in_.read(value, out.lease_duration);
                 if (name == "renewDeadline") return in_.read(value, out.renew_deadline);
                 if (name == "retryPeriod") return in_.read(value, out.retry_period);
                 if (name == "resourceLock") return in_.read(value, out.resource_lock);
                 if (name == "resourceName") return in_.read(value, out.resource_name);
                 if (name == "resourceNamespace") return in_.read(value, out.resource_namespace);
                 return false;
               });
    return true;
  }

  bool decode(const JsonValue& json, ClientConnection& out) {
    in_.object("v1alpha1.ClientConnectionConfiguration", json,
               [&](std::string_view name, const JsonValue& value) {
                 if (name == "kubeconfig") return in_.read(value, out.kubeconfig);
                 if (name == "acceptContentTypes") {
                   return in_.read(value, out.accept_content_types);
                 }
                 if (name == "contentType") return in_.read(value, out.content_type);
                 if (name == "qps") return in_.read(value, out.qps);
                 if (name == "burst") return in_.read(value, out.burst);
                 return false;
               });
    return true;
  }

  void decode(const JsonValue& json, WrittenProfile& out) {
    const std::size_t index = written_.profiles.size() - 1;
    in_.object("v1.KubeSchedulerProfile", json, [&](std::string_view name, const JsonValue& value) {
      if (name == "schedulerName") return in_.read(value, out.scheduler_name);
      if (name == "percentageOfNodesToScore") {
        return in_.read(value, out.percentage_of_nodes_to_score);
      }
      if (name == "plugins") return decode(value, out.plugins);
      if (name == "pluginConfig") {
        std::erase_if(args_, [&](const WrittenArgs& args) { return args.profile == index; });
        return in_.list("v1.PluginConfig", value, out.plugin_config,
                        [&](StrictDecoder&, const JsonValue& item, PluginConfig& config) {
                          args_.push_back({index, out.plugin_config.size() - 1, nullptr});
                          decode(item, config, args_.back());
                        });
      }
      return false;
    });
  }

  void decode(const JsonValue& json, PluginConfig& out, WrittenArgs& args) {
    in_.object("v1.PluginConfig", json, [&](std::string_view name, const JsonValue& value) {
      if (name == "name") return in_.read(value, out.name);
      if (name == "args") args.json = value.is_null() ? nullptr : &value;
      return name == "args";
    });
  }

  bool decode(const JsonValue& json, Plugins& out) {
    if (json.is_null()) out = {};
    in_.object("v1.Plugins", json, [&](std::string_view name, const JsonValue& value) {
      for (std::size_t i = 0; i < kExtensionPoints; ++i) {
        if (name == lower_first(to_string(static_cast<ExtensionPoint>(i)))) {
          return decode(value, out.sets[i]);
        }
      }
      return false;
    });
    return true;
  }

  bool decode(const JsonValue& json, PluginSet& out) {
    in_.object("v1.PluginSet", json, [&](std::string_view name, const JsonValue& value) {
      if (name == "enabled") return decode(value, out.enabled);
      if (name != "disabled") return false;
      std::vector<PluginRef> disabled;
      decode(value, disabled);
      out.disabled.clear();
      for (PluginRef& plugin : disabled) out.disabled.push_back(std::move(plugin.name));
      return true;
    });
    return true;
  }

  bool decode(const JsonValue& json, std::vector<PluginRef>& out) {
    return in_.list(
        "v1.Plugin", json, out, [&](StrictDecoder&, const JsonValue& item, PluginRef& plugin) {
          in_.object("v1.Plugin", item, [&](std::string_view name, const JsonValue& value) {
            if (name == "name") return in_.read(value, plugin.name);
            if (name == "weight") return in_.read(value, plugin.weight);
            return false;
          });
        });
  }

  void decode(const JsonValue& json, ExtenderConfig& out) {
    in_.object("v1.Extender", json, [&](std::string_view name, const JsonValue& value) {
      if (name == "urlPrefix") return in_.read(value, out.url_prefix);
      if (name == "filterVerb") return in_.read(value, out.filter_verb);
      if (name == "preemptVerb") return in_.read(value, out.preempt_verb);
      if (name == "prioritizeVerb") return in_.read(value, out.prioritize_verb);
      if (name == "weight") return in_.read(value, out.weight);
      if (name == "bindVerb") return in_.read(value, out.bind_verb);
      if (name == "enableHTTPS") return in_.read(value, out.enable_https);
      if (name == "tlsConfig") return decode(value, out.tls);
      if (name == "httpTimeout") return in_.read(value, out.http_timeout);
      if (name == "nodeCacheCapable") return in_.read(value, out.node_cache_capable);
      if (name == "managedResources") {
        return in_.list("v1.ExtenderManagedResource", value, out.managed_resources,
                        [&](StrictDecoder&, const JsonValue& item, ManagedResource& resource) {
                          decode(item, resource);
                        });
      }
      if (name == "ignorable") return in_.read(value, out.ignorable);
      return false;
    });
  }

  void decode(const JsonValue& json, ManagedResource& out) {
    in_.object("v1.ExtenderManagedResource", json,
               [&](std::string_view name, const JsonValue& value) {
                 if (name == "name") return in_.read(value, out.name);
                 if (name == "ignoredByScheduler") {
                   return in_.read(value, out.ignored_by_scheduler);
                 }
                 return false;
               });
  }

  bool decode(const JsonValue& json, std::optional<ExtenderTls>& tls) {
    tls.reset();
    if (json.is_null()) return true;
    ExtenderTls& out = tls.emplace();
    in_.object("v1.ExtenderTLSConfig", json, [&](std::string_view name, const JsonValue& value) {
      if (name == "insecure") return in_.read(value, out.insecure);
      if (name == "serverName") return in_.read(value, out.server_name);
      if (name == "certFile") return in_.read(value, out.cert_file);
      if (name == "keyFile") return in_.read(value, out.key_file);
      if (name == "caFile") return in_.read(value, out.ca_file);
      if (name == "certData") return in_.read_base64(value, out.cert_data);
      if (name == "keyData") return in_.read_base64(value, out.key_data);
      if (name == "caData") return in_.read_base64(value, out.ca_data);
      return false;
    });
    return true;
  }

  StrictDecoder in_;
  WrittenConfiguration written_;
  std::vector<WrittenArgs> args_;
};

// ---- arguments of plugins

struct DecodedArgs {
  PluginArgs args;
  std::vector<std::string> strict_errors;
};

Result<DecodedArgs> decode_typed_args(std::string_view plugin, const JsonValue& json,
                                      const FeatureGates& gates, Interner& interner) {
  const auto wrap = [&](std::string_view message) {
    return fail(ErrorKind::kInvalid,
                fmt::format("decoding args for plugin {}: {}", plugin, message));
  };
  Result<TypeMeta> meta = type_meta_of(json);
  if (!meta) return wrap(meta.error().message);
  if (meta->kind.empty()) meta->kind = fmt::format("{}{}", plugin, kArgsSuffix);
  if (meta->version().empty()) meta->api_version = kGroupVersion;
  const std::string_view actual = plugin_of(meta->kind);
  const bool is_configuration = meta->kind == kConfigurationKind;
  if (meta->api_version != kGroupVersion || (actual.empty() && !is_configuration)) {
    return wrap(not_registered(*meta).error().message);
  }
  DecodedArgs decoded;
  StrictDecoder in;
  if (!is_configuration) decoded.args = decode_args(actual, in, json, gates, interner);
  if (const auto error = in.error()) return wrap(*error);
  if (actual != plugin) {
    return fail(ErrorKind::kInvalid,
                fmt::format("args for plugin {0} were not of type {0}{1}.{2}, got {3}.{2}", plugin,
                            kArgsSuffix, kGroup, meta->kind));
  }
  decoded.strict_errors = in.strict_errors();
  return decoded;
}

// Fills in the arguments of all profiles; returns the errors of strict decoding.
Result<std::vector<std::string>> decode_all_args(ConfigurationDecoder& decoder,
                                                 const FeatureGates& gates, Interner& interner) {
  std::vector<std::string> strict_errors;
  for (const WrittenArgs& written : decoder.args()) {
    PluginConfig& config = decoder.written().profiles[written.profile].plugin_config[written.index];
    if (!takes_args(config.name)) {
      if (!written.json) continue;
      JsonValue args = *written.json;
      sort_members(args);
      config.args = OpaqueArgs{to_json(args)};
      continue;
    }
    const std::string place =
        fmt::format("decoding .profiles[{}].pluginConfig[{}]: ", written.profile, written.index);
    Result<DecodedArgs> decoded =
        decode_typed_args(config.name, written.json ? *written.json : JsonValue{}, gates, interner);
    if (!decoded) return fail(ErrorKind::kInvalid, place + decoded.error().message);
    config.args = std::move(decoded->args);
    if (decoded->strict_errors.empty()) continue;
    strict_errors.push_back(fmt::format("{0}{1}decoding args for plugin {2}: {1}{3}", place,
                                        kStrict, config.name,
                                        fmt::join(decoded->strict_errors, ", ")));
  }
  return strict_errors;
}

}  // namespace

Result<WrittenConfiguration> decode_configuration(const JsonValue& json, const FeatureGates& gates,
                                                  Interner& interner) {
  ConfigurationDecoder decoder;
  decoder.decode(json);
  if (auto error = decoder.in().error()) return fail(ErrorKind::kInvalid, std::move(*error));
  Result<std::vector<std::string>> args_errors = decode_all_args(decoder, gates, interner);
  if (!args_errors) return fail(std::move(args_errors.error()));
  std::vector<std::string> strict_errors = decoder.in().strict_errors();
  strict_errors.insert(strict_errors.end(), args_errors->begin(), args_errors->end());
  if (!strict_errors.empty()) {
    return fail(ErrorKind::kInvalid, fmt::format("{}{}", kStrict, fmt::join(strict_errors, ", ")));
  }
  return std::move(decoder.written());
}

}  // namespace berth::config
