// What validation.h is made of: rules that fields of several kinds keep to, and the rules of pods
// and of the kinds that make them, with the sentences of a real API server. Fields are named by
// their paths from the object on. Only for validation*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memapi/api_error.h"
#include "wire/json_tree.h"

namespace berth::memapi {

// What is wrong with an object. The first thousand are kept: an object may be wrong in more ways
// than an answer can tell.
class Problems {
 public:
  void push_back(FieldProblem problem) {
    constexpr std::size_t kMost = 1000;
    if (++count_ <= kMost) list_.push_back(std::move(problem));
  }
  std::size_t size() const { return count_; }
  std::vector<FieldProblem> take() { return std::move(list_); }

 private:
  std::size_t count_ = 0;
  std::vector<FieldProblem> list_;
};

// "spec.ports[2]", "limits[cpu]".
std::string item_path(const std::string& list, std::size_t index);
std::string key_path(const std::string& map, std::string_view key);
// A value as it is shown in an error.
std::string shown(const JsonValue* value);
// An object as Go shows it that has no names for JSON: its members under other names, in this
// order, those that are not there as `zero`.
struct GoMember {
  std::string_view go_name;
  std::string_view name;
  std::string_view zero = "null";
};
std::string shown_struct(const JsonValue& object, std::span<const GoMember> members);
inline std::string shown_struct(const JsonValue& object, std::initializer_list<GoMember> members) {
  return shown_struct(object, std::span(members.begin(), members.size()));
}

// ---- values
void check_dns_label(std::string_view name, const std::string& path, Problems& problems);
void check_dns_subdomain(std::string_view name, const std::string& path, Problems& problems);
void check_qualified_name(std::string_view name, const std::string& path, Problems& problems);
void check_label_value(std::string_view value, const std::string& path, Problems& problems);
void check_labels(const JsonValue* labels, const std::string& path, Problems& problems);
// The operator of a requirement of a selector, and whether it has values, as the operator wants.
void check_set_operator(const JsonValue& requirement, const std::string& path, Problems& problems);
// Null: there is none.
void check_label_selector(const JsonValue* selector, const std::string& path, Problems& problems);
// The member is one of `allowed`; absent: required.
void check_one_of(const JsonValue& object, std::string_view name, const std::string& path,
                  std::initializer_list<std::string_view> allowed, Problems& problems);
// Each of these members that is there.
void check_not_negative(const JsonValue& object, const std::string& path,
                        std::initializer_list<std::string_view> names, Problems& problems);
// A number from 0 on, or a percentage.
void check_count_or_percent(const JsonValue* value, const std::string& path, Problems& problems);
// No more than 100 %.
void check_at_most_all(const JsonValue* value, const std::string& path, Problems& problems);
// 0 for what is neither.
std::int64_t count_or_percent(const JsonValue* value);
void check_immutable(const JsonValue& object, const JsonValue& old, std::string_view path,
                     Problems& problems);

// ---- pods
void check_pod_spec(const JsonValue& spec, const std::string& path, Problems& problems);
// What is about where pods go: tolerations, affinity, spread constraints, gates.
void check_scheduling(const JsonValue& spec, const std::string& path, Problems& problems);
void check_tolerations(const JsonValue& spec, const std::string& path, Problems& problems);
void check_taints(const JsonValue& spec, const std::string& path, Problems& problems);
void check_node_selector(const JsonValue& selector, const std::string& path, bool values,
                         Problems& problems);
// Amounts of a container or a pod.
void check_requirements(const JsonValue& resources, const std::string& path, Problems& problems);

// ---- what bounds others
// `old` is null for a new one.
void check_resource_quota(const JsonValue& quota, const JsonValue* old, Problems& problems);
void check_role(const JsonValue& role, Problems& problems);
void check_role_binding(const JsonValue& binding, const JsonValue* old, Problems& problems);

// ---- kinds that make pods
void check_workload(std::string_view plural, const JsonValue& object, Problems& problems);
void check_workload_update(std::string_view plural, const JsonValue& object, const JsonValue& old,
                           Problems& problems);
void check_job(const JsonValue& object, Problems& problems);
// spec of a Job, but for its selector.
void check_job_spec(const JsonValue& spec, Problems& problems);
// Kinds that say when and how others begin; `old` is null for a new one.
void check_cron_job(const JsonValue& object, const JsonValue* old, Problems& problems);
// That the server, and nobody else, has made a new job's selector.
void check_generated_selector(const JsonValue& job, Problems& problems);

}  // namespace berth::memapi
