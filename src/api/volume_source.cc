#include "api/volume_source.h"

#include <algorithm>
#include <array>
#include <span>

#include "api/object_json.h"
#include "api/object_proto.h"

namespace berth {
namespace {

// A part of a source: its name in JSON, its number in protobuf; none: it has no such part.
struct Part {
  std::string_view field;
  std::uint32_t number = 0;
};

struct SourceFields {
  std::string_view field;
  std::uint32_t number;  // in protobuf
  VolumeSource source;
  Part name;  // what the source is called
  Part read_only = {};
  Part detail = {};
  Part kind = {};
};

constexpr SourceFields kGceDisk{
    "gcePersistentDisk", 3, VolumeSource::kGcePersistentDisk, {"pdName", 1}, {"readOnly", 4}};
constexpr SourceFields kEbs{"awsElasticBlockStore",
                            4,
                            VolumeSource::kAwsElasticBlockStore,
                            {"volumeID", 1},
                            {"readOnly", 4}};
constexpr SourceFields kIscsi{"iscsi", 8, VolumeSource::kIscsi, {"iqn", 2}, {"readOnly", 6}};
constexpr SourceFields kRbd{"rbd",           11,         VolumeSource::kRbd, {"image", 2},
                            {"readOnly", 8}, {"pool", 4}};
constexpr SourceFields kCinder{
    "cinder", 13, VolumeSource::kCinder, {"volumeID", 1}, {"readOnly", 3}};
constexpr SourceFields kAzureFile{
    "azureFile",      18, VolumeSource::kAzureFile, {"shareName", 2}, {"readOnly", 3},
    {"secretName", 1}};
constexpr SourceFields kVsphere{
    "vsphereVolume", 20, VolumeSource::kVsphereVolume, {"volumePath", 1}};
constexpr SourceFields kAzureDisk{
    "azureDisk",    22,         VolumeSource::kAzureDisk, {"diskName", 1}, {"readOnly", 5},
    {"diskURI", 2}, {"kind", 6}};
constexpr SourceFields kPortworx{
    "portworxVolume", 24, VolumeSource::kPortworxVolume, {"volumeID", 1}, {"readOnly", 3}};

constexpr SourceFields kPodSources[] = {
    {"persistentVolumeClaim",
     10,
     VolumeSource::kPersistentVolumeClaim,
     {"claimName", 1},
     {"readOnly", 2}},
    {"ephemeral", 29, VolumeSource::kEphemeral, {}},
    {"configMap", 19, VolumeSource::kConfigMap, {"name", 1}},
    {"secret", 6, VolumeSource::kSecret, {"secretName", 1}},
    kGceDisk,
    kEbs,
    kAzureDisk,
    kIscsi,
    kRbd,
    // volumeHandle is there in a PersistentVolume only.
    {"csi", 28, VolumeSource::kCsi, {"driver", 1}, {"readOnly", 2}, {"volumeHandle", 0}},
    kCinder,
    kAzureFile,
    kVsphere,
    kPortworx,
    {"image", 30, VolumeSource::kImage, {"reference", 1}},
};

constexpr SourceFields numbered(SourceFields fields, std::uint32_t number) {
  fields.number = number;
  return fields;
}

constexpr SourceFields kPersistentVolumeSources[] = {
    numbered(kGceDisk, 1),
    numbered(kEbs, 2),
    numbered(kRbd, 6),
    numbered(kIscsi, 7),
    numbered(kCinder, 8),
    numbered(kAzureFile, 13),
    numbered(kVsphere, 14),
    numbered(kAzureDisk, 16),
    numbered(kPortworx, 18),
    {"csi", 22, VolumeSource::kCsi, {"driver", 1}, {"readOnly", 3}, {"volumeHandle", 2}},
};

constexpr std::string_view kMonitors = "monitors";
constexpr std::uint32_t kMonitorsNumber = 1;

// What an API server fills in.
void set_defaults(Volume& volume, SymbolHold& symbols) {
  if (volume.source == VolumeSource::kRbd && volume.detail.empty())
    volume.detail = symbols.intern("rbd");
}

// A config map's name stands in a message of its own, which in JSON does not show.
Symbol read_source_name(ProtoReader& proto, SymbolHold& symbols, VolumeSource source) {
  if (source != VolumeSource::kConfigMap) return read_symbol(proto, symbols);
  Symbol name;
  proto.fields([&](std::uint32_t field) {
    if (field == 1) name = read_symbol(proto, symbols);
  });
  return name;
}

void read_source(ProtoReader& proto, SymbolHold& symbols, std::uint32_t number,
                 std::span<const SourceFields> sources, Volume& volume) {
  const auto known = std::ranges::find(sources, number, &SourceFields::number);
  if (known == sources.end()) return;
  volume.source = known->source;
  proto.fields([&](std::uint32_t field) {
    if (field == known->read_only.number) {
      volume.read_only = proto.boolean();
    } else if (field == known->name.number) {
      volume.source_name = read_source_name(proto, symbols, known->source);
    } else if (field == known->detail.number) {
      volume.detail = read_symbol(proto, symbols);
    } else if (field == known->kind.number) {
      volume.kind = read_symbol(proto, symbols);
    } else if (known->source == VolumeSource::kRbd && field == kMonitorsNumber) {
      append_symbol(proto, symbols, volume.monitors);
    }
  });
  set_defaults(volume, symbols);
}

}  // namespace

void read_volume_source(JsonReader& json, SymbolHold& symbols, std::string_view name,
                        Volume& volume) {
  const auto* const known = std::ranges::find(kPodSources, name, &SourceFields::field);
  if (known == std::end(kPodSources)) return;
  volume.source = known->source;
  json.fields([&](std::string_view part) {
    if (part == known->read_only.field) {
      volume.read_only = json.boolean();
    } else if (part == known->name.field) {
      volume.source_name = symbols.intern(json.text());
    } else if (part == known->detail.field) {
      volume.detail = symbols.intern(json.text());
    } else if (part == known->kind.field) {
      volume.kind = symbols.intern(json.text());
    } else if (known->source == VolumeSource::kRbd && part == kMonitors) {
      volume.monitors = read_symbols(json, symbols);
    }
  });
  set_defaults(volume, symbols);
}

void read_volume_source(ProtoReader& proto, SymbolHold& symbols, std::uint32_t number,
                        Volume& volume) {
  read_source(proto, symbols, number, kPodSources, volume);
}

void read_persistent_volume_source(ProtoReader& proto, SymbolHold& symbols, std::uint32_t number,
                                   Volume& volume) {
  read_source(proto, symbols, number, kPersistentVolumeSources, volume);
}

}  // namespace berth
