#include "api/type_check.h"

#include <gtest/gtest.h>

#include <string>

#include "api/proto_json.h"

namespace berth {
namespace {

struct TypeCase {
  std::string_view api_version, kind;
  std::string_view json;
  std::string_view text;  // empty: it fits
  std::string_view conversion_text = {};
};

constexpr TypeCase kTypeCases[] = {
    {"v1", "Pod", R"({"spec":{"terminationGracePeriodSeconds":"abc"}})",
     "json: cannot unmarshal string into Go struct field "
     "PodSpec.spec.terminationGracePeriodSeconds "
     "of type int64",
     "unrecognized type: int64"},
    {"v1", "Pod", R"({"spec":{"priority":1.5}})",
     "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32",
     "cannot convert float64 to int32"},
    {"v1", "Pod", R"({"spec":{"priority":3000000000}})",
     "json: cannot unmarshal number 3000000000 into Go struct field PodSpec.spec.priority of type "
     "int32",
     "cannot convert int64 to int32"},
    {"v1", "Pod", R"({"spec":{"restartPolicy":7}})",
     "json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type "
     "v1.RestartPolicy",
     "cannot convert int64 to v1.RestartPolicy"},
    {"v1", "Pod", R"({"spec":{"hostNetwork":"true"}})",
     "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool",
     "unrecognized type: bool"},
    {"v1", "Pod", R"({"spec":[]})",
     "json: cannot unmarshal array into Go struct field Pod.spec of type v1.PodSpec",
     "cannot restore struct from: slice"},
    {"v1", "Pod", R"({"spec":{"containers":{}}})",
     "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
     "[]v1.Container",
     "cannot restore slice from map"},
    {"v1", "Pod", R"({"spec":{"containers":[{"name":1}]}})",
     "json: cannot unmarshal number into Go struct field Container.spec.containers.name of type "
     "string",
     "cannot convert int64 to string"},
    {"v1", "Pod", R"({"spec":{"containers":[{"resources":{"limits":[1]}}]}})",
     "json: cannot unmarshal array into Go struct field "
     "ResourceRequirements.spec.containers.resources.limits of type v1.ResourceList",
     "cannot restore map from slice"},
    {"v1", "Pod", R"({"metadata":{"labels":{"a":1}}})",
     "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string",
     "cannot convert int64 to string"},
    {"v1", "Pod", R"({"metadata":{"labels":"a"}})",
     "json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type "
     "map[string]string",
     "cannot restore map from string"},
    // The fields of a volume's source are shown among those of the volume.
    {"v1", "Pod", R"({"spec":{"volumes":[{"emptyDir":"x"}]}})",
     "json: cannot unmarshal string into Go struct field Volume.spec.volumes.VolumeSource.emptyDir "
     "of type "
     "v1.EmptyDirVolumeSource",
     "cannot restore struct from: string"},
    {"v1", "Pod", R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}})",
     "json: cannot unmarshal bool into Go struct field "
     "HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
     "json: cannot unmarshal bool into Go value of type int32"},
    {"v1", "Secret", R"({"data":{"a":"%"}})", "illegal base64 data at input byte 0",
     "illegal base64 data at input byte 0"},
    {"v1", "Pod", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":true}}}]}})",
     "quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
     "quantities must match the regular expression "
     "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
    {"v1", "Pod", R"({"metadata":{"creationTimestamp":5}})",
     "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of "
     "type string",
     "json: cannot unmarshal number into Go value of type string"},
    {"v1", "Pod", R"({"spec":{"nodeSelector":null,"unknown":[1],"containers":[null]}})", ""},
    {"v1", "Pod", R"({"spec":{"containers":[{"resources":{"requests":{"cpu":1.5}}}]}})", ""},
    {"v1", "Service", R"({"spec":{"ports":[{"port":1,"targetPort":"http"}]}})", ""},
};

TEST(TypeCheck, TheFirstValueOfAWrongTypeIsNamedAsUpstreamDoes) {
  for (const TypeCase& test : kTypeCases) {
    const auto fault = check_types(schema::find_message(test.api_version, test.kind).value(),
                                   parse_json(test.json).value());
    EXPECT_EQ(fault ? fault->text : "", test.text) << test.json;
    EXPECT_EQ(fault ? fault->conversion_text : "", test.conversion_text) << test.json;
  }
}

TEST(TypeCheck, WhatFitsAndNothingElseCanBeWrittenInProtobuf) {
  for (const TypeCase& test : kTypeCases)
    EXPECT_EQ(json_to_proto(test.api_version, test.kind, test.json).has_value(), test.text.empty())
        << test.json;
}

}  // namespace
}  // namespace berth
