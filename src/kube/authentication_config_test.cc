#include "kube/authentication_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/testing/names.h"
#include "kube/testing/fake_api_client.h"

namespace berth::kube::testing {
namespace {

constexpr const char* kPath =
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

std::string config_map(std::string_view client_ca, std::string_view version = "5") {
  return std::string(R"({"kind":"ConfigMap","metadata":{"name":"extension-apiserver-authentication",
    "resourceVersion":")") +
         std::string(version) + R"("},"data":{"client-ca-file":")" + std::string(client_ca) +
         R"(","requestheader-client-ca-file":"proxy",
    "requestheader-allowed-names":"[\"front-proxy\"]",
    "requestheader-username-headers":"[\"X-Remote-User\"]",
    "requestheader-uid-headers":"[\"X-Remote-Uid\"]",
    "requestheader-group-headers":"[\"X-Remote-Group\"]",
    "requestheader-extra-headers-prefix":"[\"X-Remote-Extra-\"]"}})";
}

std::string event(std::string_view type, std::string_view object) {
  std::string line = R"({"type":")" + std::string(type) + R"(","object":)" + std::string(object);
  std::erase(line, '\n');
  return line + "}\n";
}

AuthenticationSettings read(std::string_view json, std::vector<std::string>& complaints,
                            const AuthenticationSettings& before = {}) {
  return read_authentication_settings(parse_json(json).value(), before, complaints);
}

TEST(AuthenticationSettings, AreReadFromTheConfigMap) {
  std::vector<std::string> complaints;
  const AuthenticationSettings settings = read(config_map("ca"), complaints);
  EXPECT_THAT(complaints, IsEmpty());
  EXPECT_EQ(settings.client_ca, "ca");
  EXPECT_EQ(settings.request_header_ca, "proxy");
  EXPECT_THAT(settings.allowed_names, ElementsAre("front-proxy"));
  EXPECT_THAT(settings.username_headers, ElementsAre("X-Remote-User"));
  EXPECT_THAT(settings.uid_headers, ElementsAre("X-Remote-Uid"));
  EXPECT_THAT(settings.group_headers, ElementsAre("X-Remote-Group"));
  EXPECT_THAT(settings.extra_header_prefixes, ElementsAre("X-Remote-Extra-"));
}

TEST(AuthenticationSettings, WhatIsMissingIsEmptyButAnAuthorityStays) {
  std::vector<std::string> complaints;
  EXPECT_EQ(read("{}", complaints), AuthenticationSettings());
  EXPECT_EQ(read(R"({"data":null})", complaints), AuthenticationSettings());
  const AuthenticationSettings before{.client_ca = "ca",
                                      .request_header_ca = "proxy",
                                      .allowed_names = {"x"},
                                      .username_headers = {"u"},
                                      .uid_headers = {},
                                      .group_headers = {},
                                      .extra_header_prefixes = {}};
  const AuthenticationSettings settings = read("{}", complaints, before);
  EXPECT_EQ(settings.client_ca, "ca");
  EXPECT_EQ(settings.request_header_ca, "proxy");
  EXPECT_THAT(settings.allowed_names, IsEmpty());
  EXPECT_THAT(complaints, IsEmpty());
}

TEST(AuthenticationSettings, AListThatCannotBeReadLeavesAllListsAsTheyWere) {
  const AuthenticationSettings before{.client_ca = "old",
                                      .request_header_ca = "p",
                                      .allowed_names = {"x"},
                                      .username_headers = {"u"},
                                      .uid_headers = {},
                                      .group_headers = {},
                                      .extra_header_prefixes = {}};
  for (const char* broken : {"[", "{}", "\\\"a\\\"", "[1]"}) {
    std::vector<std::string> complaints;
    const AuthenticationSettings settings = read(std::string(R"({"data":{"client-ca-file":"new",
             "requestheader-username-headers":"[\"X\"]","requestheader-allowed-names":")") +
                                                     broken + "\"}}",
                                                 complaints, before);
    EXPECT_EQ(settings.client_ca, "new");
    EXPECT_THAT(settings.username_headers, ElementsAre("u"));
    EXPECT_THAT(complaints, ElementsAre(StartsWith("requestheader-allowed-names: "))) << broken;
  }
}

class AuthenticationConfigTest : public ::testing::Test {
 protected:
  AuthenticationConfigTest() {
    const auto output = std::make_shared<telemetry::LogOutput>(
        telemetry::LogOptions{.verbosity = 2}, [this] { return loop.wall_now(); },
        std::make_unique<telemetry::StringSink>(log));
    config = std::make_unique<AuthenticationConfig>(
        loop, client, Random(5),
        [this](const AuthenticationSettings& settings) { seen.push_back(settings.client_ca); },
        telemetry::Log(output));
  }

  Result<void> load() {
    std::optional<Result<void>> result;
    tasks.spawn(load_into(result));
    run_for(seconds(0));
    return result.value();
  }
  void watch() { tasks.spawn(config->watch(stop.token())); }
  void run_for(Duration duration) { loop.run_until(loop.now() + duration); }
  static std::string list(std::string_view items, std::string_view version) {
    return R"({"kind":"ConfigMapList","metadata":{"resourceVersion":")" + std::string(version) +
           R"("},"items":[)" + std::string(items) + "]}";
  }

  VirtualLoop loop;
  FakeApiClient client{loop};
  std::string log;
  std::vector<std::string> seen;
  std::unique_ptr<AuthenticationConfig> config;
  CancelSource stop;
  TaskSet tasks;

 private:
  Task<void> load_into(std::optional<Result<void>>& result) {
    Task<Result<void>> loading = config->load();
    result = co_await loading;
  }
};

TEST_F(AuthenticationConfigTest, IsReadOnceAtTheStart) {
  client.script(answered(config_map("one")));
  EXPECT_TRUE(load());
  EXPECT_THAT(client.requests(), ElementsAre(std::string("GET ") + kPath));
  EXPECT_THAT(seen, ElementsAre("one"));
  EXPECT_EQ(config->settings().request_header_ca, "proxy");
}

TEST_F(AuthenticationConfigTest, NoConfigMapIsNoError) {
  client.script(refused(404, "NotFound", "not found"));
  EXPECT_TRUE(load());
  EXPECT_THAT(seen, IsEmpty());
}

TEST_F(AuthenticationConfigTest, WhoMayNotReadItIsToldWhatToDo) {
  client.script(refused(403, "Forbidden", "configmaps is forbidden"));
  const Result<void> loaded = load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "configmaps is forbidden");
  EXPECT_THAT(log, HasSubstr("Unable to get configmap/extension-apiserver-authentication in "
                             "kube-system.  Usually fixed by 'kubectl create rolebinding -n "
                             "kube-system ROLEBINDING_NAME "
                             "--role=extension-apiserver-authentication-reader "
                             "--serviceaccount=YOUR_NS:YOUR_SA'"));
}

TEST_F(AuthenticationConfigTest, IsFollowed) {
  client.script(answered(list(config_map("one", "5"), "9")));
  watch();
  run_for(seconds(0));
  EXPECT_THAT(seen, ElementsAre("one"));
  EXPECT_EQ(client.calls()[0].path,
            "/api/v1/namespaces/kube-system/configmaps"
            "?fieldSelector=metadata.name%3Dextension-apiserver-authentication");
  ASSERT_EQ(client.streams(), 1U);
  EXPECT_THAT(client.stream_at(0).call().path,
              StartsWith("/api/v1/namespaces/kube-system/configmaps?fieldSelector=metadata.name"
                         "%3Dextension-apiserver-authentication&allowWatchBookmarks=true"
                         "&resourceVersion=9&timeoutSeconds="));

  client.stream_at(0).begin();
  const std::string change = event("MODIFIED", config_map("two", "11"));
  client.stream_at(0).chunk(change.substr(0, 40));
  run_for(seconds(0));
  EXPECT_THAT(seen, ElementsAre("one"));
  client.stream_at(0).chunk(change.substr(40));
  // The same again is no news; what is deleted is remembered.
  client.stream_at(0).chunk(event("MODIFIED", config_map("two", "12")));
  client.stream_at(0).chunk(event("DELETED", config_map("two", "13")));
  run_for(seconds(0));
  EXPECT_THAT(seen, ElementsAre("one", "two"));
  EXPECT_EQ(config->settings().client_ca, "two");

  // A clean end: it goes on from the last version.
  client.stream_at(0).end();
  run_for(seconds(0));
  ASSERT_EQ(client.streams(), 2U);
  EXPECT_THAT(client.stream_at(1).call().path, HasSubstr("&resourceVersion=13&"));
  client.stream_at(1).begin();
  client.stream_at(1).chunk(event("BOOKMARK", R"({"metadata":{"resourceVersion":"20"}})"));
  client.stream_at(1).end();
  run_for(seconds(0));
  EXPECT_THAT(client.last_stream().call().path, HasSubstr("&resourceVersion=20&"));
}

TEST_F(AuthenticationConfigTest, AForgottenVersionIsListedAnew) {
  client.script(answered(list("", "9")));
  client.script(answered(list(config_map("new"), "90")));
  watch();
  run_for(seconds(0));
  client.stream_at(0).begin();
  client.stream_at(0).chunk(
      event("ERROR",
            R"({"kind":"Status","status":"Failure","reason":"Expired","code":410,"message":"x"})"));
  run_for(seconds(0));
  EXPECT_EQ(client.calls().size(), 2U);
  EXPECT_THAT(seen, ElementsAre("new"));
  EXPECT_THAT(client.last_stream().call().path, HasSubstr("&resourceVersion=90&"));
}

TEST_F(AuthenticationConfigTest, ARefusedWatchIsTriedAgainAfterAPause) {
  client.script(answered(list("", "9")));
  watch();
  run_for(seconds(0));
  client.stream_at(0).begin(403);
  client.stream_at(0).chunk(
      R"({"kind":"Status","status":"Failure","reason":"Forbidden","code":403,"message":"no"})");
  client.stream_at(0).end();
  run_for(milliseconds(799));
  EXPECT_EQ(client.streams(), 1U);
  EXPECT_THAT(log, HasSubstr("\"Failed to watch\" err=\"no\""));
  run_for(seconds(2));
  EXPECT_EQ(client.streams(), 2U);
  EXPECT_EQ(client.calls().size(), 1U);
}

TEST_F(AuthenticationConfigTest, AServerThatIsNotThereIsTriedAgainEverMoreSlowly) {
  client.set_responder([](const ApiCall&) { return no_answer("connection refused"); });
  watch();
  run_for(seconds(600));
  EXPECT_GE(client.calls().size(), 12U);
  EXPECT_LE(client.calls().size(), 30U);
}

TEST_F(AuthenticationConfigTest, AnEndlessLineOrNonsenseEndsTheWatch) {
  client.script(answered(list("", "9")));
  watch();
  run_for(seconds(0));
  client.stream_at(0).begin();
  client.stream_at(0).chunk("nonsense\n");
  run_for(seconds(3));
  EXPECT_EQ(client.streams(), 2U);
  EXPECT_TRUE(client.stream_at(0).ended());
}

TEST_F(AuthenticationConfigTest, StopsWhenItIsTold) {
  client.script(answered(list("", "9")));
  watch();
  run_for(seconds(0));
  client.stream_at(0).begin();
  run_for(seconds(1));
  stop.cancel("enough");
  run_for(seconds(0));
  EXPECT_EQ(tasks.size(), 0U);
  EXPECT_TRUE(client.stream_at(0).ended());
}

}  // namespace
}  // namespace berth::kube::testing
