// WebhookExtender: a program that is asked over HTTP about nodes, scores, victims and bindings, as
// the configuration says (core.md §12).
//
//   cycle ──► filter ──► KeptObjects: pod and nodes in full ──► POST <urlPrefix>/<filterVerb>
//                                                                      │ answer, or the time-out
//   cycle ◄── verdicts ◄───────────────────────────────────────────────┘
//
// A question costs at most the configured time-out, on the loop's clock, however the other side
// behaves. World thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "berth/loop.h"
#include "config/configuration.h"
#include "extender/kept_objects.h"
#include "extender/transport.h"
#include "framework/extender.h"

namespace berth::extender {

class WebhookExtender final : public Extender {
 public:
  // `loop` and `objects` outlive it. `may_bind` is asked, on any thread, when a binding leaves;
  // empty: it always may.
  WebhookExtender(config::ExtenderConfig config, Loop& loop, KeptObjects& objects,
                  std::unique_ptr<ExtenderTransport> transport,
                  std::function<bool()> may_bind = {});

  std::string_view name() const override { return config_.url_prefix; }
  bool interested_in(const Pod& pod) const override;
  bool ignorable() const override { return config_.ignorable; }
  bool filters() const override { return !config_.filter_verb.empty(); }
  bool prioritizes() const override { return !config_.prioritize_verb.empty(); }
  bool binds() const override { return !config_.bind_verb.empty(); }
  bool preempts() const override { return !config_.preempt_verb.empty(); }
  std::int64_t weight() const override { return config_.weight; }

  Task<Result<ExtenderVerdicts>> filter(Ref<const Pod> pod,
                                        std::vector<std::string> nodes) override;
  Task<Result<std::vector<ExtenderScore>>> prioritize(Ref<const Pod> pod,
                                                      std::vector<std::string> nodes) override;
  Task<Result<void>> bind(Ref<const Pod> pod, std::string node) override;
  Task<Result<MetaVictimsByNode>> preempt(Ref<const Pod> pod, VictimsByNode victims) override;

 private:
  Result<std::string> whole(const Pod& pod);
  Result<std::string> args(const Pod& pod, const std::vector<std::string>& nodes);
  Result<std::string> args(const Pod& pod, const VictimsByNode& victims);
  // The body of the answer.
  Task<Result<std::string>> ask(const std::string& verb, std::string body,
                                std::function<bool()> may_send = {});

  const config::ExtenderConfig config_;
  const std::set<std::string, std::less<>> managed_;
  Loop& loop_;
  KeptObjects& objects_;
  std::unique_ptr<ExtenderTransport> transport_;
  const std::function<bool()> may_bind_;
};

}  // namespace berth::extender
