// What validation asks of CronJobs.

#include <fmt/format.h>

#include <algorithm>

#include "api/cron_schedule.h"
#include "base/ascii.h"
#include "base/go_quote.h"
#include "base/time_zone.h"
#include "memapi/json_edit.h"
#include "memapi/validation_rules.h"

namespace berth::memapi {
namespace {

bool is_zone_part(std::string_view part) {
  constexpr std::size_t kLongest = 14;
  const auto allowed = [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_' || c == '+';
  };
  return part != "." && part != ".." && !part.starts_with('-') && !part.empty() &&
         part.size() <= kLongest && std::ranges::all_of(part, allowed);
}

void check_time_zone(const JsonValue& zone, Problems& problems) {
  const auto wrong = [&](std::string_view why) {
    problems.push_back(FieldProblem::invalid("spec.timeZone", go_quoted(zone.text), why));
  };
  if (zone.text.empty()) return wrong("timeZone must be nil or non-empty string");
  for (std::string_view rest = zone.text;;) {
    const std::size_t slash = rest.find('/');
    if (!is_zone_part(rest.substr(0, slash)))
      return wrong(fmt::format("unknown time zone {}", zone.text));
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (lower_case(zone.text) == "local") {
    wrong("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  }
  if (const Result<TimeZone> known = TimeZone::load(zone.text); !known)
    wrong(known.error().message);
}

void check_schedule(const JsonValue& spec, Problems& problems) {
  const std::string_view schedule = text_at(spec, "schedule");
  const auto wrong = [&](std::string_view why) {
    problems.push_back(FieldProblem::invalid("spec.schedule", go_quoted(schedule), why));
  };
  if (schedule.empty()) {
    problems.push_back(FieldProblem::required("spec.schedule"));
  } else if (schedule.contains("TZ")) {
    wrong("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (const Result<CronSchedule> parsed = CronSchedule::parse(schedule); !parsed) {
    wrong(parsed.error().message);
  }
}

// The template's own rules, each said about where the template is.
void check_job_template(const JsonValue& spec, Problems& problems) {
  static const JsonValue kNothing = JsonValue::object();
  const JsonValue* made_from = at(spec, "jobTemplate.spec");
  Problems of_template;
  check_job_spec(is_object(made_from) ? *made_from : kNothing, of_template);
  for (FieldProblem& problem : of_template.take()) {
    problem.field.insert(0, "spec.jobTemplate.");
    problems.push_back(std::move(problem));
  }
  if (true_at(spec, "jobTemplate.spec.manualSelector")) {
    problems.push_back(FieldProblem::not_supported("spec.jobTemplate.spec.manualSelector", "true",
                                                   R"("nil", "false")"));
  }
}

}  // namespace

void check_cron_job(const JsonValue& object, const JsonValue* old, Problems& problems) {
  constexpr std::size_t kLongestName = 52;  // its Jobs add eleven characters
  static const JsonValue kNothing = JsonValue::object();
  const JsonValue* found = at(object, "spec");
  const JsonValue& spec = is_object(found) ? *found : kNothing;
  const std::string_view name = text_at(object, "metadata.name");
  if (old == nullptr && name.size() > kLongestName) {
    problems.push_back(FieldProblem::invalid("metadata.name", go_quoted(name),
                                             "must be no more than 52 characters"));
  }
  check_schedule(spec, problems);
  check_not_negative(spec, "spec", {"startingDeadlineSeconds"}, problems);
  check_one_of(spec, "concurrencyPolicy", "spec", {"Allow", "Forbid", "Replace"}, problems);
  const JsonValue* zone = at(spec, "timeZone");
  if (zone != nullptr && (old == nullptr || !equal(zone, at(*old, "spec.timeZone"))))
    check_time_zone(*zone, problems);
  check_job_template(spec, problems);
  check_not_negative(spec, "spec", {"successfulJobsHistoryLimit", "failedJobsHistoryLimit"},
                     problems);
}

}  // namespace berth::memapi
