#include "controllers/cron_job.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/time_text.h"

namespace berth::controllers {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One CronJob and its Jobs, in virtual time.
struct CronJobTest : public ::testing::Test, CronJobWorld {
  CronJobTest() {
    cron.namespace_name = "default";
    cron.name = "tick";
    cron.uid = "u";
    cron.schedule = "* * * * *";
    cron.successes_kept = 3;
    cron.failures_kept = 1;
    // Begins half a minute after a whole one.
    const Duration past = Duration(loop.wall_now().since_epoch) % minutes(1);
    loop.run_until(loop.now() + (minutes(1) - past + seconds(30)));
    cron.created = loop.wall_now();
  }

  std::optional<CronJob> find(std::string_view, std::string_view) override { return cron; }
  std::vector<CronChild> jobs_of(const CronJob&) override { return jobs; }
  Result<JobName> create_job(const CronJob&, const std::string& name,
                             const std::string& scheduled) override {
    CronChild child;
    child.job = {name, fmt::format("uid-{}", ++made)};
    child.start = loop.wall_now();
    jobs.push_back(child);
    times.push_back(scheduled);
    return child.job;
  }
  bool remove_job(const CronJob&, const JobName& job) override {
    std::erase_if(jobs, [&](const CronChild& child) { return child.job.uid == job.uid; });
    return true;
  }
  void write_status(const CronJob& changed) override { cron.status = changed.status; }
  void record(const CronJob&, EventType, std::string_view reason,
              const std::string& message) override {
    events.push_back(fmt::format("{}: {}", reason, message));
  }

  void look() {
    controller.enqueue("default/tick");
    while (loop.has_posted()) loop.step();
  }
  void pass(Duration time) {
    loop.run_until(loop.now() + time);
    while (loop.has_posted()) loop.step();
  }
  void finish(std::size_t which, bool success = true) {
    (success ? jobs[which].succeeded : jobs[which].failed) = true;
    if (success) jobs[which].completion = loop.wall_now();
    look();
  }

  VirtualLoop loop;
  CronJob cron;
  std::vector<CronChild> jobs;
  std::vector<std::string> times;
  std::vector<std::string> events;
  int made = 0;
  CronJobController controller{loop, *this};
};

TEST_F(CronJobTest, MakesAJobAtEveryTime) {
  look();
  EXPECT_THAT(jobs, IsEmpty());
  pass(minutes(1));
  ASSERT_EQ(jobs.size(), 1u);
  const auto minute = std::chrono::floor<minutes>(loop.wall_now().since_epoch).count();
  EXPECT_EQ(jobs[0].job.name, fmt::format("tick-{}", minute));
  EXPECT_EQ(times[0], rfc3339(WallTime{minutes(minute)}));
  EXPECT_EQ(cron.status.active.size(), 1u);
  EXPECT_EQ(rfc3339(*cron.status.last_schedule), times[0]);
  look();
  EXPECT_EQ(made, 1);
  pass(minutes(2));
  EXPECT_EQ(made, 3);
}

TEST_F(CronJobTest, ForbidWaitsForTheOneThatRuns) {
  cron.concurrency = CronConcurrency::kForbid;
  look();
  pass(minutes(3));
  EXPECT_EQ(made, 1);
  EXPECT_THAT(events, Contains(HasSubstr("JobAlreadyActive")));
  finish(0);
  EXPECT_EQ(made, 2);
}

TEST_F(CronJobTest, ReplaceRemovesTheOneThatRuns) {
  cron.concurrency = CronConcurrency::kReplace;
  look();
  pass(minutes(2));
  EXPECT_EQ(made, 2);
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].job.uid, "uid-2");
  EXPECT_EQ(cron.status.active.size(), 1u);
}

TEST_F(CronJobTest, KeepsTheLastThatAreDone) {
  cron.successes_kept = 1;
  cron.failures_kept = 0;
  look();
  for (int i = 0; i < 3; ++i) {
    pass(minutes(1));
    finish(jobs.size() - 1, i != 1);
  }
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].job.uid, "uid-3");
  EXPECT_EQ(cron.status.last_success, jobs[0].completion);
  EXPECT_THAT(cron.status.active, IsEmpty());
  EXPECT_THAT(events, Contains(HasSubstr("condition: Failed")));
}

TEST_F(CronJobTest, SuspendedMakesNoneAndThenOnlyTheLast) {
  cron.suspended = true;
  look();
  pass(minutes(10));
  EXPECT_EQ(made, 0);
  cron.suspended = false;
  look();
  EXPECT_EQ(made, 1);
}

TEST_F(CronJobTest, DoesNotStartTooLate) {
  cron.starting_deadline = seconds(20);
  cron.suspended = true;
  look();
  pass(minutes(2));
  cron.suspended = false;
  look();  // half a minute after the time
  EXPECT_EQ(made, 0);
  pass(minutes(1));
  EXPECT_EQ(made, 1);
}

TEST_F(CronJobTest, SaysThatItHasMissedMany) {
  cron.suspended = true;
  look();
  pass(std::chrono::hours(3));
  cron.suspended = false;
  look();
  EXPECT_EQ(made, 1);
  EXPECT_THAT(events, Contains(HasSubstr("TooManyMissedTimes")));
}

TEST_F(CronJobTest, ForgetsAJobThatSomebodyRemoved) {
  look();
  pass(minutes(1));
  jobs.clear();
  look();
  EXPECT_THAT(cron.status.active, IsEmpty());
  EXPECT_THAT(events, Contains(HasSubstr("MissingJob: Active job went missing: tick-")));
}

TEST_F(CronJobTest, WarnsOfSchedulesAndZonesThatAreNone) {
  cron.schedule = "59 23 31 2 *";
  look();
  EXPECT_THAT(events, Contains(HasSubstr("InvalidSchedule")));
  cron.time_zone = "Moon/Sea";
  look();
  EXPECT_THAT(events, Contains("UnknownTimeZone: invalid timeZone: \"Moon/Sea\": unknown time zone "
                               "Moon/Sea"));
}

}  // namespace
}  // namespace berth::controllers
