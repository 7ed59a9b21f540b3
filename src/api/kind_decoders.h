// The decoders of all kinds but pods, each for both encodings. For decode.h, which is the door; a
// kind's field list stands in the source that defines its decoder.
#pragma once

#include <utility>

#include "api/decode.h"
#include "api/object_fields.h"
#include "berth/interner.h"
#include "berth/object.h"
#include "berth/result.h"
#include "wire/json_reader.h"
#include "wire/proto_reader.h"

namespace berth {

// Makes an object that is still open to changes.
template <typename Reader>
using KindDecoder = Result<Ref<Object>> (*)(Reader& reader, Interner& interner);

// Null: not one of these kinds. Defined for JsonReader and ProtoReader.
template <typename Reader>
KindDecoder<Reader> node_decoder(ObjectKind kind);  // node_fields.cc
template <typename Reader>
KindDecoder<Reader> small_kind_decoder(ObjectKind kind);  // kinds_fields.cc
template <typename Reader>
KindDecoder<Reader> storage_decoder(ObjectKind kind);  // storage_fields.cc
template <typename Reader>
KindDecoder<Reader> claim_decoder(ObjectKind kind);  // claims_fields.cc
template <typename Reader>
KindDecoder<Reader> device_decoder(ObjectKind kind);  // devices_fields.cc
template <typename Reader>
KindDecoder<Reader> group_decoder(ObjectKind kind);  // pod_group_fields.cc
template <typename Reader>
KindDecoder<Reader> coscheduling_decoder(ObjectKind kind);  // coscheduling_fields.cc

// ---- for those sources --------------------------------------------------------------------------

// What a kind takes from its metadata, after all of it was read. Kinds that take more than every
// object has specialize it.
template <typename Kind>
void take_metadata(WrittenObject<Kind>& written) {
  set_object(written.object, std::move(written.meta), is_namespaced(written.object.kind));
}

// Reads a whole object by its kind's list.
template <typename Kind, typename Reader>
Result<Ref<Object>> decode_kind(Reader& reader, Interner& interner) {
  Ref<Kind> object = make_ref<Kind>(interner.hold());
  WrittenObject<Kind> written(*object, object->symbols);
  Fields<Kind>::read(reader, object->symbols, written);
  if (reader.error()) return fail(*reader.error());
  take_metadata(written);
  return Ref<Object>(std::move(object));
}

}  // namespace berth
