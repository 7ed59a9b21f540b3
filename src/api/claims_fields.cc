// Claims and their templates as whole objects.

#include "api/claim_fields.h"
#include "api/kind_decoders.h"

namespace berth {

template <>
struct Fields<ResourceClaim>
    : FieldList<"api.resource.v1.ResourceClaim", MetadataWithAnnotations,
                Field<"spec", &ResourceClaim::spec>, Field<"status", &ResourceClaim::status>> {};

// Of the metadata that claims get from their template only the annotations count.
inline constexpr auto read_claim_annotations = [](auto& reader, SymbolHold& symbols,
                                                  ResourceClaimTemplate& object) {
  WrittenMeta of_claims;
  of_claims.with_annotations = true;
  Fields<WrittenMeta>::read(reader, symbols, of_claims);
  object.annotations = std::move(of_claims.annotations);
};

template <>
struct Fields<ResourceClaimTemplate>
    : FieldList<"api.resource.v1.ResourceClaimTemplate", Metadata,
                Inside<"spec", Custom<"metadata", read_claim_annotations>,
                       Field<"spec", &ResourceClaimTemplate::spec>>> {};

template <>
void take_metadata(WrittenObject<ResourceClaim>& written) {
  ResourceClaim& claim = written.object;
  WrittenMeta& meta = written.meta;
  claim.generate_name = std::move(meta.generate_name);
  claim.finalizers = std::move(meta.finalizers);
  claim.annotations = std::move(meta.annotations);
  claim.controller = meta.controller;
  claim.controller_uid = std::move(meta.controller_uid);
  claim.creation_time = meta.creation_time;
  claim.deletion_time = meta.deletion_time;
  set_object(claim, std::move(meta), /*namespaced=*/true);
}

template <typename Reader>
KindDecoder<Reader> claim_decoder(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kResourceClaim: return decode_kind<ResourceClaim, Reader>;
    case ObjectKind::kResourceClaimTemplate: return decode_kind<ResourceClaimTemplate, Reader>;
    default: return nullptr;
  }
}
template KindDecoder<JsonReader> claim_decoder(ObjectKind kind);
template KindDecoder<ProtoReader> claim_decoder(ObjectKind kind);

}  // namespace berth
