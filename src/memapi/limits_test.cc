// What a client cannot do to the server: end it, or fill it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/testing/names.h"
#include "memapi/table_codec.h"
#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

constexpr const char* kEvents = "/api/v1/namespaces/default/events";

std::string event_json(const std::string& name, const std::string& note = "") {
  return R"({"metadata":{"name":")" + name +
         R"("},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},"reason":"R",)" +
         R"("type":"Normal","message":")" + note + R"("})";
}

std::vector<std::string> names(Client& client, const std::string& path) {
  std::vector<std::string> found;
  const JsonValue list = client.ask("GET", path);
  for (const JsonValue& item : items_at(list, "items"))
    found.emplace_back(text_at(item, "metadata.name"));
  return found;
}

TEST(Limits, PatchesThatNestPastTheLimitAreRefused) {
  Client client;
  const std::string path = kConfigMaps + "/m";
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"m"}})");
  ASSERT_EQ(client.code, 201);
  std::string place = "/metadata/x";
  for (int patch = 0; patch < 3; ++patch) {
    client.ask("PATCH", path,
               R"([{"op":"add","path":")" + place + R"(","value":)" + nested_lists(800) + "}]",
               "application/json-patch+json");
    EXPECT_EQ(client.code, patch == 0 ? 200 : 422);
    if (patch == 0)
      for (int i = 0; i < 800; ++i) place += "/0";
    if (patch == 0) place.replace(place.size() - 1, 1, "-");
  }
  // Whoever reads, saves or lists it can do so.
  client.ask("GET", path);
  EXPECT_EQ(client.code, 200);
  EXPECT_TRUE(parse_json(client.server.save()).has_value());
}

TEST(Limits, NoWayToWriteNestsDeeperThanCanBeKept) {
  Client client;
  const std::string deep = R"({"metadata":{"name":"m"},"x":)" + nested_lists(950) + "}";
  client.ask("POST", kConfigMaps, deep);
  EXPECT_EQ(client.code, 422);
  client.ask("POST", kConfigMaps, deep, "application/yaml");
  EXPECT_EQ(client.code, 422);
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"m"}})");
  const std::string path = kConfigMaps + "/m";
  EXPECT_EQ(client.message("PUT", path, deep),
            "ConfigMap \"m\" is invalid: it nests deeper than 900 levels");
  EXPECT_EQ(client.code, 422);
  for (const char* type :
       {"application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    client.ask("PATCH", path, deep, type);
    EXPECT_EQ(client.code, 422) << type;
  }
  // Applying refuses what it does not know before it looks how deep that is.
  client.ask("PATCH", path + "?fieldManager=f",
             R"({"apiVersion":"v1","kind":"ConfigMap","x":)" + nested_lists(950) + "}",
             "application/apply-patch+yaml");
  EXPECT_EQ(client.code, 500);
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"m"},"x":)" + nested_lists(1100) + "}");
  EXPECT_EQ(client.code, 400);
}

TEST(Limits, AListOfShortNamesIsAsLongAsItsText) {
  Client client;
  std::string names;
  while (names.size() < 1'560'000) names += R"("a/x",)";
  names.pop_back();
  client.ask("POST", kConfigMaps, R"({"metadata":{"name":"m","finalizers":[)" + names + "]}}");
  EXPECT_EQ(client.code, 201);
}

TEST(Limits, AnObjectThatIsWrongInManyWaysHasABoundedAnswer) {
  Client client;
  std::string names;
  while (names.size() < 1'000'000) names += R"("-",)";
  names.pop_back();
  const auto answer =
      client.send("POST", kConfigMaps, R"({"metadata":{"name":"m","finalizers":[)" + names + "]}}");
  EXPECT_EQ(answer->response.status, 422);
  EXPECT_LT(answer->response.body.size(), 2'000'000U);
}

TEST(Limits, AnObjectIsNotLargerThanEtcdTakes) {
  Client client;
  const auto map = [](std::size_t size) {
    return R"({"metadata":{"name":"m"},"data":{"x":")" + std::string(size, 'x') + "\"}}";
  };
  client.ask("POST", kConfigMaps, map(1'600'000));
  EXPECT_EQ(client.code, 413);
  client.ask("POST", kConfigMaps, map(1'000'000));
  EXPECT_EQ(client.code, 201);
  EXPECT_EQ(client.message("PATCH", kConfigMaps + "/m",
                           R"([{"op":"copy","from":"/data/x","path":"/data/y"}])",
                           "application/json-patch+json"),
            "Request entity too large: limit is 1572864");
}

TEST(Limits, WarningsAreBounded) {
  Client client;
  std::string body = R"({"metadata":{"name":"m"})";
  for (int i = 0; i < 10'000; ++i) body += ",\"unknown" + std::to_string(i) + "\":1";
  const auto answer = client.send("POST", kConfigMaps, body + "}");
  EXPECT_EQ(answer->response.status, 201);
  EXPECT_LE(answer->response.headers.joined("Warning").size(), 5000u);
}

TEST(Limits, AnObjectOfTheWrongShapeIsRefused) {
  const TableCodec codec;
  ApiServerOptions options;
  options.protobuf = &codec;
  Client client(options);
  client.ask("POST", kConfigMaps,
             R"({"metadata":{"name":"good"},"data":{"x":"1"},"unknown":[[]]})");
  ASSERT_EQ(client.code, 201);
  EXPECT_EQ(client.message("POST", kConfigMaps, R"({"metadata":{"name":"a"},"data":{"x":[1]}})"),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
            "array into Go struct field ConfigMap.data of type string");
  EXPECT_EQ(client.code, 400);
  const std::string path = kConfigMaps + "/good";
  client.ask("PUT", path, R"({"metadata":{"name":"good"},"data":"x"})");
  EXPECT_EQ(client.code, 400);
  for (const char* type :
       {"application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    client.ask("PATCH", path, R"({"immutable":{}})", type);
    EXPECT_EQ(client.code, 422) << type;
  }
  client.ask("PATCH", path, R"([{"op":"add","path":"/data/x","value":{}}])",
             "application/json-patch+json");
  EXPECT_EQ(client.code, 422);
  for (const char* name : {"good", "new"}) {
    client.ask("PATCH", kConfigMaps + "/" + name + "?fieldManager=f", R"({"data":{"x":{}}})",
               "application/apply-patch+yaml");
    EXPECT_EQ(client.code, 400) << name;
  }
  // Otherwise nobody could list the others in protobuf.
  EXPECT_EQ(client.send("GET", kConfigMaps, "", "", "application/vnd.kubernetes.protobuf")
                ->response.status,
            200);
}

// ---- events -------------------------------------------------------------------------------------

TEST(Limits, EventsGoAnHourAfterTheyWereLastWritten) {
  Client client;
  client.server.start();
  client.ask("POST", kEvents, event_json("a"));
  client.ask("POST", kEvents, event_json("b"));
  const auto watch =
      client.send("GET", std::string(kEvents) + "?watch=1&timeoutSeconds=9999&resourceVersion=" +
                             std::to_string(client.server.version()));
  client.loop.run_until(TimePoint{std::chrono::minutes(40)});
  client.ask("PATCH", std::string(kEvents) + "/a", R"({"count":2})", kMergePatch);
  client.loop.run_until(TimePoint{std::chrono::minutes(59)});
  EXPECT_THAT(names(client, kEvents), ElementsAre("a", "b"));
  client.loop.run_until(TimePoint{std::chrono::minutes(62)});
  EXPECT_THAT(names(client, kEvents), ElementsAre("a"));
  EXPECT_THAT(watch->events(), ElementsAre("MODIFIED a", "DELETED b"));
  client.loop.run_until(TimePoint{std::chrono::minutes(102)});
  EXPECT_THAT(names(client, kEvents), IsEmpty());
  // All else stays.
  EXPECT_THAT(names(client, "/api/v1/namespaces"), ::testing::SizeIs(4));
}

TEST(Limits, EventsMayStayForEver) {
  ApiServerOptions options;
  options.limits.event_ttl = Duration::zero();
  Client client(options);
  client.server.start();
  client.ask("POST", kEvents, event_json("a"));
  client.loop.run_until(TimePoint{std::chrono::hours(100)});
  EXPECT_THAT(names(client, kEvents), ElementsAre("a"));
}

TEST(Limits, TheOldestEventsMakeRoomForNewOnes) {
  ApiServerOptions options;
  options.limits.event_bytes = 10'000;
  Client client(options);
  for (const char* name : {"a", "b", "c", "d"})
    client.ask("POST", kEvents, event_json(name, std::string(3000, 'x')));
  EXPECT_THAT(names(client, kEvents), ElementsAre("c", "d"));
  client.ask("PATCH", std::string(kEvents) + "/c", R"({"count":2})", kMergePatch);
  client.ask("POST", kEvents, event_json("e", std::string(3000, 'x')));
  EXPECT_THAT(names(client, kEvents), ElementsAre("c", "e"));
  // Through the other view, too; and one that is too large by itself is alone.
  client.ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events",
             R"({"metadata":{"name":"f"},"regarding":{"kind":"Pod","name":"p"},"note":")" +
                 std::string(20'000, 'x') + "\"}");
  EXPECT_THAT(names(client, kEvents), ElementsAre("f"));
}

TEST(Limits, HistoryIsBoundedInBytes) {
  ApiServerOptions options;
  options.limits.history_bytes = 100'000;
  Client client(options);
  const std::string from = std::to_string(client.server.version());
  const std::string small = R"({"metadata":{"generateName":"m"}})";
  for (int i = 0; i < 50; ++i) client.ask("POST", kConfigMaps, small);
  const std::string watch = kConfigMaps + "?watch=1&resourceVersion=";
  EXPECT_THAT(client.send("GET", watch + from)->events(), ::testing::SizeIs(50));
  client.ask("POST", kConfigMaps,
             R"({"metadata":{"name":"l"},"data":{"x":")" + std::string(90'000, 'x') + "\"}}");
  EXPECT_THAT(client.send("GET", watch + from)->chunks.at(0),
              HasSubstr("too old resource version"));
}

}  // namespace
}  // namespace berth::memapi::testing
