// Where a volume comes from: which member takes which field, of a pod's volumes and of a
// PersistentVolume, whose sources have the same parts in messages of their own. For the lists of
// this room.
#pragma once

#include <functional>

#include "api/fields.h"
#include "berth/pod.h"

namespace berth {

template <VolumeSource Source>
inline constexpr auto set_source = [](SymbolHold&, Volume& volume) { volume.source = Source; };

template <FieldName Name, VolumeSource Source, typename... Parts>
using SourceField = Inside<Name, Before<set_source<Source>>, Parts...>;
template <FieldName Name>
using SourceName = Field<Name, &Volume::source_name>;
template <FieldName Name>
using SourceDetail = Field<Name, &Volume::detail>;
using SourceReadOnly = Field<"readOnly", &Volume::read_only>;

// What an API server fills in.
inline constexpr auto set_default_pool = [](SymbolHold& symbols, Volume& volume) {
  if (volume.detail.empty()) volume.detail = symbols.intern("rbd");
};

using GcePersistentDisk = SourceField<"gcePersistentDisk", VolumeSource::kGcePersistentDisk,
                                      SourceName<"pdName">, SourceReadOnly>;
using AwsElasticBlockStore =
    SourceField<"awsElasticBlockStore", VolumeSource::kAwsElasticBlockStore, SourceName<"volumeID">,
                SourceReadOnly>;
using Iscsi = SourceField<"iscsi", VolumeSource::kIscsi, SourceName<"iqn">, SourceReadOnly>;
using Rbd = SourceField<"rbd", VolumeSource::kRbd, SourceName<"image">, SourceReadOnly,
                        SourceDetail<"pool">, Field<"monitors", &Volume::monitors>,
                        After<set_default_pool>>;
using Cinder = SourceField<"cinder", VolumeSource::kCinder, SourceName<"volumeID">, SourceReadOnly>;
using AzureFile = SourceField<"azureFile", VolumeSource::kAzureFile, SourceName<"shareName">,
                              SourceReadOnly, SourceDetail<"secretName">>;
using AzureDisk =
    SourceField<"azureDisk", VolumeSource::kAzureDisk, SourceName<"diskName">, SourceReadOnly,
                SourceDetail<"diskURI">, Field<"kind", &Volume::kind>>;
using VsphereVolume =
    SourceField<"vsphereVolume", VolumeSource::kVsphereVolume, SourceName<"volumePath">>;
using PortworxVolume = SourceField<"portworxVolume", VolumeSource::kPortworxVolume,
                                   SourceName<"volumeID">, SourceReadOnly>;

// Of a PersistentVolume, into its Volume.
template <auto Member>
using PersistentVolumeSourceFields =
    Inline<"api.core.v1.PersistentVolumeSource", Member, GcePersistentDisk, AwsElasticBlockStore,
           Iscsi, Rbd, Cinder, AzureFile, AzureDisk, VsphereVolume, PortworxVolume,
           SourceField<"csi", VolumeSource::kCsi, SourceName<"driver">, SourceReadOnly,
                       SourceDetail<"volumeHandle">>>;

template <>
struct Fields<Volume>
    : FieldList<"api.core.v1.Volume", Field<"name", &Volume::name>,
                Inline<"api.core.v1.VolumeSource", std::identity{}, GcePersistentDisk,
                       AwsElasticBlockStore, Iscsi, Rbd, Cinder, AzureFile, AzureDisk,
                       VsphereVolume, PortworxVolume,
                       SourceField<"persistentVolumeClaim", VolumeSource::kPersistentVolumeClaim,
                                   SourceName<"claimName">, SourceReadOnly>,
                       SourceField<"ephemeral", VolumeSource::kEphemeral>,
                       SourceField<"configMap", VolumeSource::kConfigMap,
                                   Inline<"api.core.v1.LocalObjectReference", std::identity{},
                                          SourceName<"name">>>,
                       SourceField<"secret", VolumeSource::kSecret, SourceName<"secretName">>,
                       SourceField<"csi", VolumeSource::kCsi, SourceName<"driver">, SourceReadOnly>,
                       SourceField<"image", VolumeSource::kImage, SourceName<"reference">>>> {};

}  // namespace berth
