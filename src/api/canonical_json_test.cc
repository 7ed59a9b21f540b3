#include "api/canonical_json.h"

#include <gtest/gtest.h>

#include <string>

#include "api/proto_json.h"

namespace berth {
namespace {

struct CanonicalCase {
  std::string_view api_version, kind;
  std::string_view given;
  std::string_view canonical;  // members by name
};

constexpr CanonicalCase kCanonicalCases[] = {
    // Empties that Go leaves out go, structs that it always writes are there.
    {"v1", "Pod",
     R"({"metadata":{"name":"p","labels":{},"generateName":""},"spec":{"hostNetwork":false,)"
     R"("containers":[{"name":"c","image":""}],"tolerations":[]}})",
     R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{}}]},)"
     R"("status":{}})"},
    // A pointer to an empty value is told apart.
    {"v1", "Pod", R"({"spec":{"containers":[],"priority":0,"securityContext":{}}})",
     R"({"metadata":{},"spec":{"containers":[],"priority":0,"securityContext":{}},"status":{}})"},
    {"v1", "Pod",
     R"({"metadata":{"creationTimestamp":"2024-01-02T03:04:05.6+01:00"},"spec":{"containers":)"
     R"([{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":0.5,)"
     R"("memory":"1024Mi"}}}]}})",
     R"({"metadata":{"creationTimestamp":"2024-01-02T02:04:05Z"},"spec":{"containers":)"
     R"([{"name":"c","ports":[{"containerPort":80,"protocol":"TCP"}],"resources":{"limits":)"
     R"({"cpu":"500m","memory":"1Gi"}}}]},"status":{}})"},
    {"v1", "Pod", R"({"spec":{"containers":[null],"volumes":[{"name":"v","iscsi":{}}]}})",
     R"({"metadata":{},"spec":{"containers":[{"name":"","resources":{}}],"volumes":[{"iscsi":)"
     R"({"iqn":"","iscsiInterface":"default","lun":0,"targetPortal":""},"name":"v"}]},)"
     R"("status":{}})"},
    {"v1", "ConfigMap", R"({"metadata":{"name":"m"},"data":{},"unknown":[[]]})",
     R"({"metadata":{"name":"m"},"unknown":[[]]})"},
};

TEST(CanonicalJson, IsWhatGoWouldWriteWithTheDefaultsOfTheSchema) {
  for (const CanonicalCase& test : kCanonicalCases) {
    JsonValue object = parse_json(test.given).value();
    canonicalize(schema::find_message(test.api_version, test.kind).value(), object);
    sort_members(object);
    EXPECT_EQ(to_json(object), test.canonical) << test.given;
  }
}

// What a client writes in protobuf is stored as what it writes in JSON.
TEST(CanonicalJson, OfAnObjectThatCameInProtobufNothingChanges) {
  for (const CanonicalCase& test : kCanonicalCases) {
    if (test.given.contains("unknown")) continue;
    JsonValue direct = parse_json(test.canonical).value();
    const std::string bytes = json_to_proto(test.api_version, test.kind, test.canonical).value();
    JsonValue through =
        parse_json(proto_to_json(test.api_version, test.kind, bytes).value()).value();
    std::erase_if(through.members, [](const JsonMember& member) {
      return member.name == "kind" || member.name == "apiVersion";
    });
    for (JsonValue* object : {&direct, &through}) {
      canonicalize(schema::find_message(test.api_version, test.kind).value(), *object);
      sort_members(*object);
    }
    if (test.canonical.contains(R"("containers":[])")) continue;  // protobuf has no empty lists
    EXPECT_EQ(to_json(direct), to_json(through));
  }
}

}  // namespace
}  // namespace berth
