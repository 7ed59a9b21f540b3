#include <fmt/format.h>

#include <algorithm>

#include "explain/paragraphs.h"
#include "sim/entity_cycles.h"
#include "wire/json_line.h"

namespace berth::sim {
namespace {

std::string json_of(const MemberResult& member) {
  return JsonLine()
      .text("pod", member.pod)
      .text_if("node", member.node)
      .text_if("code", member.code)
      .text_if("message", member.message)
      .text_if("nominated", member.nominated)
      .done();
}

std::string json_of(const EntityResult& entity) {
  JsonLine line;
  if (entity.group.empty())
    line.text("pod", entity.members.front().pod);
  else
    line.text("group", entity.group);
  if (entity.condition)
    line.raw("condition", JsonLine()
                              .text("status", entity.condition->status)
                              .text("reason", entity.condition->reason)
                              .text_if("message", entity.condition->message)
                              .done());
  std::vector<std::string> members;
  for (const MemberResult& member : entity.members) members.push_back(json_of(member));
  line.raw("members", json_list(members, "    "));
  if (!entity.victims.empty()) line.texts("victims", entity.victims);
  return line.done();
}

std::string member_line(const MemberResult& member) {
  if (!member.node.empty()) return fmt::format("  {}  ->  {}\n", member.pod, member.node);
  std::string text =
      explain::wrapped(fmt::format("  {}: ", member.pod),
                       explain::words_of(member.message.empty() ? "waits" : member.message));
  if (!member.nominated.empty())
    text += fmt::format("      room is being made on {}\n", member.nominated);
  return text;
}

std::string paragraph(const EntityResult& entity) {
  std::string text;
  if (!entity.group.empty()) {
    const auto placed = std::ranges::count_if(
        entity.members, [](const MemberResult& member) { return !member.node.empty(); });
    text = fmt::format("group {}: {} of {} placed\n", entity.group, placed,
                       explain::plural(entity.members.size(), "pod"));
    if (const auto& condition = entity.condition)
      text += explain::wrapped(
          fmt::format("  {} ({}){}", condition->status == "True" ? "scheduled" : "not scheduled",
                      condition->reason, condition->message.empty() ? "" : ": "),
          explain::words_of(condition->message));
  }
  for (const MemberResult& member : entity.members) text += member_line(member);
  if (!entity.victims.empty())
    text += explain::wrapped(
        fmt::format("  {} evicted: ", explain::plural(entity.victims.size(), "pod")),
        explain::listed(entity.victims));
  return text;
}

}  // namespace

std::string to_json(const EntityCycles& cycles) {
  std::vector<std::string> entities;
  for (const EntityResult& entity : cycles.entities) entities.push_back(json_of(entity));
  JsonLine left;
  if (!cycles.incomplete.empty()) left.texts("incomplete", cycles.incomplete);
  if (!cycles.gated.empty()) left.texts("gated", cycles.gated);
  return fmt::format("{{\"entities\": {},\n\"left\": {}}}\n", json_list(entities, ""), left.done());
}

std::string to_table(const EntityCycles& cycles) {
  std::string text;
  for (const EntityResult& entity : cycles.entities) text += paragraph(entity) + '\n';
  const auto left = [&text](std::string_view why, const std::vector<std::string>& pods) {
    if (!pods.empty()) text += explain::wrapped(fmt::format("{}: ", why), explain::listed(pods));
  };
  left("not tried, their group is not there", cycles.incomplete);
  left("not tried, held before the queue", cycles.gated);
  return text;
}

}  // namespace berth::sim
