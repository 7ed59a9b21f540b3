#include "control_plane/cron_jobs.h"

#include <utility>

#include "base/time_text.h"

namespace berth::control_plane {
namespace {

using controllers::CronChild;
using controllers::CronConcurrency;
using controllers::CronJob;
using controllers::JobName;

constexpr std::string_view kScheduledAt = "batch.kubernetes.io/cronjob-scheduled-timestamp";
constexpr std::string_view kComponent = "cronjob-controller";

const Resource& cron_jobs() { return resource_of("cronjobs", "batch"); }
const Resource& jobs() { return resource_of("jobs", "batch"); }

std::optional<WallTime> time_at(const JsonValue& object, std::string_view path) {
  const Result<WallTime> time = parse_rfc3339(text_at(object, path));
  return time ? std::optional(*time) : std::nullopt;
}

bool has_condition(const JsonValue& object, std::string_view type) {
  for (const JsonValue& condition : items_at(object, "status.conditions"))
    if (text_at(condition, "type") == type) return text_at(condition, "status") == "True";
  return false;
}

CronConcurrency concurrency_named(std::string_view name) {
  if (name == "Forbid") return CronConcurrency::kForbid;
  return name == "Replace" ? CronConcurrency::kReplace : CronConcurrency::kAllow;
}

CronJob read_cron_job(const StoredObject& object) {
  const JsonValue tree = object.tree();
  CronJob cron;
  cron.namespace_name = object.namespace_name;
  cron.name = object.name;
  cron.uid = object.uid;
  cron.created = time_at(tree, "metadata.creationTimestamp").value_or(WallTime{});
  cron.terminating = is_terminating(tree);
  cron.schedule = text_at(tree, "spec.schedule");
  if (const std::string_view zone = text_at(tree, "spec.timeZone"); !zone.empty())
    cron.time_zone = zone;
  cron.suspended = true_at(tree, "spec.suspend");
  cron.concurrency = concurrency_named(text_at(tree, "spec.concurrencyPolicy"));
  if (const auto deadline = int_at(tree, "spec.startingDeadlineSeconds"))
    cron.starting_deadline = std::chrono::seconds(std::min<std::int64_t>(*deadline, 1'000'000'000));
  cron.successes_kept = int_at(tree, "spec.successfulJobsHistoryLimit");
  cron.failures_kept = int_at(tree, "spec.failedJobsHistoryLimit");
  for (const JsonValue& active : items_at(tree, "status.active"))
    cron.status.active.push_back(
        {std::string(text_at(active, "name")), std::string(text_at(active, "uid"))});
  cron.status.last_schedule = time_at(tree, "status.lastScheduleTime");
  cron.status.last_success = time_at(tree, "status.lastSuccessfulTime");
  return cron;
}

}  // namespace

CronJobs::CronJobs(LocalClient& api) : ApiFollower(api), controller_(api.loop(), *this) {
  follow(cron_jobs(), [this](const Change& change) {
    if (change.type != ChangeType::kDeleted) controller_.enqueue(key_of(*change.object));
  });
  follow(jobs(), [this](const Change& change) {
    const JsonValue tree = change.object->tree();
    const JsonValue* owner = controller_of(tree);
    if (owner != nullptr && text_at(*owner, "kind") == "CronJob")
      controller_.enqueue(object_key(change.object->namespace_name, text_at(*owner, "name")));
  });
}

std::optional<CronJob> CronJobs::find(std::string_view namespace_name, std::string_view name) {
  const ObjectRef object = api_.get(cron_jobs(), namespace_name, name);
  return object ? std::optional(read_cron_job(*object)) : std::nullopt;
}

std::vector<CronChild> CronJobs::jobs_of(const CronJob& cron) {
  std::vector<CronChild> children;
  for (const ObjectRef& job : api_.list(jobs(), cron.namespace_name)) {
    const JsonValue tree = job->tree();
    const JsonValue* owner = controller_of(tree);
    if (owner == nullptr || text_at(*owner, "uid") != cron.uid) continue;
    children.push_back({{job->name, job->uid},
                        has_condition(tree, "Complete"),
                        has_condition(tree, "Failed"),
                        time_at(tree, "status.startTime"),
                        time_at(tree, "status.completionTime")});
  }
  return children;
}

Result<JobName> CronJobs::create_job(const CronJob& cron, const std::string& name,
                                     const std::string& scheduled) {
  const ObjectRef owner = api_.get(cron_jobs(), cron.namespace_name, cron.name);
  if (!owner) return fail(ErrorKind::kNotFound, "the CronJob is gone");
  const JsonValue tree = owner->tree();
  JsonValue job = JsonValue::object();
  JsonValue& metadata = object_at(job, "metadata");
  if (const JsonValue* said = at(tree, "spec.jobTemplate.metadata"); is_object(said))
    for (const std::string_view member : {"labels", "annotations"})
      copy_member(metadata, *said, member);
  set_text(metadata, "name", name);
  set_text(metadata, "namespace", cron.namespace_name);
  set_text(object_at(metadata, "annotations"), kScheduledAt, scheduled);
  array_at(metadata, "ownerReferences").items.push_back(controller_reference(cron_jobs(), *owner));
  if (const JsonValue* made_from = at(tree, "spec.jobTemplate"); is_object(made_from))
    copy_member(job, *made_from, "spec");
  const Answer<ObjectRef> created = api_.create(jobs(), std::move(job));
  if (created) return JobName{(*created)->name, (*created)->uid};
  const bool exists = created.error().reason == "AlreadyExists";
  return fail(exists ? ErrorKind::kConflict : ErrorKind::kInvalid, created.error().message);
}

bool CronJobs::remove_job(const CronJob& cron, const JobName& job) {
  return api_
      .remove(jobs(), cron.namespace_name, job.name,
              {.uid = job.uid, .propagation = Propagation::kBackground})
      .has_value();
}

void CronJobs::write_status(const CronJob& cron) {
  const auto edit = [&](JsonValue& tree) -> Answer<void> {
    JsonValue& status = object_at(tree, "status");
    erase(status, "active");
    for (const JobName& job : cron.status.active) {
      const ObjectRef stored = api_.get(jobs(), cron.namespace_name, job.name);
      JsonValue one = JsonValue::object();
      set_text(one, "apiVersion", jobs().group_version());
      set_text(one, "kind", jobs().kind);
      set_text(one, "name", job.name);
      set_text(one, "namespace", cron.namespace_name);
      set_text(one, "uid", job.uid);
      if (stored) copy_member(one, *at(stored->tree(), "metadata"), "resourceVersion");
      array_at(status, "active").items.push_back(std::move(one));
    }
    for (const auto& [member, time] : {std::pair{"lastScheduleTime", cron.status.last_schedule},
                                       std::pair{"lastSuccessfulTime", cron.status.last_success}})
      if (time) set_text(status, member, rfc3339(*time));
    return {};
  };
  static_cast<void>(api_.update_status(cron_jobs(), cron.namespace_name, cron.name, edit));
}

void CronJobs::record(const CronJob& cron, controllers::EventType type, std::string_view reason,
                      const std::string& message) {
  if (const ObjectRef about = api_.get(cron_jobs(), cron.namespace_name, cron.name))
    record_event(api_, cron_jobs(), *about,
                 type == controllers::EventType::kNormal ? "Normal" : "Warning", reason, message,
                 kComponent);
}

}  // namespace berth::control_plane
