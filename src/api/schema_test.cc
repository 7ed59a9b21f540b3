#include "api/schema.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <sstream>
#include <string>

namespace berth {
namespace {

// The field at a path of names from a kind on.
const schema::Field& field_at(std::string_view api_version, std::string_view kind,
                              std::initializer_list<std::string_view> path) {
  schema::MessageId message = schema::find_message(api_version, kind).value();
  const schema::Field* field = nullptr;
  for (const std::string_view name : path) {
    field = schema::find_field(message, name);
    EXPECT_NE(field, nullptr) << name;
    message = field->message;
  }
  return *field;
}

TEST(Schema, ListsAreMergedAsTheTagsAndMarkersOfTheirFieldsSay) {
  struct Case {
    std::string_view kind;
    std::initializer_list<std::string_view> path;
    std::string_view merging;  // strategy, key, list type, keys
  };
  const Case cases[] = {
      {"Pod", {"spec", "containers"}, "1 name map name"},
      {"Pod", {"spec", "volumes"}, "5 name map name"},
      {"Pod", {"spec", "containers", "ports"}, "1 containerPort map containerPort protocol"},
      {"Pod", {"spec", "imagePullSecrets"}, "1 name map name atomic"},
      {"Pod", {"spec", "tolerations"}, "0  atomic"},
      {"Pod",
       {"spec", "topologySpreadConstraints"},
       "1 topologyKey map topologyKey whenUnsatisfiable"},
      {"Pod", {"spec", "nodeSelector"}, "0  unset atomic"},
      {"Pod", {"status", "podIPs"}, "1 ip map ip"},
      {"Pod", {"metadata", "finalizers"}, "1  set"},
      {"Pod", {"metadata", "labels"}, "0  unset"},
      {"Node", {"status", "addresses"}, "1 type map type"},
      {"PersistentVolume", {"spec", "claimRef"}, "0  unset"},
      {"PersistentVolumeClaim", {"spec", "selector"}, "0  unset atomic"},
      // Its type is shown inline: the field is one of EphemeralContainerCommon.
      {"Pod", {"spec", "ephemeralContainers", "env"}, "1 name map name"},
  };
  constexpr std::string_view kListTypes[] = {"unset", "atomic", "set", "map"};
  for (const Case& test : cases) {
    const schema::Merging& merging = schema::merging_of(field_at("v1", test.kind, test.path));
    std::ostringstream text;
    text << int{merging.patch_strategy} << ' ' << merging.patch_key << ' '
         << kListTypes[static_cast<int>(merging.list_type)];
    for (const std::string_view key : merging.list_keys)
      if (!key.empty()) text << ' ' << key;
    if (merging.atomic) text << " atomic";
    EXPECT_EQ(text.str(), test.merging) << test.kind << '.' << *(test.path.end() - 1);
  }
}

TEST(Schema, DefaultsAndRequiredFieldsAreThoseOfTheMarkers) {
  EXPECT_EQ(field_at("v1", "Pod", {"spec", "containers", "ports", "protocol"}).default_json,
            R"("TCP")");
  EXPECT_EQ(field_at("v1", "Pod", {"spec", "containers", "image"}).default_json, "");
  EXPECT_TRUE(field_at("v1", "Pod", {"spec", "containers"}).is(schema::kRequired));
  EXPECT_FALSE(field_at("v1", "Pod", {"spec", "volumes"}).is(schema::kRequired));
  EXPECT_TRUE(field_at("apps/v1", "Deployment", {"spec"}).is(schema::kRequired));
}

}  // namespace
}  // namespace berth
