#include "serve/health.h"

#include <gtest/gtest.h>

#include "serve/testing/served.h"

namespace berth::serve::testing {
namespace {

class HealthTest : public ::testing::Test {
 protected:
  static HealthCheck failing(std::string name) {
    return {std::move(name),
            [] { return Result<void>(fail(ErrorKind::kInternal, "handlers are not synced")); }};
  }
  static HealthCheck passing(std::string name) {
    return {std::move(name), [] { return Result<void>(); }};
  }
  HealthEndpoint endpoint(std::vector<HealthCheck> checks) {
    return HealthEndpoint("readyz", std::move(checks), metrics, log.log);
  }

  telemetry::Registry registry;
  telemetry::HealthMetrics metrics{registry};
  TestLog log;
};

TEST_F(HealthTest, AllIsWell) {
  const HealthEndpoint readyz = endpoint({passing("shutdown"), passing("sched-handler-sync")});
  struct Row {
    const char* query;
    const char* body;
  };
  const Row rows[] = {
      {"", "ok"},
      {"exclude=nope", "ok"},
      {"verbose", "[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n"},
      {"verbose=1", "[+]shutdown ok\n[+]sched-handler-sync ok\nreadyz check passed\n"},
      {"verbose&exclude=shutdown",
       "[+]shutdown excluded: ok\n[+]sched-handler-sync ok\nreadyz check passed\n"},
      {"verbose&exclude=nope",
       "[+]shutdown ok\n[+]sched-handler-sync ok\nwarn: some health checks cannot be excluded: no "
       "matches for \"nope\"\nreadyz check passed\n"},
      {"verbose&exclude=nope&exclude=another&exclude=shutdown",
       "[+]shutdown excluded: ok\n[+]sched-handler-sync ok\nwarn: some health checks cannot be "
       "excluded: no matches for \"another\",\"nope\"\nreadyz check passed\n"},
  };
  for (const Row& row : rows) {
    const net::HttpResponse response = readyz.all(row.query);
    EXPECT_EQ(response.body, row.body) << row.query;
    EXPECT_EQ(head_of(response),
              "200; content-type: text/plain; charset=utf-8; x-content-type-options: nosniff");
  }
}

TEST_F(HealthTest, AFailureIsAlwaysToldInFullButNotWhy) {
  const HealthEndpoint readyz =
      endpoint({passing("leaderElection"), passing("shutdown"), failing("sched-handler-sync")});
  const net::HttpResponse response = readyz.all("");
  EXPECT_EQ(head_of(response),
            "500; content-type: text/plain; charset=utf-8; x-content-type-options: nosniff");
  EXPECT_EQ(response.body,
            "[+]leaderElection ok\n[+]shutdown ok\n[-]sched-handler-sync failed: reason "
            "withheld\nreadyz check failed\n");
  EXPECT_EQ(readyz.all("exclude=sched-handler-sync").body, "ok");
}

TEST_F(HealthTest, TheReasonIsLogged) {
  log.log.output().set_verbosity(2);
  endpoint({failing("a"), failing("b")}).all("");
  EXPECT_NE(log.text.find("a,b check failed: readyz\n[-]a failed: handlers are not synced\n"),
            std::string::npos)
      << log.text;
}

TEST_F(HealthTest, ASingleCheckTellsWhy) {
  net::HttpResponse response = HealthEndpoint::one(failing("sched-handler-sync"));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "internal server error: handlers are not synced\n");
  response = HealthEndpoint::one(ping_check());
  EXPECT_EQ(head_of(response), "200; content-type: text/plain; charset=utf-8");
  EXPECT_EQ(response.body, "ok");
}

TEST_F(HealthTest, WithoutChecksThereIsPing) {
  EXPECT_EQ(endpoint({}).all("verbose").body, "[+]ping ok\nreadyz check passed\n");
}

TEST_F(HealthTest, EveryLookIsCounted) {
  const HealthEndpoint readyz = endpoint({passing("shutdown"), failing("sched-handler-sync")});
  readyz.all("");
  readyz.all("exclude=shutdown");
  const std::string text = registry.text();
  for (const char* line :
       {"kubernetes_healthcheck{name=\"sched-handler-sync\",type=\"readyz\"} 0\n",
        "kubernetes_healthcheck{name=\"shutdown\",type=\"readyz\"} 1\n",
        "kubernetes_healthchecks_total{name=\"sched-handler-sync\",status=\"error\",type="
        "\"readyz\"} 2\n",
        "kubernetes_healthchecks_total{name=\"shutdown\",status=\"success\",type=\"readyz\"} 1\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

}  // namespace
}  // namespace berth::serve::testing
