// CronJobs at the door. Texts as kube-apiserver gives them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "memapi/testing/client.h"

namespace berth::memapi::testing {
namespace {

using ::testing::HasSubstr;

const std::string kCronJobs = "/apis/batch/v1/namespaces/default/cronjobs";

std::string cron_json(std::string_view spec, std::string_view restart = "Never") {
  return R"({"metadata":{"name":"tick"},"spec":{)" + std::string(spec) +
         R"("jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":")" + std::string(restart) +
         R"(","containers":[{"name":"c","image":"i"}]}}}}}})";
}

TEST(CronJobs, GetTheirDefaults) {
  Client client;
  const JsonValue cron = client.ask("POST", kCronJobs, cron_json(R"("schedule":"@daily",)"));
  EXPECT_EQ(client.code, 201);
  EXPECT_EQ(text_at(cron, "spec.concurrencyPolicy"), "Allow");
  EXPECT_EQ(int_at(cron, "spec.successfulJobsHistoryLimit"), 3);
  EXPECT_EQ(text_at(cron, "spec.jobTemplate.spec.template.spec.dnsPolicy"), "ClusterFirst");
}

TEST(CronJobs, AreRefusedWhenTheyCouldNotRun) {
  Client client;
  struct Case {
    const char* spec;
    const char* problem;
  };
  for (const Case& one :
       {Case{"", "spec.schedule: Required value"},
        Case{R"("schedule":"* *",)",
             "spec.schedule: Invalid value: \"* *\": expected exactly 5 fields, found 2: [* *]"},
        Case{R"("schedule":"TZ=UTC 0 0 * * *",)",
             "spec.schedule: Invalid value: \"TZ=UTC 0 0 * * *\": cannot use TZ or CRON_TZ in "
             "schedule, use timeZone field instead"},
        Case{R"("schedule":"@daily","timeZone":"Moon/Sea",)",
             "spec.timeZone: Invalid value: \"Moon/Sea\": unknown time zone Moon/Sea"},
        Case{R"("schedule":"@daily","timeZone":"local",)",
             "[spec.timeZone: Invalid value: \"local\": timeZone must be an explicit time zone as "
             "defined in https://www.iana.org/time-zones, spec.timeZone: Invalid value: "
             "\"local\": unknown time zone local]"},
        Case{R"("schedule":"@daily","concurrencyPolicy":"No",)",
             "spec.concurrencyPolicy: Unsupported value: \"No\": supported values: \"Allow\", "
             "\"Forbid\", \"Replace\""}}) {
    EXPECT_EQ(client.message("POST", kCronJobs, cron_json(one.spec)),
              std::string("CronJob.batch \"tick\" is invalid: ") + one.problem);
    EXPECT_EQ(client.code, 422);
  }
  EXPECT_THAT(client.message("POST", kCronJobs, cron_json(R"("schedule":"@daily",)", "Always")),
              HasSubstr("spec.jobTemplate.spec.template.spec.restartPolicy"));
}

}  // namespace
}  // namespace berth::memapi::testing
