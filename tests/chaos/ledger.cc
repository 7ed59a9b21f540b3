#include "ledger.h"

#include <fmt/format.h>

#include <utility>

namespace berth::chaos {
namespace {

bool succeeded(int status) { return status >= 200 && status < 300; }

double seconds(TimePoint time) { return std::chrono::duration<double>(time.since_start).count(); }

}  // namespace

void Ledger::violated(std::string text) {
  violations_.push_back(fmt::format("at {:.3f} s: {}", seconds(clock_.now()), std::move(text)));
}

void Ledger::sent(const Exchange& exchange) {
  if (exchange.reads()) return;
  note_("sent", fmt::format("{} {} {}", exchange.who, exchange.call.method, exchange.path()));
  if (exchange.about_event()) return;
  if (exchange.call.body.contains("DisruptionTarget")) victims_.insert(exchange.pod());
  const auto holds = holds_until_.find(exchange.who);
  if (exchange.about_lease()) {
    // Who writes the lease without his name gives it up.
    if (!exchange.call.body.contains(exchange.who) && holds != holds_until_.end())
      holds_until_.erase(holds);
    return;
  }
  if (holds == holds_until_.end())
    violated(fmt::format("{} sent {} {} without the lease", exchange.who, exchange.call.method,
                         exchange.path()));
  else if (clock_.now() > holds->second)
    violated(
        fmt::format("{} sent {} {} later than {:.3f} s, its last renewal plus the renew "
                    "deadline",
                    exchange.who, exchange.call.method, exchange.path(), seconds(holds->second)));
}

void Ledger::handled(const Exchange& exchange, int status) {
  if (exchange.to_extender() && succeeded(status))
    note_(exchange.binds() ? "extender bound" : "extender asked", exchange.who);
  if (exchange.reads()) return;
  note_("done",
        fmt::format("{} {} {}: {}", exchange.who, exchange.call.method, exchange.path(), status));
  if (!succeeded(status)) return;
  const std::string pod = exchange.pod();
  if (exchange.binds()) {
    if (++bindings_[pod] > 1) violated(fmt::format("{} was bound twice", pod));
    bound_by_[pod] = exchange.who;
    const bool late = clock_.now() - exchange.sent > kLeaseDuration - kRenewDeadline;
    if (late) late_.insert(pod);
    if (late || exchange.failed) placed_unasked_.insert(pod);
  } else if (exchange.call.method == "DELETE" && !pod.empty() && !victims_.contains(pod)) {
    violated(fmt::format("{} deleted {}, which nobody preempts", exchange.who, pod));
  }
}

void Ledger::answered(const Exchange& exchange, int status) {
  if (exchange.about_lease() && !exchange.reads() && succeeded(status) &&
      exchange.call.body.contains(exchange.who)) {
    TimePoint& until = holds_until_[exchange.who];
    until = std::max(until, exchange.sent + kRenewDeadline);
  }
  const std::string pod = exchange.pod();
  if (exchange.reads() && succeeded(status)) read(exchange, pod);
  if (!exchange.binds() || succeeded(status)) return;
  if (const auto bound = bound_by_.find(pod);
      bound != bound_by_.end() && bound->second == exchange.who)
    placed_unasked_.insert(pod);
}

// Who has read the pod since knows where it is.
void Ledger::read(const Exchange& exchange, const std::string& pod) {
  const auto bound = bound_by_.find(pod);
  if (bound != bound_by_.end() && bound->second == exchange.who && !late_.contains(pod))
    placed_unasked_.erase(pod);
}

void Ledger::disturbed(const Exchange& exchange, std::string_view how) {
  note_(how, fmt::format("{} {} {}", exchange.who, exchange.call.method, exchange.path()));
}

}  // namespace berth::chaos
