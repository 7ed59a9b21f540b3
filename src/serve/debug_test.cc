// Texts as kube-scheduler gives them, byte for byte.
#include "serve/debug.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "serve/testing/served.h"

namespace berth::serve::testing {
namespace {

class DebugTest : public ::testing::Test {
 protected:
  DebugTest() {
    facts.started = WallTime{std::chrono::seconds(1794762544)};
    facts.go_version = "go1.26.8";
    facts.binary_version = "1.37.1";
    facts.emulated_version = "1.37";
    facts.flags = {{"bind-address", "127.0.0.1"}, {"config", ""}, {"disabled-metrics", "[]"}};
  }

  static net::HttpRequest asking(std::string accept, std::string agent = "curl/7.88.1") {
    net::HttpRequest request;
    request.method = "GET";
    request.target = "/statusz";
    if (!accept.empty()) request.headers.add("Accept", std::move(accept));
    request.headers.add("User-Agent", std::move(agent));
    return request;
  }
  net::HttpResponse statusz(const net::HttpRequest& request) const {
    return answer_statusz(request, facts, true, facts.started + std::chrono::seconds(45));
  }

  ProgramFacts facts;
};

constexpr std::string_view kNotAcceptable = R"({
  "kind": "Status",
  "apiVersion": "v1",
  "metadata": {},
  "status": "Failure",
  "message": "only the following media types are accepted: application/json, application/yaml, text/plain",
  "reason": "NotAcceptable",
  "code": 406
})";

TEST_F(DebugTest, StatuszIsTextUnlessAnObjectIsNamed) {
  for (const char* accept : {"", "*/*", "text/plain", "text/*", "application/json, text/plain"}) {
    const net::HttpResponse response = statusz(asking(accept));
    EXPECT_EQ(head_of(response), "200; content-type: text/plain; charset=utf-8") << accept;
    EXPECT_EQ(response.body,
              "\nkube-scheduler statusz\nWarning: This endpoint is not meant to be machine "
              "parseable, has no formatting compatibility guarantees and is for debugging purposes "
              "only.\n\nStarted= Sun Nov 15 17:09:04 UTC 2026\nUp= 0 hr 00 min 45 sec\nGo version= "
              "go1.26.8\nBinary version= 1.37.1\nEmulation version= 1.37\nPaths= /configz /flagz "
              "/healthz /livez /metrics /readyz\n");
  }
}

TEST_F(DebugTest, UptimeAndDatesArePadded) {
  facts.started = WallTime{std::chrono::seconds(1796083809)};
  const net::HttpResponse response = answer_statusz(
      asking(""), facts, true, facts.started + std::chrono::hours(100) + std::chrono::seconds(301));
  EXPECT_NE(response.body.find("Started= Tue Dec  1 00:10:09 UTC 2026\nUp= 100 hr 05 min 01 sec\n"),
            std::string::npos)
      << response.body;
}

TEST_F(DebugTest, StatuszAsAnObject) {
  net::HttpResponse response =
      statusz(asking("application/json;as=Statusz;v=v1beta1;g=config.k8s.io"));
  EXPECT_EQ(head_of(response),
            "200; content-type: application/json;g=config.k8s.io;v=v1beta1;as=Statusz");
  EXPECT_EQ(response.body, R"({
  "kind": "Statusz",
  "apiVersion": "config.k8s.io/v1beta1",
  "metadata": {
    "name": "kube-scheduler"
  },
  "startTime": "2026-11-15T17:09:04Z",
  "uptimeSeconds": 45,
  "goVersion": "go1.26.8",
  "binaryVersion": "1.37.1",
  "emulationVersion": "1.37",
  "paths": [
    "/configz",
    "/flagz",
    "/healthz",
    "/livez",
    "/metrics",
    "/readyz"
  ]
})");

  response = statusz(asking("application/json;as=Statusz;v=v1alpha1;g=config.k8s.io", "x"));
  EXPECT_EQ(head_of(response),
            "200; content-type: application/json;g=config.k8s.io;v=v1alpha1;as=Statusz; warning: "
            "299 - \"This version of the statusz endpoint is deprecated. Please use a newer "
            "version.\"");
  EXPECT_EQ(response.body,
            R"({"kind":"Statusz","apiVersion":"config.k8s.io/v1alpha1","metadata":{"name":)"
            R"("kube-scheduler"},"startTime":"2026-11-15T17:09:04Z","uptimeSeconds":45,)"
            R"("goVersion":"go1.26.8","binaryVersion":"1.37.1","emulationVersion":"1.37",)"
            R"("paths":["/configz","/flagz","/healthz","/livez","/metrics","/readyz"]})"
            "\n");

  response = statusz(asking("application/yaml;as=Statusz;v=v1beta1;g=config.k8s.io"));
  EXPECT_EQ(head_of(response),
            "200; content-type: application/yaml;g=config.k8s.io;v=v1beta1;as=Statusz");
  EXPECT_EQ(response.body,
            "apiVersion: config.k8s.io/v1beta1\nbinaryVersion: 1.37.1\nemulationVersion: \"1.37\"\n"
            "goVersion: go1.26.8\nkind: Statusz\nmetadata:\n  name: kube-scheduler\npaths:\n"
            "- /configz\n- /flagz\n- /healthz\n- /livez\n- /metrics\n- /readyz\n"
            "startTime: \"2026-11-15T17:09:04Z\"\nuptimeSeconds: 45\n");
}

TEST_F(DebugTest, NegotiationAsUpstream) {
  struct Row {
    const char* accept;
    int status;
  };
  const Row rows[] = {
      {"text/html", 406},
      {"application/json", 406},
      {"application/yaml", 406},
      {"application/cbor;as=Statusz;v=v1beta1;g=config.k8s.io", 406},
      {"application/json;as=Statusz;v=v1;g=config.k8s.io", 406},
      {"application/json;as=Flagz;v=v1beta1;g=config.k8s.io", 406},
      {"application/vnd.kubernetes.protobuf;as=Statusz;v=v1beta1;g=config.k8s.io", 406},
      {"application/*;as=Statusz;v=v1beta1;g=config.k8s.io", 200},
  };
  for (const Row& row : rows) {
    const net::HttpResponse response = statusz(asking(row.accept));
    EXPECT_EQ(response.status, row.status) << row.accept;
    if (row.status != 406) continue;
    EXPECT_THAT(response.body, HasSubstr("NotAcceptable"));
  }
  EXPECT_EQ(statusz(asking("text/html")).body, kNotAcceptable);
  EXPECT_EQ(head_of(statusz(
                asking("text/plain;q=0.1, application/json;as=Statusz;v=v1beta1;g=config.k8s.io"))),
            "200; content-type: application/json;g=config.k8s.io;v=v1beta1;as=Statusz");
}

TEST_F(DebugTest, Flagz) {
  net::HttpResponse response = answer_flagz(asking("*/*"), facts);
  EXPECT_EQ(response.body,
            "\nkube-scheduler flagz\nWarning: This endpoint is not meant to be machine parseable, "
            "has no formatting compatibility guarantees and is for debugging purposes only.\n"
            "bind-address=127.0.0.1\nconfig=\ndisabled-metrics=[]\n");
  response = answer_flagz(asking("application/yaml;as=Flagz;v=v1alpha1;g=config.k8s.io"), facts);
  EXPECT_EQ(head_of(response),
            "200; content-type: application/yaml;g=config.k8s.io;v=v1alpha1;as=Flagz; warning: 299 "
            "- \"This version of the flagz endpoint is deprecated. Please use a newer version.\"");
  EXPECT_EQ(response.body,
            "apiVersion: config.k8s.io/v1alpha1\nflags:\n  bind-address: 127.0.0.1\n  config: "
            "\"\"\n  disabled-metrics: '[]'\nkind: Flagz\nmetadata:\n  name: kube-scheduler\n");
  EXPECT_EQ(answer_flagz(asking("application/json"), facts).body, kNotAcceptable);
}

TEST_F(DebugTest, Configz) {
  const net::HttpResponse response = answer_configz("{\"parallelism\":16}");
  EXPECT_EQ(head_of(response),
            "200; content-type: application/json; x-content-type-options: nosniff");
  EXPECT_EQ(response.body, "{\"componentconfig\":{\"parallelism\":16}}");
}

TEST_F(DebugTest, TheVerbosityIsSetWhileTheProgramRuns) {
  testing::TestLog log;
  telemetry::LogOutput& output = log.log.output();
  struct Row {
    const char* method;
    const char* body;
    int status;
    const char* answer;
    int verbosity;
  };
  const Row rows[] = {
      {"PUT", "5", 200, "successfully set klog.logging.verbosity to 5\n", 5},
      {"GET", "", 406, "unsupported http method\n", 5},
      {"POST", "4", 406, "unsupported http method\n", 5},
      {"PUT", "abc", 400, "strconv.ParseUint: parsing \"abc\": invalid syntax\n", 5},
      {"PUT", "", 400, "strconv.ParseUint: parsing \"\": invalid syntax\n", 5},
      {"PUT", "-1", 400, "strconv.ParseUint: parsing \"-1\": invalid syntax\n", 5},
      {"PUT", " 4", 400, "strconv.ParseUint: parsing \" 4\": invalid syntax\n", 5},
      {"PUT", "4x", 400, "strconv.ParseUint: parsing \"4x\": invalid syntax\n", 5},
      {"PUT", "99999999999", 400,
       "strconv.ParseUint: parsing \"99999999999\": value out of range\n", 5},
      {"PUT", "0", 200, "successfully set klog.logging.verbosity to 0\n", 0},
  };
  for (const Row& row : rows) {
    net::HttpRequest request;
    request.method = row.method;
    request.body = row.body;
    const net::HttpResponse response = answer_debug_flags(request, "/debug/flags/v", output);
    EXPECT_EQ(head_of(response), std::to_string(row.status) +
                                     "; content-type: text/plain; x-content-type-options: nosniff");
    EXPECT_EQ(response.body, row.answer);
    EXPECT_EQ(output.verbosity(), row.verbosity) << row.method << row.body;
  }
  const net::HttpResponse page = answer_debug_flags({}, "/debug/flags", output);
  EXPECT_EQ(head_of(page), "200; content-type: text/html; charset=utf-8");
  EXPECT_EQ(page.body.size(), 168u);
}

TEST_F(DebugTest, OfProfilesThereIsOne) {
  EXPECT_EQ(head_of(answer_pprof("/debug/pprof")),
            "302; content-type: text/html; charset=utf-8; location: /debug/pprof/");
  EXPECT_THAT(answer_pprof("/debug/pprof/").body, HasSubstr("<a href='profile'>"));
  const net::HttpResponse none = answer_pprof("/debug/pprof/heap");
  EXPECT_EQ(none.status, 404);
  EXPECT_TRUE(none.body.starts_with("Unknown profile")) << none.body;
  EXPECT_EQ(head_of(profile_response("x")),
            "200; content-disposition: attachment; filename=\"profile\"; content-type: "
            "application/octet-stream; x-content-type-options: nosniff");
}

TEST_F(DebugTest, AProfileTakesAsLongAsAskedFor) {
  EXPECT_EQ(profile_duration("seconds=5"), std::chrono::seconds(5));
  for (const char* query : {"", "seconds=abc", "seconds=5x", "seconds=0", "seconds=-1", "s=5"})
    EXPECT_EQ(profile_duration(query), std::chrono::seconds(30)) << query;
}

}  // namespace
}  // namespace berth::serve::testing
