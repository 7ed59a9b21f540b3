#include "cycle/group_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <utility>

namespace berth {
namespace {

Outcome unschedulable_group(std::vector<std::string> reasons = {}) {
  Outcome outcome = Outcome::of(Code::kUnschedulable);
  outcome.error = std::string(kGroupUnschedulable);
  outcome.reasons = std::move(reasons);
  return outcome;
}

}  // namespace

const PlacementFeasiblePlugin* GroupRun::find_feasibility() const {
  for (const auto& plugin : framework().plugins().all)
    if (const auto* found = dynamic_cast<const PlacementFeasiblePlugin*>(plugin.get()))
      return found;
  return nullptr;
}

Outcome GroupRun::feasible(PlacementProgress progress) const {
  if (!feasibility_) return Outcome::success();
  return guarded(*feasibility_,
                 [&] { return feasibility_->placement_feasible(*group_, progress); });
}

// ---- members ------------------------------------------------------------------------------------

Task<Outcome> GroupRun::try_members(const NodeSet* placement) {
  for (Member& member : members_) static_cast<Try&>(member) = {};
  PlacementProgress progress{members_.size(), scheduled_before()};
  Outcome verdict = feasible(progress);
  if (verdict.code == Code::kError)
    co_return Outcome::failure("failed to evaluate placement feasibility: " + verdict.message());
  if (verdict.rejected()) co_return unschedulable_group(verdict.all_reasons());

  for (Member& member : members_) {
    Task<void> trying = try_member(member, placement);
    co_await trying;
    if (member.outcome->code == Code::kError) {
      verdict = Outcome::failure("failed to schedule other pod from a pod group: " +
                                 member.outcome->message());
      break;
    }
    --progress.remaining;
    if (member.outcome->ok()) ++progress.scheduled;
    verdict = feasible(progress);
    if (verdict.code == Code::kError)
      verdict = Outcome::failure("failed to evaluate placement feasibility: " + verdict.message());
    if (verdict.code == Code::kError || verdict.rejected()) break;
  }
  if (verdict.code == Code::kWait) verdict = unschedulable_group(verdict.all_reasons());
  if (!verdict.ok()) undo();
  co_return verdict;
}

Task<void> GroupRun::try_member(Member& member, const NodeSet* placement) {
  Attempt& attempt = *member.attempt;
  const TimePoint begun = with_.loop.tick();
  Task<SearchResult> searching = search_.run_in_group(
      attempt.cycle, attempt.framework, profile_.percentage_of_nodes_to_score, placement);
  SearchResult result = co_await searching;
  if (ProfileMeasurements* measured = attempt.framework.measurements()) {
    measured->algorithm_ran(with_.loop.tick() - begun);
    if (result.pre_filtered) measured->searched(result.from_class);
  }
  member.evaluated = result.evaluated;
  member.feasible = result.feasible;
  member.score = result.score;
  member.nominating = std::move(result.nominating);
  member.outcome = std::move(result.outcome);
  if (member.outcome->ok()) member.outcome = take_place(member, result.row);
}

Outcome GroupRun::take_place(Member& member, NodeRow row) {
  Attempt& attempt = *member.attempt;
  attempt.node = with_.cluster.nodes().name_text(row);
  if (const Result<void> assumed = with_.cluster.assume(attempt.queued.pod, row); !assumed) {
    member.nominating = Nominating::clear();
    return Outcome::failure(assumed.error().message);
  }
  member.row = row;
  member.was_nominated = with_.queue.is_nominated(attempt.pod().uid());
  with_.queue.remove_nomination(attempt.pod().uid());
  Outcome reserved = attempt.framework.run_reserve(attempt.cycle, attempt.node);
  if (reserved.ok()) return reserved;
  give_up_place(member);
  member.nominating = Nominating::clear();
  return as_fit_error(std::move(reserved));
}

void GroupRun::give_up_place(Member& member) {
  if (std::exchange(member.row, kNoRow) == kNoRow) return;
  Attempt& attempt = *member.attempt;
  attempt.framework.run_unreserve(attempt.cycle, attempt.node);
  if (const Result<void> forgotten = with_.cluster.forget(attempt.pod()); !forgotten)
    with_.observer.internal_error(forgotten.error().message);
  if (member.was_nominated) with_.queue.nominate(attempt.pod(), std::nullopt);
}

void GroupRun::undo() {
  for (Member& member : members_ | std::views::reverse) give_up_place(member);
}

void GroupRun::show_members() {
  views_.clear();
  for (const Member& member : members_)
    views_.push_back({member.attempt->queued.pod, &member.attempt->cycle, member.row});
}

void GroupRun::restore(std::vector<Try> tries) {
  for (std::size_t i = 0; i < members_.size(); ++i)
    static_cast<Try&>(members_[i]) = std::move(tries[i]);
}

// ---- the group ----------------------------------------------------------------------------------

Task<Outcome> GroupRun::decide() {
  Task<Outcome> deciding = placements_ ? decide_among_placements() : try_members(nullptr);
  Outcome verdict = co_await deciding;
  // The group has its quorum already, and none of the others has a node.
  const auto has_place = [](const Member& member) { return member.row != kNoRow; };
  if (verdict.ok() && std::ranges::none_of(members_, has_place)) verdict = unschedulable_group();
  co_return verdict;
}

Task<Outcome> GroupRun::schedule() {
  Task<Outcome> deciding = decide();
  Outcome verdict = co_await deciding;
  show_members();
  undo();
  co_return verdict;
}

Task<void> GroupRun::post_filter(Outcome& verdict) {
  // What a plugin tries does not change what is said about the members.
  std::vector<Try> said = tries();
  std::vector<std::string> texts;
  Outcome ended = Outcome::of(Code::kUnschedulable);
  for (const auto& placed : framework().plugins().pod_group_post_filter) {
    show_members();
    Task<GroupPostFilterResult> helping = placed->post_filter_group(*this);
    GroupPostFilterResult helped = co_await helping;
    ended = std::move(helped.outcome);
    if (ended.ok()) {
      waits_for_preemption_ = true;
      nominations_ = std::move(helped.nominations);
    } else if (ended.code == Code::kError) {
      ended = Outcome::failure(fmt::format("error in \"{}\" PodGroupPostFilter plugins: {}",
                                           placed.plugin->name(), ended.message()));
    }
    if (ended.code != Code::kUnschedulable) {
      texts.clear();
      if (ended.code != Code::kError) texts = ended.all_reasons();
      break;
    }
    std::ranges::copy(ended.all_reasons(), std::back_inserter(texts));
  }
  restore(std::move(said));
  if (ended.code == Code::kError) {
    verdict = std::move(ended);
    co_return;
  }
  // Parity: one reason, also when it is empty.
  std::string text;
  for (const std::string& one : texts) text += (text.empty() ? "" : ", ") + one;
  verdict.reasons.push_back(std::move(text));
}

const std::string* GroupRun::nomination_of(const Pod& pod) const {
  const auto found = nominations_.find(pod.uid());
  return found == nominations_.end() ? nullptr : &found->second;
}

}  // namespace berth
