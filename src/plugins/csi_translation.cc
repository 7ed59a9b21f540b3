#include "plugins/csi_translation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/names.h"
#include "api/storage.h"
#include "base/ascii.h"
#include "base/go_quote.h"

namespace berth::plugins {
namespace {

using Affinity = std::optional<std::vector<NodeSelectorTerm>>;

constexpr InTreeVolumeType kTypes[] = {
    {VolumeSource::kAwsElasticBlockStore, "kubernetes.io/aws-ebs", "ebs.csi.aws.com",
     "topology.ebs.csi.aws.com/zone", true},
    {VolumeSource::kGcePersistentDisk, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io",
     "topology.gke.io/zone", true},
    {VolumeSource::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org",
     "topology.cinder.csi.openstack.org/zone", true},
    // Parity: Azure's zones are not translated, though its driver has a key for them.
    {VolumeSource::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", "", true},
    {VolumeSource::kPortworxVolume, "kubernetes.io/portworx-volume", "pxd.portworx.com", "", true},
    {VolumeSource::kAzureFile, "kubernetes.io/azure-file", "file.csi.azure.com", "", false},
    {VolumeSource::kVsphereVolume, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com",
     "topology.csi.vmware.com/zone", false},
};

constexpr std::string_view kZoneDelimiter = "__";
constexpr std::string_view kUnspecified = "UNSPECIFIED";

std::unexpected<Error> invalid(std::string text) {
  return fail(ErrorKind::kInvalid, std::move(text));
}

std::vector<std::string_view> split(std::string_view text, std::string_view delimiter) {
  std::vector<std::string_view> pieces;
  for (std::size_t end; (end = text.find(delimiter)) != std::string_view::npos;
       text.remove_prefix(end + delimiter.size()))
    pieces.push_back(text.substr(0, end));
  pieces.push_back(text);
  return pieces;
}

// ---- "aws://zone/vol-1": a URL, with the complaints that upstream's parser of URLs has ----------

Result<std::string> unescaped(std::string_view text, bool is_host) {
  constexpr std::string_view kHostMarks = "-_.~!$&'()*+,;=:[]<>\"";
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
      const int low = high < 0 ? -1 : hex_value(text[i + 2]);
      // In a host only what is not ASCII may be escaped, and the sign of an escape itself.
      if (low < 0 || (is_host && high < 8 && text.substr(i, 3) != "%25"))
        return invalid("invalid URL escape " + go_quoted(text.substr(i, 3)));
      plain += static_cast<char>(high * 16 + low);
      i += 2;
      continue;
    }
    const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
    if (is_host && is_ascii && !is_alphanumeric(c) && kHostMarks.find(c) == std::string_view::npos)
      return invalid(
          fmt::format("invalid character {} in host name", go_quoted(text.substr(i, 1))));
    plain += c;
  }
  return plain;
}

Result<std::string> path_of_aws_url(std::string_view url) {
  if (std::ranges::any_of(url, [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; }))
    return invalid("net/url: invalid control character in URL");
  std::string_view rest = url.substr(std::string_view("aws://").size());
  rest = rest.substr(0, rest.find('?'));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view host = rest.substr(0, slash);
  if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos)
    if (host.find_first_not_of("0123456789", colon + 1) != std::string_view::npos)
      return invalid(fmt::format("invalid port {} after host", go_quoted(host.substr(colon))));
  if (Result<std::string> plain = unescaped(host, true); !plain) return plain;
  return unescaped(rest.substr(slash), false);
}

// "vol-1", or the last part of "aws://zone/vol-1".
Result<std::string> ebs_handle(std::string_view id) {
  if (!id.starts_with("aws://")) return std::string(id);
  const std::string failed = "failed to translate Kubernetes ID to EBS Volume ID ";
  const std::string_view url = id.substr(0, id.find('#'));
  Result<std::string> path = path_of_aws_url(url);
  if (!path)
    return invalid(fmt::format("{}Invalid disk name ({}): parse {}: {}", failed, id, go_quoted(url),
                               path.error().message));
  std::string_view name = *path;
  while (name.starts_with('/')) name.remove_prefix(1);
  while (name.ends_with('/')) name.remove_suffix(1);
  if (!name.starts_with("vol-") || name.find('/') != std::string_view::npos)
    return invalid(fmt::format("{}Invalid format for AWS volume ({})", failed, id));
  return std::string(name);
}

std::string gce_handle(std::string_view place, std::string_view name, std::string_view disk) {
  return fmt::format("projects/{}/{}/{}/disks/{}", kUnspecified, place, name, disk);
}

// The region of zones like "us-central1-a", which must all be in one.
Result<std::string> gce_region(const std::vector<std::string_view>& zones) {
  std::set<std::string> regions;
  for (const std::string_view zone : zones) {
    const std::vector<std::string_view> parts = split(zone, "-");
    if (parts.size() != 3)
      return invalid(fmt::format(
          "zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {}", zone));
    regions.insert(fmt::format("{}-{}", parts[0], parts[1]));
  }
  if (regions.size() == 1) return *regions.begin();
  std::string listed;
  for (const std::string& region : regions)
    listed += fmt::format("{}{}:{{}}", listed.empty() ? "" : " ", region);
  return invalid(fmt::format("multiple or no regions gotten from zones, got: map[{}]", listed));
}

// A disk that is copied to several zones is known by its region.
Result<std::string> gce_handle_of(const PersistentVolume& volume, std::string_view disk) {
  const Symbols& symbols = *volume.symbols.table();
  // Parity: unlike for the affinity, the old label comes first.
  std::string_view label = symbols.text(volume.labels.get(names::kBetaZone));
  if (label.empty()) label = symbols.text(volume.labels.get(names::kZone));
  const std::vector<std::string_view> zones = zones_in_label(label);
  if (zones.size() == 1)
    return gce_handle("zones", zones[0].empty() ? kUnspecified : zones[0], disk);
  Result<std::string> region = gce_region(zones);
  if (!region)
    return invalid(fmt::format("failed to get region from zones: {}", region.error().message));
  return gce_handle("regions", *region, disk);
}

Result<std::string> azure_disk_handle(std::string_view uri, std::string_view kind) {
  if (!kind.empty() && !same_but_for_case(kind, "managed"))
    return invalid(fmt::format("kind({}) is not supported in csi migration", kind));
  return std::string(uri);
}

// ---- topology -----------------------------------------------------------------------------------

bool has_key(const Affinity& affinity, Symbol key) {
  if (!affinity) return false;
  for (const NodeSelectorTerm& term : *affinity)
    for (const SelectorRequirement& requirement : term.match_expressions)
      if (requirement.key == key) return true;
  return false;
}

bool has_values(const Affinity& affinity, Symbol key) {
  if (!affinity) return false;
  for (const NodeSelectorTerm& term : *affinity)
    for (const SelectorRequirement& requirement : term.match_expressions)
      if (requirement.key == key && !requirement.values.empty()) return true;
  return false;
}

void rename_key(Affinity& affinity, Symbol key, Symbol renamed) {
  for (NodeSelectorTerm& term : *affinity)
    for (SelectorRequirement& requirement : term.match_expressions)
      if (requirement.key == key) requirement.key = renamed;
}

// Whether the volume names zones by the old key: its affinity takes precedence over its labels.
bool uses_beta_labels(const PersistentVolume& volume) {
  if (has_key(volume.node_affinity, names::kZone)) return false;
  if (has_key(volume.node_affinity, names::kBetaZone)) return true;
  return !volume.labels.contains(names::kZone) && volume.labels.contains(names::kBetaZone);
}

// Every term demands one of the zones, too.
void demand_zones(Affinity& affinity, Symbol key, std::string_view label, SymbolHold& symbols) {
  std::set<std::string_view> zones;
  for (const std::string_view zone : zones_in_label(label))
    if (!trimmed(zone).empty()) zones.insert(trimmed(zone));
  if (zones.empty()) return;
  SelectorRequirement requirement;
  requirement.key = key;
  for (const std::string_view zone : zones) requirement.values.push_back(symbols.intern(zone));
  if (!affinity) affinity.emplace();
  if (affinity->empty()) affinity->emplace_back();
  for (NodeSelectorTerm& term : *affinity) term.match_expressions.push_back(requirement);
}

}  // namespace

bool InTreeVolumeType::is_migrated_on(const CSINode* node) const {
  if (!migrated || !node) return false;
  const std::vector<std::string_view> named = split(node->migrated_plugins, ",");
  return std::ranges::find(named, plugin) != named.end();
}

const InTreeVolumeType* in_tree_type(VolumeSource source) {
  const auto* found = std::ranges::find(kTypes, source, &InTreeVolumeType::source);
  return found == std::end(kTypes) ? nullptr : found;
}

const InTreeVolumeType* in_tree_type(std::string_view plugin) {
  const auto* found = std::ranges::find(kTypes, plugin, &InTreeVolumeType::plugin);
  return found == std::end(kTypes) ? nullptr : found;
}

Result<std::string> csi_handle(const PersistentVolume& volume) {
  const Symbols& symbols = *volume.symbols.table();
  if (volume.source.source == VolumeSource::kGcePersistentDisk)
    return gce_handle_of(volume, symbols.text(volume.source.source_name));
  return csi_handle(volume.source, symbols);
}

Result<std::string> csi_handle(const Volume& volume, const Symbols& symbols) {
  const std::string_view name = symbols.text(volume.source_name);
  switch (volume.source) {
    case VolumeSource::kAwsElasticBlockStore: return ebs_handle(name);
    case VolumeSource::kGcePersistentDisk: return gce_handle("zones", kUnspecified, name);
    case VolumeSource::kAzureDisk:
      return azure_disk_handle(symbols.text(volume.detail), symbols.text(volume.kind));
    default: return std::string(name);
  }
}

Result<Affinity> csi_node_affinity(const PersistentVolume& volume, SymbolHold& symbols) {
  if (Result<std::string> handle = csi_handle(volume); !handle) return fail(handle.error());
  Affinity affinity = volume.node_affinity;
  const InTreeVolumeType* type = in_tree_type(volume.source.source);
  if (!type || type->topology_key.empty()) return affinity;

  const bool beta = uses_beta_labels(volume);
  const Symbol zone = beta ? names::kBetaZone : names::kZone;
  const Symbol driver_zone = symbols.intern(type->topology_key);
  if (has_values(affinity, zone))
    rename_key(affinity, zone, driver_zone);
  else if (const Symbol* label = volume.labels.find(zone))
    demand_zones(affinity, driver_zone, volume.symbols.text(*label), symbols);
  // Nodes may have lost their old labels.
  if (beta && has_values(affinity, names::kBetaRegion))
    rename_key(affinity, names::kBetaRegion, names::kRegion);
  return affinity;
}

std::vector<std::string_view> zones_in_label(std::string_view value) {
  return split(value, kZoneDelimiter);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace berth::plugins
