#include "queue/nominations.h"

#include <string>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t kLogKept = 4096;

}  // namespace

Nominations::Nominations(const Cluster& cluster)
    : cluster_(cluster),
      symbols_(cluster.symbol_table()),
      empty_spec_(make_ref<PodSpec>(SymbolHold(symbols_))) {}

Nominations::~Nominations() {
  for (const auto& [uid, nomination] : by_uid_) symbols_->release(nomination.node);
}

void Nominations::add(const Pod& pod, const std::optional<Nominating>& nominating) {
  const Ref<const Pod> held(&pod);  // the nomination may hold the last reference
  remove(pod.uid());
  const bool overridden = nominating && nominating->mode == Nominating::Mode::kOverride;
  const std::string_view node = overridden ? nominating->node_name : pod.nominated_node_name();
  if (node.empty()) return;
  const Ref<const Pod> seen = cluster_.seen_pod(pod);
  if (!seen || !seen->node().empty()) return;
  store(pod, symbols_->intern(node));
}

void Nominations::store(const Pod& pod, Symbol node) {
  by_uid_.emplace(pod.uid(), Nomination{Ref<const Pod>(&pod), node, nullptr});
  std::vector<Uid>& on_node = by_node_[node];
  if (on_node.empty()) nodes_.push_back(node);
  on_node.push_back(pod.uid());
  log_change(node);
}

void Nominations::log_change(Symbol node) {
  // Dropping half of the log at a time keeps the cost per entry constant.
  if (log_.size() >= 2 * kLogKept) {
    log_.erase(log_.begin(), log_.begin() + static_cast<std::ptrdiff_t>(kLogKept));
    log_start_ += kLogKept;
  }
  log_.push_back(node);
}

std::optional<std::span<const Symbol>> Nominations::changes_since(std::uint64_t position) const {
  if (position < log_start_ || position > log_end()) return std::nullopt;
  return std::span(log_).subspan(static_cast<std::size_t>(position - log_start_));
}

void Nominations::update(const Pod& before, const Pod& after) {
  std::optional<Nominating> kept;
  // Our nomination is not written yet, or the watch has not shown it yet: it is kept.
  if (before.nominated_node().empty() && after.nominated_node().empty())
    if (const auto found = by_uid_.find(before.uid()); found != by_uid_.end())
      kept = Nominating::to(std::string(symbols_->text(found->second.node)));
  remove(before.uid());
  add(after, kept);
}

void Nominations::remove(const Uid& uid) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  const Symbol node = found->second.node;
  const auto on_node = by_node_.find(node);
  std::erase(on_node->second, uid);
  if (on_node->second.empty()) {
    by_node_.erase(on_node);
    std::erase(nodes_, node);
  }
  log_change(node);
  by_uid_.erase(found);
  symbols_->release(node);
}

Ref<const Pod> Nominations::name_only(const Pod& pod) const {
  const Nomination& nomination = by_uid_.at(pod.uid());
  if (!nomination.name_only) {
    auto meta = make_ref<PodMeta>(SymbolHold(symbols_));
    meta->namespace_name = meta->symbols.intern(pod.namespace_name());
    PodDraft draft;
    draft.name = pod.name();
    draft.uid = pod.uid_text();
    draft.meta = std::move(meta);
    draft.spec = empty_spec_;
    nomination.name_only = make_pod(std::move(draft));
  }
  return nomination.name_only;
}

}  // namespace berth
