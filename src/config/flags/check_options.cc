// Complaints about options of the command line, and the sentences of upstream's elector.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/file.h"
#include "base/go_quote.h"
#include "berth/labels.h"
#include "config/flags/command.h"
#include "config/flags/versions.h"
#include "wire/json_text.h"
#include "wire/json_tree.h"
#include "wire/yaml.h"

namespace berth::config {
namespace {

using Texts = std::vector<std::string>;

bool has_ignoring_case(const Texts& texts, std::string_view wanted) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return same_but_for_case(text, wanted); });
}

void check_serving(const SecureServingOptions& serving, Texts& complaints) {
  // Parity: one of the two sentences is about a server that cannot be switched off.
  if (serving.port > 65535) {
    complaints.push_back(
        fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It cannot be turned "
                    "off with 0",
                    serving.port));
  } else if (serving.port < 0) {
    complaints.push_back(
        fmt::format("--secure-port {} must be between 0 and 65535, inclusive. 0 for turning off "
                    "secure port",
                    serving.port));
  }
}

void check_authentication(const AuthenticationOptions& options, const FeatureGates& gates,
                          Texts& complaints, std::vector<EarlyRecord>& log) {
  const auto refuse_blanks = [&](std::string_view flag, const Texts& names) {
    if (std::ranges::any_of(names, [](const auto& name) { return trimmed(name).empty(); })) {
      complaints.push_back(fmt::format("empty value in {}", go_quoted(flag)));
    }
  };
  refuse_blanks("requestheader-username-headers", options.request_header_username_headers);
  refuse_blanks("requestheader-group-headers", options.request_header_group_headers);
  refuse_blanks("requestheader-extra-headers-prefix", options.request_header_extra_prefixes);
  refuse_blanks("requestheader-allowed-names", options.request_header_allowed_names);

  const auto warn_without = [&](std::string_view flag, const Texts& headers,
                                std::string_view standard, std::string_view what, int line) {
    if (headers.empty() || has_ignoring_case(headers, standard)) return;
    EarlyRecord record;
    record.severity = EarlyRecord::Severity::kWarning;
    record.caller = fmt::format("options/authentication.go:{}", line);
    record.quoted = false;
    record.message = fmt::format(
        "--{} is set without specifying the standard {} {} - API aggregation will not "
        "work",
        flag, standard, what);
    log.push_back(std::move(record));
  };
  warn_without("requestheader-username-headers", options.request_header_username_headers,
               "X-Remote-User", "header", 84);
  warn_without("requestheader-group-headers", options.request_header_group_headers,
               "X-Remote-Group", "header", 87);
  warn_without("requestheader-extra-headers-prefix", options.request_header_extra_prefixes,
               "X-Remote-Extra-", "header prefix", 90);

  const Texts& uid_headers = options.request_header_uid_headers;
  if (!gates.enabled("RemoteRequestHeaderUID")) {
    if (!uid_headers.empty()) {
      complaints.emplace_back(
          "--requestheader-uid-headers requires the \"RemoteRequestHeaderUID\" feature to be "
          "enabled");
    }
    return;
  }
  refuse_blanks("requestheader-uid-headers", uid_headers);
  if (!uid_headers.empty() && !has_ignoring_case(uid_headers, "X-Remote-Uid")) {
    complaints.emplace_back(
        "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - "
        "API aggregation will not work");
  }
}

bool is_name(std::string_view text, bool colons) {
  const auto begins = [&](char c) { return is_letter(c) || c == '_' || (colons && c == ':'); };
  const auto goes_on = [&](char c) { return begins(c) || is_digit(c); };
  return !text.empty() && begins(text.front()) && std::ranges::all_of(text, goes_on);
}

bool is_metric_label(std::string_view key) {
  const std::size_t comma = key.find(',');
  return comma != std::string_view::npos && is_name(key.substr(0, comma), true) &&
         is_name(key.substr(comma + 1), false);
}

JsonValue to_tree(const Texts& texts) {
  JsonValue tree = JsonValue::array();
  for (const std::string& text : texts) tree.items.push_back(JsonValue::of_text(text));
  return tree;
}

JsonValue to_tree(const std::map<std::string, std::string>& map) {
  JsonValue tree = JsonValue::object();
  for (const auto& [key, value] : map) tree.add(key, JsonValue::of_text(value));
  return tree;
}

// Nothing, or the one complaint about keys that are not "metric,label".
std::string label_complaint(std::string_view path,
                            const std::map<std::string, std::string>& labels) {
  for (const auto& [key, values] : labels) {
    if (is_metric_label(key)) continue;
    return fmt::format(
        "{}: Invalid value: {}: must have keys with format `metricName,labelName` where "
        "metricName matches \"[a-zA-Z_:][a-zA-Z0-9_:]*\" and labelName matches "
        "\"[a-zA-Z_][a-zA-Z0-9_]*\"",
        path, to_json(to_tree(labels)));
  }
  return {};
}

Result<std::map<std::string, std::string>> read_labels(std::string_view yaml) {
  Result<std::vector<YamlDocument>> documents = parse_yaml(yaml);
  if (!documents) return fail(std::move(documents.error()));
  std::map<std::string, std::string> labels;
  if (documents->empty()) return labels;
  const Result<JsonValue> tree = parse_json(documents->front().json);
  if (!tree) return fail(tree.error());
  const auto no_text = [](std::string_view what) {
    return fail(ErrorKind::kInvalid,
                fmt::format("yaml: unmarshal errors: cannot unmarshal {} into string", what));
  };
  if (tree->kind != JsonValue::Kind::kObject) return no_text("the document");
  for (const JsonMember& member : tree->members) {
    using enum JsonValue::Kind;
    if (member.value.kind == kObject) return no_text("!!map");
    if (member.value.kind == kArray) return no_text("!!seq");
    const bool scalar = member.value.kind == kString || member.value.kind == kNumber;
    labels[member.name] = scalar                       ? member.value.text
                          : member.value.kind == kNull ? ""
                                                       : to_json(member.value);
  }
  return labels;
}

std::string manifest_complaint(const std::string& path) {
  const auto invalid = [&](std::string_view what) {
    return fmt::format("metrics.allowListMappingManifest: Invalid value: {}: {}", go_quoted(path),
                       what);
  };
  const Result<std::map<std::string, std::string>> labels = read_allowed_labels(path);
  if (!labels) return invalid(labels.error().message);
  const std::string complaint = label_complaint("metrics.allowListMappingManifest", *labels);
  if (complaint.empty()) return {};
  return invalid(fmt::format("invalid allow list mapping in manifest: [{}]", complaint));
}

void check_metrics(const MetricsOptions& options, Texts& complaints) {
  const std::string previous = previous_major_minor();
  if (!options.show_hidden_for_version.empty() && options.show_hidden_for_version != previous) {
    complaints.push_back(
        fmt::format("metrics.showHiddenMetricsForVersion: Invalid value: {}: must be omitted or "
                    "have the value '{}'; only the previous minor version is allowed",
                    go_quoted(options.show_hidden_for_version), previous));
  }
  const auto stranger = std::ranges::find_if_not(
      options.disabled, [](const std::string& name) { return is_name(name, true); });
  if (stranger != options.disabled.end()) {
    complaints.push_back(
        fmt::format("metrics.disabledMetrics: Invalid value: {}: must be fully qualified metric "
                    "names matching \"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got {}",
                    to_json(to_tree(options.disabled)), go_quoted(*stranger)));
  }
  if (std::string complaint = label_complaint("metrics.allowListMapping", options.allowed_labels);
      !complaint.empty()) {
    complaints.push_back(std::move(complaint));
  }
  if (options.allowed_labels_manifest.empty()) return;
  if (std::string complaint = manifest_complaint(options.allowed_labels_manifest);
      !complaint.empty()) {
    complaints.push_back(std::move(complaint));
  }
  if (!options.allowed_labels.empty()) {
    JsonValue all = JsonValue::object();
    if (!options.show_hidden_for_version.empty()) {
      all.add("showHiddenMetricsForVersion", JsonValue::of_text(options.show_hidden_for_version));
    }
    if (!options.disabled.empty()) all.add("disabledMetrics", to_tree(options.disabled));
    all.add("allowListMapping", to_tree(options.allowed_labels));
    all.add("allowListMappingManifest", JsonValue::of_text(options.allowed_labels_manifest));
    complaints.push_back(
        fmt::format("metrics: Invalid value: {}: cannot specify both allowListMapping and "
                    "allowListMappingManifest",
                    to_json(all)));
  }
}

void warn_about_emulation(const SchedulerOptions& options, std::vector<EarlyRecord>& log) {
  // Parity: the version that is emulated has no patch number, so that it is always an earlier one.
  Texts enabled;
  for (const Gate& known : known_gates()) {
    const Gate gate = *options.gates.find(known.name);
    if (gate.stage == Gate::Stage::kAlpha && options.gates.enabled(gate.name)) {
      enabled.emplace_back(gate.name);
    }
  }
  if (enabled.empty()) return;
  EarlyRecord record;
  record.severity = EarlyRecord::Severity::kWarning;
  record.caller = "compatibility/registry.go:440";
  record.quoted = false;
  record.message = fmt::format(
      "component has alpha features enabled in emulated version, this is unsupported: "
      "features=[{}]",
      fmt::join(enabled, " "));
  log.push_back(std::move(record));
}

void warn_about_gates(const FeatureGates& gates, std::vector<EarlyRecord>& log) {
  for (const std::string_view name : gates.without_effect()) {
    EarlyRecord record;
    record.severity = EarlyRecord::Severity::kWarning;
    record.caller = "featuregate/feature_gate.go:362";
    record.message = "Feature gate is on, but berth does not act upon it";
    record.fields = {{"featureGate", go_quoted(name)}};
    log.push_back(std::move(record));
  }
}

}  // namespace

std::expected<void, CommandFailure> check_options(const SchedulerCommand& command,
                                                  std::vector<EarlyRecord>& log) {
  const SchedulerOptions& options = command.options;
  Texts complaints = command.complaints;
  warn_about_emulation(options, log);
  warn_about_gates(options.gates, log);
  check_serving(options.secure_serving, complaints);
  check_authentication(options.authentication, options.gates, complaints, log);
  check_metrics(options.metrics, complaints);
  if (complaints.empty()) return {};
  std::string message = aggregate(complaints).message;
  return std::unexpected(CommandFailure{std::move(message), std::move(complaints)});
}

Result<void> check_client(const ClientConnection& connection) {
  if (connection.qps > 0 && connection.burst <= 0) {
    return fail(ErrorKind::kInvalid,
                "burst is required to be greater than 0 when RateLimiter is not set and QPS is set "
                "to greater than 0");
  }
  return {};
}

Result<void> check_election(const LeaderElection& election, bool only_lock) {
  const auto invalid = [](std::string message) {
    return fail(ErrorKind::kInvalid, std::move(message));
  };
  if (!election.leader_elect) return {};
  const std::string& lock = election.resource_lock;
  if (lock == "endpoints" || lock == "configmaps" || lock == "endpointsleases") {
    return invalid(
        fmt::format("couldn't create resource lock: {} lock is removed, migrate to leases", lock));
  }
  if (lock == "configmapsleases") {
    return invalid(
        "couldn't create resource lock: configmapsleases lock is removed, migrated to leases");
  }
  if (lock != "leases") {
    return invalid(fmt::format("couldn't create resource lock: Invalid lock-type {}", lock));
  }
  if (only_lock) return {};
  const auto elector = [&](std::string_view what) {
    return invalid(fmt::format("couldn't create leader elector: {}", what));
  };
  if (election.lease_duration <= election.renew_deadline) {
    return elector("leaseDuration must be greater than renewDeadline");
  }
  const Duration jittered(
      static_cast<Duration::rep>(1.2 * static_cast<double>(election.retry_period.count())));
  if (election.renew_deadline <= jittered) {
    return elector("renewDeadline must be greater than retryPeriod*JitterFactor");
  }
  if (election.lease_duration < std::chrono::nanoseconds(1)) {
    return elector("leaseDuration must be greater than zero");
  }
  if (election.renew_deadline < std::chrono::nanoseconds(1)) {
    return elector("renewDeadline must be greater than zero");
  }
  if (election.retry_period < std::chrono::nanoseconds(1)) {
    return elector("retryPeriod must be greater than zero");
  }
  return {};
}

Result<std::map<std::string, std::string>> read_allowed_labels(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text)
    return fail(text.error().kind,
                fmt::format("failed to read allow list manifest: {}", text.error().message));
  Result<std::map<std::string, std::string>> labels = read_labels(*text);
  if (!labels)
    return fail(labels.error().kind,
                fmt::format("failed to parse allow list manifest: {}", labels.error().message));
  return labels;
}

}  // namespace berth::config
