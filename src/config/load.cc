// From a file to a checked configuration.
#include "config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/file.h"
#include "config/decode.h"
#include "config/defaults.h"
#include "config/plugin_args.h"
#include "config/strict_decoder.h"
#include "config/type_meta.h"
#include "wire/json_tree.h"
#include "wire/yaml.h"

namespace berth::config {
namespace {

// Of several YAML documents the first one counts, whatever the others are.
std::string_view first_document(std::string_view text) {
  bool content = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::string_view words = trimmed(line);
    const std::string_view rest = line.substr(std::min<std::size_t>(3, line.size()));
    const bool marker_ends =
        rest.empty() || rest.starts_with(' ') || rest.starts_with('\t') || rest.starts_with('\r');
    if (line.starts_with("---") && marker_ends) {
      if (content) return text.substr(0, begin);
      content = true;  // an empty document counts as well
    } else if (line.starts_with("...") && marker_ends) {
      if (content) return text.substr(0, begin);
    } else if (!words.empty() && !words.starts_with('#') && !line.starts_with('%')) {
      content = true;
    }
    begin = end + 1;
  }
  return text;
}

Result<JsonValue> read_tree(std::string_view text) {
  if (trimmed(text).starts_with('{')) {
    Result<JsonValue> json = parse_json(text);
    if (json) return json;
    return fail(ErrorKind::kInvalid, fmt::format("couldn't get version/kind; json parse error: {}",
                                                 json.error().message));
  }
  Result<std::vector<YamlDocument>> documents = parse_yaml(first_document(text));
  if (!documents) {
    std::string& message = documents.error().message;
    if (message.contains("already set in map")) message.insert(0, kStrict);
    return fail(std::move(documents.error()));
  }
  if (documents->empty()) return JsonValue{};
  Result<JsonValue> json = parse_json(documents->front().json);
  // Upstream goes through maps, which have no order of their own.
  if (json) sort_members(*json);
  return json;
}

// An object of another kind that this scheme knows: decoded for its errors, and then refused.
std::unexpected<Error> refuse_args_kind(const TypeMeta& meta, const JsonValue& json,
                                        const FeatureGates& gates, Interner& interner) {
  StrictDecoder in;
  decode_args(plugin_of(meta.kind), in, json, gates, interner);
  if (auto error = in.error()) return fail(ErrorKind::kInvalid, std::move(*error));
  if (!in.strict_errors().empty()) {
    return fail(ErrorKind::kInvalid,
                fmt::format("{}{}", kStrict, fmt::join(in.strict_errors(), ", ")));
  }
  return fail(ErrorKind::kInvalid, fmt::format("couldn't decode as {}, got {}, Kind={}: ",
                                               kConfigurationKind, meta.api_version, meta.kind));
}

// Parity: the arguments of NodeResourcesFit are checked where upstream builds the plugin, so only
// if it is enabled, and with the words of building.
Result<void> check_fit_args(const Configuration& configuration) {
  for (const Profile& profile : configuration.profiles) {
    const std::vector<std::string_view> enabled = enabled_plugins(profile.plugins);
    if (!std::ranges::binary_search(enabled, "NodeResourcesFit")) continue;
    for (const PluginConfig& config : profile.plugin_config) {
      const auto* args = std::get_if<NodeResourcesFitArgs>(&config.args);
      if (config.name != "NodeResourcesFit" || !args) continue;
      const std::vector<std::string> problems = validate(*args);
      if (problems.empty()) continue;
      return fail(ErrorKind::kInvalid,
                  fmt::format("initializing profiles: creating profile for scheduler name {}: "
                              "initializing plugin \"NodeResourcesFit\": {}",
                              profile.scheduler_name, aggregate(problems).message));
    }
  }
  return {};
}

}  // namespace

Result<Configuration> parse_configuration(std::string_view text, const FeatureGates& gates,
                                          Interner& interner, const Amendment& amend) {
  Result<JsonValue> json = read_tree(text);
  if (!json) return fail(std::move(json.error()));
  Result<TypeMeta> meta = type_meta_of(*json);
  if (!meta) return fail(std::move(meta.error()));
  if (meta->kind.empty()) {
    return fail(ErrorKind::kInvalid, fmt::format("Object 'Kind' is missing in '{}'", text));
  }
  if (meta->version().empty()) {
    return fail(ErrorKind::kInvalid, fmt::format("Object 'apiVersion' is missing in '{}'", text));
  }
  if (meta->api_version != kGroupVersion) return not_registered(*meta);
  if (!plugin_of(meta->kind).empty()) return refuse_args_kind(*meta, *json, gates, interner);
  if (meta->kind != kConfigurationKind) return not_registered(*meta);

  Result<WrittenConfiguration> written = decode_configuration(*json, gates, interner);
  if (!written) return fail(std::move(written.error()));
  Configuration configuration = with_defaults(std::move(*written), gates);
  if (amend) amend(configuration);
  if (Result<void> valid = validate(configuration, gates); !valid) {
    return fail(std::move(valid.error()));
  }
  if (Result<void> ignored = ignore_extender_resources(configuration); !ignored) {
    return fail(std::move(ignored.error()));
  }
  if (Result<void> valid = check_fit_args(configuration); !valid) {
    return fail(std::move(valid.error()));
  }
  return configuration;
}

Result<void> ignore_extender_resources(Configuration& configuration) {
  std::vector<std::string> ignored;
  for (const ExtenderConfig& extender : configuration.extenders) {
    for (const ManagedResource& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
    }
  }
  if (ignored.empty()) return {};
  for (Profile& profile : configuration.profiles) {
    const auto fit =
        std::ranges::find(profile.plugin_config, "NodeResourcesFit", &PluginConfig::name);
    auto* const args = fit == profile.plugin_config.end()
                           ? nullptr
                           : std::get_if<NodeResourcesFitArgs>(&fit->args);
    if (!args) {
      return fail(ErrorKind::kInvalid,
                  "couldn't build extenders: can't find NodeResourcesFitArgs in plugin config");
    }
    args->ignored_resources = ignored;
  }
  return {};
}

Result<Configuration> load_configuration(const std::string& path, const FeatureGates& gates,
                                         Interner& interner, const Amendment& amend) {
  Result<std::string> text = read_file(path);
  if (!text) return fail(std::move(text.error()));
  return parse_configuration(*text, gates, interner, amend);
}

}  // namespace berth::config
